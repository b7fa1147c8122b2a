/* The policy "evolution", a rival to compare with: the task scheduler of Ansor (Zheng et al., OSDI
 * 2020, section 6), which MetaSchedule has, too (Shao et al., NeurIPS 2022). Figures that the paper
 * leaves open are those of its code (Apache TVM, auto_scheduler/task_scheduler.py).
 *
 * A round is a batch of 64 candidates of one operator. First each operator gets a batch. Then the
 * batch goes to the operator with the steepest gradient of the network's time, which is guessed:
 *
 *	count (alpha (change of the best over the last 3 batches) / 3
 *	       + (1 - alpha) min(-best / batches, beta flops / rate - best))
 *
 * with alpha 0.2 and beta 2; `rate` is the highest number of flops a second that an operator of its
 * kind reaches. One round in twenty goes to an operator drawn at random. Nothing stops but the
 * number of trials, which is given for the mean of the operators.
 *
 * Its candidates come from the search "evolution", and nothing filters them. They are timed to the
 * end, as they are there; race=1 stops early what loses, as our measuring does.
 */
#include <math.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/policy/policy.h"

enum { TRIALS, BATCH };
enum { WINDOW = 3, RANDOM_EVERY = 20 };

static const double ALPHA = 0.2, BETA = 2;

static int64_t tried(const struct policy_op *op, int n)
{
	int64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += op[i].ntries;
	return sum;
}

static int64_t batches(const struct policy_op *op, const struct policy_rules *r)
{
	return op->ntries / r->setting[BATCH];
}

/* The best when so many batches were done. */
static double best_after(const struct policy_op *op, int64_t n, const struct policy_rules *r)
{
	int64_t tries = n * r->setting[BATCH];

	return policy_best(op->tries, tries < op->ntries ? tries : op->ntries);
}

/* The highest rate that is known of an operator's kind, itself included. 0: none is. */
static double rate_of_kind(const struct policy_op *op, int n, const char *kind)
{
	double rate = 0;

	for (int i = 0; i < n; i++)
		if (op[i].kind == kind || (kind && op[i].kind && !strcmp(op[i].kind, kind)))
			rate = fmax(rate, op[i].flops / policy_best(op[i].tries, op[i].ntries));
	return rate;
}

/* How fast the network's time is guessed to fall with another batch, in seconds. */
static double steepness(const struct policy_op *all, int n, const struct policy_op *op,
			const struct policy_rules *r)
{
	int64_t now = batches(op, r), then = now > WINDOW ? now - WINDOW : 0;
	double best = policy_best(op->tries, op->ntries), before = best_after(op, then, r);
	double rate = rate_of_kind(all, n, op->kind), change = 0, guess;

	if (isnan(best))
		return 0; /* none of its candidates gave a result */
	if (!isnan(before))
		change = (before - best) / WINDOW;
	guess = best / (double)(now ? now : 1);
	if (rate > 0)
		guess = fmax(guess, best - BETA * op->flops / rate);
	return (double)op->count * (ALPHA * change + (1 - ALPHA) * guess);
}

static int is_open(const struct policy_op *op)
{
	return !op->exhausted;
}

/* One at random of those that are open; which, the number of tries tells. */
static struct policy_op *any(struct policy_op *op, int n, int64_t tries)
{
	struct rng rng;
	int open = 0, at;

	for (int i = 0; i < n; i++)
		open += is_open(&op[i]);
	if (!open)
		return NULL;
	rng_seed(&rng, (uint64_t)tries, "evolution");
	at = (int)rng_below(&rng, (uint64_t)open);
	for (int i = 0;; i++)
		if (is_open(&op[i]) && at-- == 0)
			return &op[i];
}

/* Chooses the operator that has the next batch. NULL: all are exhausted. */
static struct policy_op *choose(struct policy_op *op, int n, const struct policy_rules *r)
{
	struct policy_op *chosen = NULL;
	double most = -1;

	for (int i = 0; i < n; i++)
		if (is_open(&op[i]) && op[i].ntries < r->setting[BATCH])
			return &op[i];
	if (tried(op, n) / r->setting[BATCH] % RANDOM_EVERY == RANDOM_EVERY - 1)
		return any(op, n, tried(op, n));
	for (int i = 0; i < n; i++) {
		double s = is_open(&op[i]) ? steepness(op, n, &op[i], r) : -1;

		if (s > most) {
			most = s;
			chosen = &op[i];
		}
	}
	return chosen;
}

static int64_t trials_left(const struct policy_op *op, int n, const struct policy_rules *r)
{
	int64_t left = r->setting[TRIALS] * n - tried(op, n);

	return left < 0 ? 0 : left;
}

static int64_t budget(const struct policy_op *op, int n, const struct policy_rules *rules)
{
	int64_t left = trials_left(op, n, rules), batch = rules->setting[BATCH];

	return left < batch ? left : batch;
}

static void explain(struct policy_op *op, const struct policy_rules *r, int over)
{
	double best = policy_best(op->tries, op->ntries);

	if (op->exhausted)
		policy_say_exhausted(op);
	else if (op->tune)
		policy_say(op,
			   "%lld candidates, after %lld: the network's time is guessed to fall "
			   "fastest here",
			   (long long)op->budget, (long long)op->ntries);
	else if (over)
		policy_say(op, "the trials are used up; the best of %lld is %.1f us",
			   (long long)op->ntries, best * 1e6);
	else
		policy_say(op, "it waits, after %lld batches", (long long)batches(op, r));
}

static int decide(struct policy_op *op, int n, const struct policy_rules *rules)
{
	int64_t left = trials_left(op, n, rules), given = budget(op, n, rules);
	struct policy_op *chosen;

	for (int i = 0; i < n; i++) {
		op[i].tune = 0;
		op[i].budget = 0;
	}
	chosen = left ? choose(op, n, rules) : NULL;
	if (chosen) {
		chosen->budget = given < rules->budget ? given : rules->budget;
		chosen->tune = chosen->budget > 0;
	}
	for (int i = 0; i < n; i++)
		explain(&op[i], rules, !left);
	return chosen && chosen->tune;
}

const struct policy policy_evolution = {
	.name = "evolution",
	.summary = "batches go to the operator with the steepest gradient; candidates are timed to "
		   "the end",
	.setting = {[TRIALS] = {"trials", 256, 1, 1000000},
		    [BATCH] = {"batch", 64, 1, 4096},
		    [POLICY_RACE] = {"race", 0, 0, 1}},
	.search = "evolution",
	.filter = "none",
	.races = policy_races,
	.budget = budget,
	.decide = decide,
};
