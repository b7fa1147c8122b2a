/* This file counts the borders in rows of a result that threads divide (walk.h). */
#include <math.h>

#include "lib/draft/extremes.h"
#include "lib/draft/walk.h"

/* Prefetches bring lines in pairs: the one at hand, and the next one. */
enum { PAIR = 128, MOST_PAIRS = 2 };

static double slope_of(const struct walk_form *f, int d)
{
	return f->loops >> d & 1 ? fabs(f->slope[d]) : 0;
}

/* Is it a parallel loop that several threads have a part of each? */
static int is_divided(const struct walk *w, int d)
{
	return w->path[d].kind == LOOP_PARALLEL && w->path[d].dealt < w->path[d].n;
}

/* Returns the borders in the rows that loop d divides, whose parts have so many bytes. A row counts
 * once for each time that the thread comes back to it. */
static double borders_of(const struct walk *w, const struct walk_form *f, int d, double bytes)
{
	const double step = slope_of(f, d), last = step * (w->path[d].n - 1);
	const double pairs = min(max(bytes / PAIR, 1), MOST_PAIRS);
	double rows = 1, visits = 1;

	for (int e = 0; e < w->depth; e++) {
		const double other = slope_of(f, e);

		if (e != d && other > last)
			rows *= w->path[e].dealt;
		else if (other > 0 && rows == 1)
			visits *= w->path[e].dealt;
	}
	return rows > 1 ? rows * min(visits, pairs) : 0;
}

double walk_borders(const struct walk *w, const struct walk_form *f, int size)
{
	double sum = 0;

	for (int d = 0; d < w->depth; d++)
		if (is_divided(w, d) && slope_of(f, d) > 0)
			sum += borders_of(w, f, d, slope_of(f, d) * w->path[d].dealt * size);
	return sum;
}
