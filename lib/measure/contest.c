#include "lib/measure/contest.h"

#include <string.h>

#include "lib/base/rng.h"

void contest_begin(struct contest *c, struct contestant *holder, int is_fixed)
{
	*c = (struct contest){
		.holder = holder, .best = holder, .is_fixed = is_fixed, .best_ratio = 1};
}

static int take_in(struct contest *c, struct contestant *in, int won, double ratio)
{
	if (!c->holder)
		c->holder = c->best = in;
	else if (!c->is_fixed && won)
		c->holder = c->best = in;
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

/* The candidate that became the holder last is the holder. A holder of this run is later than all
 * known ones. */
int contest_known(struct contest *c, struct contestant *in, int is_incumbent)
{
	c->n.known++;
	if (!is_incumbent || (c->holder && (!c->holder->at || strcmp(in->at, c->holder->at) <= 0)))
		return 0;
	c->holder = c->best = in;
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
