/* Units of work that threads share: those of a block, of which thread t takes units t, t + threads,
 * and so on, in the turns of a loop; or those of all blocks, of which each takes one. The caller
 * closes what these functions open. */
#ifndef TL_SCHEDULE_SHARE_H
#define TL_SCHEDULE_SHARE_H

#include "lib/nest/nest.h"

/* Opens the loop over a thread's units, of so many in all; returns the unit, and in *turn the
 * number of the turn. */
struct affine share_units(struct nest *n, enum loop_kind kind, int thread, int threads,
			  int64_t units, struct affine *turn);

/* A unit's place among units that lie in rows of `by`. */
struct shared_unit {
	struct affine low, high;
};
/* The same for units in rows, with the loop unrolled. Where the threads are whole rows, `low` is
 * the same in all turns, and a number of the thread alone: what depends on it is computed once. */
struct shared_unit share_rows(struct nest *n, int thread, int threads, int64_t units, int64_t by);

/* Opens the loops over blocks and threads, each of which has one of so many units; returns it. */
struct affine share_grid(struct nest *n, int threads, int64_t units);
/* The innermost place of a unit, in [0, extent), by this name. *unit is the rest of it then. */
struct affine share_place(struct nest *n, const char *name, struct affine *unit, int64_t extent);

#endif
