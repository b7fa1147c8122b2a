/* Images out of columns: what a transposed convolution does behind its product, or behind the
 * convolution that makes the phases of its stride as channels (lib/extract/task/task_transposed.c).
 *
 * Each pixel of the source has a column of channels for each tap, and a tap's column belongs to one
 * pixel of the image; where windows overlap, columns are summed. It is plain C, because pixels that
 * have a column are no affine function of the image's.
 */
#ifndef TL_RUN_COLUMNS_H
#define TL_RUN_COLUMNS_H

#include <stdint.h>

enum { COLUMNS_RANK = 3 }; /* dimensions; those that are missing come first, and are 1 */

struct columns {
	int sums;     /* a pixel has several columns, or none; else it has one */
	int has_bias; /* of sums */
	int64_t images, groups, channels; /* channels: of one group */
	int64_t in[COLUMNS_RANK], out[COLUMNS_RANK], kernel[COLUMNS_RANK], stride[COLUMNS_RANK];
	int64_t pad[COLUMNS_RANK];	/* what is cut off before the image */
	int64_t dilation[COLUMNS_RANK]; /* 1 is none */
	int64_t pixel;			/* from one pixel of the image to the next */
};

enum { COLUMNS_SRC, COLUMNS_BIAS, COLUMNS_DST, COLUMNS_OPERANDS };

/* The part of thread `thread` of `threads` of a struct columns. Source: pixel x group x tap x
 * channel. Without a bias its buffer is not looked at. 0. */
int columns_run(const void *with, float *const *buffers, int thread, int threads);

/* The weights of a convolution that makes the phases: output channel x input channel x tap, where
 * the output channels of a group are phase x channel. Taps that a phase does not have are 0. */
enum { PHASES_RANK = 2 };
struct phases {
	int64_t groups, ic, oc; /* ic, oc: channels of one group */
	int64_t kernel[PHASES_RANK], stride[PHASES_RANK], taps[PHASES_RANK];
};
enum { PHASES_SRC, PHASES_DST, PHASES_OPERANDS };

/* The part of a thread of a struct phases. Source: input channel x output channel of its group x
 * tap. 0. */
int phases_run(const void *with, float *const *buffers, int thread, int threads);

#endif
