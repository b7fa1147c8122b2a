/* The tensors of a kernel: where they lie, and where their elements are.
 *
 * Strides belong to the dimensions that an algorithm names, so that one text serves all layouts.
 */
#ifndef TL_SCHEDULE_OPERAND_H
#define TL_SCHEDULE_OPERAND_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/tile/brgemm.h"

/* Part of a tensor along one dimension, in place or in a copy: unit i is at (i - first) * stride +
 * rest. */
struct window {
	int buffer;
	struct affine first, stride, rest;
};
struct affine window_at(const struct window *w, struct affine i);

/* What is left of an extent (a symbol) from `at` on, for vectors of tiles of nr to be masked by;
 * NULL: the tiles are whole. */
const struct affine *operand_left(struct nest *n, int extent, int64_t nr, struct affine at);

/* The bias, packed and padded with zeros: dimension i has `is` values, padded to `padded`. -1: the
 * workload has none. */
struct extent {
	int64_t is, padded;
};
int operand_bias(struct nest *n, const struct workload *w, int rank, const struct extent *dim);
/* The result, of so many elements, and the post-ops. Sets c, bias, adds, post and npost of o. */
void operand_out(struct nest *n, const struct workload *w, int bias, int64_t size,
		 struct brgemm_out *o);

#endif
