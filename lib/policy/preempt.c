/* The policy "preempt": the operator and model preemption of Trimmer (IEEE CLOUD 2022, section IV)
 * is made with three corrections.
 *
 * - Progress is the fall of the best time so far, weighted with the count. An operator that stops
 *   stays in the sums, so that stopping never looks like progress.
 * - The budget goes where the expected gain is greatest. The best of n candidates falls about
 *   linearly with log(n). The next doubling of an operator's candidates is expected to gain the
 *   fraction d: half of what the last such doubling brought all operators of the run on the mean,
 *   and to a third of what its own brought, as the best candidates come first. For an operator with
 * count c and time t, m more candidates are then expected to save c t (1 - exp(-d
 * log2((n+m+1)/(n+1)))) seconds. For what a round costs the sum over all operators is largest if
 * each one's n + m is in proportion to c t d over the cost of a candidate (water filling). In the
 * first round, when nothing is known, the shares are equal.
 * - An operator stops when it has no gain of 1% within `patience` candidates. While others go on,
 * it gets another, short turn after 2 rounds, then 4, 8, ... It stops for good where its time is
 * that of moving its operands from memory, as the machine's probe tells it. The whole run stops
 * when no operator still gains, when doubling all that was spent is expected to gain less than a
 * share of the network's time (min_gain), or at a limit.
 *
 * A policy is a file (lib/policy/policy.h), and tl-prune --policy names it. The default, preempt,
 * follows Trimmer with three corrections. Progress is the decrease of the best time so far,
 * weighed by how often an operator occurs, and an operator that has stopped stays in the sum;
 * otherwise stopping would look like progress. The budget goes where the expected gain is largest
 * for its cost (the gain of a doubling of candidates, times count, times latency, over the
 * core-seconds of a candidate), and not to all operators alike. An operator whose best takes the
 * time of moving its operands from memory, by the machine's probe, stops for good (a best far
 * below that time refutes the bound): if they are twice as large as the last cache, no kernel can
 * avoid that (tl-prune computes it, struct policy_op has it). A stopped operator gets another
 * short turn after 2 rounds, then after 4, 8 and so on, because a plateau may be bad luck.
 *
 * A measurement tells the gain of one operator's doubling to 2 or 3% only, because two processes
 * differ by as much. So the policy tells it from the mean of all operators at the same number of
 * candidates, weighed by their part of the network's time, and to a third from the operator's own.
 * The search proposes its best first, so the next doubling is expected to bring half of what the
 * last one did. The same reckoning ends the run: all stop when as many core-seconds again as were
 * spent are expected to bring less than 0.5% of the network's time (--min-gain). For that decision
 * the gain is taken 2.5 times, as it was measured to be in runs that went on: later candidates come
 * from a search that has learned from the first ones. The rule has no unit: it is the same for a
 * small and a large network, and on a fast and a slow machine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/sort.h"
#include "lib/model/adapt.h"
#include "lib/policy/policy.h"
#include "lib/policy/share.h"

/* The first doubling of the candidates is expected to bring 20%, and each further one half of what
 * the one before it brought. That counts as much as four operators. */
static const double PRIOR_DOUBLING = 0.2, EACH_FURTHER = 0.5, PRIOR_OPERATORS = 4;
/* Two processes differ by 2 or 3%. So we know no better what a doubling brought one operator,
 * however many candidates it had. It counts half as much as what it brought on the mean of all. */
static const double OWN = 1.0 / 3;
/* The first candidates are the model's best ones, and a search that has learned from them finds
 * more than they promise. In six runs of which 0.63% were expected, a doubling brought 1.6%
 * (EXPERIMENTS.md, "When to stop"). So the end of a run takes the expected gain so many times. */
static const double UNDERRATED = 2.5;
/* The probe's rates are as noisy as other times. A best far below the bound refutes it. */
static const double AT_BOUND = 1.05, BELOW_BOUND = 0.9;

