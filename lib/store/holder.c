#include "lib/store/holder.h"

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

void holder_feed(struct holder *h, const struct store_result *r)
{
	if (!r->since)
		return;
	if (!r->final && isnan(r->ratio)) {
		h->best = better(h->best, h->own);
		h->own = r;
		h->anew = r->run;
	} else if (h->anew && !strcmp(r->run, h->anew)) {
		h->own = r;
	} else {
		h->best = r;
		h->own = NULL;
	}
}

const struct store_result *holder_found(const struct holder *h)
{
	return better(h->best, h->own);
}
