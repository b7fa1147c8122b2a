#include "lib/trial/race.h"

#include <stdio.h>
#include <string.h>

static const double LOST = 0.02;	 /* beyond the limit by this share: lost */
static const double CLOSING = 2;	 /* with n calls by this over n*n, if that is more */
static const double FAR = 4;		 /* times the limit: a glance is enough */
static const double NOISE_TARGET = 0.02; /* width of the interval over the median */
/* Others' bursts of work last a millisecond or two: a shorter look at a short program may have seen
 * nothing else. */
static const double LOOK_S = 3e-3, GLANCE_S = 2e-4;

enum { FIRST = 4, MIN_LOST = 8, MIN_DONE = 16 };

static int sample(race_call *call, void *arg, struct race *r, struct err *e)
{
	double x = 0;

	if (call(arg, &x, e) < 0)
		return -1;
	r->x[r->n++] = x;
	r->spent_s += x;
	if (r->n == 1 || x < r->least)
		r->least = x;
	return 0;
}

/* Median, warm-up and outliers of what is there. */
static void summarise(struct race *r)
{
	double sorted[RACE_MAX];
	struct stat_fences f;
	int half = r->n / 2, late = r->n - half;

	memcpy(sorted, r->x + half, (size_t)late * sizeof *sorted);
	f = stat_fences(sorted, late);
	for (r->warmup = 0; r->warmup < half && r->x[r->warmup] > f.hi; r->warmup++)
		;
	r->outliers = 0;
	for (int i = r->warmup; i < r->n; i++)
		r->outliers += r->x[i] > f.hi || r->x[i] < f.lo;
	memcpy(sorted, r->x + r->warmup, (size_t)(r->n - r->warmup) * sizeof *sorted);
	r->time = stat_median(sorted, r->n - r->warmup);
}

static int was_seen(const struct race_rules *rules, const struct race *r)
{
	return r->spent_s >= LOOK_S || (r->spent_s >= GLANCE_S && r->least > FAR * rules->limit_s);
}

/* Even the least of its calls lies too far beyond the limit. */
static int is_hopeless(const struct race_rules *rules, const struct race *r)
{
	double closing = CLOSING / r->n / r->n, beyond = closing > LOST ? closing : LOST;

	return rules->limit_s > 0 && r->n > 1 && r->least > (1 + beyond) * rules->limit_s &&
	       was_seen(rules, r);
}

static int is_lost(const struct race_rules *rules, const struct race *r)
{
	return rules->limit_s > 0 && r->time.n >= MIN_LOST && was_seen(rules, r) &&
	       r->time.lo > (1 + LOST) * rules->limit_s;
}

/* Known well enough; or, whatever its time is exactly, not the least. */
static int is_done(const struct race_rules *rules, const struct race *r)
{
	int narrow, beaten;

	if (r->spent_s > rules->budget_s)
		return 1;
	if (r->time.n < MIN_DONE || r->spent_s < LOOK_S)
		return 0;
	narrow = r->time.hi - r->time.lo < NOISE_TARGET * r->time.median;
	beaten = rules->limit_s > 0 && r->time.lo > rules->limit_s;
	return narrow || beaten;
}

/* Calls until there are `target` samples, or it has lost. */
static int sample_until(int target, const struct race_rules *rules, race_call *call, void *arg,
			struct race *r, struct err *e)
{
	while (r->n < target && !r->lost) {
		if (sample(call, arg, r, e) < 0)
			return -1;
		r->lost = is_hopeless(rules, r);
	}
	summarise(r);
	if (r->lost)
		r->time.lo = r->least;
	else
		r->lost = is_lost(rules, r);
	return 0;
}

int race_run(const struct race_rules *rules, race_call *call, void *arg, struct race *r,
	     struct err *e)
{
	int target = FIRST;

	r->lost = 0;
	while (target < r->n)
		target *= 2;
	for (;;) {
		if (sample_until(target, rules, call, arg, r, e) < 0)
			return -1;
		if (r->lost || is_done(rules, r) || target == RACE_MAX)
			return 0;
		target *= 2;
	}
}

void race_why(const struct race_rules *rules, const struct race *r, char *out, size_t size)
{
	snprintf(out, size, "at least %.2f times the incumbent's time after %d calls",
		 r->time.lo / rules->limit_s, r->n);
}
