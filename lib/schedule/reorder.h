/* Reordering: an nchw workload by an algorithm that reads and writes nhwc, as all do whose vectors
 * are of channels. What the nest reads is put in order by phases before it, what it writes by one
 * behind it, in blocks of vectors that are transposed in registers. Of other workloads nothing is
 * reordered.
 */
#ifndef TL_SCHEDULE_REORDER_H
#define TL_SCHEDULE_REORDER_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/tile/brgemm.h"

struct reorder {
	struct nest *n;
	const struct workload *w;
	int lanes;    /* of a vector */
	int dst, out; /* nchw: the result, and what the nest writes in its place */
};
struct reorder reorder_of(struct nest *n, const struct workload *w, int64_t lanes);

/* Declares the source, outside of all loops; the buffer to read. Appends phases, as reorder_out()
 * does. */
int reorder_src(struct reorder *r);
/* Declares the result and sets o, as operand_out() does. */
void reorder_out(struct reorder *r, int bias, struct brgemm_out *o);
/* At the end, when all loops are closed. streams: see nest_stream(). */
void reorder_finish(struct reorder *r, int streams);

#endif
