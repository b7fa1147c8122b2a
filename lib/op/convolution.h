/* Convolutions along any number of axes, with groups (and so depthwise), strides, dilation and any
 * padding: what conv2d and conv3d share, and pools, which slide such windows without weights.
 *
 * The dimensions of such an operator are mb, g, ic, the sizes of the input along each axis, oc, the
 * sizes of the output, and along each axis those of kernel, stride, padding and dilation. The last
 * axis is the width. Pools have no g and oc: each channel is on its own. The problem is written as
 * oneDNN's benchdnn writes it. Like benchdnn, and unlike other readers of the notation, a text with
 * an output size but without padding means the padding that makes this size.
 */
#ifndef TL_OP_CONVOLUTION_H
#define TL_OP_CONVOLUTION_H

#include "lib/op/op.h"

enum { CONVOLUTION_AXES = 3 };

enum convolution_kind {
	CONVOLUTION,
	CONVOLUTION_MAX,  /* a pool: the largest value of the window */
	CONVOLUTION_MEAN, /* a pool: the mean of the values of the window that are no padding */
};

/* The form of such an operator (op->form). */
struct convolution {
	enum convolution_kind kind;
	const struct op *op;
	int axes;
	const char *axis[CONVOLUTION_AXES]; /* "height" */
	enum layout last, first; /* of channels that are the last dimension, or the second */
};

int convolution_parse(const struct op *op, const char *prob, int64_t *dim, struct err *e);
void convolution_print(const struct op *op, const int64_t *dim, struct buf *out);
int convolution_check(const struct workload *w, struct err *e);
void convolution_follow(const struct op *op, const int64_t *from, const char *set, int64_t *dim);
int64_t convolution_flops(const struct workload *w);
int convolution_tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS]);
int convolution_naive(const struct workload *w, int wide, struct nest *n, struct err *e);
int convolution_naive_pool(const struct workload *w, int wide, struct nest *n, struct err *e);

#endif