enum {
	EACH = 8,	/* candidates for each operator in a round */
	FIRST_EACH = 6, /* the same while the model is new to the machine */
	WAIT_MAX = 10,	/* doublings of the wait for another turn */
	LEVELS = 24,	/* doublings of the candidates that are told apart */
	TRIED = 4,	/* candidates after which a bound ends an operator */
};

/* An arm is an operator, with what its history says. */
struct arm {
	struct policy_op *op;
	double time_s;	 /* known, or estimated */
	double doubling; /* gain expected of a doubling of the candidates, as a share of the time */
	double weight;	 /* count x time x doubling */
	double cost;	 /* core-seconds that a candidate is expected to take */
	double spent;	 /* core-seconds that its candidates took; NAN: unknown */
	int64_t idle;	 /* tries since the last gain */
};

/* Reading the history */

/* Small gains add up: the mark moves only when the best has fallen by a whole gain below it. */
static int64_t tries_since_gain(const struct policy_op *op, double gain)
{
	double mark = NAN;
	int64_t last = 0;

	for (int64_t i = 0; i < op->ntries; i++) {
		double s = op->tries[i].latency_s;

		if (!isnan(s) && (isnan(mark) || s < mark * (1 - gain))) {
			mark = s;
			last = i + 1;
		}
	}
	return op->ntries - last;
}

/* Tells by which share the doubling from k to 2k candidates, or to all, made the best faster. */
static double gain_of_doubling(const struct policy_op *op, int64_t k)
{
	int64_t all = 2 * k < op->ntries ? 2 * k : op->ntries;
	double half = policy_best(op->tries, k), best = policy_best(op->tries, all);

	if (isnan(best))
		return 0;
	return isnan(half) ? PRIOR_DOUBLING : log(half / best);
}

/* How often has its number of candidates doubled? */
static int level_of(const struct policy_op *op)
{
	int level = 0;

	while (level < LEVELS - 1 && op->ntries >> (level + 1))
		level++;
	return level;
}

/* Tells what the doubling number `level` brought all operators that had it, weighed by their part
 * of the network's time, if `prior` was expected. */
static double mean_gain(const struct arm *arm, int n, int level, double prior)
{
	double sum = 0, weights = 0, squares = 0, count;

	for (int i = 0; i < n; i++) {
		double w = (double)arm[i].op->count * arm[i].time_s;

		if (level_of(arm[i].op) < level)
			continue;
		sum += w * gain_of_doubling(arm[i].op, (int64_t)1 << (level - 1));
		weights += w;
		squares += w * w;
	}
	if (weights <= 0)
		return prior;
	count = weights * weights / squares; /* operators of equal weight */
	return (count * sum / weights + PRIOR_OPERATORS * prior) / (count + PRIOR_OPERATORS);
}

/* Sets what the next doubling of each operator is expected to bring. */
static void expect_gains(struct arm *arm, int n)
{
	double next[LEVELS];

	next[0] = PRIOR_DOUBLING;
	for (int level = 1; level < LEVELS; level++)
		next[level] = EACH_FURTHER * mean_gain(arm, n, level, next[level - 1]);
	for (int i = 0; i < n; i++) {
		const struct policy_op *op = arm[i].op;
		double mean = next[level_of(op)], own = mean;

		if (op->ntries > 1)
			own = EACH_FURTHER * gain_of_doubling(op, (op->ntries + 1) / 2);
		arm[i].doubling = mean + OWN * (own - mean);
		arm[i].weight = (double)op->count * arm[i].time_s * arm[i].doubling;
	}
}

/* Seconds that m more candidates are expected to save in one run of the model. */
static double expected_gain(const struct arm *a, int64_t m)
{
	double n = (double)a->op->ntries, doublings = log2((n + (double)m + 1) / (n + 1));

	return (double)a->op->count * a->time_s * (1 - exp(-a->doubling * doublings));
}

