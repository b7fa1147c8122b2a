#include "lib/policy/refuse.h"

#include <math.h>

static const double DRAFT_FAR = 4, FIRST_FAR = 0.5, HEDGE = 0.25, HEDGE_ON_TRIAL = 1.0 / 3;

int refuse_by_draft(double draft_s, double best_s)
{
	return best_s > 0 && draft_s > DRAFT_FAR * best_s;
}

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
