/* How well something ranks candidates: the best time of all over the best time of its first k.
 *
 * Groups are added one by one. There are two figures over all groups: the mean of these ratios, and
 * the ratio of the sums of both times, where each group is weighted with its count (the share of
 * the best speed that a network would reach).
 */
#ifndef TL_MODEL_SCORE_H
#define TL_MODEL_SCORE_H

#include <stdint.h>

#include "lib/base/rng.h"

enum { SCORE_TOPS = 3 };
extern const int score_tops[SCORE_TOPS]; /* 1, 5, 8 */

struct score {
	int64_t groups;
	double best_s;			 /* sum of count x best */
	double chosen_s[SCORE_TOPS];	 /* sum of count x best of the first k */
	double random_s[SCORE_TOPS];	 /* of k drawn at random, expected */
	double ratio[SCORE_TOPS];	 /* sums of best / chosen */
	double random_ratio[SCORE_TOPS]; /* and of its expectation */
	double worst[SCORE_TOPS];	 /* least of them */
	double ndcg, spearman, pairwise; /* sums */
	double chance;			 /* sum of the variances that a blind ranking's have */
};

/* value: larger is better; latency_s: of each of n candidates, all above 0. */
void score_add(struct score *s, const double *value, const double *latency_s, int64_t n,
	       double count);
/* Return what the sums say, 0 to 1. */
double score_top(const struct score *s, int i);
double score_random(const struct score *s, int i);
/* How many standard deviations the rank correlations lie above those of a blind ranking, whose
 * variance is 1 / (n - 1) for n candidates. Below 2 it may be chance. */
double score_above_chance(const struct score *s);
/* Returns the lowest latency that is expected of k drawn at random from n. sorted: ascending. */
double score_expected_best(const double *sorted, int64_t n, int64_t k);
/* Spearman's rank correlation. */
double score_spearman(const double *a, const double *b, int64_t n);

#endif
