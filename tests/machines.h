/* A machine that candidates are proposed for, whatever this one is: for tests that interpret them.
 */
#ifndef TL_TESTS_MACHINES_H
#define TL_TESTS_MACHINES_H

#include "lib/search/search.h"
#include "lib/target/target.h"
#include "tests/tap.h"

/* One of this instruction set, with two threads and small caches. */
static inline struct data_env machine_of(const char *isa)
{
	struct data_env env = {0};

	if (target_isa_limits(isa, &env.limits) < 0)
		bail_out("no %s", isa);
	env.limits.threads = 2;
	env.limits.l1d = 32 << 10;
	env.limits.l2 = 512 << 10;
	env.limits.l3 = 32 << 20;
	return env;
}

/* The algorithm's number in algo_list. */
static inline int number_of(const struct algo *algo)
{
	int a = 0;

	while (algo_list[a] != algo)
		a++;
	return a;
}

#endif
