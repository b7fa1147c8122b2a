/* Images of another size, by the nearest pixel or between the nearest ones (ONNX's Resize). */
#ifndef TL_RUN_RESIZE_H
#define TL_RUN_RESIZE_H

#include <stdint.h>

/* Along one dimension: output pixel i is (1 - part[i]) * input pixel low[i] + part[i] * high[i]. */
struct resize_axis {
	int64_t in, out;
	const int64_t *low, *high;
	const float *part;
	int is_whole; /* all parts are 0 */
};

struct resize {
	int64_t images, channels; /* channels are dense */
	struct resize_axis h, w;
	int64_t in_pixel, out_pixel; /* strides from pixel to pixel; rows and images are dense */
};

/* The part of thread `thread` of `threads` of a struct resize. Buffers: the images, the result. 0.
 */
int resize_run(const void *with, float *const *buffers, int thread, int threads);

#endif
