/* A fixed number of trials for each operator, one operator after another, in the order in which
 * they came: what the policies lorien and random share. A trial is a distinct candidate with a
 * result of any status. The only other end is that of the space: no candidate is left that was not
 * tried.
 */
#ifndef TL_POLICY_TRIALS_H
#define TL_POLICY_TRIALS_H

#include "lib/policy/policy.h"

/* The numbers of the settings. A policy without BATCH gives an operator all its trials at once. */
enum { TRIALS, BATCH };

/* A round is a batch of one operator. */
int64_t trials_budget(const struct policy_op *op, int n, const struct policy_rules *rules);
int trials_decide(struct policy_op *op, int n, const struct policy_rules *rules);

#endif
