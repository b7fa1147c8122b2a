/* Shares out the budget of a round where it is expected to bring most: water filling, which
 * maximizes the sum of weight x log(tries + 1 + budget) over the operators.
 */
#ifndef TL_POLICY_SHARE_H
#define TL_POLICY_SHARE_H

#include "lib/policy/policy.h"

enum { SHARE_MIN = 4 }; /* a turn with fewer candidates is not worth its start */

struct share {
	struct policy_op *op;
	double weight; /* positive */
	double tries;  /* known before; share_out() adds what it gives first */
	double budget; /* set by share_out(); not yet whole */
	/* The first of equal texts begins, and others may wait for it; NULL: it waits for none. */
	const char *like;
};

/* Gives all of the budget to n operators, 1 or more, whose own budgets are 0 before. An operator
 * without tries gets SHARE_MIN first. Where the budget is too small for all of these, those that
 * are alike wait for the first of them, and the round is the smaller: the next one can try its best
 * for them. Another share of less than SHARE_MIN goes to others, unless nobody has a larger one.
 * Sorts the shares. */
void share_out(struct share *s, int n, int64_t budget);

#endif
