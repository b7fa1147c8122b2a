#include "lib/policy/refuse.h"

#include <math.h>

static const double FIRST_FAR = 0.5, HEDGE = 0.25, HEDGE_ON_TRIAL = 1.0 / 3;

int refuse_by_first(double value, double best)
{
	return value < best - FIRST_FAR;
}

double refuse_hedge_share(int on_trial)
{
	return on_trial ? HEDGE_ON_TRIAL : HEDGE;
}

int64_t refuse_hedge(int64_t k, double share)
{
	return (int64_t)floor((double)k * fmin(share, 1));
}
