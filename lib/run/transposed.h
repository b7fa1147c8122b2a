/* Transposed convolution of images whose channels are dense (ONNX's ConvTranspose): each output
 * pixel is the sum over the input pixels whose windows reach it.
 */
#ifndef TL_RUN_TRANSPOSED_H
#define TL_RUN_TRANSPOSED_H

#include <stdint.h>

struct transposed {
	int64_t images, groups, ic, oc;				/* ic, oc: channels of one group */
	int64_t ih, iw, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw; /* dh, dw: 1 is none */
	int has_bias;
};

enum { TRANSPOSED_SRC, TRANSPOSED_WEIGHTS, TRANSPOSED_BIAS, TRANSPOSED_DST, TRANSPOSED_OPERANDS };

/* The part of thread `thread` of `threads` of a struct transposed. Weights: kernel row x kernel
 * column x input channel x output channel of a group. Without a bias its buffer is not looked at.
 * 0. */
int transposed_run(const void *with, float *const *buffers, int thread, int threads);

#endif
