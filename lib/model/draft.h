/* The analytic draft: a nest's run time predicted from its text alone, in microseconds of work.
 *
 * It is made to rank, not to be right. From one walk over the nest (walk.h) follow the cycles of
 * the slowest thread, as if all data were in the first-level cache, and the bytes that move between
 * the levels; blocks at the edge are smaller than the first. The greatest of these times hides
 * most of the others. Caches are taken as warm: what fits is there already.
 */
#ifndef TL_MODEL_DRAFT_H
#define TL_MODEL_DRAFT_H

#include "lib/model/walk.h"

/* All for the slowest thread. */
struct draft {
	double seconds;
	double compute_cycles;			 /* as if all data were in the first-level cache */
	double uneven_cycles;			 /* of them, because items are not alike */
	double l2_bytes, l3_bytes, memory_bytes; /* moved from there */
	int forks;    /* starts of a team, and barriers: 0 where one thread runs it */
	double items; /* iterations of the longest phase's parallel loops, all threads' */
	/* What it follows from. */
	struct walk walk;
	double whole, body[WALK_LOOPS]; /* working sets, bytes */
};

void draft_predict(const struct nest *n, const struct limits *m, struct draft *d);

#endif
