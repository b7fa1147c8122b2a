/* Means of whole images in 8 bits, by channel, as a step in plain C: sums of 16 bits hold 256
 * pixels, where a nest would make a number in single precision of each byte. */
#ifndef TL_RUN_MEANS_H
#define TL_RUN_MEANS_H

#include <stdint.h>

struct means {
	int is_signed;
	int64_t images, pixels, channels; /* fewer than 2^24 pixels */
	int64_t in_pixel;		  /* bytes from one to the next; images follow each other */
};

/* Makes the means of the channels that are thread's part. The buffers are the images and images x
 * channels means. Returns 0. */
int means_run(const void *with, float *const *buffers, int thread, int threads);

#endif
