#include "lib/trial/duel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buf.h"

static const double CLOSING = 1; /* after n pairs the best ratio may be 1 / (1 + this / n^2) */
/* Normal quantiles of the intervals: in records; for winning and losing; for giving up. */
static const double REPORTED = 1.96, DECIDES = 1.645, LETS_GO = 1.282;
static const double WORTH = 0.02;	/* a challenger that cannot be better by more is let go */
static const double PROMISING = 0.03;	/* one that may be, by this, gets more time: */
static const double KNOWN_WIDTH = 0.02; /* of an interval over its median */

static const double CLEAR = 0.1; /* a win by more needs no new pairs and no other process */

static const double DISTURBED = 1.25; /* times the 20% quantile of its like */

enum {
	MIN_CALM = 6,
	MORE_TIME = 3,
	MOST_BUDGETS = 5,
	MIN_LOST = 4,
	MIN_WON = 8,
	MIN_KNOWN = 12,
	MIN_TRIED = 16,
	MIN_ALONE = 16
};

double duel_limit(double *x, int n)
{
	return DISTURBED * stat_quantile(x, n, 0.2);
}

static double limit(const double *x, int n)
{
	double copy[DUEL_MAX];

	memcpy(copy, x, (size_t)n * sizeof *x);
	return duel_limit(copy, n);
}

/* The ratios of the pairs in which neither call was disturbed; where those are few, of all. Returns
 * how many. */
static int calm_ratios(const struct duel *d, double *r)
{
	double x = limit(d->x, d->n), y = limit(d->y, d->n);
	int n = 0;

	for (int i = 0; i < d->n; i++)
		if (d->x[i] <= x && d->y[i] <= y)
			r[n++] = d->y[i] / d->x[i];
	if (n >= MIN_CALM && n >= d->n / 3)
		return n;
	for (n = 0; n < d->n; n++)
		r[n] = d->y[n] / d->x[n];
	return n;
}

static struct stat_median ratios(const struct duel *d, double z)
{
	double r[DUEL_MAX];
	int n = calm_ratios(d, r);

	return stat_series(r, n, z);
}

static struct stat_median median_of(const double *x, int n)
{
	double copy[DUEL_MAX];

	memcpy(copy, x, (size_t)n * sizeof *x);
	return stat_series(copy, n, REPORTED);
}

static int take_pair(duel_pair *pair, void *arg, struct duel *d, struct err *e)
{
	if (pair(arg, d->n & 1, &d->x[d->n], &d->y[d->n], e) < 0)
		return -1;
	d->x[d->n] = buf_rounded(d->x[d->n]);
	d->y[d->n] = buf_rounded(d->y[d->n]);
	d->spent_s += d->x[d->n] + d->y[d->n];
	d->n++;
	return 0;
}

/* Even the best of its pairs is too far behind; by more than the incumbent's calls differ, which is
 * what others do to them. */
static int is_hopeless(const struct duel *d)
{
	double best = 0, least = d->y[0], most = d->y[0];

	for (int i = 0; i < d->n; i++) {
		best = fmax(best, d->y[i] / d->x[i]);
		least = fmin(least, d->y[i]);
		most = fmax(most, d->y[i]);
	}
	return d->n > 1 && best * (1 + CLOSING / d->n / d->n) * (most / least) < 1;
}

/* The budget is spent. One that may still be better gets more. may_be: by how much it is at most.
 */
static int is_spent(const struct duel_rules *rules, const struct duel *d, double may_be)
{
	double budgets = d->spent_s / rules->budget_s;

	return (d->n >= MIN_KNOWN && budgets > 1 && may_be < 1 + PROMISING) ||
	       (d->n >= MIN_TRIED && budgets > MORE_TIME);
}

/* Whether the race is over, with d->end set. */
static int race_is_over(const struct duel_rules *rules, struct duel *d)
{
	struct stat_median r = ratios(d, DECIDES);
	double may_be;

	d->end = DUEL_LOST;
	if (is_hopeless(d) || (d->n >= MIN_LOST && r.hi < 1))
		return 1;
	d->end = DUEL_WON;
	if (d->n >= MIN_WON && r.lo > 1)
		return 1;
	may_be = ratios(d, LETS_GO).hi;
	d->end = may_be < 1 ? DUEL_LOST : DUEL_EVEN;
	return (d->n >= MIN_KNOWN && may_be < 1 + WORTH) || is_spent(rules, d, may_be);
}

static int is_known(const struct stat_median *m)
{
	return m->hi - m->lo < KNOWN_WIDTH * m->median;
}

/* Seconds that the calls would have taken if each had been as fast as the fastest of its like. */
static double calm_s(const struct duel *d)
{
	double x = d->x[0], y = d->y[0];

	for (int i = 1; i < d->n; i++) {
		x = fmin(x, d->x[i]);
		y = fmin(y, d->y[i]);
	}
	return d->n * (x + y);
}

/* If others had most of the time, a few budgets more may be spent. Else three pairs might have to
 * do, of which two were disturbed. */
