/* Takes maxima of windows in images of 8 bits, whose channels come last: many channels at a time.
 *
 * Nests compute in single precision; a maximum of bytes needs no conversion, and takes a quarter of
 * the vectors.
 */
#ifndef TL_RUN_LARGEST_H
#define TL_RUN_LARGEST_H

#include <stdint.h>

struct largest {
	int is_signed; /* s8, else u8 */
	int64_t images, channels;
	int64_t in_pixel, out_pixel; /* elements from pixel to pixel */
	int64_t in[2], out[2], kernel[2], stride[2], before[2];
	int64_t dilation[2]; /* 1: none */
};

/* Computes the rows of the result that are thread's part of a struct largest. The buffers are the
 * images and the result. What lies outside of an image does not count. Returns 0. */
int largest_run(const void *with, float *const *buffers, int thread, int threads);

#endif
