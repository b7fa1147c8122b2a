/* Every policy of tuning over made-up histories: what the rivals decide step by step, how their
 * settings are read, and what must be true of all: the budget is kept, and a run ends by itself. */
#include <math.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/policy/policy.h"
#include "tests/tap.h"

enum { OPS = 5, TRIES = 700 };

static struct policy_try tries[OPS][TRIES];
static struct policy_op op[OPS];

static void start(void)
{
	for (int i = 0; i < OPS; i++) {
		op[i] = (struct policy_op){
			.count = 1 + i, .flops = 1e8, .time_s = NAN, .tries = tries[i]};
		for (int k = 0; k < TRIES; k++) /* none of them is to be read yet */
			tries[i][k].latency_s = NAN;
	}
}

/* An operator had n more tries in a round, all of one latency (NAN: they failed). */
static void tried(int i, int n, double latency_s, int round)
{
	for (int k = 0; k < n; k++)
		tries[i][op[i].ntries++] = (struct policy_try){latency_s, 0.25, round};
	if (!isnan(latency_s))
		op[i].time_s = fmin(op[i].time_s, latency_s);
}

static struct policy_rules rules_of(const struct policy **p, const char *text)
{
	struct policy_rules r = {.gain = 0.01, .patience = 32};
	struct err e = ERR_INIT;

	*p = policy_parse(text, r.setting, &e);
	if (!*p)
		bail_out("%s", e.msg);
	return r;
}

/* Decides for the first n operators with what the policy asks for, or with a budget. */
static int decide(const struct policy *p, struct policy_rules *r, int n, int64_t budget)
{
	r->budget = budget < 0 ? p->budget(op, n, r) : budget;
	return p->decide(op, n, r);
}

/* Are the budgets of the first three operators these? */
static int are(int64_t a, int64_t b, int64_t c)
{
	int same = op[0].budget == a && op[1].budget == b && op[2].budget == c;

	if (!same)
		diag("%lld %lld %lld, not %lld %lld %lld", (long long)op[0].budget,
		     (long long)op[1].budget, (long long)op[2].budget, (long long)a, (long long)b,
		     (long long)c);
	return same;
}

static int says(int i, const char *words)
{
	if (strstr(op[i].reason, words))
		return 1;
	diag("\"%s\" lacks \"%s\"", op[i].reason, words);
	return 0;
}

static void test_lorien(void)
{
	const struct policy *p;
	struct policy_rules r = rules_of(&p, "lorien,trials=20,batch=20");

	start();
	ok(decide(p, &r, 3, -1) == 1 && are(20, 0, 0) && says(0, "20 of its 20 trials, after 0") &&
		   says(1, "it waits for the end of 1 operator before it") &&
		   says(2, "2 operators"),
	   "lorien: the first operator has its trials, the others wait");
	tried(0, 12, NAN, 0);
	ok(decide(p, &r, 3, -1) == 1 && are(8, 0, 0) && says(0, "8 of its 20 trials, after 12"),
	   "what was interrupted goes on; a failure is a trial");
	tried(0, 8, NAN, 1);
	ok(decide(p, &r, 3, -1) == 1 && are(0, 20, 0) && says(0, "none gave a result"),
	   "then the second has its own");
	for (int k = 0; k < 19; k++)
		tried(1, 1, 1e-4, 2);
	ok(decide(p, &r, 3, -1) == 1 && are(0, 1, 0), "no plateau stops it");
	tried(1, 1, 1e-4, 2);
	ok(decide(p, &r, 3, 12) == 1 && are(0, 0, 12) &&
		   says(1, "it had its 20 trials; the best is 100.0 us"),
	   "a budget cuts a turn");
	ok(decide(p, &r, 3, 0) == 0 && are(0, 0, 0) && says(2, "no budget"), "even to nothing");
	op[2].exhausted = 1;
	tried(2, 5, 1e-4, 3);
	ok(decide(p, &r, 3, -1) == 0 && r.budget == 0 && says(2, "no candidate is left"),
	   "without candidates an operator ends early, and the run after the last");
	start();
	ok(decide(p, &r, 3, 50) == 3 && are(20, 20, 10), "a larger budget goes on in their order");
	r = rules_of(&p, "lorien");
	decide(p, &r, 3, -1);
	ok(are(16, 0, 0) && says(0, "16 of its 64 trials"),
	   "64 trials in batches of 16 by default: the model learns after each");
	r = rules_of(&p, "random");
	decide(p, &r, 3, -1);
	ok(are(64, 0, 0), "a policy without a model has one batch");
	ok(!p->races && policy_parse("trimmer,race=1", r.setting, NULL)->races(r.setting) &&
		   !policy_parse("trimmer", r.setting, NULL)->races(r.setting),
	   "a rival races if it is told to");
}