static int whole_is_spent(const struct duel_rules *rules, const struct duel *d)
{
	const int was_calm = calm_s(d) > d->spent_s / 2;

	return d->n > 2 && d->spent_s > rules->budget_s * (was_calm ? 1 : MOST_BUDGETS);
}

static int whole_is_over(const struct duel_rules *rules, struct duel *d)
{
	struct stat_median r = ratios(d, REPORTED);

	d->end = r.hi < 1 ? DUEL_LOST : r.lo > 1 ? DUEL_WON : DUEL_EVEN;
	return (d->n >= MIN_KNOWN && is_known(&r)) || whole_is_spent(rules, d);
}

static int is_over(const struct duel_rules *rules, struct duel *d)
{
	int over;

	if (rules->kind == DUEL_RACE)
		return race_is_over(rules, d);
	over = whole_is_over(rules, d);
	if (rules->kind == DUEL_FINAL)
		return rules->limit_s > 0 && d->spent_s >= rules->limit_s &&
		       d->n >= DUEL_FINAL_LEAST;
	return over;
}

/* The number of pairs after which it is looked at next: 1, 2, 3, 4, 6, 8, 12, 16, 24, ... */
static int next_look(int n)
{
	int half = 1;

	if (n < 4)
		return n + 1;
	while (2 * half <= n)
		half *= 2;
	return n < half + half / 2 ? half + half / 2 : 2 * half;
}

static void summarise(struct duel *d)
{
	d->ratio = duel_ratio(d);
	d->time = median_of(d->x, d->n);
	d->other_time = median_of(d->y, d->n);
}

/* Makes pairs until the rules end it. */
static int run_pairs(const struct duel_rules *rules, duel_pair *pair, void *arg, struct duel *d,
		     struct err *e)
{
	int most = rules->kind == DUEL_FINAL ? rules->pairs : DUEL_MAX, over = 0;

	while (!over && d->n < most) {
		int until = next_look(d->n) < most ? next_look(d->n) : most;

		while (d->n < until)
			if (take_pair(pair, arg, d, e) < 0)
				return -1;
		over = is_over(rules, d);
	}
	return 0;
}

/* Luck, and where memory came to lie, are worth less. */
static int is_clear(const struct duel *d)
{
	return ratios(d, DECIDES).lo > 1 + CLEAR;
}

/* As many pairs again, and MIN_TRIED at least, which alone count from then on. */
static int confirm(duel_pair *pair, void *arg, struct duel *d, struct err *e)
{
	int n = d->n > MIN_TRIED ? d->n : MIN_TRIED;

	d->first.n = d->n;
	memcpy(d->first.x, d->x, (size_t)d->n * sizeof *d->x);
	memcpy(d->first.y, d->y, (size_t)d->n * sizeof *d->y);
	d->n = 0;
	d->spent_s = 0;
	while (d->n < n)
		if (take_pair(pair, arg, d, e) < 0)
			return -1;
	d->end = duel_ratio(d).median > 1 ? DUEL_WON : DUEL_EVEN;
	return 0;
}

int duel_run(const struct duel_rules *rules, duel_pair *pair, void *arg, struct duel *d,
	     struct err *e)
{
	int rc = run_pairs(rules, pair, arg, d, e);

	if (rc == 0 && rules->kind == DUEL_RACE && d->end == DUEL_WON && !is_clear(d))
		rc = confirm(pair, arg, d, e);
	if (rc == 0)
		summarise(d);
	return rc;
}

int duel_alone(double budget_s, duel_pair *pair, void *arg, struct duel *d, struct err *e)
{
	do {
		double ignored;

		if (pair(arg, 0, &d->x[d->n], &ignored, e) < 0)
			return -1;
		d->x[d->n] = buf_rounded(d->x[d->n]);
		d->y[d->n] = d->x[d->n];
		d->spent_s += d->x[d->n++];
		if (d->n < MIN_ALONE || (d->n & (d->n - 1)))
			continue;
		d->time = median_of(d->x, d->n);
		if (is_known(&d->time))
			break;
	} while (d->n < DUEL_MAX && (d->n < MIN_ALONE || d->spent_s < budget_s));
	summarise(d);
	d->end = DUEL_WON;
	return 0;
}

struct stat_median duel_ratio(const struct duel *d)
{
	return ratios(d, REPORTED);
}

void duel_why(const struct duel *d, char *out, size_t size)
{
	snprintf(out, size, "%.3g times as slow as the incumbent after %d pair%s of calls",
		 1 / d->ratio.median, d->n, d->n == 1 ? "" : "s");
}

void duel_result(const struct duel *d, int alone, struct result *r)
{
	static const enum result_end end[] = {
		[DUEL_LOST] = RESULT_LOST, [DUEL_EVEN] = RESULT_EVEN, [DUEL_WON] = RESULT_WON};

	r->latency_s = d->time.median;
	r->ci_s = (struct interval){d->time.lo, d->time.hi};
	r->reps = d->n;
	if (alone)
		return;
	r->duel.is_there = 1;
	r->duel.ratio = d->ratio.median;
	r->duel.ci = (struct interval){d->ratio.lo, d->ratio.hi};
	r->duel.latency_s = d->other_time.median;
	r->duel.end = end[d->end];
}
