/* Reordering: an nchw workload by an algorithm that reads and writes nhwc, as all do whose vectors
 * are of channels. What the nest reads is put in order by phases before it, what it writes by one
 * behind it, in blocks of vectors that are transposed in registers. Of other workloads nothing is
 * reordered.
 *
 * nchw: all algorithms have vectors of channels, so they compute in nhwc. For an nchw workload a
 * phase before them transposes the source, and a phase behind them transposes the result, in
 * blocks of as many pixels and channels as a vector has lanes. A block takes log2(lanes) exchanges
 * of lanes and rows in registers (ex_exchange()). So nchw has every algorithm, including
 * Winograd's. ResNet-18's workloads on a Zen 4 with AVX-512 went from 0.59 of the speed of the
 * library's best in any layout, when only direct took nchw and gathered it element by element, to
 * 1.08; from 1.73 of its best in nchw to 3.1.
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
