/* A walk over a nest: what its program does, counted from the text alone, nothing unrolled.
 *
 *  - Operations, by the port they keep busy; each innermost serial loop's cycles, which are those
 *    of its busiest port (FMA, load, store, issue), or the latency of its chain of dependent FMAs;
 *    and each entry of a loop a start-up.
 *  - Sites, where memory is touched: the bytes that each loop level touches follow from the affine
 *    index. From these, the working set of each loop, and the bytes that move into a cache of any
 *    size, by the layer conditions of the execution-cache-memory model (Stengel et al.,
 *    "Quantifying performance bottlenecks of stencil computations using the execution-cache-memory
 *    model", ICS 2015): a cache keeps what the body of a loop touches if that fits, so that one
 *    level further out each byte is moved once.
 *  - Threads. The parallel loops' items are dealt in contiguous stretches: the slowest thread has
 *    items / threads, rounded up. All counts are that thread's.
 *  - Phases. Their cycles add up, each with the slowest thread's.
 */
#ifndef TL_DRAFT_WALK_H
#define TL_DRAFT_WALK_H

#include "lib/nest/nest.h"
#include "lib/space/limits.h"

enum {
	WALK_DEPTH = NEST_LOOP_DEPTH,
	WALK_SITES = NEST_SITES,
	WALK_LOOPS = NEST_LOOPS,
	WALK_SIZES = 16
};

/* A value over the loops around it: its mean, and what one iteration of each adds. Slopes are set
 * where loops has a bit, for most values do not follow most loops. */
struct walk_form {
	double mean;
	uint32_t loops;
	double slope[WALK_DEPTH];
};

struct walk_loop {
	int id;
	enum loop_kind kind;
	double n;     /* iterations, mean */
	double dealt; /* a thread's share of them */
};

/* Where memory is touched. */
struct walk_site {
	int buffer;
	int store;
	int depth;
	int loop[WALK_DEPTH];
	double share;  /* of the passes of its loops in which the conditions around it hold */
	double times;  /* the same, twice for a store, whose lines come and go */
	double pages;  /* that one run of the innermost serial loop touches */
	double middle; /* of what it touches, bytes from the buffer's start */
	double span[WALK_DEPTH + 1];	/* bytes from the first to the last of touched */
	double touched[WALK_DEPTH + 1]; /* bytes by one pass of the loops from this depth inwards */
	double moved[WALK_DEPTH + 1];	/* of these, without what other sites bring */
	double outside[WALK_DEPTH + 1]; /* passes of the loops outside of this depth */
};

/* A loop's sites: those of its body, in the text's order, and the depth that they have it from. */
struct walk_sites {
	int first, end, depth;
};

/* The last site followed from these: the innermost loop's id (-1: none), lanes and slopes. The last
 * two members follow from them, too, and are in no site. */
struct walk_last {
	int inner, lanes;
	struct walk_form form;
	int conflicts, straddles;
};

/* By the port that an operation keeps busy. */
enum walk_op { WALK_FMA, WALK_ARITH, WALK_LOAD, WALK_STORE, WALK_OTHER, WALK_OPS };

struct walk_ops {
	double n[WALK_OPS];    /* operations, a vector or a scalar each */
	double more[WALK_OPS]; /* turns of theirs beyond the first: limits.wide_turns */
};

/* The innermost loop that does most of the multiply-adds. */
struct walk_inner {
	struct walk_ops ops; /* of one iteration */
	double chain;	     /* FMAs of it that wait for their own last result */
	double n;	     /* iterations a run */
	double cycles;	     /* of one */
	double fmas;	     /* in all */
	int depth;
	struct walk_loop path[WALK_DEPTH]; /* the loops around it, itself the last */
};

/* What happens between two barriers: items of the parallel loops, a thread's share of them, and the
 * cycles of one, all data in the first-level cache. */
struct walk_phase {
	double items, share, cycles;
};

struct walk {
	const struct nest *n;
	const struct limits *m;
	int64_t registers; /* that live at once */
	double threads;
	int nphases;
	struct walk_phase phase[NEST_PHASES];
	int longest; /* phase */
	/* A thread's. */
	double cycles; /* of all phases, as above */
	struct walk_ops ops;
	double flops;
	double scalars;	      /* loads of one value */
	double straddles;     /* vector accesses that may cross lines */
	double masks;	      /* accesses with lanes left out */
	double prefetches[2]; /* lines, to the first-level cache and to the second-level one */
	double code;	      /* operations in the text, unrolled */
	double inner_cycles;  /* in innermost loops that multiply and add */
	struct walk_inner inner;
	double conflict_bytes; /* extra traffic from the second-level cache */
	double borders;	       /* of walk_borders() */
	int nloops, nsites;
	struct walk_site site[WALK_SITES];
	struct walk_sites body[WALK_LOOPS];
	/* While it walks. */
	int folded;	/* no register is left for a broadcast: each multiply-add loads its own */
	int first_item; /* look at the first item of the parallel loops instead of their mean */
	int depth;
	struct walk_loop path[WALK_DEPTH];
	double outside[WALK_DEPTH + 1], copies[WALK_DEPTH + 1];
	struct walk_form var[NEST_VARS];
	struct walk_form view[NEST_BUFFERS];
	struct walk_last last;
};

/* static_check() has found nothing against the nest, and counted the registers. first_item: the
 * first item of the parallel loops is looked at instead of their mean, without sites. */
void walk_nest(struct walk *w, const struct nest *n, const struct limits *m, int64_t registers,
	       int first_item);
/* Where threads have parts of the same rows of a result, each thread's prefetches take lines at the
 * border from the other one, which writes them. Returns how often a thread meets such a border at a
 * store: of an index that follows the open loops by this form, in elements of so many bytes. */
double walk_borders(const struct walk *w, const struct walk_form *f, int size);
/* Bytes that a thread touches: of one iteration of each loop, by its id; of the whole, by buffer.
 * Returns the sum of these. What several sites touch counts once. */
double walk_working_sets(struct walk *w, double body[WALK_LOOPS], double by_buffer[NEST_BUFFERS]);
/* Bytes that move into a cache of this size, by buffer. Returns their sum. */
double walk_traffic(const struct walk *w, double size, double whole, const double *body,
		    double by_buffer[NEST_BUFFERS]);
/* The sums for n caches, WALK_SIZES at most, in one go. */
void walk_traffics(const struct walk *w, const double *size, int n, double whole,
		   const double *body, double *sum);

#endif
