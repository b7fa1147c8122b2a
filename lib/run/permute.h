/* Copies of bytes to another order: images in 8 bits with their channels last, heads of attention.
 * A nest would make a number in single precision of each byte. */
#ifndef TL_RUN_PERMUTE_H
#define TL_RUN_PERMUTE_H

#include "lib/run/loops.h"

/* A sheet has two dimensions: columns are without gaps in what is written. In what is read, they
 * are so as well, or rows are. */
struct permute {
	int n; /* dimensions around the sheets */
	int64_t dim[PLACE_RANK], stride[2][PLACE_RANK];
	int64_t rows, columns, last;	  /* last: columns of the last row, where one run was cut */
	int64_t row_step[2], column_step; /* the latter in what is read */
	int64_t piece;			  /* rows that a thread takes at once */
};

/* Is a copy between these places one of bytes? */
int permute_of(const struct place *from, const struct place *to, struct permute *p);
/* Copies thread's part of a struct permute. The buffers are what is read and what is written.
 * Returns 0. */
int permute_run(const void *with, float *const *buffers, int thread, int threads);

#endif
