#include "lib/run/largest.h"

enum { BYTES = 16, VECTORS = 4, LINE = VECTORS * BYTES };

/* The taps of a window along one dimension that lie in the image: the first, and one behind the
 * last. */
struct taps {
	int64_t first, end;
};

static struct taps taps_of(const struct largest *p, int dim, int64_t at)
{
	const int64_t start = at * p->stride[dim] - p->before[dim], step = p->dilation[dim];
	struct taps t = {0, p->kernel[dim]};

	while (t.first < t.end && start + t.first * step < 0)
		t.first++;
	while (t.end > t.first && start + (t.end - 1) * step >= p->in[dim])
		t.end--;
	return t;
}

struct window {
	const uint8_t *from; /* its first tap in the image */
	int64_t rows, columns, row_step, column_step;
};

/* Computes the maxima of so many vectors of channels. Compilers know the number, so they keep these
 * in registers. Signed bytes are in the order of unsigned ones once their first bit is turned. */
static inline __attribute__((always_inline)) void
some_bytes(const struct largest *p, const struct window *w, int64_t c, int vectors, uint8_t *to)
{
	const uint8_t turn = p->is_signed ? 0x80 : 0;
	uint8_t most[VECTORS][BYTES] = {0};

	for (int64_t i = 0; i < w->rows; i++)
		for (int64_t k = 0; k < w->columns; k++) {
			const uint8_t *x = w->from + i * w->row_step + k * w->column_step + c;
#pragma GCC unroll VECTORS
			for (int v = 0; v < vectors; v++)
				for (int j = 0; j < BYTES; j++) {
					const uint8_t y = x[v * BYTES + j] ^ turn;

					most[v][j] = most[v][j] > y ? most[v][j] : y;
				}
		}
#pragma GCC unroll VECTORS
	for (int v = 0; v < vectors; v++)
		for (int j = 0; j < BYTES; j++)
			to[c + v * BYTES + j] = most[v][j] ^ turn;
}

static void one_byte(const struct largest *p, const struct window *w, int64_t c, uint8_t *to)
{
	const uint8_t turn = p->is_signed ? 0x80 : 0;
	uint8_t most = 0;

	for (int64_t i = 0; i < w->rows; i++)
		for (int64_t k = 0; k < w->columns; k++) {
			const uint8_t x = w->from[i * w->row_step + k * w->column_step + c] ^ turn;

			most = most > x ? most : x;
		}
	to[c] = most ^ turn;
}

static void row(const struct largest *p, const uint8_t *image, int64_t oh, uint8_t *to)
{
	const int64_t line = p->in[1] * p->in_pixel, whole = p->channels / BYTES * BYTES;
	const int64_t lines = p->channels / LINE * LINE;
	const struct taps y = taps_of(p, 0, oh);

	for (int64_t ow = 0; ow < p->out[1]; ow++, to += p->out_pixel) {
		const struct taps x = taps_of(p, 1, ow);
		const int64_t top = oh * p->stride[0] - p->before[0] + y.first * p->dilation[0];
		const int64_t left = ow * p->stride[1] - p->before[1] + x.first * p->dilation[1];
		struct window w = {.from = image,
				   .rows = y.end - y.first,
				   .columns = x.end - x.first,
				   .row_step = p->dilation[0] * line,
				   .column_step = p->dilation[1] * p->in_pixel};

		if (w.rows && w.columns)
			w.from += top * line + left * p->in_pixel;
		for (int64_t c = 0; c < lines; c += LINE)
			some_bytes(p, &w, c, VECTORS, to);
		for (int64_t c = lines; c < whole; c += BYTES)
			some_bytes(p, &w, c, 1, to);
		for (int64_t c = whole; c < p->channels; c++)
			one_byte(p, &w, c, to);
	}
}

int largest_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct largest *p = with;
	const int64_t rows = p->images * p->out[0];
	const uint8_t *from = (const uint8_t *)buffers[0];
	uint8_t *to = (uint8_t *)buffers[1];

	for (int64_t i = rows * thread / threads; i < rows * (thread + 1) / threads; i++)
		row(p, from + i / p->out[0] * p->in[0] * p->in[1] * p->in_pixel, i % p->out[0],
		    to + i * p->out[1] * p->out_pixel);
	return 0;
}
