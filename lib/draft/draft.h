/* The analytic draft: predicts a nest's run time from its text alone. This takes microseconds.
 *
 * The draft is made to rank candidates, not to be exact. One walk over the nest (walk.h) gives the
 * cycles of the slowest thread, as if all data were in the first-level cache, and the bytes that
 * move between the cache levels. Blocks at the edge are smaller than the first. The greatest of
 * these times hides most of the others. Data that fit a cache are there, but for operands that are
 * said to be cold: a thread brings what it touches of those from memory once, through all levels.
 * A team shares the third level: what several threads touch is there once, and came from memory
 * once.
 *
 * The wait for cold operands is added to the rest. A thread reads a panel of weights when it needs
 * it, and arithmetic hides little of the latency, unless the panel was prefetched. Threads that
 * read the same weights do so at the same time, so that one saves the other no time: each waits for
 * all that it touches, at the rate that a thread has of the memory (assumed_stream()).
 * docs/EXPERIMENTS.md, "Cold weights, each thread by itself", has the figures.
 *
 * A nest of blocks of threads is not walked. Its time is that of occupancy.h, with warm caches.
 */
#ifndef TL_DRAFT_DRAFT_H
#define TL_DRAFT_DRAFT_H

#include "lib/draft/occupancy.h"
#include "lib/draft/walk.h"

struct draft {
	const struct nest *n;
	const struct limits *m;
	double seconds;
	double warm_s; /* the same if no operand were cold */
	/* A nest of blocks: its phases. 0: it has none, and the rest is told, for the slowest
	 * thread. */
	int phases;
	struct occupancy phase[NEST_PHASES];
	double compute_cycles;			 /* as if all data were in the first-level cache */
	double uneven_cycles;			 /* the part of them that is due to unequal items */
	double l2_bytes, l3_bytes, memory_bytes; /* moved from there, no operand cold */
	double others_bytes; /* read from what others wrote in a phase before, in narrow elements */
	int forks;	     /* starts of a team, and barriers; 0 with one thread */
	double items;	     /* iterations of the longest phase's parallel loops, all threads' */
	/* What the prediction is made from. */
	struct walk walk;
	double whole, body[WALK_LOOPS]; /* working sets, bytes */
};

/* registers: static_check()'s. cold: a set of roles (1 << the role of a buffer); operands of these
 * are in no cache when the kernel starts. */
void draft_predict(const struct nest *n, const struct limits *m, int64_t registers, unsigned cold,
		   struct draft *d);
/* Does the draft put a candidate so far behind the best so far that no model is to be believed?
 * best_s 0: there is none so far. */
int draft_refutes(double draft_s, double best_s);

#endif
