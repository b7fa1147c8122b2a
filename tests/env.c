/* States of the machine, energy counters and what disturbs timings, with made-up figures and trees.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/host/energy.h"
#include "lib/host/env.h"
#include "lib/host/watch.h"
#include "tests/tap.h"

static char folder[] = "/tmp/tl-env-XXXXXX";

/* States */

static const char *probe_text(double peak, double memory)
{
	static char text[4][256];
	static int i;

	snprintf(text[++i % 4], sizeof *text,
		 "{\"peak_flops\":%.9g,\"peak_flops_all\":%.9g,\"bandwidth_all\":{\"l1\":1e12,"
		 "\"mem\":"
		 "%.9g},\"forkjoin_s\":1e-06}",
		 peak, 2 * peak, memory);
	return text[i % 4];
}

static struct figures figures(double peak, double memory)
{
	return (struct figures){peak, 2 * peak, memory, 1e-6, 0};
}

static int add(struct states *s, double peak, double memory)
{
	struct err e = ERR_INIT;

	return states_add(s, probe_text(peak, memory), "2026-11-21T09:00:00.000Z", &e);
}

static int match(const struct states *s, double peak, double memory)
{
	struct figures f = figures(peak, memory);

	return states_match(s, &f, 0.05);
}

static void test_classes(void)
{
	struct states a = {0}, b = {0};

	ok(add(&a, 200e9, 20e9) == 0 && add(&b, 203e9, 20.6e9) == 0 &&
		   !strcmp(a.state[0].class, b.state[0].class),
	   "like machines share a class: %s", a.state[0].class);
	ok(add(&b, 140e9, 20.6e9) == 1 && strcmp(b.state[0].class, b.state[1].class) != 0,
	   "a slower state has another: %s", b.state[1].class);
	ok(add(&a, 207e9, 20.5e9) == 1 && strcmp(a.state[0].class, a.state[1].class) != 0,
	   "and so has one in the same cells: %s", a.state[1].class);
	states_free(&a);
	states_free(&b);
}

static void test_drift(void)
{
	struct states s = {0};

	add(&s, 200e9, 20e9);
	ok(match(&s, 191e9, 20e9) == 0 && match(&s, 209e9, 20.9e9) == 0,
	   "less than is allowed is no drift");
	ok(match(&s, 189e9, 20e9) == -1 && match(&s, 211e9, 20e9) == -1,
	   "a slower or a faster peak is");
	ok(match(&s, 200e9, 15.9e9) == -1 && match(&s, 200e9, 25.1e9) == -1 &&
		   match(&s, 200e9, 16.1e9) == 0 && match(&s, 200e9, 24.9e9) == 0,
	   "and so is bandwidth, beyond five times as much");
	s.state[0].f.forkjoin_s *= 10;
	ok(match(&s, 200e9, 20e9) == 0, "fork-join is not");
	add(&s, 184e9, 20e9);
	ok(s.now == 1 && match(&s, 185e9, 20e9) == 1 && match(&s, 201e9, 20e9) == 0,
	   "what comes back to a state known before gets that one again");
	ok(match(&s, 192.5e9, 20e9) == 1, "where two would do, it stays");
	s.now = 0;
	ok(match(&s, 191.5e9, 20e9) == 0, "whichever it is in");
	states_free(&s);
}

/* A machine whose speed wanders by a tenth, for long. */
static void test_wandering(void)
{
	struct states s = {0};
	int changes = 0, n = 0;

	add(&s, 200e9, 20e9);
	for (int i = 0; i < 1000; i++) {
		struct figures f =
			figures(200e9 * (1 + 0.1 * sin(i * 0.7)), 20e9 * (1 + 0.1 * sin(i * 0.3)));
		int was = s.now, found = states_match(&s, &f, 0.05);

		if (found < 0)
			found = add(&s, f.peak_flops, f.memory);
		s.now = found;
		changes += s.now != was;
		n += found < 0;
	}
	ok(s.n <= STATES_MAX && !n && changes > 0,
	   "a machine that wanders has %d states in a thousand runs", s.n);
	while (s.n < STATES_MAX)
		add(&s, 1e9 * (1 + s.n), 20e9);
	ok(add(&s, 1e13, 20e9) < STATES_MAX - 1 && s.n == STATES_MAX,
	   "like none of so many: the nearest, and no new one");
	states_free(&s);
}

