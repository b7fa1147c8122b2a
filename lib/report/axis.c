#include "lib/report/axis.h"

#include <math.h>

enum { TICKS = 5 }; /* about as many */

/* A step of 1, 2 or 5 times a power of ten that makes about TICKS of a range. */
static double step_of(double range)
{
	double step = pow(10, floor(log10(range / TICKS)));

	if (range / step > 5 * TICKS)
		return 10 * step;
	if (range / step > 2.5 * TICKS)
		return 5 * step;
	return range / step > TICKS * 1.2 ? 2 * step : step;
}

struct axis axis_linear(double lo, double hi, double from, double to)
{
	double step;

	if (!(hi > lo))
		hi = lo + (lo > 0 ? lo : 1);
	if (hi - lo < 1e-9 * fabs(hi)) /* a step must be more than a rounding of its ticks */
		hi = lo + 1e-9 * fabs(hi);
	step = step_of(hi - lo);
	return (struct axis){floor(lo / step) * step, ceil(hi / step) * step, from, to, 0};
}

struct axis axis_log(double lo, double hi, double from, double to)
{
	struct axis a = {pow(10, floor(log10(lo))), pow(10, ceil(log10(hi))), from, to, 1};

	if (!(a.hi > a.lo))
		a.hi = 10 * a.lo;
	return a;
}

double axis_at(const struct axis *a, double value)
{
	double share = a->log ? log(value / a->lo) / log(a->hi / a->lo)
			      : (value - a->lo) / (a->hi - a->lo);

	return a->from + share * (a->to - a->from);
}

int axis_tick(const struct axis *a, double last, double *tick)
{
	double step = step_of(a->hi - a->lo);

	if (isnan(last))
		*tick = a->lo;
	else
		*tick = a->log ? 10 * last : last + step;
	if (!a->log && fabs(*tick) < step / 1000) /* what is left of a rounding */
		*tick = 0;
	if (*tick <= last || !isfinite(*tick)) /* values beyond all bounds */
		return 0;
	return *tick <= a->hi * (1 + 1e-9) + (a->hi == 0 ? step / 1000 : 0);
}
