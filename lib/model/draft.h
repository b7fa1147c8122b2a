/* The analytic draft: a nest's run time predicted from its text alone, in microseconds of work.
 *
 * It is made to rank, not to be right. One walk over the tree, nothing unrolled:
 *
 *  - Compute. Each innermost serial loop costs, per iteration, the busiest of the CPU's ports (FMA,
 *    load, store, issue) or the latency of its chain of dependent FMAs; straight code outside of it
 *    the same without the chain; and each entry of a loop a start-up.
 *  - Memory, after the layer conditions of the execution-cache-memory model (Stengel et al.,
 *    "Quantifying performance bottlenecks of stencil computations using the execution-cache-memory
 *    model", ICS 2015): for each access the bytes it touches at each loop level follow from its
 *    affine index; a cache keeps what the body of a loop touches if that fits, so that one level
 *    further out each byte is moved once.
 *  - Threads. The parallel loops' items are dealt in contiguous stretches: the slowest thread has
 *    items / threads, rounded up, and blocks at the edge are smaller than the first.
 *
 * Caches are taken as warm: what fits is there already.
 */
#ifndef TL_MODEL_DRAFT_H
#define TL_MODEL_DRAFT_H

#include "lib/nest/nest.h"
#include "lib/space/limits.h"

/* All for the slowest thread. */
struct draft {
	double seconds;
	double compute_cycles;			 /* as if all data were in the first-level cache */
	double l2_bytes, l3_bytes, memory_bytes; /* moved from there */
	double items; /* iterations of the parallel loops, all threads' */
};

void draft_predict(const struct nest *n, const struct limits *m, struct draft *d);

#endif
