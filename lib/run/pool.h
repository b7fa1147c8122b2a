/* Pooling over images whose channels are dense: the maximum or the mean of a window. A mean over
 * the whole image is a pool, too.
 */
#ifndef TL_RUN_POOL_H
#define TL_RUN_POOL_H

#include <stdint.h>

#include "lib/nest/nest.h"

struct pool {
	int is_mean;
	/* Of a mean: the padding counts, as zeros. It reaches as far as these sizes of the image
	 * with it say; what a last window has behind it does not count. */
	int counts_padding;
	int64_t to_row, to_column; /* from the image's first row and column on */
	int64_t images, channels;
	int64_t ih, iw, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw; /* dh, dw: 1 is none */
	enum elem in, out;
	int64_t in_pixel, out_pixel; /* strides from pixel to pixel; rows and images are dense */
};

/* Slots: the images, the result. */
void pool_nest(const struct pool *p, int lanes, struct nest *n);

#endif
