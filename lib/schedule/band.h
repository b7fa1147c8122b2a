/* A band: the input rows that a block of output rows reads, with their padding, in the thread's
 * workspace. It serves padding and strides alike: pixels lie side by side, with the channels of
 * one group, or of a chunk of them, innermost. A band may be of several groups, one behind the
 * other: pixels of few channels are then read with their neighbours, in the order of memory. So may
 * it be of the vectors of a woven tile (lib/tile/woven.h): a pixel of each is a vector, whose
 * channels the copy weaves. */
#ifndef TL_SCHEDULE_BAND_H
#define TL_SCHEDULE_BAND_H

#include "lib/schedule/block.h"
#include "lib/schedule/conv.h"
#include "lib/tile/woven.h"

/* Vectors lo to hi - 1 of a pixel are copied, woven, those that the image has. */
struct band_woven {
	const struct woven *tile;
	struct affine lo, hi;
};

/* What is copied: of image and group (variables; of `groups` groups from there on) the rows below
 * the block's output rows, at most `most` of these, and the open chunk's channels, of kc. Where all
 * channels are one chunk, kc may be more than they are: zeros follow them. */
struct band {
	const struct conv *p;
	struct access src;
	int img, g, lanes;
	const struct block *rows;
	int64_t most, kc;
	const struct chunk *chunk;
	int64_t groups;
	int64_t beyond; /* zeros behind the last row that is copied, of a band of one group */
	const struct access *pad; /* what lies outside of the image (conv_pad()); NULL: zeros */
	int halves;		  /* is the copy split in halves (stage.h)? */
	const struct band_woven *woven; /* kc is a vector's lanes then, and `groups` counts vectors;
					 * NULL: nothing is woven */
};
/* The copy: row 0 is the first one of the block, above the image where there is padding; group 0
 * is the band's first. */
struct access band_copy(struct nest *n, const struct band *b);

#endif
