#include "lib/measure/span.h"

#include <math.h>

static const double MOST = 0.2; /* of the time is for finals */

static double part(double now, double until, double own, double all)
{
	if (isinf(until) || now >= until || own >= all)
		return until;
	return now + (until - now) * own / all;
}

double span_races(double now, double until, int64_t candidates, int64_t finals)
{
	const double races = (double)candidates;

	return part(now, until, races, races + (double)(SPAN_FINAL * finals));
}

double span_share(double now, double until, int64_t own, int64_t all)
{
	return part(now, until, (double)own, (double)all);
}

double span_reserve(double limit_s, int64_t finals, double each_s)
{
	return fmin(MOST * limit_s, (double)(SPAN_FINAL * finals) * each_s);
}