static void test_trimmer(void)
{
	const struct policy *p;
	struct policy_rules r = rules_of(&p, "trimmer,threshold=2,batch=10");

	start();
	ok(decide(p, &r, 3, -1) == 3 && are(10, 10, 10) &&
		   says(0, "pass 1: 10 of 10 candidates; its plateau counter is at 0 of 2"),
	   "trimmer: a pass goes over all operators");
	for (int i = 0; i < 3; i++)
		tried(i, 10, i < 2 ? 1e-4 : NAN, 0);
	ok(decide(p, &r, 3, -1) == 3 && are(10, 10, 10) && says(0, "counter is at 0 of 2") &&
		   says(2, "counter is at 1 of 2"),
	   "the first result is an improvement, and a batch without one is none");
	tried(0, 10, 0.9999e-4, 1);
	tried(1, 9, 2e-4, 1);
	tried(2, 10, NAN, 1);
	ok(decide(p, &r, 3, -1) == 2 && are(10, 1, 0) && says(0, "pass 3") &&
		   says(0, "counter is at 0 of 2") && says(1, "pass 2: 1 of 10 candidates") &&
		   says(2, "none of its 20 candidates gave a result"),
	   "a better one by however little; a batch that is filled up; the threshold");
	tried(0, 10, 1e-4, 2);
	tried(1, 1, 1e-4, 2);
	ok(decide(p, &r, 3, -1) == 2 && are(10, 10, 0) && says(0, "counter is at 1 of 2") &&
		   says(1, "counter is at 1 of 2"),
	   "an equal one is no improvement");
	tried(0, 10, 0.9e-4, 3);
	tried(1, 9, 1.1e-4, 3);
	ok(decide(p, &r, 3, -1) == 2 && are(10, 1, 0) && says(1, "counter is at 1 of 2"),
	   "a batch counts when it is whole");
	tried(1, 1, 1.1e-4, 4);
	ok(decide(p, &r, 3, -1) == 1 && are(10, 0, 0) && says(0, "counter is at 0 of 2") &&
		   says(1, "2 batches of 10 in a row did not improve its best, which is 100.0 us "
			   "after 30 candidates"),
	   "an improvement sets the counter to zero");
	r.rounds = 1000;
	ok(decide(p, &r, 3, -1) == 1 && !op[1].tune, "an operator that stopped gets no other turn");
	op[0].exhausted = 1;
	ok(decide(p, &r, 3, -1) == 0 && says(0, "no candidate is left"),
	   "the run ends when all have stopped");
	r = rules_of(&p, "trimmer");
	start();
	decide(p, &r, 3, -1);
	ok(are(16, 16, 16) && says(0, "0 of 3"), "batches of 16 and a threshold of 3 by default");
}

