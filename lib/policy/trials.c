#include "lib/policy/trials.h"

#include <math.h>

/* An operator is still to get so many trials. */
static int64_t trials_left(const struct policy_op *op, const struct policy_rules *r)
{
	int64_t left = r->setting[TRIALS] - op->ntries;

	return op->exhausted || left < 0 ? 0 : left;
}

int64_t trials_budget(const struct policy_op *op, int n, const struct policy_rules *rules)
{
	const int64_t batch = rules->setting[BATCH];

	for (int i = 0; i < n; i++) {
		int64_t left = trials_left(&op[i], rules);

		if (left)
			return batch && batch < left ? batch : left;
	}
	return 0;
}

static void explain_end(struct policy_op *op)
{
	double best = policy_best(op->tries, op->ntries);

	if (op->exhausted)
		policy_say_exhausted(op);
	else if (isnan(best))
		policy_say(op, "it had its %lld trials, and none gave a result",
			   (long long)op->ntries);
	else
		policy_say(op, "it had its %lld trials; the best is %.1f us", (long long)op->ntries,
			   best * 1e6);
}

int trials_decide(struct policy_op *op, int n, const struct policy_rules *rules)
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