/* Where no time is known, the flops at the median rate of the others stand in for it. */
static void estimate_times(struct arm *arm, int n)
{
	double *rate = xcalloc((size_t)n, sizeof *rate), s_per_flop = 1e-11;
	int known = 0;

	for (int i = 0; i < n; i++)
		if (arm[i].time_s > 0 && arm[i].op->flops > 0)
			rate[known++] = arm[i].time_s / arm[i].op->flops;
	sort_numbers(rate, (size_t)known);
	if (known)
		s_per_flop = rate[known / 2];
	for (int i = 0; i < n; i++)
		if (!(arm[i].time_s > 0))
			arm[i].time_s = fmax(arm[i].op->flops, 1) * s_per_flop;
	free(rate);
}

/* Adds what an operator's candidates took, one by one, to a list that has room. Returns how many
 * are known. */
static int64_t add_costs(const struct policy_op *op, double *core_s)
{
	int64_t known = 0;

	for (int64_t i = 0; i < op->ntries; i++)
		if (isfinite(op->tries[i].core_s))
			core_s[known++] = op->tries[i].core_s;
	return known;
}

static double median(double *x, int64_t n)
{
	sort_numbers(x, (size_t)n);
	return x[n / 2];
}

/* A candidate of an operator costs what its others did in the median: one of them bears what the
 * workload took once, and finals are dear. Where nothing is known of it, it costs what those of all
 * did. Where no cost is known at all, candidates are counted. */
static void estimate_costs(struct arm *arm, int n)
{
	double *core_s, of_all = 1;
	int64_t tries = 0, known = 0;

	for (int i = 0; i < n; i++)
		tries += arm[i].op->ntries;
	core_s = xcalloc((size_t)tries + 1, sizeof *core_s);
	for (int i = 0; i < n; i++)
		known += add_costs(arm[i].op, core_s + known);
	if (known && median(core_s, known) > 0)
		of_all = core_s[known / 2];
	for (int i = 0; i < n; i++) {
		const int64_t own = add_costs(arm[i].op, core_s);

		arm[i].spent = own ? 0 : NAN;
		for (int64_t k = 0; k < own; k++)
			arm[i].spent += core_s[k];
		arm[i].cost = own && median(core_s, own) > 0 ? core_s[own / 2] : of_all;
	}
	free(core_s);
}

/* Makes the arms of n operators. The caller frees them. */
static struct arm *make_arms(struct policy_op *op, int n, const struct policy_rules *r)
{
	struct arm *arm = xcalloc((size_t)n, sizeof *arm);

	for (int i = 0; i < n; i++)
		arm[i] = (struct arm){.op = &op[i],
				      .time_s = op[i].time_s,
				      .idle = tries_since_gain(&op[i], r->gain)};
	estimate_times(arm, n);
	expect_gains(arm, n);
	estimate_costs(arm, n);
	return arm;
}

/* Plateaus and turns */

static int64_t turn_size(const struct policy_rules *r)
{
	return r->patience / 4 > SHARE_MIN ? r->patience / 4 : SHARE_MIN;
}

/* Rounds for which an operator that stopped waits: 2, then 4, 8, ... as fruitless turns fill one
 * patience after the other. */
static int64_t wait_rounds(const struct arm *a, const struct policy_rules *r)
{
	int64_t k = a->idle / r->patience;

	return (int64_t)1 << (k < WAIT_MAX ? k : WAIT_MAX);
}

enum state { GOING, WAITING, TURN, OVER };

static enum state state_of(const struct arm *a, const struct policy_rules *r)
{
	struct policy_op *op = a->op;
	double best = policy_best(op->tries, op->ntries);
	int64_t quiet;

