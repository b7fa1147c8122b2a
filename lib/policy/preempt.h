/* Decides which operators to go on tuning, and with how many candidates each. This is the operator
 * and model preemption of Trimmer (IEEE CLOUD 2022, section IV), with three corrections.
 *
 * - Progress is the fall of the best time so far, weighted with the count. An operator that stops
 *   stays in the sums, so that stopping never looks like progress.
 * - The budget goes where the expected gain is greatest. The best of n candidates falls about
 *   linearly with log(n): a doubling of the candidates is expected to gain the fraction d, which is
 *   that of the last doubling, shrunk towards a prior while n is small. For an operator with count
 *   c and time t, m more candidates are then expected to save
 *   c t (1 - exp(-d log2((n+m+1)/(n+1)))) seconds. Under a budget the sum over all operators is
 *   largest if each one's n + m is in proportion to c t d (water filling). In the first round, when
 *   nothing is known, the shares are equal.
 * - An operator stops when it has no gain of 1% within `patience` candidates. While others go on,
 * it gets another, short turn after 2 rounds, then 4, 8, ... The whole run stops when no operator
 *   still gains, when the expected gain is not worth its core-seconds, or at a limit.
 *
 * The functions are pure.
 */
#ifndef TL_POLICY_PREEMPT_H
#define TL_POLICY_PREEMPT_H

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
/* Stops all operators, for a reason that the caller gives (a limit). */
void preempt_stop_all(struct preempt_op *op, int n, const char *reason);
/* Seconds that m more candidates are expected to save in one run of the model. */
double preempt_expected(const struct preempt_op *op, int64_t m);

#endif
