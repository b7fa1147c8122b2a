#include "lib/run/taps.h"

#include <string.h>

/* to += the pixel's channels of a group times the weights of one tap. */
static void tap(const struct taps *t, const float *pixel, const float *weights, float *to)
{
	for (int64_t i = 0; i < t->ic; i++) {
		const float x = pixel[i], *w = weights + i * t->oc;

		for (int64_t k = 0; k < t->oc; k++)
			to[k] += x * w[k];
	}
}

/* The input along an axis that tap k reaches output o from; -1: none. */
static int64_t source(const struct taps *t, int axis, int64_t o, int64_t k)
{
	int64_t at;

	if (!t->is_transposed) {
		at = o * t->stride[axis] - t->pad[axis] + k * t->dilation[axis];
		return at < 0 || at >= t->in[axis] ? -1 : at;
	}
	at = o + t->pad[axis] - k * t->dilation[axis];
	return at < 0 || at % t->stride[axis] || at / t->stride[axis] >= t->in[axis]
		       ? -1
		       : at / t->stride[axis];
}

/* The taps of one row of the kernel, from a row of the input. */
static void kernel_row(const struct taps *t, const float *from, const float *weights, int64_t x,
		       float *to)
{
	const int64_t one = t->ic * t->groups * t->oc; /* weights of a tap */

	for (int64_t k = 0; k < t->kernel[2]; k++) {
		const int64_t at = source(t, 2, x, k);
		const float *pixel = from + at * t->groups * t->ic, *w = weights + k * one;

		for (int64_t g = 0; at >= 0 && g < t->groups; g++)
			tap(t, pixel + g * t->ic, w + g * t->ic * t->oc, to + g * t->oc);
	}
}

static void pixel(const struct taps *t, const float *image, const float *weights,
		  const int64_t at[TAPS_RANK], float *to)
{
	const int64_t row = t->in[2] * t->groups * t->ic;
	const int64_t weights_row = t->kernel[2] * t->ic * t->groups * t->oc;

	for (int64_t k0 = 0; k0 < t->kernel[0]; k0++) {
		const int64_t plane = source(t, 0, at[0], k0);

		for (int64_t k1 = 0; plane >= 0 && k1 < t->kernel[1]; k1++) {
			const int64_t y = source(t, 1, at[1], k1);

			if (y >= 0)
				kernel_row(t, image + (plane * t->in[1] + y) * row,
					   weights + (k0 * t->kernel[1] + k1) * weights_row, at[2],
					   to);
		}
	}
}

int taps_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct taps *t = with;
	const int64_t rows = t->images * t->out[0] * t->out[1], channels = t->groups * t->oc;
	const int64_t size = t->in[0] * t->in[1] * t->in[2] * t->groups * t->ic;
	const size_t bytes = (size_t)channels * sizeof(float);

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		const float *image = buffers[TAPS_SRC] + r / (t->out[0] * t->out[1]) * size;
		int64_t at[TAPS_RANK] = {r / t->out[1] % t->out[0], r % t->out[1]};

		for (at[2] = 0; at[2] < t->out[2]; at[2]++) {
			float *to = buffers[TAPS_DST] + (r * t->out[2] + at[2]) * channels;

			if (t->has_bias)
				memcpy(to, buffers[TAPS_BIAS], bytes);
			else
				memset(to, 0, bytes);
			pixel(t, image, buffers[TAPS_WEIGHTS], at, to);
		}
	}
	return 0;
}
