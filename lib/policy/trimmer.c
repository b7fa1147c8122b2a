/* The policy "trimmer", a rival to compare with: the operator preemption of Trimmer (Borowiec et
 * al., IEEE CLOUD 2022, section IV). preempt.c has what we corrected in it.
 *
 * - Passes go over the operators breadth first. In a pass each operator that goes on gets a batch
 * of candidates. Count and time of an operator weigh nothing.
 * - Each operator has a plateau counter. A batch that does not improve the operator's best adds one
 *   to it; a batch that does, by however little, sets it to zero. At the threshold the operator
 *   stops, and gets no other turn. The run ends when all operators have stopped.
 *
 * The batches of an operator are its tries in their order, so many at a time. So the history alone
 * decides, and a pass that was interrupted, or for which there was no budget, is filled up first.
 * An improvement is a duel that was won, as for every policy: a candidate that lost its duel has no
 * time to compare.
 *
 * Trimmer's second part, the filter, keeps a moving mean of the model's predictions, and replaces a
 * candidate that is predicted to be slower before it is built. Here the search does that: Ansor's
 * proposes the best predicted of 2,048, by a model that learns from the run's own results after
 * each pass. Candidates are timed to the end, as they are there; race=1 stops early what loses, as
 * our measuring does.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/base/err.h"
#include "lib/policy/policy.h"

enum { THRESHOLD, BATCH };

/* Counts the batches in a row, up to the last whole one, that did not improve the best. */
static int64_t plateau(const struct policy_op *op, int64_t batch)
{
	double best = NAN;
	int64_t counter = 0;

	for (int64_t at = 0; at + batch <= op->ntries; at += batch) {
		double s = policy_best(op->tries + at, batch);
		int better = !isnan(s) && !(s >= best);

		counter = better ? 0 : counter + 1;
		best = fmin(best, s); /* of a number and NAN, the number */
	}
	return counter;
}

static int64_t passes(const struct policy_op *op, const struct policy_rules *r)
{
	return op->ntries / r->setting[BATCH];
}

/* So many candidates fill an operator's batch; 0: it has stopped. */
static int64_t rest_of_batch(const struct policy_op *op, const struct policy_rules *r)
{
	int64_t batch = r->setting[BATCH];

	if (op->exhausted || plateau(op, batch) >= r->setting[THRESHOLD])
		return 0;
	return batch - op->ntries % batch;
}

/* A round is one pass. */
static int64_t budget(const struct policy_op *op, int n, const struct policy_rules *rules)
{
	int64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += rest_of_batch(&op[i], rules);
	return sum;
}

static void explain_stop(struct policy_op *op, const struct policy_rules *r)
{
	double best = policy_best(op->tries, op->ntries);

	if (op->exhausted)
		policy_say_exhausted(op);
	else if (isnan(best))
		policy_say(op, "none of its %lld candidates gave a result", (long long)op->ntries);
	else
		policy_say(op,
			   "%lld batches of %lld in a row did not improve its best, which is %.1f "
			   "us after %lld candidates",
			   (long long)plateau(op, r->setting[BATCH]), (long long)r->setting[BATCH],
			   best * 1e6, (long long)op->ntries);
}

static void explain_turn(struct policy_op *op, const struct policy_rules *r)
{
	if (op->tune)
		policy_say(op,
			   "pass %lld: %lld of %lld candidates; its plateau counter is at %lld of "
			   "%lld",
			   (long long)passes(op, r) + 1, (long long)op->budget,
			   (long long)r->setting[BATCH], (long long)plateau(op, r->setting[BATCH]),
			   (long long)r->setting[THRESHOLD]);
	else
		policy_say(op, "pass %lld: it waits, as the round's budget goes to others",
			   (long long)passes(op, r) + 1);
}

struct turn {
	struct policy_op *op;
	int64_t pass;
};

/* Breadth first: the operators that had the fewest passes, in their order. */
static int by_pass(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	if (a->pass != b->pass)
		return a->pass < b->pass ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

static int decide(struct policy_op *op, int n, const struct policy_rules *rules)
{
	struct turn *turn = xcalloc((size_t)n, sizeof *turn);
	int64_t left = rules->budget;
	int going = 0, tuned = 0;

	for (int i = 0; i < n; i++) {
		op[i].tune = 0;
		op[i].budget = 0;
		if (rest_of_batch(&op[i], rules))
			turn[going++] = (struct turn){&op[i], passes(&op[i], rules)};
		else
			explain_stop(&op[i], rules);
	}
	qsort(turn, (size_t)going, sizeof *turn, by_pass);
	for (int i = 0; i < going; i++) {
		struct policy_op *o = turn[i].op;
		int64_t rest = rest_of_batch(o, rules);

		o->budget = rest < left ? rest : left;
		o->tune = o->budget > 0;
		left -= o->budget;
		tuned += o->tune;
		explain_turn(o, rules);
	}
	free(turn);
	return tuned;
}

const struct policy policy_trimmer = {
	.name = "trimmer",
	.summary =
		"batches for all operators in turn; so many batches without a better one stop an "
		"operator",
	.setting = {[THRESHOLD] = {"threshold", 3, 1, 6},
		    [BATCH] = {"batch", 16, 8, 64},
		    [POLICY_RACE] = {"race", 0, 0, 1}},
	.search = "evolution",
	.filter = "none",
	.races = policy_races,
	.budget = budget,
	.decide = decide,
};
