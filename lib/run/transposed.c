#include "lib/run/transposed.h"

#include <string.h>

/* to += the pixel's channels of a group times the weights of one tap. */
static void tap(const struct transposed *t, const float *pixel, const float *weights, float *to)
{
	for (int64_t i = 0; i < t->ic; i++) {
		const float x = pixel[i], *w = weights + i * t->oc;

		for (int64_t k = 0; k < t->oc; k++)
			to[k] += x * w[k];
	}
}

/* Input row or column that tap k reaches output o from; -1: none. */
static int64_t source(int64_t o, int64_t k, int64_t pad, int64_t dilation, int64_t stride,
		      int64_t size)
{
	const int64_t at = o + pad - k * dilation;

	return at < 0 || at % stride || at / stride >= size ? -1 : at / stride;
}

static void pixel(const struct transposed *t, const float *image, const float *weights, int64_t y,
		  int64_t x, float *to)
{
	const int64_t one = t->ic * t->groups * t->oc; /* weights of a tap */

	for (int64_t kh = 0; kh < t->kh; kh++) {
		const int64_t ih = source(y, kh, t->ph, t->dh, t->sh, t->ih);

		for (int64_t kw = 0; ih >= 0 && kw < t->kw; kw++) {
			const int64_t iw = source(x, kw, t->pw, t->dw, t->sw, t->iw);
			const float *from = image + (ih * t->iw + iw) * t->groups * t->ic;
			const float *w = weights + (kh * t->kw + kw) * one;

			for (int64_t g = 0; iw >= 0 && g < t->groups; g++)
				tap(t, from + g * t->ic, w + g * t->ic * t->oc, to + g * t->oc);
		}
	}
}

int transposed_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct transposed *t = with;
	const int64_t rows = t->images * t->oh, channels = t->groups * t->oc;
	const size_t bytes = (size_t)channels * sizeof(float);

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		const float *image =
			buffers[TRANSPOSED_SRC] + r / t->oh * t->ih * t->iw * t->groups * t->ic;

		for (int64_t x = 0; x < t->ow; x++) {
			float *to = buffers[TRANSPOSED_DST] + (r * t->ow + x) * channels;

			if (t->has_bias)
				memcpy(to, buffers[TRANSPOSED_BIAS], bytes);
			else
				memset(to, 0, bytes);
			pixel(t, image, buffers[TRANSPOSED_WEIGHTS], r % t->oh, x, to);
		}
	}
	return 0;
}
