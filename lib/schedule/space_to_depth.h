/* Space to depth: a convolution of few channels as one of unit stride, in which each block of sh x
 * sw pixels is one pixel with all their channels (Shi et al., "Real-time single image and video
 * super-resolution using an efficient sub-pixel convolutional neural network", CVPR 2016, the
 * inverse of section 2.2). A first layer's 3 channels then fill a vector, and its 7x7 taps of
 * stride 2 are 4x4 taps.
 */
#ifndef TL_SCHEDULE_SPACE_TO_DEPTH_H
#define TL_SCHEDULE_SPACE_TO_DEPTH_H

#include "lib/schedule/conv.h"

/* What the convolution was before. Blocks begin at the image's first pixel; the kernel's first tap
 * is tap (top, left) of its first block, and those before it are zero. */
struct space_to_depth {
	int64_t sh, sw, top, left;
	int64_t ic, ih, iw, kh, kw;
};

/* The same convolution, as it is: blocks of one pixel. */
struct space_to_depth space_to_depth_none(const struct conv *p);
/* p, of unit dilation and one group, becomes the convolution of blocks. */
struct space_to_depth space_to_depth(struct conv *p);
/* Makes the blocks' tensor, nhwc with `pitch` channels (whole vectors; zeros behind those that
 * there are), from src by a phase of its own. Returns its buffer. */
int space_to_depth_pixels(struct nest *n, const struct space_to_depth *d, const struct conv *p,
			  int src, int lanes, int64_t pitch);

#endif