	if (op->exhausted) {
		policy_say_exhausted(op);
		return OVER;
	}
	if (op->ntries >= TRIED && best <= AT_BOUND * op->bound_s &&
	    best >= BELOW_BOUND * op->bound_s) {
		policy_say(
			op,
			"its operands come from memory, which takes %.1f us; the best is %.1f us "
			"after %lld candidates",
			op->bound_s * 1e6, best * 1e6, (long long)op->ntries);
		return OVER;
	}
	if (a->idle < r->patience)
		return GOING;
	quiet = r->rounds - 1 - op->tries[op->ntries - 1].round;
	if (quiet >= wait_rounds(a, r)) {
		policy_say(
			op,
			"another turn, %lld rounds after it stopped without a gain of %.3g%% in %lld "
			"candidates",
			(long long)quiet, r->gain * 100, (long long)a->idle);
		return TURN;
	}
	if (isnan(best))
		policy_say(op, "none of its %lld candidates gave a result", (long long)op->ntries);
	else
		policy_say(
			op,
			"no gain of %.3g%% in the last %lld of %lld candidates; the best is %.1f us",
			r->gain * 100, (long long)a->idle, (long long)op->ntries, best * 1e6);
	return WAITING;
}

/* Sharing out the budget */

/* A quarter of the budget at most is for turns. */
static int64_t give_turns(const struct arm **turn, int n, const struct policy_rules *r)
{
	int64_t left = r->budget / 4, given = 0;

	for (int i = 0; i < n; i++) {
		int64_t size = turn_size(r) < left ? turn_size(r) : left;

		if (size < SHARE_MIN) {
			policy_say(turn[i]->op, "it waits for another turn, which others have now");
			continue;
		}
		turn[i]->op->budget = size;
		turn[i]->op->tune = 1;
		left -= size;
		given += size;
	}
	return r->budget - given;
}

static void explain_share(const struct arm *a, const struct policy_rules *r, double all)
{
	struct policy_op *op = a->op;
	double part = 100 * a->weight / all;
	char took[64] = "";

	if (!isnan(a->spent))
		snprintf(took, sizeof took, ", which took %.2g core-seconds each", a->cost);
	op->tune = op->budget > 0;
	if (!op->tune && !r->budget)
		policy_say(op, "the round has no candidates");
	else if (!op->tune && !op->ntries)
		policy_say(op, "its first candidates wait for a later round");
	else if (!op->tune)
		policy_say(
			op,
			"the budget brings more elsewhere: %.3g%% of the gain to expect are here, "
			"after %lld candidates",
			part, (long long)op->ntries);
	else if (!op->ntries)
		policy_say(op, "%lld of %lld candidates, its first", (long long)op->budget,
			   (long long)r->budget);
	else
		policy_say(
			op,
			"%lld of %lld candidates: %lld x %.1f us is %.3g%% of the gain to expect; "
			"after %lld candidates%s, as many again may bring %.3g%%",
			(long long)op->budget, (long long)r->budget, (long long)op->count,
			a->time_s * 1e6, part, (long long)op->ntries, took,
			100 * (1 - exp(-a->doubling)));
}

/* For whose first candidates may an operator wait? For nobody's where another, which may have
 * stopped since, was tried: its best is known. */
static const char *waits_for(const struct policy_op *op, const struct arm *arm, int narms)
{
	for (int i = 0; i < narms && op->like; i++)
		if (arm[i].op->ntries && arm[i].op->like && !strcmp(arm[i].op->like, op->like))
			return NULL;
	return op->like;
}

/* These n of the arms go on. */
static void share_budget(const struct arm *arm, int narms, const struct arm **going, int n,
			 int64_t budget, const struct policy_rules *r)
{
	struct share *s = xcalloc((size_t)n, sizeof *s);
	double all = 0;

	for (int i = 0; i < n; i++) {
		s[i] = (struct share){.op = going[i]->op,
				      .weight = going[i]->weight / going[i]->cost,
				      .tries = (double)going[i]->op->ntries,
				      .like = waits_for(going[i]->op, arm, narms)};
		all += going[i]->weight;
	}
	share_out(s, n, budget);
	for (int i = 0; i < n; i++)
		explain_share(going[i], r, all);
	free(s);
}

/* All or nothing */

/* The round is expected to bring and to cost so much, after so much was spent. */
struct outlook {
	double gain; /* as a share of the time of all operators */
	double cost, spent;
};

static struct outlook look_ahead(const struct arm *arm, int n)
{
	struct outlook x = {0};
	double all_s = 0;