/* A pass for which the budget of a round is too small goes on in the next. */
static void test_breadth(void)
{
	const struct policy *p;
	struct policy_rules r = rules_of(&p, "trimmer,batch=10");

	start();
	ok(decide(p, &r, 3, 14) == 2 && are(10, 4, 0) && says(2, "pass 1: it waits"),
	   "trimmer: a budget ends in the middle of a batch");
	tried(0, 10, 1e-4, 0);
	tried(1, 4, 1e-4, 0);
	ok(decide(p, &r, 3, 14) == 2 && are(0, 6, 8) && says(0, "pass 2: it waits"),
	   "the first pass is filled up before the second begins");
	tried(1, 6, 1e-4, 1);
	tried(2, 8, 1e-4, 1);
	ok(decide(p, &r, 3, 14) == 3 && are(10, 2, 2) && says(2, "pass 1: 2 of 10"),
	   "and has the first of the budget");
}

enum { SPACE = 500, SMALL_SPACE = 90 }; /* candidates that an operator has; the last has few */

/* A gradient by hand: operators of 1e8 flops with counts 1, 2 and 3, of one kind. */
static void test_evolution(void)
{
	const struct policy *p;
	struct policy_rules r = rules_of(&p, "evolution,batch=10,trials=100");

	start();
	for (int i = 0; i < 3; i++) {
		int n = decide(p, &r, 3, -1);

		ok(n == 1 && are(i == 0 ? 10 : 0, i == 1 ? 10 : 0, i == 2 ? 10 : 0),
		   "evolution: operator %d has its first batch", i);
		tried(i, 10, 1e-3 * (i + 1), i);
	}
	/* Each after one batch, so the guess is 0.8 of the best, times the count: 0.8, 3.2, 7.2 ms.
	 */
	ok(decide(p, &r, 3, -1) == 1 && are(0, 0, 10), "then the steepest");
	tried(2, 10, 3e-3, 3);
	/* 0.8 x 3 x max(1.5, 3 - 2 x 1) = 3.6 ms, and 3.2 */
	ok(decide(p, &r, 3, -1) == 1 && are(0, 0, 10), "and again, as long as it may fall");
	tried(2, 10, NAN, 4);
	/* 0.8 x 3 x max(1, 1) = 2.4 ms */
	ok(decide(p, &r, 3, -1) == 1 && are(0, 10, 0), "until another is steeper");
	tried(1, 10, 1e-3, 5);
	/* 0.8 x 2 x 0.5 = 0.8 ms, and 2.4 */
	ok(decide(p, &r, 3, -1) == 1 && are(0, 0, 10), "and the other is again");
	op[2].exhausted = 1;
	ok(decide(p, &r, 3, -1) == 1 && are(10, 0, 0), "one without candidates is passed over");
	ok(strstr(op[2].reason, "no candidate is left") && strstr(op[1].reason, "it waits"),
	   "each has its reason");
	ok(decide(p, &r, 3, 4) == 1 && are(4, 0, 0), "a smaller budget is kept");
	r.setting[0] = 20; /* 60 in all; 60 were tried */
	ok(decide(p, &r, 3, -1) == 0 && are(0, 0, 0) && strstr(op[1].reason, "used up"),
	   "the trials end it");
	ok(!p->races(r.setting), "candidates are timed to the end");
	r = rules_of(&p, "evolution,race=1");
	ok(p->races(r.setting), "unless it is to race them");
}

/* What a space would answer: the best falls ever more slowly, and then no more; many candidates are
 * not better, some fail. */
static void measure(int i, struct rng *rng, int round)
{
	int64_t space = i < OPS - 1 ? SPACE : SMALL_SPACE;

	for (int64_t k = 0; k < op[i].budget && op[i].ntries < space; k++) {
		double s = 1e-4 * (1 + 20.0 / fmin((double)(op[i].ntries + 1), 40 * (i + 1)));

		if (rng_below(rng, 3) == 0)
			s *= 1 + rng_unit(rng);
		tried(i, 1, rng_below(rng, 5) == 0 ? NAN : s, round);
	}
	op[i].exhausted = op[i].ntries == space;
}

/* Goes on until a policy ends by itself, or until so many candidates were measured. Returns the
 * number of candidates; -1: a rule was broken. */
