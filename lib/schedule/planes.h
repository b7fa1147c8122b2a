/* Planes: the input rows that a band of output rows reads, with their padding, in the thread's
 * workspace, a plane for each channel, so that vectors are of pixels.
 *
 * The planes of a stride are phases: one has every stride-th row and column. So the pixels that a
 * tap reads for neighbouring outputs are neighbours, and lie the same distance further on for each
 * output row: vectors of outputs may go on from one row to the next. What they hold between two
 * rows belongs to no output.
 */
#ifndef TL_SCHEDULE_PLANES_H
#define TL_SCHEDULE_PLANES_H

#include "lib/schedule/conv.h"
#include "lib/tile/transpose.h"

/* The taps of one direction by phases: tap a * period + b reads phase b, a * step + first[b]
 * further on. Phase b has what lies b * phase behind each stride-th row or column. */
enum { PLANES_PHASES = 4 };
struct planes_taps {
	int64_t taps;
	int period, phases;
	int64_t step, phase, furthest;
	int64_t first[PLANES_PHASES];
};

struct planes {
	struct nest *n;
	const struct conv *p; /* as one group, whose channels are those of all */
	int lanes;
	int64_t channels, rows; /* channels of a block, output rows of a band */
	struct planes_taps v, h;
	int64_t height, width; /* of a phase */
	int64_t plane;	       /* elements of a channel's planes */
	int buffer;
};

/* Sets all fields but n and buffer, for blocks of so many channels and bands of so many
 * output rows. 0: strides and dilation make too many phases. */
int planes_make(struct planes *s, const struct conv *p, int64_t lanes, int64_t channels,
		int64_t rows);
/* Declares the workspace. */
void planes_declare(struct planes *s);
/* Output positions of so many rows: from the first one to the last. */
int64_t planes_positions(const struct planes *s, int64_t rows);
/* The phase and the place of tap (a * period + b) of a row and a column, in a channel's planes. */
struct affine planes_tap(const struct planes *s, int b_row, struct affine a_row, int b_column,
			 struct affine a_column);
/* Copies the planes of the channels from `channel` on that output rows from `row` (variables) on
 * read, in image img. */
void planes_copy(const struct planes *s, const struct access *src, int img, int row,
		 struct affine channel);

#endif
