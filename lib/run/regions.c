#include "lib/run/regions.h"

#include <math.h>

/* One side of a region, in pixels. */
struct side {
	float start, cell;
	int64_t samples; /* of each cell */
};

/* A sample lies between two pixels of a side, and takes a part of each. */
struct sample {
	int64_t at[2];
	float part[2];
};

/* The number of an image; -1: there is none. */
static int64_t image_of(const struct regions *r, float f)
{
	return f >= 0 && f < (float)r->images ? (int64_t)f : -1;
}

/* Is a corner no number, or so far away that nobody means it? */
static int is_far(float corner)
{
	return !(fabsf(corner) < 1e9F);
}

/* Finds where a region begins along dimension d, and its cells. -1: a corner is far, or NaN. */
static int find_side(const struct regions *r, int d, const float *box, struct side *s)
{
	const float shift = r->is_half ? 0.5F : 0;
	const float first = box[1 - d] * r->scale - shift, last = box[3 - d] * r->scale - shift;
	float length = last - first;

	if (is_far(first) || is_far(last))
		return -1;
	if (!r->is_half)
		length = fmaxf(length, 1);
	s->start = first;
	s->cell = length / (float)r->out[d];
	s->samples = r->samples > 0 ? r->samples : (int64_t)ceilf(length / (float)r->out[d]);
	return 0;
}

/* 0: the sample lies outside, where all is 0. */
static int find_sample(float at, int64_t size, struct sample *s)
{
	if (!(at >= -1 && at <= (float)size))
		return 0;
	at = fmaxf(at, 0);
	s->at[0] = (int64_t)at < size - 1 ? (int64_t)at : size - 1;
	s->at[1] = s->at[0] < size - 1 ? s->at[0] + 1 : size - 1;
	s->part[1] = s->at[0] < size - 1 ? at - (float)s->at[0] : 0;
	s->part[0] = 1 - s->part[1];
	return 1;
}

/* The samples of a cell, of which those before *first and from *last on lie outside. */
static void find_range(const struct side *s, int64_t cell, int64_t size, float *begin, float *step,
		       int64_t *first, int64_t *last)
{
	*begin = s->start + (float)cell * s->cell;
	*step = s->samples > 0 ? s->cell / (float)s->samples : 0;
	*first = 0;
	*last = s->samples;
	if (*step > 0) {
		const float before = floorf((-1 - *begin) / *step) - 1;
		const float behind = ceilf(((float)size - *begin) / *step) + 1;

		if (before > 0)
			*first = before < (float)s->samples ? (int64_t)before : s->samples;
		if (behind < (float)s->samples)
			*last = behind > 0 ? (int64_t)behind : 0;
	}
}

/* Adds a sample to a cell of all channels, which are `apart` floats from each other. A pixel that
 * is NaN makes the largest one NaN; infinity times a part of 0 does not. */
static void add(const struct regions *r, const float *image, const struct sample *y,
		const struct sample *x, float *to, int64_t apart, int is_first)
{
	for (int64_t c = 0; c < r->channels; c++) {
		float sum = 0, largest = -INFINITY;

		for (int k = 0; k < 4; k++) {
			const float pixel =
				image[(y->at[k / 2] * r->size[1] + x->at[k % 2]) * r->pixel + c];
			const float v = y->part[k / 2] * x->part[k % 2] * pixel;

			sum += v;
			largest = v > largest || isnan(pixel) ? v : largest;
		}
		if (!r->is_max)
			to[c * apart] += sum;
		else if (is_first || largest > to[c * apart] || isnan(largest))
			to[c * apart] = largest;
	}
}

