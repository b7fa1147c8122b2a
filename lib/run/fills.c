#include "lib/run/fills.h"

#include <string.h>

int triangle_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct triangle *t = with;
	const int64_t rows = t->matrices * t->rows;

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++)
		for (int64_t i = 0; i < t->columns; i++) {
			const int64_t at = r * t->columns + i, above = i - r % t->rows - t->k;
			const int keeps = t->is_upper ? above >= 0 : above <= 0;

			buffers[1][at] = keeps ? buffers[0][at] : 0;
		}
	return 0;
}

int diagonal_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct diagonal *d = with;
	const int64_t n = d->rows * d->columns;

	for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; i++)
		buffers[0][i] = i % d->columns - i / d->columns == d->k;
	return 0;
}

/* An index outside -depth to depth - 1 has no place. */
int one_hot_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct one_hot *h = with;
	const int64_t n = h->outer * h->depth * h->inner;
	const float *values = buffers[2];

	for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; i++) {
		const int64_t outer = i / h->inner / h->depth, at = i / h->inner % h->depth;
		const float index = buffers[0][outer * h->inner + i % h->inner];

		buffers[3][i] = values[index == (float)at || index == (float)(at - h->depth)];
	}
	return 0;
}

int series_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct series *s = with;

	for (int64_t i = s->n * thread / threads; i < s->n * (thread + 1) / threads; i++)
		buffers[0][i] = (float)(s->first + (double)i * s->step);
	return 0;
}

int reversal_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct reversal *s = with;
	const int64_t rows = s->batches * s->steps;

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		const int64_t batch = s->is_time_first ? r % s->batches : r / s->steps;
		const int64_t step = s->is_time_first ? r / s->batches : r % s->steps;
		const float length = buffers[1][batch];
		int64_t from = step;

		if (!(length >= 0 && length <= (float)s->steps))
			return -1;
		if (step < (int64_t)length)
			from = (int64_t)length - 1 - step;
		from = s->is_time_first ? from * s->batches + batch : batch * s->steps + from;
		memcpy(buffers[2] + r * s->inner, buffers[0] + from * s->inner,
		       (size_t)s->inner * sizeof(float));
	}
	return 0;
}
