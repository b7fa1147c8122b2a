/* Operator preemption: what the budget does over made-up histories, and that a decision can be
 * explained. */
#include <math.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/policy/policy.h"
#include "tests/tap.h"

enum { OPS = 6, TRIES = 400 };

static struct policy_try tries[OPS][TRIES];
static struct policy_op op[OPS];
static const struct policy_rules rules = {
	.gain = 0.01, .patience = 32, .budget = 96, .min_gain = 0, .rounds = 10};

/* n tries, of which the last gain of a whole percent is at `last`. */
static void history(int i, int n, int last, double best_s, int round)
{
	for (int k = 0; k < n; k++) {
		double fall = k < last ? (double)(last - k) / last : 0;

		tries[i][k] = (struct policy_try){best_s * (1 + fall), 0.25, round};
	}
	op[i] = (struct policy_op){
		.count = 1, .flops = 1e8, .time_s = best_s, .tries = tries[i], .ntries = n};
}

static int64_t total(void)
{
	int64_t sum = 0;

	for (int i = 0; i < OPS; i++)
		sum += op[i].budget;
	return sum;
}

static int decide(const struct policy_rules *r)
{
	return policy_preempt.decide(op, OPS, r);
}

static void test_first(void)
{
	for (int i = 0; i < OPS; i++) {
		history(i, 0, 0, NAN, 0);
		op[i].flops = i ? 1e8 : 1e10;
	}
	ok(decide(&rules) == OPS, "all are tuned at first");
	ok(total() == rules.budget, "the budget is given out: %lld", (long long)total());
	ok(op[0].budget > op[1].budget && op[5].budget >= 4, "more to the large one, some to each");
}

/* Where the budget is short, one operator begins, and those that differ from it in post-ops alone
 * wait for it. */
static void test_alike(void)
{
	struct policy_rules r = rules;

	for (int i = 0; i < OPS; i++) {
		history(i, 0, 0, NAN, 0);
		op[i].like = i < 3 ? "3x3" : i < 5 ? "1x1" : NULL;
	}
	r.budget = 4 * OPS - 1;
	ok(decide(&r) == 3 && op[0].budget == 4 && op[3].budget == 4 && op[5].budget == 4,
	   "one of each kind begins");
	ok(total() == 12, "and the round is small: %lld", (long long)total());
	ok(strstr(op[1].reason, "later round") != NULL, "the others wait: %s", op[1].reason);
	history(0, 4, 1, 1e-4, 10);
	op[0].like = "3x3";
	r.budget = 4 * (OPS - 1) - 1;
	ok(decide(&r) == 4 && op[1].budget == 4 && op[2].budget == 4 && !op[4].budget,
	   "what is like a known one need not wait");
	op[0].exhausted = 1;
	ok(decide(&r) == 4 && op[1].budget == 4 && op[2].budget == 4 && !op[0].budget,
	   "nor where that one has stopped");
	r.budget = 0;
	ok(!decide(&r) && !strcmp(op[1].reason, "the round has no candidates"),
	   "without candidates none waits: %s", op[1].reason);
	r.budget = 4 * OPS;
	history(0, 0, 0, NAN, 0);
	op[0].like = "3x3";
	ok(decide(&r) == OPS && total() == r.budget, "nobody waits where the budget suffices");
}

static void test_weights(void)
{
	for (int i = 0; i < OPS; i++)
		history(i, 30, 30, 1e-4, 9);
	decide(&rules);
	ok(op[0].budget == op[5].budget, "equal operators get equal shares");
	op[0].count = 5;
	decide(&rules);
	ok(op[0].budget > op[1].budget, "count weighs: %lld and %lld", (long long)op[0].budget,
	   (long long)op[1].budget);
	op[0].count = 1;
	op[2].time_s = 1e-3;
	decide(&rules);
	ok(op[2].budget > op[1].budget, "time weighs");
	op[2].time_s = 1e-4;
	history(3, 30, 3, 1e-4, 9); /* nothing came of the last doubling */
	decide(&rules);
	ok(op[3].budget < op[1].budget, "gains weigh");
	for (int k = 0; k < 30; k++)
		tries[4][k].core_s *= 4;
	decide(&rules);
	ok(op[4].budget < op[1].budget, "costs weigh: %lld and %lld", (long long)op[4].budget,
	   (long long)op[1].budget);
}

