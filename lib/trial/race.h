/* Racing: how often to call something until its time is known well enough, or it has clearly lost
 * (preemptive measurement).
 *
 * A race is lost in one of two ways. Noise makes calls longer, hardly ever shorter; so one whose
 * least call of n lies beyond the limit by max(2%, 2/n^2) will not win: by 50% after two calls, 22%
 * after three, 12.5% after four, 2% after ten. Or the interval of the median, looked at whenever
 * the number of calls has doubled, lies beyond the limit by 2%. Nothing is decided on less than 3
 * ms of calls, which is longer than what disturbs a machine for a moment (0.2 ms are enough for one
 * that takes four times the limit); calls so short that RACE_MAX take less cannot lose. What is
 * lost has a lower bound of its time, no median.
 *
 * A race that is not lost ends when the interval is narrow (2%) or lies beyond the limit, or when
 * the time is spent. How often it stops a good one under noise, and what a slow one costs, is
 * simulated in tests/race.c.
 *
 * Calls that warm up are found, not assumed: the leading samples that lie beyond the outer fence of
 * the later half (third quartile + 3 interquartile ranges; Tukey, "Exploratory Data Analysis",
 * 1977, section 2D) are left out. Later samples beyond either outer fence are counted as outliers
 * and stay: the median minds them little.
 *
 * Pure but for the calls, so that a recorded sequence of samples can take their place.
 */
#ifndef TL_TRIAL_RACE_H
#define TL_TRIAL_RACE_H

#include <stddef.h>

#include "lib/base/err.h"
#include "lib/trial/stat.h"

enum { RACE_MAX = 1024 };

struct race_rules {
	double limit_s;	 /* the incumbent's time; 0: none, nothing is ever lost */
	double budget_s; /* of calls */
};

struct race {
	int n;		    /* calls */
	double x[RACE_MAX]; /* their seconds, as they came */
	double least;	    /* of them */
	int lost;
	struct stat_median time; /* lost: of the samples so far; time.lo is the bound */
	int warmup, outliers;
	double spent_s;
};

typedef int race_call(void *arg, double *seconds, struct err *e);

/* Begins with nothing, or (r->n > 0) goes on after a race that was lost, for an audit. */
int race_run(const struct race_rules *rules, race_call *call, void *arg, struct race *r,
	     struct err *e);

/* The sentence for one that has lost. */
void race_why(const struct race_rules *rules, const struct race *r, char *out, size_t size);

#endif