static void test_file(void)
{
	struct states s = {0}, t;
	struct err e = ERR_INIT;
	char path[64];

	snprintf(path, sizeof path, "%s/states.json", folder);
	ok(states_load(&t, path, &e) == 0, "no file: no states");
	add(&s, 200e9, 20e9);
	add(&s, 140e9, 20e9);
	s.now = 0;
	snprintf(s.looked, sizeof s.looked, "2026-11-21T09:00:00.000Z");
	ok(states_save(&s, path, &e) == 0 && states_load(&t, path, &e) == 1,
	   "saved and read again");
	ok(t.n == 2 && t.now == 0 && !strcmp(t.looked, s.looked) &&
		   !strcmp(t.state[1].class, s.state[1].class) &&
		   !strcmp(t.state[1].probe, s.state[1].probe) &&
		   figures_drift(&t.state[1].f, &s.state[1].f) < 1e-8,
	   "as they were");
	states_free(&t);
	truncate(path, 100);
	ok(states_load(&t, path, &e) == 0 && t.n == 0, "a file that was cut off is none");
	ok(add(&s, -1, 20e9) == -1, "a probe without sense is refused");
	states_free(&s);
}

static void test_unprobed(void)
{
	struct env v, w;
	struct err e = ERR_INIT;
	struct buf said = BUF_INIT;

	setenv("TL_PROBE", "0", 1);
	ok(env_make(&v, "onednn 2.6.3", &e) == 0 && env_make(&w, "onednn 2.6.2", &e) == 0,
	   "TL_PROBE=0: an env without a worker");
	ok(strstr(v.json.s, "\"probe\":null,\"probe_why\":\"") != NULL,
	   "says that it knows no speed");
	ok(!strcmp(v.hw_id.s, w.hw_id.s) && strcmp(v.id.s, w.id.s) != 0 &&
		   strcmp(v.id.s, v.hw_id.s) != 0,
	   "another library: the same hardware, another env");
	ok(env_check(&v, 0.05, &said, &e) == 0 && !said.n, "and nothing to drift from");
	env_free(&v);
	env_free(&w);
	setenv("TL_ISA", "scalar", 1);
	ok(env_make(&w, "onednn 2.6.3", &e) == 0 && strcmp(v.hw_id.s, w.hw_id.s) != 0,
	   "another instruction set: other hardware");
	unsetenv("TL_ISA");
	env_free(&w);
}

/* Trees like the kernel's */

__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *fmt, ...)
{
	char full[256];
	va_list ap;
	FILE *f;

	snprintf(full, sizeof full, "%s/%s", folder, path);
	for (char *p = full + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(full, 0777);
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
	energy_open(&g, ENERGY_CPU);
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
	energy_open(&g, ENERGY_CPU);
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
	energy_open(&g, ENERGY_CPU);
	ok(strstr(g.why, "readable by root only") && isnan(energy_read(&g)),
	   "a part that may not be read: no sum, and why");
	energy_close(&g);
}

static void test_nvml(void)
{
	char source[64], object[64], command[256];
	struct energy g;

	setenv("TL_NVML", "libtl-there-is-none.so", 1);
	energy_open(&g, ENERGY_GPU);
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
	energy_open(&g, ENERGY_GPU);
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

/* A faster beat is kept with the present state, and the least of all counts. */
static void test_beats(void)
{
	struct states s = {0};

	add(&s, 2e11, 3e10);
	ok(states_beat(&s) == 0, "an older probe has no beat");
	states_set_beat(&s, 6e-5);
	add(&s, 1e11, 3e10);
	states_set_beat(&s, 9e-5);
	ok(s.n == 2 && s.state[1].f.beat_s == 9e-5 && states_beat(&s) == 6e-5,
	   "the least beat of all states");
	ok(strstr(s.state[1].probe, "\"beat_s\":9e-05") != NULL, "and the probe tells it");
	states_free(&s);
}

int main(void)
{
	if (!mkdtemp(folder))
		bail_out("no folder");
	test_classes();
	test_drift();
	test_wandering();
	test_file();
	test_unprobed();
	test_rapl();
	test_rapl_root_only();
	test_nvml();
	test_watch();
	remove_folder();
	test_beats();
	return done_testing();
}
