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
static int64_t row_of(const float *tuple, int rank, const int64_t *extent)
{
	int64_t row = 0;

	for (int k = 0; k < rank; k++) {
		int64_t i = resolve(tuple[k], extent[k]);

		if (i < 0)
			return -1;
		row = row * extent[k] + i;
	}
	return row;
}

static float combined(enum scatter_how how, float old, float update)
{
	switch (how) {
	case SCATTER_ADD:
		return old + update;
	case SCATTER_MUL:
		return old * update;
	case SCATTER_MAX:
		return update > old || isnan(update) ? update : old;
	case SCATTER_MIN:
		return update < old || isnan(update) ? update : old;
	default:
		return update;
	}
}

int scatter_rows_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct scatter *s = with;
	int rc = 0;

	for (int64_t i = s->count * thread / threads; i < s->count * (thread + 1) / threads; i++) {
		const int64_t row = row_of(buffers[0] + i * s->rank, s->rank, s->extent);

		memcpy(buffers[1] + i * SCATTER_ROW, &row, sizeof row);
		rc |= row < 0 ? -1 : 0;
	}
	return rc;
}

/* What is combined of whole numbers. Ends of types swallow what is added to them. */
static float held(float old, float made)
{
	const float most = 0x1p24F;

	return fabsf(old) <= most && fabsf(made) >= most ? NAN : made;
}

static void update_row(const struct scatter *s, float *to, const float *update)
{
	const int64_t n = s->inner;

	if (s->how == SCATTER_REPLACE)
		memcpy(to, update, (size_t)n * sizeof *to);
	for (int64_t k = 0; s->how != SCATTER_REPLACE && k < n; k++) {
		const float made = combined(s->how, to[k], update[k]);

		to[k] = s->is_whole ? held(to[k], made) : made;
	}
}

/* Each thread makes some rows of the result, and looks through all updates for those. */
int scatter_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct scatter *s = with;
	const int64_t first = s->rows * thread / threads, end = s->rows * (thread + 1) / threads;
	const int is_element = s->inner == 1 && s->how == SCATTER_REPLACE;
	const float *update = buffers[SCATTER_UPDATES];
	float *to = buffers[SCATTER_TO];

	memcpy(to + first * s->inner, buffers[SCATTER_DATA] + first * s->inner,
	       (size_t)((end - first) * s->inner) * sizeof *to);
	for (int64_t i = 0; i < s->count; i++) {
		int64_t row;

		memcpy(&row, buffers[SCATTER_ROWS] + i * SCATTER_ROW, sizeof row);
		if (row < first || row >= end)
			continue;
		if (is_element)
			to[row] = update[i];
		else
			update_row(s, to + row * s->inner, update + i * s->inner);
	}
	return 0;
}

int gather_rows_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct gather_rows *g = with;
	const int64_t all = g->batches * g->count;
	int rc = 0;

	for (int64_t i = all * thread / threads; i < all * (thread + 1) / threads; i++) {
		const int64_t row = row_of(buffers[GATHER_INDEX] + i * g->rank, g->rank, g->extent);

		if (row < 0)
			rc = -1;
		else
			memcpy(buffers[GATHER_TO] + i * g->inner,
			       buffers[GATHER_DATA] + (i / g->count * g->rows + row) * g->inner,
			       (size_t)g->inner * sizeof(float));
	}
	return rc;
}

/* ---- elements ---- */

/* The element of data that element i of the index means; -1: there is none. */
static int64_t element_of(const struct elements *g, int64_t i, float index)
{
	int64_t at = resolve(index, g->extent);

	if (at < 0)
		return -1;
	at *= g->stride[g->axis];
	for (int d = g->rank; d-- > 0;) {
		at += d == g->axis ? 0 : i % g->dim[d] * g->stride[d];
		i /= g->dim[d];
	}
	return at;
}

static int64_t count_of(const struct elements *g)
{
	int64_t n = 1;

	for (int d = 0; d < g->rank; d++)
		n *= g->dim[d];
	return n;
}

int gather_elements_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct elements *g = with;
	const int64_t n = count_of(g);
	int rc = 0;

	for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; i++) {
		const int64_t at = element_of(g, i, buffers[GATHER_INDEX][i]);

		if (at < 0)
			rc = -1;
		else
			buffers[GATHER_TO][i] = buffers[GATHER_DATA][at];
	}
	return rc;
}

int scatter_elements_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct elements *g = with;
	const int64_t n = count_of(g);
	float *to = buffers[SCATTER_TO];
	int rc = 0;

	(void)threads;
	if (thread)
		return 0;
	memcpy(to, buffers[SCATTER_DATA], (size_t)g->size * sizeof *to);
	for (int64_t i = 0; i < n; i++) {
		const int64_t at = element_of(g, i, buffers[SCATTER_INDEX][i]);

		float made;

		if (at < 0) {
			rc = -1;
			continue;
		}
		made = combined(g->how, to[at], buffers[SCATTER_UPDATES][i]);
		to[at] = g->is_whole ? held(to[at], made) : made;
	}
	return rc;
}
