#include "lib/store/incumbent.h"

#include <math.h>
#include <string.h>

static const struct store_result *better(const struct store_result *a, const struct store_result *b)
{
	if (!a || !b)
		return a ? a : b;
	if (a->final && b->final && !isnan(a->ratio) && !isnan(b->ratio))
		return a->ratio > b->ratio ? a : b;
	return a->latency_s < b->latency_s ? a : b;
}

void incumbent_feed(struct incumbent *x, const struct store_result *r)
{
	if (!r->since)
		return;
	if (!r->final && isnan(r->ratio)) {
		x->best = better(x->best, x->own);
		x->own = r;
		x->anew = r->run;
	} else if (x->anew && !strcmp(r->run, x->anew)) {
		x->own = r;
	} else {
		x->best = r;
		x->own = NULL;
	}
}

const struct store_result *incumbent_found(const struct incumbent *x)
{
	return better(x->best, x->own);
}
