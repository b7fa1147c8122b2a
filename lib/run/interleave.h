/* Copies planes of bytes to a few channels that come last, as images in 8 bits are. A nest would
 * make a number in single precision of each byte. */
#ifndef TL_RUN_INTERLEAVE_H
#define TL_RUN_INTERLEAVE_H

#include "lib/run/place.h"

enum { INTERLEAVE_MOST = 4 }; /* channels */

/* From byte `row` of plane `channel` of an image to byte row * channels + channel. */
struct interleave {
	int64_t images, rows;
	int channels;
	int64_t plane, from_image, to_image; /* bytes from one to the next */
};

/* Is a copy between these places such a one? */
int interleave_of(const struct place *from, const struct place *to, struct interleave *p);
/* Copies the rows that are thread's part of a struct interleave. The buffers are what is read and
 * what is written. Returns 0. */
int interleave_run(const void *with, float *const *buffers, int thread, int threads);

#endif
