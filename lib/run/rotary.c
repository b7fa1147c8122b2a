#include "lib/run/rotary.h"

#include <string.h>

/* Which row of cosines and sines belongs to a row of a batch; -1: none. */
static int64_t angle_of(const struct rotary *r, const float *at, int64_t batch, int64_t row)
{
	int64_t position = r->first + row;

	if (r->own_angles)
		return batch * r->rows + row;
	if (at && r->is_first_told)
		position = (int64_t)at[0] + row;
	else if (at)
		position = (int64_t)at[batch * r->rows + row];
	return position >= 0 && position < r->positions ? position : -1;
}

static void turn(const struct rotary *r, const float *from, const float *cos, const float *sin,
		 float *to)
{
	const int64_t apart = r->is_interleaved ? 1 : r->half, step = r->is_interleaved ? 2 : 1;

	for (int64_t i = 0; i < r->half; i++) {
		const float x = from[i * step], y = from[i * step + apart];

		to[i * step] = cos[i] * x - sin[i] * y;
		to[i * step + apart] = sin[i] * x + cos[i] * y;
	}
	memcpy(to + 2 * r->half, from + 2 * r->half, (size_t)(r->size - 2 * r->half) * sizeof *to);
}

int rotary_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct rotary *r = with;
	const int64_t all = r->batch * r->rows;

	for (int64_t i = all * thread / threads; i < all * (thread + 1) / threads; i++) {
		const int64_t batch = i / r->rows, row = i % r->rows;
		const int64_t angle = angle_of(r, buffers[ROTARY_AT], batch, row);

		if (angle < 0)
			return -1;
		for (int64_t h = 0; h < r->heads; h++) {
			const int64_t line = r->are_heads_first
						     ? (batch * r->heads + h) * r->rows + row
						     : i * r->heads + h;

			turn(r, buffers[ROTARY_FROM] + line * r->size,
			     buffers[ROTARY_COS] + angle * r->half,
			     buffers[ROTARY_SIN] + angle * r->half,
			     buffers[ROTARY_TO] + line * r->size);
		}
	}
	return 0;
}
