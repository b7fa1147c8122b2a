#include "lib/measure/contest.h"

#include <string.h>

#include "lib/base/rng.h"

void contest_begin(struct contest *c, struct contestant *incumbent, int is_fixed)
{
	*c = (struct contest){
		.incumbent = incumbent, .best = incumbent, .is_fixed = is_fixed, .best_ratio = 1};
}

static int take_in(struct contest *c, struct contestant *in, int won, double ratio)
{
	if (!c->incumbent)
		c->incumbent = c->best = in;
	else if (!c->is_fixed && won)
		c->incumbent = c->best = in;
	else if (c->is_fixed && ratio > c->best_ratio)
		c->best = in;
	else
		return 0;
	if (c->is_fixed && ratio > c->best_ratio)
		c->best_ratio = ratio;
	return 1;
}

int contest_raced(struct contest *c, struct contestant *in, const struct contest_end *end)
{
	int ok = end->status == STATUS_OK, preempted = end->status == STATUS_PREEMPTED;

	c->n.measured += ok;
	c->n.preempted += preempted;
	c->n.failed += !ok && !preempted;
	return ok && take_in(c, in, end->won, end->ratio);
}

/* The candidate that became it last is the incumbent. One of this run is later than all
 * known ones. */
int contest_known(struct contest *c, struct contestant *in, int became_incumbent)
{
	c->n.known++;
	if (!became_incumbent ||
	    (c->incumbent && (!c->incumbent->at || strcmp(in->at, c->incumbent->at) <= 0)))
		return 0;
	c->incumbent = c->best = in;
	return 1;
}

void contest_audited(struct contest *c, int won)
{
	c->n.audited++;
	c->n.false_kills += won;
}

int contest_audits(double share, uint64_t seed, const struct id *candidate)
{
	struct rng r;

	rng_seed(&r, seed, candidate->s);
	return rng_unit(&r) < share;
}
