#include "lib/policy/finals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double NEAR = 1.2; /* times behind the best */

void finals_decide(const struct history_item *h, struct policy_op *op)
{
	op->tune = h->best && !h->best->final;
	op->budget = 0;
	snprintf(op->reason, sizeof op->reason, "%s",
		 op->tune ? "its best candidate has had no final"
			  : "there is nothing to compare with the library");
}

/* Not the best itself, none that was found wrong, and none that held the place again later. */
static int may_meet(const struct history_item *h, int64_t i)
{
	const struct store_result *r = &h->result[i];

	if (!strcmp(r->candidate_id.s, h->best->candidate_id.s))
		return 0;
	for (int64_t k = 0; k < h->n; k++) {
		const struct store_result *other = &h->result[k];

		if (!strcmp(other->candidate_id.s, r->candidate_id.s) &&
		    (other->status == STATUS_WRONG || (k > i && other->since && !other->final)))
			return 0;
	}
	return 1;
}

void finals_begin(const struct history_item *h, struct finals_walk *walk)
{
	*walk = (struct finals_walk){h->n, 1};
}

struct store_result *finals_next(const struct history_item *h, struct finals_walk *walk)
{
	while (walk->at > 0 && walk->behind < NEAR) {
		struct store_result *r = &h->result[--walk->at];

		if (!r->since || r->final)
			continue;
		walk->behind *= isnan(r->ratio) ? INFINITY : r->ratio; /* it was alone: NAN */
		if (may_meet(h, walk->at))
			return r;
	}
	return NULL;
}