/* The time of moving operands from memory, beside the best. */
static void test_bound(void)
{
	for (int i = 0; i < OPS; i++)
		history(i, i == 3 ? 2 : 4, 1, 1e-4, 9);
	op[0].bound_s = 1.02e-4;
	op[1].bound_s = 0.98e-4;
	op[2].bound_s = 0.5e-4;
	op[3].bound_s = 1.02e-4;
	op[4].bound_s = NAN;
	decide(&rules);
	ok(!op[0].tune && !op[1].tune && strstr(op[0].reason, "come from memory"),
	   "at the bound of memory it stops: %s", op[0].reason);
	ok(op[2].tune && op[4].tune, "far from it, or where none is known, it goes on");
	ok(op[3].tune, "as does one of which hardly anything was tried");
}

static void test_plateau(void)
{
	struct policy_rules r = rules;

	for (int i = 0; i < OPS; i++)
		history(i, 60, 60, 1e-4, 9);
	history(1, 60, 20, 1e-4, 9);
	ok(decide(&rules) == OPS - 1 && !op[1].tune && !op[1].budget,
	   "a plateau stops its operator: %s", op[1].reason);
	ok(total() == rules.budget, "and the others get its budget");
	for (int k = 30; k < 60; k++) /* 0.4% now and then, which make 1% together */
		tries[1][k].latency_s = 1e-4 * (1 - 0.004 * (k / 10 - 2));
	r.patience = 10;
	decide(&r);
	ok(!strstr(op[1].reason, "no gain"), "small gains add up: %s", op[1].reason);
	r.patience = 9;
	decide(&r);
	ok(strstr(op[1].reason, "in the last 9 of 60") != NULL, "the last was 9 candidates ago: %s",
	   op[1].reason);
	r.patience = rules.patience;
	history(1, 60, 20, 1e-4, 9);
	r.rounds = 11;
	decide(&r);
	ok(!op[1].tune, "it waits one round");
	r.rounds = 12;
	decide(&r);
	ok(op[1].tune && op[1].budget > 0 && op[1].budget <= 8,
	   "and has another, short turn after two: %s", op[1].reason);
	history(1, 100, 20, 1e-4, 9);
	decide(&r);
	ok(!op[1].tune, "the wait doubles when turns bring nothing");
	r.rounds = 14;
	decide(&r);
	ok(op[1].tune, "but ends");
}

static void test_stops(void)
{
	struct policy_rules r = rules;
	double much, more;
	int tuned;

	for (int i = 0; i < OPS; i++)
		history(i, 60, 10, 1e-4, i == 0 ? 1 : 9);
	ok(decide(&rules) == 0 && total() == 0, "all stop when none goes on of its own merit");
	for (int i = 0; i < OPS; i++)
		history(i, 60, 60, 1e-4, 9);
	op[4].exhausted = 1;
	decide(&rules);
	ok(!op[4].tune, "no turn without candidates: %s", op[4].reason);
	r.min_gain = 0.025;
	for (int i = 0; i < OPS; i++)
		history(i, 40, 40, 1e-4, 9);
	ok(decide(&r) > 0, "while a doubling brings much they go on");
	much = policy_preempt.outlook(op, OPS, &r);
	r.budget *= 4;
	decide(&r);
	more = policy_preempt.outlook(op, OPS, &r);
	ok(much > r.min_gain && fabs(more / much - 1) < 0.3,
	   "and expect %.3g of as much again, whatever the round has", much);
	r.budget = rules.budget;
	for (int i = 0; i < OPS; i++)
		history(i, 40, 8, 1e-4, 9);
	tuned = decide(&r);
	ok(!tuned, "all stop when a doubling brings too little: %s", op[0].reason);
	ok(isnan(policy_preempt.outlook(op, OPS, &r)), "what stopped is expected to gain nothing");
	for (int i = 0; i < OPS * 40; i++)
		tries[i / 40][i % 40].core_s *= 1000;
	ok(decide(&r) == tuned, "and so they do where all takes a thousand times as long");
	for (int i = 0; i < OPS * 40; i++)
		tries[i / 40][i % 40].core_s = NAN;
	ok(decide(&r) == tuned, "or where nobody knows what it takes");
	r.min_gain = 1;
	ok(decide(&r) == 0, "all stop when the gain is not worth its cost: %s", op[0].reason);
	history(3, 0, 0, NAN, 0);
	ok(decide(&r) > 0, "but not before each was tried");
}

/* Random histories: the budget is kept, nobody gets a turn too short to start, reasons are there.
 */
