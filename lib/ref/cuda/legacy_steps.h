/* Post-ops as calls of cuDNN 7.6 to 8, one after the other, on results that lie in the output or in
 * the middle (stage.h). What these versions have no function for (gelu, hardswish, leaky_relu, a
 * clip that does not begin at 0; before 8.2 silu) makes no steps.
 */
#ifndef TL_REF_CUDA_LEGACY_STEPS_H
#define TL_REF_CUDA_LEGACY_STEPS_H

#include "lib/ref/cuda/legacy_kit.h"

struct legacy_step {
	void *op;	  /* descriptors; op: of an operation that moves its results */
	void *activation; /* NULL: it adds or multiplies */
	void *operand;
	const void *operand_at;
	int moves; /* from where results lie to the other place */
};

struct legacy_steps {
	struct legacy_step step[OP_MAX_POSTS];
	int n, moves;
	void *dst; /* descriptor of the results */
};

/* The workload's post-ops from the given one on. 1; 0: there are no such steps, or (e filled) the
 * device has no memory. */
int legacy_steps_make(struct legacy_kit *k, const struct problem *p, int from,
		      struct legacy_steps *s, struct err *e);
/* Makes them lead from the middle to the output. 0: they cannot. */
int legacy_steps_from_middle(struct legacy_kit *k, struct legacy_steps *s);
/* Where results must lie, so that the last step writes the output. */
void *legacy_steps_begin(const struct legacy_kit *k, const struct legacy_steps *s);
int legacy_steps_run(const struct legacy_kit *k, const struct legacy_steps *s, void *at,
		     struct err *e);

#endif
