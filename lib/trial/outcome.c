#include "lib/trial/outcome.h"

#include <math.h>
#include <string.h>

static const double RATIO_FAR = 0.1;

void outcome_keep_race(struct outcome *o, const struct race *r)
{
	o->time = r->time;
	o->warmup = r->warmup;
	o->outliers = r->outliers;
	o->n = r->n;
	memcpy(o->x, r->x, (size_t)r->n * sizeof *r->x);
}

int outcome_is_far(const struct stat_median *ratio)
{
	return ratio->lo > 1 + RATIO_FAR || ratio->hi < 1 - RATIO_FAR;
}

/* What follows from the turns that are there. */
void outcome_judge_turns(struct outcome *o)
{
	double own[FINAL_ROUNDS], ratio[FINAL_ROUNDS], time[FINAL_ROUNDS];
	size_t bytes = (size_t)o->n * sizeof(double);

	for (int i = 0; i < o->nopponents; i++) {
		for (int k = 0; k < o->n; k++)
			ratio[k] = o->turn[i][k] / o->x[k];
		memcpy(time, o->turn[i], bytes);
		o->opponent[i] = stat_median(time, o->n);
		o->ratio[i] = stat_median(ratio, o->n);
	}
	memcpy(own, o->x, bytes);
	o->time = stat_median(own, o->n);
}

int outcome_is_clear(const struct outcome *o)
{
	return !o->nopponents || outcome_is_far(&o->ratio[0]) ||
	       (!o->is_calm && !quiet_hope(&o->quiet));
}

static void add_turns(struct outcome *o, const struct outcome *more)
{
	int n = more->n < FINAL_ROUNDS - o->n ? more->n : FINAL_ROUNDS - o->n;

	memcpy(o->x + o->n, more->x, (size_t)n * sizeof *o->x);
	for (int i = 0; i < o->nopponents; i++)
		memcpy(o->turn[i] + o->n, more->turn[i], (size_t)n * sizeof *o->x);
	o->n += n;
}

void outcome_add(struct outcome *o, const struct outcome *more)
{
	struct outcome before = *o;

	if (o->status != OUTCOME_OK)
		return;
	if (more->status != OUTCOME_OK || (more->is_calm && !o->is_calm))
		*o = *more;
	else if (more->is_calm == o->is_calm && more->nopponents == o->nopponents)
		add_turns(o, more);
	o->quiet.disturbed = before.quiet.disturbed + more->quiet.disturbed;
	o->verify_s = before.verify_s + more->verify_s;
	o->run_s = before.run_s + more->run_s;
	if (o->status == OUTCOME_OK)
		outcome_judge_turns(o);
}

enum stat_verdict outcome_verdict(const struct outcome *o)
{
	enum stat_verdict v = stat_verdict(o->ratio[0]);

	return o->is_calm || outcome_is_far(&o->ratio[0]) ? v : STAT_UNDECIDED;
}

static int is_time(const struct stat_median *m)
{
	return m->lo >= 0 && m->lo <= m->hi && isfinite(m->hi) && m->median >= 0 &&
	       isfinite(m->median);
}

int outcome_is_sane(const struct outcome *o)
{
	int sane = (unsigned)o->status < OUTCOME_STATUSES && memchr(o->why, 0, sizeof o->why) &&
		   o->n >= 0 && o->n <= RACE_MAX && o->nopponents >= 0 && o->nopponents <= 2 &&
		   is_time(&o->time) && is_time(&o->audit) && o->verify_s >= 0 && o->run_s >= 0 &&
		   o->audit_s >= 0 && o->warmup >= 0 && o->outliers >= 0 &&
		   (o->status != OUTCOME_OK || o->n > 0) &&
		   (!o->nopponents || o->n <= PROCESS_ROUNDS) && o->quiet.disturbed >= 0;

	for (int i = 0; sane && i < o->n; i++)
		sane = o->x[i] >= 0 && isfinite(o->x[i]);
	for (int i = 0; sane && i < o->nopponents; i++) {
		sane = is_time(&o->opponent[i]) && is_time(&o->ratio[i]);
		for (int k = 0; sane && k < o->n; k++)
			sane = o->turn[i][k] >= 0 && isfinite(o->turn[i][k]);
	}
	return sane;
}
