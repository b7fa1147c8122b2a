/* Pools in plain C, over any number of dimensions: three of them, the places of maxima, norms.
 *
 * Images are dense and row-major; each channel of each image is a volume of its own.
 */
#ifndef TL_RUN_WINDOWS_H
#define TL_RUN_WINDOWS_H

#include <stdint.h>

enum { WINDOWS_RANK = 6 };

enum windows_kind {
	WINDOWS_MAX,
	WINDOWS_PLACE, /* the index of the maximum among all elements of the input */
	WINDOWS_MEAN,
	WINDOWS_NORM, /* (sum of |x|^p)^(1/p) */
};

struct windows {
	enum windows_kind kind;
	int rank;	/* dimensions of a volume */
	int64_t images; /* volumes */
	int64_t in[WINDOWS_RANK], out[WINDOWS_RANK], kernel[WINDOWS_RANK], stride[WINDOWS_RANK];
	int64_t dilation[WINDOWS_RANK]; /* 1: none */
	int64_t before[WINDOWS_RANK], after[WINDOWS_RANK];
	int counts_padding;  /* of WINDOWS_MEAN: elements of the padding count, as zeros */
	int is_column_major; /* of WINDOWS_PLACE: how a volume's elements are numbered */
	double p;	     /* of WINDOWS_NORM */
};

/* The part of thread `thread` of `threads` of a struct windows. Buffers: images, result. 0. */
int windows_run(const void *with, float *const *buffers, int thread, int threads);

#endif