static int64_t simulate(const char *text, int64_t limit, int64_t own_budget)
{
	const struct policy *p;
	struct policy_rules r = rules_of(&p, text);
	struct rng rng;
	int64_t total = 0;

	start();
	rng_seed(&rng, 11, text);
	for (r.rounds = 0; r.rounds < 5000 && total < limit; r.rounds++) {
		int64_t given = 0, most = own_budget < 0 ? p->budget(op, OPS, &r) : own_budget;
		int tuned = decide(p, &r, OPS, most < limit - total ? most : limit - total);

		for (int i = 0; i < OPS; i++) {
			given += op[i].budget;
			tuned -= op[i].tune;
			if (op[i].budget < 0 || op[i].tune != (op[i].budget > 0) ||
			    strlen(op[i].reason) < 10)
				return -1;
			total -= op[i].ntries;
			measure(i, &rng, r.rounds);
			total += op[i].ntries;
		}
		if (given > r.budget || tuned)
			return -1;
		if (!given)
			return total;
	}
	return total == limit ? total : -1;
}

static void test_all(void)
{
	for (const struct policy *const *p = policy_list; *p; p++) {
		const char *name = (*p)->name;
		int64_t own = simulate(name, INT64_MAX, -1);

		ok(own > 0 && own < (OPS - 1) * SPACE, "%s ends by itself, after %lld candidates",
		   name, (long long)own);
		ok(simulate(name, INT64_MAX, 7) > 0, "%s does with a budget of 7, too", name);
		ok(simulate(name, 100, -1) == 100, "%s: a limit of 100 candidates is exact", name);
		ok(simulate(name, 0, -1) == 0, "%s: one of 0, too", name);
		ok(simulate(name, INT64_MAX, 0) == 0, "%s ends without a budget", name);
	}
}

static void refused(const char *text, const char *why)
{
	struct err e = ERR_INIT;
	int64_t setting[POLICY_SETTINGS] = {-7, -7};

	ok(!policy_parse(text, setting, &e) && e.status == EXIT_USAGE && strstr(e.msg, why) &&
		   setting[0] == -7,
	   "\"%s\" is refused: %s", text, e.msg);
}

static void test_settings(void)
{
	int64_t setting[POLICY_SETTINGS];

	ok(policy_parse(NULL, setting, NULL) == &policy_preempt, "preempt is the default");
	ok(policy_parse("trimmer,batch=64", setting, NULL) && setting[0] == 3 && setting[1] == 64,
	   "one setting is set, the other has its default");
	ok(policy_parse("trimmer,batch=8,threshold=6", NULL, NULL) != NULL,
	   "in any order, and for a look");
	refused("", "wants one of evolution|lorien|preempt|random|trimmer");
	refused("trim", "wants one of");
	refused("trimmer,batch=7", "from 8 to 64");
	refused("trimmer,batch=65", "from 8 to 64");
	refused("trimmer,threshold=0", "from 1 to 6");
	refused("trimmer,threshold=99999999999999999999", "from 1 to 6");
	refused("trimmer,batch", "wants batch=N");
	refused("trimmer,batch= 9", "wants batch=N");
	refused("trimmer,batch=9x", "wants batch=N");
	refused("trimmer,batches=9", "no setting \"batches\"; there is threshold=3,batch=16");
	refused("preempt,batch=9", "the policy preempt has no setting \"batch\"");
	refused("lorien,", "no setting \"\"");
}

int main(void)
{
	test_lorien();
	test_trimmer();
	test_evolution();
	test_breadth();
	ok(simulate("lorien,trials=80", INT64_MAX, -1) == OPS * 80 &&
		   simulate("lorien,trials=200", INT64_MAX, -1) == (OPS - 1) * 200 + SMALL_SPACE,
	   "lorien: trials for each operator, as far as there are candidates");
	test_all();
	test_settings();
	return done_testing();
}
