#include "lib/run/dequantize.h"

#include <stddef.h>

/* Columns at a time: their rows in the result share lines of the cache. */
enum { TILE = 16 };

int64_t dequantize_zero_bytes(const struct dequantize_packed *p)
{
	return (p->groups * p->bits + 7) / 8;
}

int64_t dequantize_group_bytes(const struct dequantize_packed *p)
{
	return (p->block * p->bits + 7) / 8;
}

/* Number i of those packed in bytes. */
static float packed_at(const float *bytes, int64_t i, int bits)
{
	const int64_t at = i * bits;

	return (float)((unsigned)bytes[at / 8] >> at % 8 & ((1U << bits) - 1));
}

static float zero_at(const struct dequantize_packed *p, const float *zeros, int64_t column,
		     int64_t group)
{
	if (!zeros)
		return (float)(1U << (p->bits - 1));
	if (!p->are_zeros_packed)
		return zeros[column * p->groups + group];
	return packed_at(zeros + column * dequantize_zero_bytes(p), group, p->bits);
}

static void make_group(const struct dequantize_packed *p, float *const *buffers, int64_t column,
		       int64_t group)
{
	const int64_t first = group * p->block, at = column * p->groups + group;
	const int64_t left = p->rows - first, n = left < p->block ? left : p->block;
	const float *bytes = buffers[0] + at * dequantize_group_bytes(p);
	const float scale = buffers[1] ? buffers[1][at] : 1;
	const float zero = buffers[1] ? zero_at(p, buffers[2], column, group) : 0;
	float *to = buffers[3] + first * p->columns + column;

	for (int64_t i = 0; i < n; i++)
		to[i * p->columns] = (packed_at(bytes, i, p->bits) - zero) * scale;
}

int dequantize_packed_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct dequantize_packed *p = with;
	const int64_t tiles = (p->columns + TILE - 1) / TILE;
	const int64_t from = tiles * thread / threads * TILE;
	int64_t to = tiles * (thread + 1) / threads * TILE;

	to = to < p->columns ? to : p->columns;
	for (int64_t tile = from; tile < to; tile += TILE)
		for (int64_t group = 0; group < p->groups; group++)
			for (int64_t c = tile; c < to && c < tile + TILE; c++)
				make_group(p, buffers, c, group);
	return 0;
}

void dequantize_scales(const struct dequantize_packed *p, const float *scales, float *to)
{
	for (int64_t c = 0; c < p->columns; c++)
		for (int64_t g = 0; g < p->groups; g++)
			to[g * p->columns + c] = scales[c * p->groups + g];
}

void dequantize_zeros(const struct dequantize_packed *p, const float *bytes, float *to)
{
	for (int64_t c = 0; c < p->columns; c++)
		for (int64_t g = 0; g < p->groups; g++)
			to[g * p->columns + c] = zero_at(p, bytes, c, g);
}

int dequantize_blocks_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct dequantize_blocks *d = with;
	const int64_t lines = d->outer * d->extent;

	for (int64_t i = lines * thread / threads; i < lines * (thread + 1) / threads; i++) {
		const int64_t line = i / d->extent * d->blocks + i % d->extent / d->block;
		const float *scale = buffers[1] + line * d->inner;
		const float *zero = buffers[2] ? buffers[2] + line * d->inner : NULL;

		for (int64_t k = 0; k < d->inner; k++)
			buffers[3][i * d->inner + k] =
				(buffers[0][i * d->inner + k] - (zero ? zero[k] : 0)) * scale[k];
	}
	return 0;
}
