#include "lib/trial/outcome.h"

#include <math.h>
#include <string.h>

static int is_time(const struct stat_median *m)
{
	return m->lo >= 0 && m->lo <= m->hi && isfinite(m->hi) && m->median >= 0 &&
	       isfinite(m->median);
}

static int is_duel(const struct duel *d)
{
	int sane = d->n >= 0 && d->n <= DUEL_MAX && is_time(&d->ratio) && is_time(&d->time) &&
		   is_time(&d->other_time) && (unsigned)d->end <= DUEL_WON;

	for (int i = 0; sane && i < d->n; i++)
		sane = d->x[i] > 0 && isfinite(d->x[i]) && d->y[i] > 0 && isfinite(d->y[i]);
	return sane;
}

static int is_own(const struct outcome *o)
{
	int sane = 1;

	for (int i = 0; sane && o->has_own && i < o->duel.n; i++)
		sane = o->own[i] > 0 && isfinite(o->own[i]);
	return sane;
}

/* The statuses that trials give. */
static int is_status(enum status s)
{
	return status_is_timed(s) || status_may_pass(s) || s == STATUS_WRONG ||
	       s == STATUS_UNSUPPORTED || s == STATUS_UNLOADABLE || s == STATUS_FAILED;
}

int outcome_is_sane(const struct outcome *o)
{
	return is_status(o->status) && memchr(o->why, 0, sizeof o->why) && is_duel(&o->duel) &&
	       is_own(o) && o->row >= 0 && o->row <= OUTCOME_ROW &&
	       (o->row_is_graph == 0 || o->row_is_graph == 1) && o->verify_s >= 0 &&
	       o->run_s >= 0 && (o->status != STATUS_OK || o->duel.n > 0);
}
