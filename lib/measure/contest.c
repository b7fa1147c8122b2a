#include "lib/measure/contest.h"

#include <string.h>

#include "lib/base/rng.h"

/* A finalist may be this much slower than the best of the race, or of an earlier round. */
static const double FINAL_FACTOR = 1.05;

void contest_begin(struct contest *c, double incumbent_s, int preempt, int64_t finals)
{
	*c = (struct contest){.best_s = incumbent_s, .preempt = preempt, .finals = finals};
	c->last = &c->first;
}

double contest_limit(const struct contest *c)
{
	return c->preempt ? c->best_s : 0;
}

static int take_in(struct contest *c, struct contestant *in, double latency_s)
{
	if (c->best_s <= 0 || latency_s < c->best_s)
		c->best_s = latency_s;
	/* The best only falls: what is clearly behind it now will be so in the end. */
	if (c->finals <= 0 || latency_s > FINAL_FACTOR * c->best_s)
		return 0;
	in->latency_s = latency_s;
	in->next = NULL;
	*c->last = in;
	c->last = &in->next;
	return 1;
}

int contest_known(struct contest *c, struct contestant *in, const char *status, double latency_s)
{
	c->n.known++;
	return strcmp(status, "ok") == 0 && take_in(c, in, latency_s);
}

int contest_raced(struct contest *c, struct contestant *in, const char *status, double latency_s,
		  double audit_s)
{
	int ok = !strcmp(status, "ok"), preempted = !strcmp(status, "preempted");

	c->n.measured += ok;
	c->n.preempted += preempted;
	c->n.failed += !ok && !preempted;
	if (preempted && audit_s > 0) {
		c->n.audited++;
		c->n.false_kills += audit_s < c->best_s;
	}
	return ok && take_in(c, in, latency_s);
}

struct contestant *contest_finalist(struct contest *c)
{
	struct contestant **at = &c->first, *in;

	if (c->finals <= 0 || !c->first)
		return NULL;
	for (struct contestant **p = &c->first->next; *p; p = &(*p)->next)
		if ((*p)->latency_s < (*at)->latency_s)
			at = p;
	in = *at;
	if (in->latency_s > FINAL_FACTOR * c->best_s)
		return NULL;
	c->finals--;
	*at = in->next;
	if (!*at)
		c->last = at;
	return in;
}

int contest_audits(double share, uint64_t seed, const struct id *candidate)
{
	struct rng r;

	rng_seed(&r, seed, candidate->s);
	return rng_unit(&r) < share;
}
