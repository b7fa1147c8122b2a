/* A workload as CUDA's libraries have it: a convolution or a product, with a size and a stride for
 * each dimension of each tensor. A workload may be put in several ways.
 */
#ifndef TL_BASELINE_CUDA_PROBLEM_H
#define TL_BASELINE_CUDA_PROBLEM_H

#include "lib/op/op.h"

enum {
	PLACED_DIMS = 4,
	PROBLEMS = 4, /* of a workload, at most */
	PRODUCT_DIMS = 3
};

/* A tensor in the device's memory, and in the caller's array. Its dimensions are (n, c, h, w) of a
 * convolution, (oc, ic/g, kh, kw) of its weights, (b, rows, columns) of a product. */
struct placed {
	enum tensor_role role;
	int n; /* dimensions */
	int64_t size[PLACED_DIMS];
	int64_t stride[PLACED_DIMS]; /* in the device's memory, which has no gaps */
	int64_t from[PLACED_DIMS];   /* in the caller's array */
};

struct problem {
	int is_product;			    /* else a convolution */
	int is_transposed;		    /* a product's right side lies column by column */
	int is_nhwc;			    /* a convolution's channels are innermost */
	const char *layout;		    /* as baseline_layout() has it */
	struct placed tensor[TENSOR_ROLES]; /* of all roles, whether the workload has them or not */
	int64_t stride[2], dilation[2], near[2], far[2]; /* of a convolution, in pixels */
};

/* All ways to put the workload, the workload's own layout first; how many. None: these libraries
 * have no such operator. */
int problem_list(const struct workload *w, struct problem p[PROBLEMS]);
/* Elements of a tensor. */
int64_t placed_elements(const struct placed *t);

#endif
