/* Which threads of a block take its branches (NODE_IF).
 *
 * A phase of a nest of blocks is walked with a few samples of all its turns: of blocks, loops and
 * warps. Each sample is a warp, with all of its threads, and a turn of each loop around. Where
 * there are no more turns than samples, all of them are looked at, and shares are exact; otherwise
 * the samples are a lattice (Korobov; Niederreiter, "Random Number Generation and Quasi-Monte Carlo
 * Methods", section 5), in which each loop by itself is sampled evenly.
 *
 * The walk is the caller's: it calls branch_for() at each loop, branch_let() at each let, and
 * branch_enter() and branch_leave() around what a branch does. Only variables that conditions need
 * are computed. A condition that is not known counts as one that holds.
 */
#ifndef TL_DRAFT_BRANCH_H
#define TL_DRAFT_BRANCH_H

#include <stdint.h>

#include "lib/draft/warp.h"
#include "lib/nest/nest.h"

enum { BRANCH_SAMPLES = 32 };

/* Each sample has a bit for each thread that comes here. */
struct branch_mask {
	uint32_t threads[BRANCH_SAMPLES];
};

struct branch {
	const struct nest *n;
	int samples;
	int is_all;  /* these are all turns */
	int threads; /* of a warp */
	struct {
		char is_needed, is_known, differs; /* differs: from thread to thread */
		int step;   /* of a loop: how many samples its turn stays the same, where all are */
		int depth;  /* of a loop: around it are so many that are needed */
		double *at; /* by sample, and then by thread where it differs */
	} var[NEST_VARS];
	double *values;
	struct branch_mask all, now; /* threads that there are, and of them those that are here */
};

/* t: the phase's first node. b has to be closed. */
void branch_open(struct branch *b, const struct nest *n, const struct node *t);
void branch_close(struct branch *b);

void branch_for(struct branch *b, const struct node *loop);
/* All samples are in this turn of a loop, from 0. */
void branch_turn(struct branch *b, const struct node *loop, int64_t turn);
void branch_let(struct branch *b, const struct node *let);
/* Enters the body of a branch, or what it does else. Returns what branch_leave() gets. */
struct branch_mask branch_enter(struct branch *b, const struct node *branch, int otherwise);
void branch_leave(struct branch *b, const struct branch_mask *before);

/* The share of all threads and turns that come here; and that of warps, which come if any of their
 * threads does. */
struct branch_share {
	double threads, warps;
};
struct branch_share branch_share(const struct branch *b);

#endif
