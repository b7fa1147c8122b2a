/* Element types, layouts and post-ops: the closed lists that a workload is written with. */
#ifndef TL_SPACE_TYPES_H
#define TL_SPACE_TYPES_H

enum dtype { DTYPE_F32, DTYPES };

/* Layout of the activations in memory, outermost dimension first. Weights have no layout in a
 * workload: they are constant and packed off the clock (oihw is their logical order, k x n for
 * matmul). */
enum layout { LAYOUT_NHWC, LAYOUT_NCHW, LAYOUT_AB, LAYOUTS }; /* ab: row-major matrices */

/* Fused element-wise operations on the output, in the order of the list. */
enum post {
	POST_BIAS,  /* + bias[output channel or column] */
	POST_ADD,   /* + a tensor of the output's shape and layout */
	POST_RELU,  /* max(x, 0) */
	POST_RELU6, /* min(max(x, 0), 6) */
	POSTS
};

const char *dtype_name(enum dtype d);
const char *layout_name(enum layout l);
const char *post_name(enum post p);
/* The value of a name of n bytes, or -1. */
int dtype_find(const char *s, unsigned long n);
int layout_find(const char *s, unsigned long n);
int post_find(const char *s, unsigned long n);
int dtype_size(enum dtype d); /* bytes */

#endif
