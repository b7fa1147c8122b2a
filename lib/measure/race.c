#include "lib/measure/race.h"

#include <stdio.h>
#include <string.h>

static const double PROBE_FACTOR = 1.5;	 /* beyond this times the limit two probes are enough */
static const double LOST_FACTOR = 1.02;	 /* the whole interval beyond this: lost */
static const double NOISE_TARGET = 0.01; /* width of the interval over the median */
/* A shorter look at a short program may see nothing but one disturbance. */
static const double PROBE_TIME_S = 2e-4, LOST_TIME_S = 2e-3;

enum { FIRST = 4, MAX_PROBES = 8, MIN_LOST = 8, MIN_DONE = 16, MANY = 128 };

static int sample(race_call *call, void *arg, struct race *r, struct err *e)
{
	if (call(arg, &r->x[r->n], e) < 0)
		return -1;
	r->spent_s += r->x[r->n++];
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

static int probe(const struct race_rules *rules, race_call *call, void *arg, struct race *r,
		 struct err *e)
{
	const double beyond = PROBE_FACTOR * rules->limit_s;
	double sorted[MAX_PROBES];

	do {
		if (sample(call, arg, r, e) < 0)
			return -1;
		if (rules->limit_s <= 0 || r->x[r->n - 1] <= beyond)
			return 0;
	} while (r->n < 2 || (r->n < MAX_PROBES && r->spent_s < PROBE_TIME_S));
	r->lost = 1;
	memcpy(sorted, r->x, (size_t)r->n * sizeof *sorted);
	r->time = stat_median(sorted, r->n);
	r->time.lo = sorted[0];
	return 0;
}

static int is_lost(const struct race_rules *rules, const struct race *r)
{
	return rules->limit_s > 0 && r->time.n >= MIN_LOST &&
	       (r->spent_s >= LOST_TIME_S || r->time.n >= MANY) &&
	       r->time.lo > LOST_FACTOR * rules->limit_s;
}

static int is_done(const struct race_rules *rules, const struct race *r)
{
	return r->spent_s > rules->budget_s ||
	       (r->time.n >= MIN_DONE && r->time.hi - r->time.lo < NOISE_TARGET * r->time.median);
}

int race_run(const struct race_rules *rules, race_call *call, void *arg, struct race *r,
	     struct err *e)
{
	int target = FIRST;

	r->lost = 0;
	if (!r->n && probe(rules, call, arg, r, e) < 0)
		return -1;
	if (r->lost)
		return 0;
	while (target < r->n)
		target *= 2;
	for (; target <= RACE_MAX; target *= 2) {
		while (r->n < target)
			if (sample(call, arg, r, e) < 0)
				return -1;
		summarise(r);
		r->lost = is_lost(rules, r);
		if (r->lost || is_done(rules, r))
			break;
	}
	return 0;
}

void race_why(const struct race_rules *rules, const struct race *r, char *out, size_t size)
{
	snprintf(out, size, "at least %.2f times the incumbent's time after %d calls",
		 r->time.lo / rules->limit_s, r->n);
}
