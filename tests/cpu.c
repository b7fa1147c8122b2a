/* What the environment says of the machine: instruction set, caches, threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/io/quota.h"
#include "lib/space/isa.h"
#include "lib/target/cpu.h"
#include "tests/tap.h"

static struct err err;

/* The machine where TL_LIMITS is so. 0, or -1 with err filled. */
static int look(const char *told, struct limits *m)
{
	setenv("TL_LIMITS", told, 1);
	err = (struct err){0};
	return target_cpu.limits(m, &err);
}

static void test_caches(void)
{
	static const char *const bad[] = {"l1d",
					  "l1d=",
					  "l1d=0",
					  "l1d=-1",
					  "l1d=32K",
					  "l1=32768",
					  "l2=1,",
					  ",",
					  "l2=1;l3=2",
					  "=1",
					  "threads=2",
					  "l2=1 l3=2",
					  "wide=0",
					  "wide=3",
					  "l3rate=65",
					  "l3rate=-1",
					  "l3=9999999999999999999999"};
	struct limits here, m;
	int refused = 0, all = sizeof bad / sizeof *bad, rc;

	rc = look("", &here);
	ok(rc == 0 && here.l1d > 0 && here.l2 > 0 && here.l3 > 0,
	   "the caches of this machine: %lld, %lld and %lld bytes %s", (long long)here.l1d,
	   (long long)here.l2, (long long)here.l3, err.msg);
	rc = look("l1d=49152,l2=2097152,l3=34603008", &m);
	ok(rc == 0 && m.l1d == 49152 && m.l2 == 2097152 && m.l3 == 34603008,
	   "TL_LIMITS tells of others %s", err.msg);
	ok(!strcmp(m.isa, here.isa) && m.lanes == here.lanes && m.threads == here.threads &&
		   m.wide_turns == here.wide_turns,
	   "and of nothing else");
	rc = look("l2=77777", &m);
	ok(rc == 0 && m.l1d == here.l1d && m.l2 == 77777 && m.l3 == here.l3, "or of one of them");
	rc = look("wide=2,l2=77777", &m);
	ok(rc == 0 && m.wide_turns == 2 && m.l2 == 77777, "the widest vectors in two turns");
	rc = look("l3rate=0", &m);
	ok(rc == 0 && m.l3_rate == 0,
	   "TL_LIMITS tells that the rate of the third level is not known %s", err.msg);
	rc = look("l3rate=12", &m);
	ok(rc == 0 && m.l3_rate == 12 && m.wide_turns == here.wide_turns,
	   "bytes of the third level");
	for (int i = 0; i < all; i++) {
		rc = look(bad[i], &m);
		if (rc < 0 && err.status == EXIT_USAGE && strstr(err.msg, bad[i]))
			refused++;
		else
			printf("# \"%s\" is taken\n", bad[i]);
	}
	ok(refused == all, "what is none is a usage error: %s", err.msg);
	unsetenv("TL_LIMITS");
}

static void test_isa(void)
{
	static const char *const isas[] = {"avx512", "avx2", "scalar", "mmx"};
	struct limits m;

	for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
		const struct isa *isa = isa_find(isas[i]);
		int rc, known = isa ? isa->lanes[DTYPE_F32] : 0;

		err = (struct err){0};
		setenv("TL_ISA", isas[i], 1);
		rc = target_cpu.limits(&m, &err);
		if (cpu_has_isa(isas[i]))
			ok(rc == 0 && !strcmp(m.isa, isas[i]) && m.lanes == known,
			   "TL_ISA=%s is obeyed %s", isas[i], err.msg);
		else
			ok(rc < 0 && (known || err.status == EXIT_USAGE), "TL_ISA=%s: %s", isas[i],
			   err.msg);
	}
	unsetenv("TL_ISA");
}

static void test_threads(void)
{
	static const char *const none[] = {"abc", "0", "-2", "2x", "99999999"};
	struct limits m;
	int rc;

	setenv("OMP_NUM_THREADS", "7", 1);
	rc = target_cpu.limits(&m, &err);
	ok(rc == 0 && m.threads == 7, "OMP_NUM_THREADS tells of threads");
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		err = (struct err){0};
		setenv("OMP_NUM_THREADS", none[i], 1);
		rc = target_cpu.limits(&m, &err);
		ok(rc < 0 && err.status == EXIT_USAGE && strstr(err.msg, "no number of threads"),
		   "OMP_NUM_THREADS=%s is refused", none[i]);
	}
	setenv("OMP_NUM_THREADS", "3,2", 1);
	rc = target_cpu.limits(&m, &err);
	ok(rc == 0 && m.threads == 3, "of a list the first number counts");
	unsetenv("OMP_NUM_THREADS");
	rc = target_cpu.limits(&m, &err);
	ok(rc == 0 && m.threads >= 1, "without it they are the CPUs to run on");
}

/* A folder with all above it, or a file, below root. */
static void put(const char *root, const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof full, "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(full, 0700);
	}
	f = fopen(full, "w");
	fputs(text, f);
	fclose(f);
}

static void test_quota(void)
{
	static const struct {
		const char *what, *groups, *file[2][2];
		double cpus;
	} c[] = {
		{"no groups", "", {{0}}, INFINITY},
		{"no limit", "0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}}, INFINITY},
		{"version 2", "0::/a/b\n", {{"a/b/cpu.max", "150000 100000\n"}}, 1.5},
		{"the group above",
		 "0::/a/b\n",
		 {{"a/b/cpu.max", "400000 100000\n"}, {"a/cpu.max", "100000 50000\n"}},
		 2},
		{"a path of the host's", "0::/docker/1234\n", {{"cpu.max", "50000 100000\n"}}, 0.5},
		{"version 1",
		 "5:memory:/j\n4:cpu,cpuacct:/j\n1:cpuset:/j\n",
		 {{"cpu,cpuacct/j/cpu.cfs_quota_us", "250000\n"},
		  {"cpu,cpuacct/j/cpu.cfs_period_us", "100000\n"}},
		 2.5},
		{"no limit of version 1",
		 "3:cpu:/j\n",
		 {{"cpu/j/cpu.cfs_quota_us", "-1\n"}, {"cpu/j/cpu.cfs_period_us", "100000\n"}},
		 INFINITY},
		{"damage",
		 "0\n:\n0::\n4:cpu\n",
		 {{"cpu.max", "many of them\n"}, {"cpu/cpu.cfs_quota_us", "\n"}},
		 INFINITY},
	};

	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		const char *tmp = getenv("TMPDIR"); /* the harness removes what is in it */
		char root[128], path[128];
		double cpus;

		snprintf(root, sizeof root, "%s/tl-cpu-XXXXXX", tmp ? tmp : "/tmp");
		if (!mkdtemp(root)) {
			ok(0, "a folder is made");
			return;
		}
		put(root, "/proc/self/cgroup", c[i].groups);
		for (int j = 0; j < 2 && c[i].file[j][0]; j++) {
			snprintf(path, sizeof path, "/sys/fs/cgroup/%s", c[i].file[j][0]);
			put(root, path, c[i].file[j][1]);
		}
		cpus = quota_cpus(root);
		ok(cpus == c[i].cpus, "CPUs of a control group: %s", c[i].what);
	}
}

int main(void)
{
	test_quota();
	test_caches();
	test_isa();
	test_threads();
	return done_testing();
}
