#include "lib/run/resize.h"

#include <string.h>

/* Makes a row of single numbers that are input pixels. */
static void picks(const struct resize *r, const float *from, float *to)
{
	const int64_t in = r->in_pixel, out = r->out_pixel;

	if (in == 1 && out == 1)
		for (int64_t j = 0; j < r->w.out; j++)
			to[j] = from[r->w.low[j]];
	else
		for (int64_t j = 0; j < r->w.out; j++)
			to[j * out] = from[r->w.low[j] * in];
}

/* A row of output pixels between two rows of input pixels. */
static void row(const struct resize *r, const float *low, const float *high, float part, float *to)
{
	if (part == 0 && r->w.is_whole && r->channels == 1) {
		picks(r, low, to);
		return;
	}
	for (int64_t j = 0; j < r->w.out; j++) {
		const int64_t left = r->w.low[j] * r->in_pixel, right = r->w.high[j] * r->in_pixel;
		const float side = r->w.part[j];
		const float a = (1 - part) * (1 - side), b = (1 - part) * side;
		const float c = part * (1 - side), d = part * side;
		float *pixel = to + j * r->out_pixel;

		if (part == 0 && side == 0) {
			memcpy(pixel, low + left, (size_t)r->channels * sizeof *pixel);
			continue;
		}
		for (int64_t k = 0; k < r->channels; k++)
			pixel[k] = a * low[left + k] + b * low[right + k] + c * high[left + k] +
				   d * high[right + k];
	}
}

/* Is row y of an image the same as the one above it, and is there nothing between its pixels? */
static int repeats(const struct resize *r, int64_t y)
{
	return y && r->out_pixel == r->channels && r->h.low[y] == r->h.low[y - 1] &&
	       r->h.high[y] == r->h.high[y - 1] && r->h.part[y] == r->h.part[y - 1];
}

int resize_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct resize *r = with;
	const int64_t rows = r->images * r->h.out;
	const int64_t in_row = r->w.in * r->in_pixel, out_row = r->w.out * r->out_pixel;

	const int64_t first = rows * thread / threads;

	for (int64_t i = first; i < rows * (thread + 1) / threads; i++) {
		const float *image = buffers[0] + i / r->h.out * r->h.in * in_row;
		const int64_t y = i % r->h.out;
		float *to = buffers[1] + i * out_row;

		if (i > first && repeats(r, y))
			memcpy(to, to - out_row, (size_t)out_row * sizeof *to);
		else
			row(r, image + r->h.low[y] * in_row, image + r->h.high[y] * in_row,
			    r->h.part[y], to);
	}
	return 0;
}
