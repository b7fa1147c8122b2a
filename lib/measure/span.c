#include "lib/measure/span.h"

#include <math.h>

static const double MOST = 0.2; /* of the time is for finals */
/* However little a candidate takes, a final takes so long: the look through the library's variants
 * and two processes. 31 finals of mobilenet_v2 take 11 s on a Zen 4, where a candidate takes 20
 * ms. */
static const double FINAL_LEAST_S = 0.4;

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
	return fmin(MOST * limit_s, (double)finals * fmax(SPAN_FINAL * each_s, FINAL_LEAST_S));
}
