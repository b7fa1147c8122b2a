#include "lib/run/means.h"

#include <string.h>

enum { LANES = 16, PIXELS = 256 /* whose sum 16 bits hold */, SIGN = 128 };

typedef unsigned char bytes __attribute__((vector_size(LANES)));
typedef uint16_t shorts __attribute__((vector_size(LANES)));

/* Adds so many pixels of a vector of channels to 32-bit sums. */
static void add(const unsigned char *from, int64_t step, int64_t pixels, unsigned char sign,
		uint32_t sum[LANES])
{
	static const bytes low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
	static const bytes high = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
	const bytes none = {0}, flip = none + sign;
	shorts a = {0}, b = {0};

	for (int64_t i = 0; i < pixels; i++) {
		bytes x;

		memcpy(&x, from + i * step, sizeof x);
		x ^= flip;
		a += (shorts)__builtin_shuffle(x, none, low);
		b += (shorts)__builtin_shuffle(x, none, high);
	}
	for (int k = 0; k < LANES / 2; k++) {
		sum[k] += a[k];
		sum[k + LANES / 2] += b[k];
	}
}

static void add_some(const unsigned char *from, int64_t step, int64_t pixels, unsigned char sign,
		     int channels, uint32_t sum[LANES])
{
	for (int64_t i = 0; i < pixels; i++)
		for (int k = 0; k < channels; k++)
			sum[k] += (unsigned char)(from[i * step + k] ^ sign);
}

/* Makes the means of up to LANES channels of an image. */
static void mean(const struct means *p, const unsigned char *from, int channels, float *to)
{
	const unsigned char sign = p->is_signed ? SIGN : 0;
	uint32_t sum[LANES] = {0};

	for (int64_t i = 0; i < p->pixels && channels == LANES; i += PIXELS)
		add(from + i * p->in_pixel, p->in_pixel,
		    p->pixels - i < PIXELS ? p->pixels - i : PIXELS, sign, sum);
	if (channels < LANES)
		add_some(from, p->in_pixel, p->pixels, sign, channels, sum);
	for (int k = 0; k < channels; k++)
		to[k] = (float)((double)sum[k] / (double)p->pixels - sign);
}

int means_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct means *p = with;
	const int64_t blocks = (p->channels + LANES - 1) / LANES, all = p->images * blocks;

	for (int64_t i = all * thread / threads; i < all * (thread + 1) / threads; i++) {
		const int64_t image = i / blocks, first = i % blocks * LANES;
		const int64_t left = p->channels - first;

		mean(p, (const unsigned char *)buffers[0] + image * p->pixels * p->in_pixel + first,
		     left < LANES ? (int)left : LANES, buffers[1] + image * p->channels + first);
	}
	return 0;
}
