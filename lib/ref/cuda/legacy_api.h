/* The functions of cuDNN 7.6 to 8 for convolutions and what may follow them. Version 9 has graphs
 * instead (cudnn.h). Names and numbers are cuDNN's, without its prefix; a `void *` that is no
 * memory is a descriptor. The library is opened when it is first needed.
 */
#ifndef TL_REF_CUDA_LEGACY_API_H
#define TL_REF_CUDA_LEGACY_API_H

#include <stddef.h>

#include "lib/base/err.h"

enum legacy_format { FORMAT_NCHW = 0, FORMAT_NHWC = 1 };
/* CUDNN_..._MATH. Of single precision, DEFAULT_MATH rounds products as TF32 from version 8 on,
 * where the device can, and FMA_MATH, which version 8 has added, does not. */
enum legacy_math { DEFAULT_MATH = 0, TENSOR_OP_MATH = 1, FMA_MATH = 3 };
/* CUDNN_CONVOLUTION_FWD_ALGO_... */
enum { ALGO_IMPLICIT_PRECOMP_GEMM = 1, ALGO_COUNT = 8 };
enum legacy_activation {
	ACTIVATION_SIGMOID = 0,
	ACTIVATION_RELU = 1,
	ACTIVATION_TANH = 2,
	ACTIVATION_CLIPPED_RELU = 3,
	ACTIVATION_IDENTITY = 5,
	ACTIVATION_SWISH = 6, /* from version 8.2 on */
};
enum { OP_TENSOR_ADD = 0, OP_TENSOR_MUL = 1 };
/* The fused functions want it so. */
enum { NOT_PROPAGATE_NAN = 0 };
/* Versions: 7605 is 7.6.5. */
enum { LEGACY_FIRST = 7600, LEGACY_FMA = 8000, LEGACY_SWISH = 8200, LEGACY_END = 9000 };

struct legacy_api {
	size_t (*version)(void);
	const char *(*error)(int status);
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*stream)(void *handle, void *stream);

	int (*make_tensor)(void **d);
	int (*set_tensor)(void *d, int format, int type, int n, int c, int h, int w);
	int (*free_tensor)(void *d);
	int (*make_filter)(void **d);
	int (*set_filter)(void *d, int type, int format, int k, int c, int h, int w);
	int (*free_filter)(void *d);
	int (*make_convolution)(void **d);
	int (*set_convolution)(void *d, int pad_h, int pad_w, int stride_h, int stride_w,
			       int dilation_h, int dilation_w, int mode, int compute);
	int (*set_math)(void *d, int math);
	int (*set_groups)(void *d, int groups);
	int (*free_convolution)(void *d);
	int (*make_activation)(void **d);
	int (*set_activation)(void *d, int mode, int nan, double ceiling);
	int (*free_activation)(void *d);
	int (*make_op)(void **d);
	int (*set_op)(void *d, int op, int compute, int nan);
	int (*free_op)(void *d);

	int (*workspace)(void *handle, void *x, void *w, void *convolution, void *y, int algorithm,
			 size_t *bytes);
	/* y = alpha * convolution(x, w) + beta * y; factors are float. */
	int (*convolve)(void *handle, const void *alpha, void *x, const void *x_at, void *w,
			const void *w_at, void *convolution, int algorithm, void *workspace,
			size_t bytes, const void *beta, void *y, void *y_at);
	/* y = activation(alpha * convolution(x, w) + beta * z + bias) */
	int (*convolve_all)(void *handle, const void *alpha, void *x, const void *x_at, void *w,
			    const void *w_at, void *convolution, int algorithm, void *workspace,
			    size_t bytes, const void *beta, void *z, const void *z_at, void *bias,
			    const void *bias_at, void *activation, void *y, void *y_at);
	/* c = alpha * a + beta * c */
	int (*add)(void *handle, const void *alpha, void *a, const void *a_at, const void *beta,
		   void *c, void *c_at);
	/* c = op(alpha * a, beta * b) + gamma * c */
	int (*combine)(void *handle, void *op, const void *alpha, void *a, const void *a_at,
		       const void *beta, void *b, const void *b_at, const void *gamma, void *c,
		       void *c_at);
	/* y = alpha * activation(x) + beta * y */
	int (*activate)(void *handle, void *activation, const void *alpha, void *x,
			const void *x_at, const void *beta, void *y, void *y_at);
};

/* NULL with e filled: the library is not there, lacks a function, or is none of these versions. */
const struct legacy_api *legacy_api_open(struct err *e);

#endif
