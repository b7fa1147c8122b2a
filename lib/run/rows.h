/* Nests over rows: what needs all elements of a row before it has the first one of the result. Rows
 * are dense, one after the other.
 */
#ifndef TL_RUN_ROWS_H
#define TL_RUN_ROWS_H

#include <stdint.h>

#include "lib/nest/nest.h"

enum rows_kind {
	ROWS_SOFTMAX, /* exp(x - max) over their sum; NaN where all are -infinity */
	ROWS_NORM,    /* (x - mean) / sqrt(variance + epsilon), times a row, plus a row */
	ROWS_RMS,     /* the same with a mean of 0 */
	ROWS_SUM,     /* one element a row, as are the others */
	ROWS_MEAN,
	ROWS_MAX, /* NaN if one is */
	ROWS_MIN,
};

struct rows {
	enum rows_kind kind;
	int64_t rows, size;
	double epsilon; /* of ROWS_NORM and ROWS_RMS */
	int has_scale, has_shift;
};

/* Slots: the rows, then scale and shift (where there are any, `size` elements each), then the
 * result. */
void rows_nest(const struct rows *r, int lanes, struct nest *n);

#endif
