/* Resizing along one dimension, each output as a sum of a few inputs with weights. The others
 * follow one after the other, so that any number of dimensions is resized, and by any kernel.
 */
#ifndef TL_RUN_RESAMPLE_H
#define TL_RUN_RESAMPLE_H

#include <stdint.h>

/* Data: outer x in x inner, dense; result: outer x out x inner. Output o is the sum over its `taps`
 * of weight[o * taps + k] times input index[o * taps + k], or times `fill` where that is -1. */
struct resample {
	int64_t outer, in, out, inner, taps;
	const int64_t *index;
	const float *weight;
	float fill;
};

/* The part of thread `thread` of `threads` of a struct resample. Buffers: data, result. 0. */
int resample_run(const void *with, float *const *buffers, int thread, int threads);

#endif
