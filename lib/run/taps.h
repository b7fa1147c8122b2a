/* Convolutions tap by tap, in plain C, of one to three dimensions: transposed ones (ONNX's
 * ConvTranspose), whose output pixels are sums over the input pixels whose windows reach them; and
 * those that are no workload, because their weights are computed or their padding is wider than
 * their window.
 *
 * Channels are dense, and pixels, rows, planes and images follow each other without gaps.
 */
#ifndef TL_RUN_TAPS_H
#define TL_RUN_TAPS_H

#include <stdint.h>

enum { TAPS_RANK = 3 }; /* dimensions; those that are missing come first, and are 1 */

struct taps {
	int is_transposed, has_bias;
	int64_t images, groups, ic, oc; /* ic, oc: channels of one group */
	int64_t in[TAPS_RANK], out[TAPS_RANK], kernel[TAPS_RANK], stride[TAPS_RANK], pad[TAPS_RANK];
	int64_t dilation[TAPS_RANK]; /* 1 is none */
};

enum { TAPS_SRC, TAPS_WEIGHTS, TAPS_BIAS, TAPS_DST, TAPS_OPERANDS };

/* The part of thread `thread` of `threads` of a struct taps. Weights: tap x group x input channel x
 * output channel. Without a bias its buffer is not looked at. 0. */
int taps_run(const void *with, float *const *buffers, int thread, int threads);

#endif
