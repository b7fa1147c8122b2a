/* The machine of an env, as its record tells it. */
#ifndef TL_REPORT_MACHINE_H
#define TL_REPORT_MACHINE_H

#include "lib/store/store.h"

/* Levels that data come from, as the env's probe has them. */
enum machine_level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_MEM, LEVELS };

struct machine {
	const char *id, *cpu, *isa, *cc, *libs,
		*features;	  /* "unknown" where the env does not say */
	int64_t threads;	  /* -1: unknown */
	double peak;		  /* FLOP/s of all threads; NAN: not probed */
	double bandwidth[LEVELS]; /* bytes/s of all threads, likewise */
	double holds[LEVELS]; /* bytes, of all threads' caches, but one of the last level; of the
				 memory INFINITY */
};

/* Texts live in the arena. */
int machine_read(struct machine *v, const struct store_env *env, struct arena *a, struct err *e);

#endif
