#include "lib/run/sample.h"

#include <math.h>

enum { TAPS = 4, TAPS_ALL = TAPS * TAPS * TAPS };

/* A point is a sum of these elements along one dimension (-1: a zero), by their weights. */
struct along {
	int n;
	int64_t at[TAPS];
	float weight[TAPS];
};

static float reflected(float x, float least, float most)
{
	const float range = most - least, over = x < least ? least - x : x > most ? x - most : 0;
	const float turns = truncf(range > 0 ? over / range : 0), rest = over - turns * range;
	const int comes_back = fmodf(turns, 2) != 0;

	if (range <= 0)
		return least;
	if (over <= 0)
		return x;
	return (x < least) != comes_back ? least + rest : most - rest;
}

/* Puts a coordinate that lies outside to where it is taken from. */
static float padded(const struct sample *s, float x, int64_t size)
{
	const float least = s->is_aligned ? 0 : -0.5F, most = (float)(size - 1) - least;

	if (s->padding == SAMPLE_BORDER)
		return fminf(fmaxf(x, 0), (float)(size - 1));
	return s->padding == SAMPLE_REFLECTION ? reflected(x, least, most) : x;
}

/* Returns the element that stands at a whole coordinate; -1: it is a zero. */
static int64_t element(const struct sample *s, float x, int64_t size)
{
	const float at = padded(s, x, size);
	/* (float)(size - 1) may be rounded up. */
	const int64_t i = at >= 0 && at <= (float)(size - 1) ? (int64_t)at : -1;

	if (i < size)
		return i;
	return s->padding == SAMPLE_ZEROS ? -1 : size - 1;
}

/* The kernel of Keys (1981), with a = -0.75. */
static void weigh_cubic(float x, float weight[TAPS])
{
	const float a = -0.75F;
	const float far[] = {1 + x, 2 - x}, near[] = {x, 1 - x};

	for (int i = 0; i < 2; i++) {
		const float f = far[i], n = near[i];

		weight[3 * i] = ((a * f - 5 * a) * f + 8 * a) * f - 4 * a;
		weight[1 + i] = ((a + 2) * n - (a + 3)) * n * n + 1;
	}
}

static void find_along(const struct sample *s, float place, int64_t size, struct along *to)
{
	const float length = (float)size;
	float x = s->is_aligned ? (place + 1) / 2 * (length - 1) : ((place + 1) * length - 1) / 2;
	float first;

	if (s->mode == SAMPLE_NEAREST)
		x = rintf(x);
	if (s->mode != SAMPLE_CUBIC) /* whose elements are put there one by one */
		x = padded(s, x, size);
	first = s->mode == SAMPLE_NEAREST ? x : floorf(x) - (s->mode == SAMPLE_CUBIC);
	to->n = s->mode == SAMPLE_NEAREST ? 1 : s->mode == SAMPLE_LINEAR ? 2 : TAPS;
	for (int i = 0; i < to->n; i++)
		to->at[i] = element(s, first + (float)i, size);
	to->weight[0] = s->mode == SAMPLE_NEAREST ? 1 : first + 1 - x;
	to->weight[1] = x - first;
	if (s->mode == SAMPLE_CUBIC)
		weigh_cubic(x - floorf(x), to->weight);
}

/* Finds the elements of one channel that a point is a sum of, and returns how many they are. */
static int find(const struct sample *s, const float *place, int64_t at[TAPS_ALL],
		float weight[TAPS_ALL])
{
	int n = 1;

	at[0] = 0;
	weight[0] = 1;
	for (int d = 0; d < s->rank; d++) {
		struct along along;
		int made = 0;
		int64_t was[TAPS_ALL];
		float had[TAPS_ALL];

		find_along(s, place[s->rank - 1 - d], s->size[d], &along);
		for (int i = 0; i < n; i++) {
			was[i] = at[i];
			had[i] = weight[i];
		}
		for (int i = 0; i < n; i++)
			for (int k = 0; k < along.n; k++) {
				if (along.at[k] < 0)
					continue;
				at[made] = was[i] * s->size[d] + along.at[k];
				weight[made++] = had[i] * along.weight[k];
			}
		n = made;
	}
	return n;
}

int sample_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct sample *s = with;
	const int64_t all = s->batch * s->points;
	int64_t size = 1;

	for (int d = 0; d < s->rank; d++)
		size *= s->size[d];
	for (int64_t i = all * thread / threads; i < all * (thread + 1) / threads; i++) {
		const int64_t batch = i / s->points;
		const float *from = buffers[0] + batch * s->channels * size;
		float *to = buffers[2] + batch * s->channels * s->points + i % s->points;
		int64_t at[TAPS_ALL];
		float weight[TAPS_ALL];
		const int n = find(s, buffers[1] + i * s->rank, at, weight);

		for (int64_t c = 0; c < s->channels; c++) {
			float sum = 0;

			for (int k = 0; k < n; k++)
				sum += weight[k] * from[c * size + at[k]];
			to[c * s->points] = sum;
		}
	}
	return 0;
}
