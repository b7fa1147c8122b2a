/* A workload's post-ops as a chain of cuDNN's pointwise operations. */
#ifndef TL_BASELINE_CUDA_CHAIN_H
#define TL_BASELINE_CUDA_CHAIN_H

#include "lib/op/op.h"
#include "lib/baseline/cuda/cudnn.h"

enum { CHAIN_LINKS = 4 * OP_MAX_POSTS + 3 };

/* The second operand of an operation. */
enum link_operand {
	LINK_NONE,
	LINK_TENSOR, /* of the workload */
	LINK_ZEROS,  /* in a tensor's place */
	LINK_NUMBER, /* one for all elements */
	LINK_EARLIER /* what went into the operation two before this one */
};

struct link {
	enum cudnn_pointwise mode;
	enum link_operand operand;
	enum tensor_role role;
	float number;		    /* LINK_NUMBER */
	double lower, upper, slope; /* of POINTWISE_RELU_FWD */
};

/* The post-ops from the given one on; the number of links. */
int chain_make(const struct workload *w, int from, struct link link[CHAIN_LINKS]);
/* The link that does nothing but to convert its operand. */
struct link chain_conversion(void);
/* The same as cuDNN's kernels for y = relu(convolution + z + bias) want it: with all of these four,
 * zeros where the workload has none. 0: the post-ops are no such sum. */
int chain_make_whole(const struct workload *w, struct link link[CHAIN_LINKS]);

#endif
