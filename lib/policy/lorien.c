/* The policy "lorien", a rival to compare with: each operator gets a fixed number of trials, one
 * operator after another, in the order in which they came. Nothing else stops an operator.
 *
 * So Lorien (Yu et al., SoCC 2021) tunes a workload: its option --ntrial is "number of tuning
 * trials for each workload" (3000 by default there, in lorien/dialect/tvm_dial/job.py), and it
 * calls the tuner with early_stopping=None (autotvm_dial/job.py). Lorien's workers take jobs off
 * one list; here one machine does.
 *
 * A trial is a distinct candidate with a result of any status. A failure is one, too. The only
 * other end is that of the space: no candidate is left that was not tried.
 */
#include <math.h>

#include "lib/policy/policy.h"

enum { TRIALS };

/* An operator is still to get so many trials. */
static int64_t trials_left(const struct policy_op *op, const struct policy_rules *r)
{
	int64_t left = r->setting[TRIALS] - op->ntries;

	return op->exhausted || left < 0 ? 0 : left;
}

/* A round is what is left of one operator. */
static int64_t budget(const struct policy_op *op, int n, const struct policy_rules *rules)
{
	for (int i = 0; i < n; i++)
		if (trials_left(&op[i], rules))
			return trials_left(&op[i], rules);
	return 0;
}

static void explain_end(struct policy_op *op)
{
	double best = policy_best(op->tries, op->ntries);

	if (op->exhausted)
		policy_say(op, "no candidate is left that was not tried");
	else if (isnan(best))
		policy_say(op, "it had its %lld trials, and none gave a result",
			   (long long)op->ntries);
	else
		policy_say(op, "it had its %lld trials; the best is %.1f us", (long long)op->ntries,
			   best * 1e6);
}

static int decide(struct policy_op *op, int n, const struct policy_rules *rules)
{
	int64_t left = rules->budget;
	int tuned = 0, before = 0;

	for (int i = 0; i < n; i++) {
		int64_t want = trials_left(&op[i], rules);

		op[i].budget = want < left ? want : left;
		op[i].tune = op[i].budget > 0;
		left -= op[i].budget;
		tuned += op[i].tune;
		if (!want)
			explain_end(&op[i]);
		else if (op[i].tune)
			policy_say(&op[i], "%lld of its %lld trials, after %lld",
				   (long long)op[i].budget, (long long)rules->setting[TRIALS],
				   (long long)op[i].ntries);
		else if (before)
			policy_say(&op[i], "it waits for the end of %d operator%s before it",
				   before, before == 1 ? "" : "s");
		else
			policy_say(&op[i], "the round has no budget");
		before += want > 0;
	}
	return tuned;
}

const struct policy policy_lorien = {
	.name = "lorien",
	.summary = "each operator gets a fixed number of trials, one operator after another",
	.setting = {[TRIALS] = {"trials", 64, 1, 1000000}},
	.budget = budget,
	.decide = decide,
};
