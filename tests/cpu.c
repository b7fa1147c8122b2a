/* What the environment says of the machine: instruction set, caches, threads. */
#include <stdlib.h>
#include <string.h>

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
	ok(!strcmp(m.isa, here.isa) && m.lanes == here.lanes && m.threads == here.threads,
	   "and of nothing else");
	rc = look("l2=77777", &m);
	ok(rc == 0 && m.l1d == here.l1d && m.l2 == 77777 && m.l3 == here.l3, "or of one of them");
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

int main(void)
{
	test_caches();
	test_isa();
	test_threads();
	return done_testing();
}