	for (int i = 0; i < n; i++)
		all_s += (double)arm[i].op->count * arm[i].time_s;
	for (int i = 0; i < n; i++) {
		const struct policy_op *op = arm[i].op;

		x.spent += isnan(arm[i].spent) ? (double)op->ntries * arm[i].cost : arm[i].spent;
		x.cost += (double)op->budget * arm[i].cost;
		x.gain += op->tune ? expected_gain(&arm[i], op->budget) / all_s : 0;
	}
	return x;
}

/* The gain to expect of as many core-seconds again as were spent so far. The more was spent, the
 * less a core-second brings, so that this does not depend on how many cores and operators there are
 * and on how long they take. NAN: nothing is to be tuned. */
static double gain_of_as_much(const struct arm *arm, int n)
{
	const struct outlook x = look_ahead(arm, n);

	return UNDERRATED * x.gain / log2(1 + x.cost / x.spent);
}

/* Is the round worth its cost? Never said of a round in which an operator is tried for the first
 * time. */
static int is_worth(const struct arm *arm, int n, const struct policy_rules *r, char *why,
		    size_t size)
{
	double of_doubling;

	for (int i = 0; i < n; i++)
		if (arm[i].op->tune && !arm[i].op->ntries)
			return 1;
	of_doubling = gain_of_as_much(arm, n);
	if (!(of_doubling < r->min_gain)) /* also where nothing is tuned */
		return 1;
	snprintf(
		why, size,
		"all stop: %.2g%% of all time is the gain to expect of as many core-seconds as were "
		"spent so far, less than %.3g%%",
		100 * of_doubling, 100 * r->min_gain);
	return 0;
}

static int decide(struct policy_op *op, int n, const struct policy_rules *rules)
{
	struct arm *arm = make_arms(op, n, rules);
	const struct arm **going = xcalloc((size_t)n, sizeof *going),
			 **turn = xcalloc((size_t)n, sizeof *turn);
	char why[sizeof op->reason];
	int ngoing = 0, nturn = 0, tuned = 0;

	for (int i = 0; i < n; i++) {
		op[i].tune = 0;
		op[i].budget = 0;
		switch (state_of(&arm[i], rules)) {
		case GOING:
			going[ngoing++] = &arm[i];
			break;
		case TURN:
			turn[nturn++] = &arm[i];
			break;
		default:
			break;
		}
	}
	if (ngoing)
		share_budget(arm, n, going, ngoing, give_turns(turn, nturn, rules), rules);
	for (int i = 0; i < nturn && !ngoing; i++)
		policy_say(turn[i]->op,
			   "no gain of %.3g%% in the last %lld candidates, and no other goes on",
			   rules->gain * 100, (long long)turn[i]->idle);
	if (!is_worth(arm, n, rules, why, sizeof why))
		policy_stop_all(op, n, why);
	for (int i = 0; i < n; i++)
		tuned += op[i].tune;
	free(going);
	free(turn);
	free(arm);
	return tuned;
}

static double outlook(struct policy_op *op, int n, const struct policy_rules *rules)
{
	struct arm *arm = make_arms(op, n, rules);
	const double gain = gain_of_as_much(arm, n);

	free(arm);
	return gain;
}

/* EACH; but on a machine that is new to the model fewer, so that it is soon known what the model is
 * worth here: as many as tell that, and room for what is known to be good elsewhere. */
static int64_t budget(const struct policy_op *op, int n, const struct policy_rules *rules)
{
	int64_t known = 0, most = EACH * (int64_t)n, first = FIRST_EACH * (int64_t)n;

	(void)rules;
	for (int i = 0; i < n; i++)
		known += op[i].ntries;
	if (first < ADAPT_TIMES)
		first = ADAPT_TIMES;
	return known < ADAPT_TIMES && most > first ? first : most;
}

const struct policy policy_preempt = {
	.name = "preempt",
	.summary = "operators stop at a plateau, and the budget goes where the expected gain is "
		   "greatest (the default)",
	.heeds_gains = 1,
	.budget = budget,
	.decide = decide,
	.outlook = outlook,
};
