/* Decides on the finals of a run, whatever its policy is: which operators lack their final, and
 * which former best candidates the best one meets again before it.
 *
 * The minute may have decided between the best candidate and those that held its place before. So
 * it meets the last of them once more, where they are not far behind. How far is the product of the
 * ratios since.
 */
#ifndef TL_POLICY_FINALS_H
#define TL_POLICY_FINALS_H

#include "lib/policy/history.h"

enum { FINALS_REMATCHES = 2 };

/* Is the best candidate of an operator still to be compared with the baseline? Sets what is decided
 * in op. */
void finals_decide(const struct history_item *h, struct policy_op *op);

/* A walk over the former best candidates. */
struct finals_walk {
	int64_t at;    /* the result behind the next one */
	double behind; /* how far the next one is behind the best */
};
void finals_begin(const struct history_item *h, struct finals_walk *walk);
/* The result of the next one that the best has to meet, the latest first; NULL: no more. */
struct store_result *finals_next(const struct history_item *h, struct finals_walk *walk);

#endif
