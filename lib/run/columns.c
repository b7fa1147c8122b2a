#include "lib/run/columns.h"

#include <string.h>

/* The first output along an axis that tap k reaches, and the input that it does so from. Both are
 * those of the last axis' first pixel; outputs behind it are a stride apart. */
static int64_t first_reached(const struct columns *c, int axis, int64_t k, int64_t *from)
{
	const int64_t s = c->stride[axis], at = k * c->dilation[axis] - c->pad[axis];

	*from = at < 0 ? (-at + s - 1) / s : 0;
	return at + *from * s;
}

/* The input along an axis that tap k reaches output o from; -1: none. */
static int64_t source(const struct columns *c, int axis, int64_t o, int64_t k)
{
	const int64_t at = o + c->pad[axis] - k * c->dilation[axis];

	return at < 0 || at % c->stride[axis] || at / c->stride[axis] >= c->in[axis]
		       ? -1
		       : at / c->stride[axis];
}

/* One column of each group. Channels may be few: no call copies them. */
static void take_column(const struct columns *c, const float *from, int64_t taps, float *to)
{
	const int64_t n = c->channels, group = taps * n;

	if (c->sums) {
		for (int64_t g = 0; g < c->groups; g++, from += group, to += n)
			for (int64_t i = 0; i < n; i++)
				to[i] += from[i];
	} else if (n == 1) {
		for (int64_t g = 0; g < c->groups; g++)
			to[g] = from[g * group];
	} else {
		for (int64_t g = 0; g < c->groups; g++, from += group, to += n)
			memcpy(to, from, (size_t)n * sizeof *to);
	}
}

/* The columns of one row of the source that taps of one row of the kernel have, from the first. */
static void kernel_row(const struct columns *c, const float *from, int64_t taps, float *to)
{
	const int64_t pixel = c->groups * taps * c->channels;

	for (int64_t k = 0; k < c->kernel[2]; k++) {
		int64_t at, x = first_reached(c, 2, k, &at);

		for (; x < c->out[2] && at < c->in[2]; x += c->stride[2], at++)
			take_column(c, from + at * pixel + k * c->channels, taps,
				    to + x * c->pixel);
	}
}

/* The same where the taps of a pixel are pixels side by side, in the image, too. */
static void whole_row(const struct columns *c, const float *from, int64_t taps, float *to)
{
	const int64_t n = c->stride[2], pixel = taps * c->channels;

	for (int64_t at = c->pad[2] / n; at < c->in[2] && at * n < c->out[2] + c->pad[2]; at++) {
		const int64_t x = at * n - c->pad[2], first = x < 0 ? -x : 0;
		const int64_t end = x + n > c->out[2] ? c->out[2] - x : n;

		memcpy(to + (x + first) * c->pixel, from + at * pixel + first * c->channels,
		       (size_t)((end - first) * c->channels) * sizeof *to);
	}
}

static void begin_row(const struct columns *c, const float *bias, float *to)
{
	const size_t bytes = (size_t)(c->groups * c->channels) * sizeof *to;

	for (int64_t x = 0; x < c->out[2]; x++, to += c->pixel) {
		if (c->has_bias)
			memcpy(to, bias, bytes);
		else
			memset(to, 0, bytes);
	}
}

static void one_row(const struct columns *c, const float *image, int64_t plane, int64_t row,
		    float *to)
{
	const int64_t taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
	const int64_t width = c->in[2] * c->groups * taps * c->channels;
	const int are_whole = !c->sums && c->groups == 1 && c->pixel == c->channels;

	for (int64_t k0 = 0; k0 < c->kernel[0]; k0++) {
		const int64_t z = source(c, 0, plane, k0);

		for (int64_t k1 = 0; z >= 0 && k1 < c->kernel[1]; k1++) {
			const int64_t y = source(c, 1, row, k1);
			const int64_t tap = (k0 * c->kernel[1] + k1) * c->kernel[2];

			const float *from = image + (z * c->in[1] + y) * width + tap * c->channels;

			if (y >= 0 && are_whole)
				whole_row(c, from, taps, to);
			else if (y >= 0)
				kernel_row(c, from, taps, to);
		}
	}
}

int columns_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct columns *c = with;
	const int64_t rows = c->images * c->out[0] * c->out[1];
	const int64_t taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
	const int64_t image = c->in[0] * c->in[1] * c->in[2] * c->groups * taps * c->channels;

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		float *to = buffers[COLUMNS_DST] + r * c->out[2] * c->pixel;

		if (c->sums)
			begin_row(c, buffers[COLUMNS_BIAS], to);
		one_row(c, buffers[COLUMNS_SRC] + r / (c->out[0] * c->out[1]) * image,
			r / c->out[1] % c->out[0], r % c->out[1], to);
	}
	return 0;
}

/* ---- weights ---- */

/* The taps of one phase, in reverse, of one channel by one. */
static void one_phase(const struct phases *w, const float *from, const int64_t phase[PHASES_RANK],
		      float *to)
{
	for (int64_t a = w->taps[0]; a-- > 0;) {
		for (int64_t b = w->taps[1]; b-- > 0;) {
			const int64_t t = phase[0] + a * w->stride[0];
			const int64_t u = phase[1] + b * w->stride[1];

			*to++ = t < w->kernel[0] && u < w->kernel[1] ? from[t * w->kernel[1] + u]
								     : 0;
		}
	}
}

int phases_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct phases *w = with;
	const int64_t phases = w->stride[0] * w->stride[1], rows = w->groups * phases * w->oc;
	const int64_t from_taps = w->kernel[0] * w->kernel[1], taps = w->taps[0] * w->taps[1];

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		const int64_t o = r % w->oc, p = r / w->oc % phases, g = r / w->oc / phases;
		const int64_t phase[PHASES_RANK] = {p / w->stride[1], p % w->stride[1]};

		for (int64_t i = 0; i < w->ic; i++)
			one_phase(w,
				  buffers[PHASES_SRC] + ((g * w->ic + i) * w->oc + o) * from_taps,
				  phase, buffers[PHASES_DST] + (r * w->ic + i) * taps);
	}
	return 0;
}
