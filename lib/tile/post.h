/* Post-ops: what happens to an output value between the sum and the store. */
#ifndef TL_TILE_POST_H
#define TL_TILE_POST_H

#include "lib/nest/nest.h"
#include "lib/space/types.h"

/* Does a tensor that is added come before all that is not a sum? Then it may as well be what the
 * sum begins with. 0 also if nothing is added. */
int post_adds_first(int npost, const struct post_op *post);

/* Is the bias the first of them? Then the sum may begin with it. */
int post_bias_first(int npost, const struct post_op *post);

int post_has(int npost, const struct post_op *post, enum post kind);

/* The post-ops bias, add, mul, scale and shift take these for one value or vector. add NULL: it is
 * in the value already. */
struct post_values {
	const struct expr *bias, *add, *mul, *scale, *shift;
	int is_whole; /* the result has whole numbers: a shift is added to the nearest of them, as
			 quantization is defined */
	enum elem result; /* what it is stored as: activations are as exact as that (activation.h)
			   */
};
/* x through the post-ops. Appends statements (activation.h). */
const struct expr *post_apply(struct nest *n, const struct expr *x, int npost,
			      const struct post_op *post, const struct post_values *with);

/* The end of an operator's definition: the sum, a double if wide, goes through the post-ops and is
 * stored. Buffers that the workload does not have are -1. */
struct post_naive {
	int wide, sum; /* sum: a register of scalars, of which sum_at is the one that is meant */
	int bias, add, mul, scale, shift, dst;
	enum elem result; /* of whole numbers: it is rounded to the nearest one that there is */
	struct affine sum_at, bias_at,
		at; /* bias_at: in scale and shift, too; at: in add, mul and dst */
	int npost;
	const struct post_op *post;
};
/* Returns how many of so many neighbouring outputs are summed side by side: additions to one sum
 * wait for each other. */
int64_t post_together(int64_t outputs);
/* Opens the loop over these; sum_at becomes its variable, which is returned. */
int post_open(struct nest *n, struct post_naive *p, int64_t together);
/* Sets all of these sums to zero. */
void post_begin(struct nest *n, struct post_naive *p, int64_t together);
/* sum += a * b, for single-precision a and b. */
void post_accumulate(struct nest *n, const struct post_naive *p, const struct expr *a,
		     const struct expr *b);
void post_finish(struct nest *n, const struct post_naive *p);

#endif
