#include "lib/policy/pace.h"

#include <math.h>
#include <stdio.h>

/* Seconds of a candidate, before one was measured. */
static const double PRIOR_S = 0.25;

enum { LEAST = 4 }; /* candidates that a round is worth its start for */

double pace_each(const struct pace *p)
{
	return p->candidates > 0 && p->used_s > 0 ? p->used_s / (double)p->candidates : PRIOR_S;
}

double pace_end(const struct pace *p)
{
	return p->limit_s - p->reserve_s;
}

static double left(const struct pace *p)
{
	return pace_end(p) - p->used_s;
}

int64_t pace_budget(const struct pace *p, int64_t budget)
{
	const double most = floor(left(p) / pace_each(p));

	if (!(most < (double)budget)) /* also if there is no limit */
		return budget;
	return most > LEAST ? (int64_t)most : budget < LEAST ? budget : LEAST;
}

const char *pace_over(const struct pace *p, char *buf, size_t size)
{
	const double least = p->candidates ? LEAST * pace_each(p) : 0;

	if (!(left(p) <= least))
		return NULL;
	snprintf(buf, size,
		 "all stop: of seconds<%.9g %.3g s are left, and the finals have %.3g s of all, so "
		 "that there is no time for another round",
		 p->limit_s, fmax(0, p->limit_s - p->used_s), p->reserve_s);
	return buf;
}