static void test_random(void)
{
	struct rng rng;
	int kept = 1, whole = 1, told = 1, spent = 1;

	rng_seed(&rng, 7, "preempt");
	for (int round = 0; round < 3000; round++) {
		struct policy_rules r = rules;
		int tuned, first = 0;

		r.budget = (int64_t)rng_below(&rng, 200);
		r.rounds = 1 + (int)rng_below(&rng, 30);
		for (int i = 0; i < OPS; i++) {
			int n = (int)rng_below(&rng, 2) ? (int)rng_below(&rng, TRIES) : 0;

			history(i, n, 1, 1e-6 * (double)(1 + rng_below(&rng, 1000)),
				(int)rng_below(&rng, (uint64_t)r.rounds));
			for (int k = 0; k < n; k++)
				if (rng_below(&rng, 4) == 0)
					tries[i][k].latency_s = NAN;
				else
					tries[i][k].latency_s *= 1 + rng_unit(&rng);
			op[i].count = 1 + (int64_t)rng_below(&rng, 20);
			if (!n)
				op[i].time_s = NAN;
		}
		tuned = decide(&r);
		for (int i = 0; i < OPS; i++) {
			first += op[i].tune && !strstr(op[i].reason, "another turn");
			kept &= op[i].budget >= 0 && op[i].tune == (op[i].budget > 0);
			told &= strlen(op[i].reason) > 10;
			whole &= !op[i].tune || op[i].budget >= 4 || tuned == 1 || r.budget < 4;
		}
		kept &= total() <= r.budget;
		spent &= !first || total() == r.budget;
	}
	ok(kept, "the budget is never passed");
	ok(spent, "and all of it is given out if any operator goes on");
	ok(whole, "no turn is too short to start");
	ok(told, "each decision has its reason");
}

/* The share of the gain that an operator's reason tells. */
static double told_share(const struct policy_op *o)
{
	const char *end = strstr(o->reason, "% of the gain"), *at = end;

	while (at && at > o->reason && at[-1] != ' ')
		at--;
	return at ? strtod(at, NULL) : NAN;
}

/* Water filling against trying all: no exchange of one candidate makes the expected sum larger (but
 * for rounding). */
static void test_optimal(void)
{
	double before = 0, most = 0, weight[OPS];

	for (int i = 0; i < OPS; i++) {
		history(i, 20 + 5 * i, 20 + 5 * i, 1e-4 * (1 + i % 3), 9);
		op[i].count = 1 + i % 2;
	}
	decide(&rules);
	for (int i = 0; i < OPS; i++) {
		weight[i] = told_share(&op[i]);
		before += weight[i] * log((double)(op[i].ntries + op[i].budget + 1));
	}
	for (int i = 0; i < OPS; i++)
		for (int j = 0; j < OPS; j++) {
			double after = before;

			if (i == j || op[i].budget < 2 || op[j].budget < 2)
				continue;
			after += weight[i] * log((double)(op[i].ntries + op[i].budget - 1) /
						 (double)(op[i].ntries + op[i].budget + 1));
			after += weight[j] * log((double)(op[j].ntries + op[j].budget + 3) /
						 (double)(op[j].ntries + op[j].budget + 1));
			most = fmax(most, after - before);
		}
	ok(before > 0 && most <= 1e-3 * before, "moving two candidates gains nothing");
}

/* The decisions over a made-up history of six unlike operators, round by round, as they were when
 * what a doubling brought all operators on the mean came to tell each one's. */
static void test_recorded(void)
{
	static const int64_t want[5][OPS] = {
		{4, 4, 21, 4, 22, 41}, {0, 13, 19, 11, 20, 33}, {0, 9, 23, 0, 23, 41},
		{7, 19, 0, 17, 53, 0}, {8, 0, 45, 43, 0, 0},
	};
	struct policy_rules r = rules;

	for (int i = 0; i < OPS; i++) {
		history(i, 0, 0, NAN, 0);
		op[i].count = 1 + i % 3;
		op[i].flops = 1e8 * (i + 1);
	}
	for (int round = 0; round < 5; round++) {
		int same = 1;

		r.rounds = round;
		decide(&r);
		for (int i = 0; i < OPS; i++)
			same &= op[i].budget == want[round][i];
		ok(same, "round %d is as ever: %lld %lld %lld %lld %lld %lld", round,
		   (long long)op[0].budget, (long long)op[1].budget, (long long)op[2].budget,
		   (long long)op[3].budget, (long long)op[4].budget, (long long)op[5].budget);
		for (int i = 0; i < OPS; i++) {
			int n = (int)(op[i].ntries + op[i].budget);
			int64_t count = op[i].count;
			double flops = op[i].flops;

			history(i, n, n < 12 * (i + 1) ? n : 12 * (i + 1), 1e-4 * (1 + 0.5 * i),
				round);
			op[i].count = count;
			op[i].flops = flops;
		}
	}
}

int main(void)
{
	test_first();
	test_alike();
	test_weights();
	test_bound();
	test_plateau();
	test_stops();
	test_random();
	test_optimal();
	test_recorded();
	return done_testing();
}
