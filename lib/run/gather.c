#include "lib/run/gather.h"

#include <math.h>
#include <string.h>

/* An index into `extent` elements; -1: it lies outside. */
static int64_t resolve(float f, int64_t extent)
{
	const float most = 16777216; /* whole numbers beyond it are not exact */
	int64_t i = fabsf(f) <= most ? (int64_t)f : extent;

	i += i < 0 ? extent : 0;
	return i >= 0 && i < extent ? i : -1;
}

int gather_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct gather *g = with;
	const float *data = buffers[GATHER_DATA], *index = buffers[GATHER_INDEX];
	int64_t rows = g->outer * g->count, first = rows * thread / threads;
	int64_t end = rows * (thread + 1) / threads;
	size_t bytes = (size_t)g->inner * sizeof(float);
	int rc = 0;

	for (int64_t r = first; r < end; r++) {
		int64_t i = resolve(index[r % g->count], g->extent);

		if (i < 0)
			rc = -1;
		else
			memcpy(buffers[GATHER_TO] + r * g->inner,
			       data + (r / g->count * g->extent + i) * g->inner, bytes);
	}
	return rc;
}

/* The row that a tuple names; -1: there is none. */
static int64_t row_of(const struct scatter *s, const float *tuple)
{
	int64_t row = 0;

	for (int k = 0; k < s->rank; k++) {
		int64_t i = resolve(tuple[k], s->extent[k]);

		if (i < 0)
			return -1;
		row = row * s->extent[k] + i;
	}
	return row;
}

/* Each thread makes some rows of the result, and looks through all tuples for those. */
int scatter_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct scatter *s = with;
	const int64_t first = s->rows * thread / threads, end = s->rows * (thread + 1) / threads;
	const size_t bytes = (size_t)s->inner * sizeof(float);
	float *to = buffers[SCATTER_TO];
	int rc = 0;

	memcpy(to + first * s->inner, buffers[SCATTER_DATA] + first * s->inner,
	       (size_t)(end - first) * bytes);
	for (int64_t i = 0; i < s->count; i++) {
		int64_t row = row_of(s, buffers[SCATTER_INDEX] + i * s->rank);

		if (row < 0)
			rc = -1;
		else if (row >= first && row < end)
			memcpy(to + row * s->inner, buffers[SCATTER_UPDATES] + i * s->inner, bytes);
	}
	return rc;
}
