/* Which operators to go on tuning, and with how many candidates each: operator and model preemption
 * after Trimmer (IEEE CLOUD 2022, section IV), with three corrections.
 *
 * - Progress is the fall of the best so far, weighed by count: an operator that stops stays in the
 *   sums, so that stopping never looks like progress.
 * - The budget goes where it is expected to bring most. The best of n candidates falls about
 *   linearly with log(n): a doubling of the candidates is expected to bring the fraction d, seen in
 *   the last doubling and drawn towards a prior while n is small. The m more candidates for an
 *   operator with count c and time t are then expected to save c t (1 - exp(-d
 * log2((n+m+1)/(n+1)))) seconds. The sum over all operators under a budget is largest where each
 * one's n + m is in proportion to c t d (water filling). Equal shares are what the first round
 * gets, when nothing is known.
 * - An operator stops at a plateau of its own: no gain of 1% within `patience` candidates. It gets
 *   another, short turn after 2 rounds, then 4, 8, ... while others go on. All stops only when none
 *   goes on of its own merit, when the expected gain is not worth its core-seconds, or at a limit.
 *
 * Pure functions of their arguments.
 */
#ifndef TL_STORE_PREEMPT_H
#define TL_STORE_PREEMPT_H

#include <stdint.h>

struct preempt_try {
	double latency_s; /* NAN: failed or preempted */
	double core_s;	  /* NAN: unknown */
	int round;	  /* of all rounds known, from 0 */
};

struct preempt_op {
	/* Known */
	int64_t count;
	double flops;
	double time_s; /* of the incumbent, else of the baseline; NAN: unknown */
	const struct preempt_try *tries;
	int64_t ntries;
	int exhausted; /* the last turn found no candidate that was not known */
	/* Decided */
	int tune;
	int64_t budget;
	char reason[240]; /* a sentence without a full stop */
	/* Between the two */
	double doubling; /* d */
	double weight;	 /* count x time x d */
	int64_t idle;	 /* tries since the last gain */
};

struct preempt_rules {
	double gain;	  /* what counts as a gain: 0.01 is 1% of the latency */
	int64_t patience; /* candidates without a gain after which an operator stops */
	int64_t budget;	  /* candidates for the next round */
	double min_gain;  /* least gain expected, as a part of all time, for a core-second */
	int rounds;	  /* rounds known */
};

/* Decides for all n operators; returns how many are to be tuned. */
int preempt_decide(struct preempt_op *op, int n, const struct preempt_rules *rules);
/* Stops all for a reason of the caller's (a limit). */
void preempt_stop_all(struct preempt_op *op, int n, const char *reason);
/* Seconds that m more candidates are expected to save in one run of the model. */
double preempt_expected(const struct preempt_op *op, int64_t m);

#endif
