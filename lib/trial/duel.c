#include "lib/trial/duel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double CLOSING = 2; /* after n pairs the best ratio may be 1 / (1 + this / n^2) */
/* Normal quantiles of intervals: what is told, what decides who wins, what lets one go. */
static const double TOLD = 1.96, DECIDES = 1.645, LETS_GO = 1.282;
static const double WORTH = 0.015;	/* a challenger that cannot be better by more is let go */
static const double PROMISING = 0.005;	/* one that seems to be, by this, gets more time: */
static const double KNOWN_WIDTH = 0.02; /* of an interval over its median */

enum { MORE_TIME = 4, MIN_LOST = 4, MIN_EVEN = 8, MIN_WON = 8, MIN_KNOWN = 12, MIN_ALONE = 16 };

static struct stat_median ratios(const struct duel *d, double z)
{
	double r[DUEL_MAX];

	for (int i = 0; i < d->n; i++)
		r[i] = d->y[i] / d->x[i];
	return stat_series(r, d->n, z);
}

static struct stat_median median_of(const double *x, int n)
{
	double copy[DUEL_MAX];

	memcpy(copy, x, (size_t)n * sizeof *x);
	return stat_series(copy, n, TOLD);
}

static int take_pair(duel_pair *pair, void *arg, struct duel *d, struct err *e)
{
	if (pair(arg, d->n & 1, &d->x[d->n], &d->y[d->n], e) < 0)
		return -1;
	d->spent_s += d->x[d->n] + d->y[d->n];
	d->n++;
	return 0;
}

/* Even the best of its pairs is too far behind. */
static int is_hopeless(const struct duel *d)
{
	double best = 0;

	for (int i = 0; i < d->n; i++)
		best = fmax(best, d->y[i] / d->x[i]);
	return best * (1 + CLOSING / d->n / d->n) < 1;
}

/* The budget is spent. One that may still be better gets more. */
static int is_spent(const struct duel_rules *rules, const struct duel *d, double median)
{
	int may_win = median > 1 + PROMISING;

	return d->n >= MIN_KNOWN && d->spent_s > rules->budget_s * (may_win ? MORE_TIME : 1);
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
	return (d->n >= MIN_EVEN && may_be < 1 + WORTH) || is_spent(rules, d, r.median);
}

static int is_known(const struct stat_median *m)
{
	return m->hi - m->lo < KNOWN_WIDTH * m->median;
}

static int whole_is_over(const struct duel_rules *rules, struct duel *d)
{
	struct stat_median r = ratios(d, TOLD);

	d->end = r.hi < 1 ? DUEL_LOST : r.lo > 1 ? DUEL_WON : DUEL_EVEN;
	return (d->n >= MIN_KNOWN && is_known(&r)) || (d->n > 2 && d->spent_s > rules->budget_s);
}

static int is_over(const struct duel_rules *rules, struct duel *d)
{
	if (rules->kind == DUEL_RACE)
		return race_is_over(rules, d);
	return whole_is_over(rules, d) && rules->kind == DUEL_WHOLE;
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
	d->ratio = ratios(d, TOLD);
	d->time = median_of(d->x, d->n);
	d->other_time = median_of(d->y, d->n);
}

int duel_run(const struct duel_rules *rules, duel_pair *pair, void *arg, struct duel *d,
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
	summarise(d);
	return 0;
}

int duel_alone(double budget_s, duel_pair *pair, void *arg, struct duel *d, struct err *e)
{
	do {
		double ignored;

		if (pair(arg, 0, &d->x[d->n], &ignored, e) < 0)
			return -1;
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

void duel_why(const struct duel *d, char *out, size_t size)
{
	snprintf(out, size, "%.3g times as slow as the incumbent after %d pair%s of calls",
		 1 / d->ratio.median, d->n, d->n == 1 ? "" : "s");
}
