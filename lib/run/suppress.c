#include "lib/run/suppress.h"

#include <math.h>
#include <stdlib.h>

struct corners {
	float x[2], y[2]; /* least and most */
};

/* One of the two is NaN if one of the operands is. A box with NaN overlaps none. */
static float least(float a, float b)
{
	return a >= b ? b : a;
}

static float most(float a, float b)
{
	return a >= b ? a : b;
}

static struct corners read_box(const struct suppress *s, const float *from)
{
	if (s->is_centered)
		return (struct corners){{from[0] - from[2] / 2, from[0] + from[2] / 2},
					{from[1] - from[3] / 2, from[1] + from[3] / 2}};
	return (struct corners){{least(from[1], from[3]), most(from[1], from[3])},
				{least(from[0], from[2]), most(from[0], from[2])}};
}

static float area(const struct corners *b)
{
	return (b->x[1] - b->x[0]) * (b->y[1] - b->y[0]);
}

/* Do they share more of what they cover together? */
static int overlap(const struct suppress *s, const float *p, const float *q, float limit)
{
	const struct corners a = read_box(s, p), b = read_box(s, q);
	const struct corners both = {{fmaxf(a.x[0], b.x[0]), fminf(a.x[1], b.x[1])},
				     {fmaxf(a.y[0], b.y[0]), fminf(a.y[1], b.y[1])}};
	const float shared = area(&both), all = area(&a) + area(&b) - shared;

	if (!(both.x[1] > both.x[0]) || !(both.y[1] > both.y[0]) || !(shared > 0))
		return 0;
	return area(&a) > 0 && area(&b) > 0 && all > 0 && shared / all > limit;
}

/* The largest score comes first, of equal ones the first box. NaN comes last. */
static int is_behind(const void *a, const void *b, void *with)
{
	const float *score = with;
	const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;

	if (isnan(score[i]) != isnan(score[k]))
		return isnan(score[i]) ? 1 : -1;
	if (score[i] > score[k] || score[i] < score[k])
		return score[i] > score[k] ? -1 : 1;
	return (i > k) - (i < k);
}

/* Finds which boxes of a class stay, and returns how many. */
static int64_t choose(const struct suppress *s, const float *boxes, float *score,
		      const float *above, float overlaps, int64_t limit)
{
	int64_t n = 0, stay = 0;

	for (int64_t i = 0; i < s->boxes; i++)
		if (!above || score[i] > *above)
			s->order[n++] = i;
	qsort_r(s->order, (size_t)n, sizeof *s->order, is_behind, score);
	for (int64_t i = 0; i < n && stay < limit; i++) {
		int64_t k = 0;

		while (k < stay &&
		       !overlap(s, boxes + 4 * s->order[i], boxes + 4 * s->stays[k], overlaps))
			k++;
		if (k == stay)
			s->stays[stay++] = s->order[i];
	}
	return stay;
}

static int64_t most_of(const struct suppress *s, const float *buffer)
{
	if (s->most >= 0)
		return s->most;
	return !buffer || !(*buffer > 0)   ? 0
	       : *buffer < (float)s->boxes ? (int64_t)*buffer
					   : s->boxes;
}

int suppress_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct suppress *s = with;
	const int64_t most = most_of(s, buffers[SUPPRESS_MOST]), told = s->counted->told;
	const float overlaps = buffers[SUPPRESS_OVERLAP] ? *buffers[SUPPRESS_OVERLAP] : 0;
	int64_t found = 0;

	(void)threads;
	if (thread)
		return 0;
	if (!(overlaps >= 0 && overlaps <= 1))
		return -1;
	for (int64_t i = 0; i < s->batch * s->classes && most; i++) {
		const float *boxes = buffers[SUPPRESS_BOXES] + i / s->classes * s->boxes * 4;
		const int64_t n = choose(s, boxes, buffers[SUPPRESS_SCORES] + i * s->boxes,
					 buffers[SUPPRESS_SCORE], overlaps, most);

		for (int64_t k = 0; k < n && found + k < told; k++) {
			float *to = buffers[SUPPRESS_TO] + 3 * (found + k);

			to[0] = (float)(i / s->classes);
			to[1] = (float)(i % s->classes);
			to[2] = (float)s->stays[k];
		}
		found += n;
	}
	return counted_end(s->counted, buffers[SUPPRESS_TO], found);
}
