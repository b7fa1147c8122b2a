/* The env, energy counters and what disturbs timings, with made-up figures and trees. */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/host/energy.h"
#include "lib/host/env.h"
#include "lib/host/watch.h"
#include "lib/io/seal.h"
#include "tests/tap.h"

static char folder[] = "/tmp/tl-env-XXXXXX";

__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *fmt, ...)
{
	char full[256];
	va_list ap;
	FILE *f;

	snprintf(full, sizeof full, "%s/%s", folder, path);
	for (char *p = full + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "we");
	if (!f)
		bail_out("cannot write %s", full);
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

/* Writes the probe's file of this hardware. */
static void put_probe(const struct env *v, double peak)
{
	struct buf text = BUF_INIT;
	char path[128];

	snprintf(path, sizeof path, "probe/%s.json", v->hw_id.s);
	buf_fmt(&text,
		"{\"cores\":null,\"cores_why\":\"made up\",\"peak_flops\":%g,\"peak_flops_all\":2e9,"
		"\"bandwidth_all\":{\"mem\":3e9},\"forkjoin_s\":1e-06,\"barrier_s\":1}",
		peak);
	seal_put(&text);
	put(path, "%s", text.s);
	buf_free(&text);
}

/* v: the env that was not probed. */
static void test_probed(const struct env *v)
{
	struct err e = ERR_INIT;
	struct env slow, fast;

	setenv("TL_PROBE", "1", 1);
	setenv("TL_CACHE", folder, 1);
	put_probe(v, 1e9);
	ok(env_make(&slow, target_default(), "onednn 2.6.3", 0, &e) == 0,
	   "the probe is read from its file");
	put_probe(v, 9e9);
	ok(env_make(&fast, target_default(), "onednn 2.6.3", 0, &e) == 0, "whatever it found");
	ok(strstr(slow.json.s, "\"probe\":{\"peak_flops\":1e+09,\"peak_flops_all\":2e9,\"bandwidth_"
			       "all\":{\"mem\":"
			       "3e9},\"forkjoin_s\":1e-06},") &&
		   strstr(fast.json.s, "\"probe\":{\"peak_flops\":9e+09,"),
	   "some of its figures are told");
	ok(!strcmp(slow.id.s, fast.id.s) && !strcmp(slow.hw_id.s, fast.hw_id.s) &&
		   !strcmp(slow.id.s, v->id.s) && !strcmp(slow.hw_id.s, v->hw_id.s),
	   "one machine is one env, however fast it was found, and if it was probed");
	env_free(&slow);
	env_free(&fast);
	setenv("TL_PROBE", "0", 1);
	unsetenv("TL_CACHE");
}

/* The path of one that says that it is another one. */
static const char *compiler(void)
{
	static char path[64];

	put("cc", "#!/bin/sh\necho 99.1.0\n");
	snprintf(path, sizeof path, "%s/cc", folder);
	chmod(path, 0755);
	return path;
}

/* The env */

static void test_env(void)
{
	struct env v, w;
	struct err e = ERR_INIT;

	setenv("TL_PROBE", "0", 1);
	ok(env_make(&v, target_default(), "onednn 2.6.3", 0, &e) == 0 &&
		   env_make(&w, target_default(), "onednn 2.6.2", 0, &e) == 0,
	   "TL_PROBE=0: an env without a worker");
	ok(strstr(v.json.s, "\"probe\":null,\"probe_why\":\"") != NULL,
	   "says that it knows no speed");
	ok(!strcmp(v.hw_id.s, w.hw_id.s) && strcmp(v.id.s, w.id.s) != 0 &&
		   strcmp(v.id.s, v.hw_id.s) != 0,
	   "another library: the same hardware, another env");
	env_free(&w);
	setenv("TL_CC", compiler(), 1);
	ok(env_make(&w, target_default(), "onednn 2.6.3", 0, &e) == 0 &&
		   !strcmp(v.hw_id.s, w.hw_id.s) && strcmp(v.id.s, w.id.s) != 0,
	   "and so does another compiler");
	unsetenv("TL_CC");
	env_free(&w);
	setenv("TL_ISA", "scalar", 1);
	ok(env_make(&w, target_default(), "onednn 2.6.3", 0, &e) == 0 &&
		   strcmp(v.hw_id.s, w.hw_id.s) != 0,
	   "another instruction set: other hardware");
	unsetenv("TL_ISA");
	env_free(&w);
	setenv("OMP_NUM_THREADS", v.limits.threads == 1 ? "2" : "1", 1);
	ok(env_make(&w, target_default(), "onednn 2.6.3", 0, &e) == 0 &&
		   strcmp(v.hw_id.s, w.hw_id.s) != 0 && strcmp(v.id.s, w.id.s) != 0,
	   "another number of threads, too");
	unsetenv("OMP_NUM_THREADS");
	env_free(&w);
	test_probed(&v);
	env_free(&v);
}

/* Trees like the kernel's */

static void domain(const char *dir, const char *name, long uj, long range)
{
	char path[128];

	snprintf(path, sizeof path, "%s/name", dir);
	put(path, "%s\n", name);
	snprintf(path, sizeof path, "%s/max_energy_range_uj", dir);
	put(path, "%ld\n", range);
	snprintf(path, sizeof path, "%s/energy_uj", dir);
	put(path, "%ld\n", uj);
}

static int near(double a, double b)
{
	return fabs(a - b) < 1e-9 * fabs(b) + 1e-12;
}

static void test_rapl(void)
{
	struct energy g;
	struct buf b = BUF_INIT;
	char root[64];

	snprintf(root, sizeof root, "%s/powercap", folder);
	setenv("TL_POWERCAP", root, 1);
	energy_open(&g, ENERGY_CPU, NULL);
	energy_put(&g, energy_read(&g), &b);
	ok(strstr(b.s, "\"energy_J\":null,\"energy_why\":\"no RAPL: ") != NULL &&
		   strstr(b.s, " is missing"),
	   "no tree: null and why");
	energy_close(&g);
	domain("powercap/intel-rapl:0", "package-0", 1000000, 10000000);
	domain("powercap/intel-rapl:0:0", "core", 5, 10000000);
	domain("powercap/intel-rapl:0:1", "dram", 9000000, 10000000);
	domain("powercap/intel-rapl:1", "psys", 5, 10000000);
	domain("powercap/intel-rapl-mmio:0", "package-0", 1000000, 10000000);
	energy_open(&g, ENERGY_CPU, NULL);
	ok(!g.why[0] && near(energy_read(&g), 0), "nothing has been spent when it begins");
	domain("powercap/intel-rapl:0", "package-0", 3000000, 10000000);
	domain("powercap/intel-rapl:0:0", "core", 2000005, 10000000);
	domain("powercap/intel-rapl-mmio:0", "package-0", 3000000, 10000000);
	ok(near(energy_lap(&g), 2), "a package counts once, its cores not again");
	domain("powercap/intel-rapl:0:1", "dram", 500000, 10000000);
	ok(near(energy_lap(&g), 1.5), "memory counts, and a counter that has wrapped");
	domain("powercap/intel-rapl:0", "package-0", 2999999, 10000000);
	ok(near(energy_read(&g), 3.5 + 9.999999), "wherever it wraps to");
	ok(near(energy_lap(&g), 9.999999), "a lap begins at the last one");
	buf_clear(&b);
	energy_put(&g, 1.5, &b);
	ok(!strcmp(b.s, "\"energy_J\":1.5"), "joules that are known need no reason");
	energy_close(&g);
	buf_free(&b);
}

static void test_rapl_root_only(void)
{
	struct energy g;
	char path[128];

	if (!geteuid()) {
		skip("root may read every counter");
		return;
	}
	snprintf(path, sizeof path, "%s/powercap/intel-rapl:0:1/energy_uj", folder);
	chmod(path, 0);
	energy_open(&g, ENERGY_CPU, NULL);
	ok(strstr(g.why, "readable by root only") && isnan(energy_read(&g)),
	   "a part that may not be read: no sum, and why");
	energy_close(&g);
}

static void test_nvml(void)
{
	char source[64], object[64], command[256];
	struct energy g;

	setenv("TL_NVML", "libtl-there-is-none.so", 1);
	energy_open(&g, ENERGY_GPU, NULL);
	ok(!strncmp(g.why, "no NVML: ", 9) && isnan(energy_lap(&g)), "no library: why");
	energy_close(&g);
	put("nvml.c",
	    "static unsigned long long mj = 5000;\n"
	    "int nvmlInit_v2(void) { return 0; }\n"
	    "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = &mj; return i != 0; }\n"
	    "int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *e)\n"
	    "{ *e = *(unsigned long long *)d; mj += 250; return 0; }\n");
	snprintf(source, sizeof source, "%s/nvml.c", folder);
	snprintf(object, sizeof object, "%s/nvml.so", folder);
	snprintf(command, sizeof command, "%s -shared -fPIC -o %s %s",
		 getenv("CC") ? getenv("CC") : "cc", object, source);
	{
		FILE *p = popen(command, "re");

		if (!p || pclose(p)) {
			skip("no compiler to make a library like NVML");
			return;
		}
	}
	setenv("TL_NVML", object, 1);
	energy_open(&g, ENERGY_GPU, NULL);
	ok(!g.why[0] && near(energy_read(&g), 0.25) && near(energy_lap(&g), 0.5) &&
		   near(energy_lap(&g), 0.25),
	   "a GPU's millijoules are read by name");
	energy_close(&g);
}

static void machine(int steal, int throttled, int khz)
{
	put("proc/stat", "cpu  10 20 30 40 50 60 70 %d 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n", steal);
	put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "%d\n", throttled);
	put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "7\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "%d\n", khz);
	put("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
}

static void test_watch(void)
{
	const int cpu[] = {0, 1};
	struct watch w;
	struct watched d;
	struct buf b = BUF_INIT;

	watch_open(&w, "/nonexistent", cpu, 2);
	watch_begin(&w);
	watch_end(&w, &d);
	watch_close(&w);
	ok(d.has == 1U << WATCH_SWITCHES && d.nivcsw >= 0, "what is not there is not told");
	watch_put_sources("/nonexistent", &b);
	ok(!strncmp(b.s, "\"watch\":[\"nivcsw\"],\"watch_why\":\"no steal time", 42) &&
		   b.s[b.n - 1] == '"',
	   "but its lack is, once");
	machine(1000, 3, 2500000);
	watch_open(&w, folder, cpu, 2);
	watch_begin(&w);
	machine(1050, 5, 2800000);
	watch_end(&w, &d);
	ok(near(d.steal_s, 50.0 / (double)sysconf(_SC_CLK_TCK)), "steal time since the beginning");
	ok(d.throttled == 2 && near(d.freq_hz, 2.5e9), "throttled twice; the lowest frequency");
	d.nivcsw = 4;
	d.steal_s = 0.5;
	buf_clear(&b);
	watch_put(&d, &b);
	ok(!strcmp(b.s, "{\"steal_s\":0.5,\"nivcsw\":4,\"throttled\":2,\"freq_hz\":2.5e+09}"),
	   "as JSON: %s", b.s);
	watch_close(&w);
	put("proc/stat", "cpu  10 20 30 40\n");
	watch_open(&w, folder, cpu, 1);
	watch_begin(&w);
	watch_end(&w, &d);
	ok(!(d.has & 1U << WATCH_STEAL), "a kernel that does not count steal time");
	watch_close(&w);
	buf_free(&b);
}

static void remove_folder(void)
{
	char command[64];
	FILE *p;

	snprintf(command, sizeof command, "rm -rf %s", folder);
	p = popen(command, "re");
	if (p)
		pclose(p);
}

int main(void)
{
	if (!mkdtemp(folder))
		bail_out("no folder");
	test_env();
	test_rapl();
	test_rapl_root_only();
	test_nvml();
	test_watch();
	remove_folder();
	return done_testing();
}