static void align_cell(const struct regions *r, const float *image, const struct side side[2],
		       const int64_t cell[2], float *to)
{
	const int64_t apart = r->out[0] * r->out[1], n = side[0].samples * side[1].samples;
	float begin[2], step[2];
	int64_t first[2], last[2], any = 0;

	for (int d = 0; d < 2; d++)
		find_range(&side[d], cell[d], r->size[d], &begin[d], &step[d], &first[d], &last[d]);
	for (int64_t c = 0; c < r->channels; c++)
		to[c * apart] = 0;
	for (int64_t i = first[0]; i < last[0]; i++)
		for (int64_t k = first[1]; k < last[1]; k++) {
			struct sample y, x;

			if (!find_sample(begin[0] + ((float)i + 0.5F) * step[0], r->size[0], &y) ||
			    !find_sample(begin[1] + ((float)k + 0.5F) * step[1], r->size[1], &x))
				continue;
			add(r, image, &y, &x, to, apart, !any++);
		}
	for (int64_t c = 0; c < r->channels; c++)
		if (!r->is_max)
			to[c * apart] /= (float)(n > 0 ? n : 1);
		else if (any < n && to[c * apart] < 0) /* samples outside are 0 */
			to[c * apart] = 0;
}

int regions_align(const void *with, float *const *buffers, int thread, int threads)
{
	const struct regions *r = with;
	const int64_t cells = r->out[0] * r->out[1];

	for (int64_t i = r->regions * thread / threads; i < r->regions * (thread + 1) / threads;
	     i++) {
		const float *box = buffers[REGIONS_BOXES] + 4 * i;
		const int64_t image = image_of(r, buffers[REGIONS_BATCH][i]);
		struct side side[2];

		if (image < 0 || find_side(r, 0, box, &side[0]) || find_side(r, 1, box, &side[1]))
			return -1;
		for (int64_t k = 0; k < cells; k++)
			align_cell(r,
				   buffers[REGIONS_IMAGES] +
					   image * r->size[0] * r->size[1] * r->pixel,
				   side, (const int64_t[]){k / r->out[1], k % r->out[1]},
				   buffers[REGIONS_TO] + i * r->channels * cells + k);
	}
	return 0;
}

/* ---- MaxRoiPool ---- */

/* The pixels of a cell, clipped to the image. */
static void find_cell(const struct regions *r, const float *box, int d, int64_t cell, int64_t to[2])
{
	const float first = roundf(box[2 - d] * r->scale), last = roundf(box[4 - d] * r->scale);
	const float length = fmaxf(last - first + 1, 1) / (float)r->out[d];
	const float end[] = {floorf((float)cell * length) + first,
			     ceilf((float)(cell + 1) * length) + first};

	for (int i = 0; i < 2; i++)
		to[i] = end[i] > 0 ? end[i] < (float)r->size[d] ? (int64_t)end[i] : r->size[d] : 0;
}

/* The largest of one channel's pixels, NaN if one is; 0: there are none. */
static float largest_in(const struct regions *r, const float *channel, const int64_t y[2],
			const int64_t x[2])
{
	float largest = y[0] < y[1] && x[0] < x[1] ? -INFINITY : 0;

	for (int64_t p = y[0]; p < y[1]; p++)
		for (int64_t q = x[0]; q < x[1]; q++) {
			const float v = channel[(p * r->size[1] + q) * r->pixel];

			largest = v > largest || isnan(v) ? v : largest;
		}
	return largest;
}

int regions_pool(const void *with, float *const *buffers, int thread, int threads)
{
	const struct regions *r = with;
	const int64_t cells = r->out[0] * r->out[1];

	for (int64_t i = r->regions * cells * thread / threads;
	     i < r->regions * cells * (thread + 1) / threads; i++) {
		const float *box = buffers[REGIONS_BOXES] + 5 * (i / cells);
		const int64_t cell = i % cells, image = image_of(r, box[0]);
		float *to = buffers[REGIONS_TO] + i / cells * r->channels * cells + cell;
		int64_t y[2], x[2];

		for (int k = 1; k < 5; k++)
			if (image < 0 || is_far(box[k] * r->scale))
				return -1;
		find_cell(r, box, 0, cell / r->out[1], y);
		find_cell(r, box, 1, cell % r->out[1], x);
		for (int64_t c = 0; c < r->channels; c++)
			to[c * cells] =
				largest_in(r,
					   buffers[REGIONS_IMAGES] +
						   image * r->size[0] * r->size[1] * r->pixel + c,
					   y, x);
	}
	return 0;
}
