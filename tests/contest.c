/* The contest: who holds the place, whose final it is, and counts, against what a plain recount
 * says. */
#include <stdio.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/measure/contest.h"
#include "tests/tap.h"

enum { N = 40 };

static struct contestant in[N];

static int race(struct contest *c, int i, enum status status, int won, double ratio)
{
	const struct contest_end end = {status, won, ratio};

	in[i] = (struct contestant){.owner = &in[i]};
	return contest_raced(c, &in[i], &end);
}

static int known(struct contest *c, int i, const char *at, int became_incumbent)
{
	in[i] = (struct contestant){.owner = &in[i], .at = at};
	return contest_known(c, &in[i], became_incumbent);
}

static int holds(const struct contest *c, const struct contestant *who)
{
	return c->incumbent == who && c->best == who;
}

static void test_incumbent(void)
{
	struct contestant earlier = {.owner = &earlier, .at = "1"};
	struct contest c;

	contest_begin(&c, NULL, 0);
	ok(!c.incumbent && !c.best, "nobody to race against at first");
	ok(!race(&c, 0, STATUS_CRASH, 1, 0) && !race(&c, 1, STATUS_WRONG, 1, 2) && !c.incumbent,
	   "who did not end well never holds the place");
	ok(race(&c, 2, STATUS_OK, 1, 0) && holds(&c, &in[2]), "the first that ends well does");
	ok(!race(&c, 3, STATUS_OK, 0, 1.5) && !race(&c, 4, STATUS_PREEMPTED, 0, 0.5) &&
		   !race(&c, 5, STATUS_WRONG, 1, 2) && holds(&c, &in[2]),
	   "who did not win, or was wrong, does not take it, whatever the ratio");
	ok(race(&c, 6, STATUS_OK, 1, 1.01) && holds(&c, &in[6]), "who wins does");
	contest_begin(&c, &earlier, 0);
	ok(holds(&c, &earlier) && !race(&c, 0, STATUS_OK, 0, 1) && holds(&c, &earlier),
	   "an earlier round's incumbent holds it, and is the best");
	ok(race(&c, 1, STATUS_OK, 1, 1.2) && holds(&c, &in[1]), "until it loses");
}

static void test_fixed(void)
{
	struct contest c;

	contest_begin(&c, NULL, 1);
	ok(race(&c, 0, STATUS_OK, 1, 0) && holds(&c, &in[0]), "a fixed incumbent is the first");
	ok(!race(&c, 1, STATUS_OK, 0, 0.9), "who has a ratio below 1 to it is not the best");
	ok(race(&c, 2, STATUS_OK, 1, 1.3) && c.incumbent == &in[0] && c.best == &in[2],
	   "the highest ratio is the best, and the incumbent stays");
	ok(!race(&c, 3, STATUS_OK, 1, 1.2) && c.best == &in[2],
	   "a lower one is not, although it won");
	ok(race(&c, 4, STATUS_OK, 0, 1.4) && c.incumbent == &in[0] && c.best == &in[4],
	   "a higher one is, although it is even");
	ok(!race(&c, 5, STATUS_WRONG, 1, 9) && c.best == &in[4], "one that is wrong is not");
}

static void test_known(void)
{
	struct contestant earlier = {.owner = &earlier, .at = "2026-11-21T09"};
	struct contest c;

	contest_begin(&c, &earlier, 0);
	ok(!known(&c, 0, "2026-11-21T10", 0) && holds(&c, &earlier),
	   "one that is known and never held the place does not now");
	ok(!known(&c, 1, "2026-11-21T08", 1) && !known(&c, 2, "2026-11-21T09", 1) &&
		   holds(&c, &earlier),
	   "nor one that held it before the incumbent did");
	ok(known(&c, 3, "2026-11-21T12", 1) && holds(&c, &in[3]), "but one that did later");
	ok(!known(&c, 4, "2026-11-21T11", 1) && holds(&c, &in[3]), "of two the later");
	ok(race(&c, 5, STATUS_OK, 1, 1.1) && !known(&c, 6, "2026-11-21T13", 1) && holds(&c, &in[5]),
	   "who won in this run did so after all that are known");
	contest_begin(&c, NULL, 0);
	ok(!known(&c, 0, "2026-11-21T10", 0) && !c.incumbent && known(&c, 1, "2026-11-21T08", 1) &&
		   holds(&c, &in[1]),
	   "where nobody holds the place any that held it does");
	ok(c.n.known == 2 && c.n.measured == 0, "and they are counted as known");
}

/* Won and lost as the times say; who holds the place then, and who is the best, is found by a plain
 * look at all that came so far. */
static void test_recount(void)
{
	int same = 1, changes = 0;
	struct rng r;

	rng_seed(&r, 1, "contest");
	for (int round = 0; round < 500; round++) {
		int is_fixed = round % 2, first = -1, best = -1;
		double t[N];
		struct contest c;

		contest_begin(&c, NULL, is_fixed);
		for (int i = 0; i < N; i++) {
			int good = rng_below(&r, 4) > 0, new_best;
			double ratio;

			t[i] = 1 + rng_unit(&r);
			ratio = first < 0 ? 0 : t[is_fixed ? first : best] / t[i];
			new_best = good && (best < 0 || t[i] < t[best]);
			if (good && first < 0)
				first = i;
			best = new_best ? i : best;
			same &= race(&c, i, good ? STATUS_OK : STATUS_TIMEOUT,
				     first == i || ratio > 1, ratio) == new_best;
			same &= c.best == (best < 0 ? NULL : &in[best]);
			same &= c.incumbent == (best < 0 ? NULL : &in[is_fixed ? first : best]);
			changes += new_best;
		}
	}
	ok(same && changes > 1500, "as a recount says, %d times", changes);
}

static void test_counts(void)
{
	struct contest c;

	contest_begin(&c, NULL, 0);
	race(&c, 0, STATUS_OK, 1, 0);
	race(&c, 1, STATUS_PREEMPTED, 0, 0.5);
	race(&c, 2, STATUS_PREEMPTED, 0, 0.5);
	race(&c, 3, STATUS_PREEMPTED, 0, 0.9);
	race(&c, 4, STATUS_CRASH, 0, 0);
	race(&c, 5, STATUS_BUILD, 0, 0);
	ok(c.n.measured == 1 && c.n.preempted == 3 && c.n.failed == 2, "each counts once");
	contest_audited(&c, 0);
	contest_audited(&c, 1);
	contest_audited(&c, 0);
	ok(c.n.audited == 3 && c.n.false_kills == 1 && holds(&c, &in[0]),
	   "an audited one that won counts, and takes no place");
}

static void test_audits(void)
{
	int n = 0, again = 0, other = 0;

	for (int i = 0; i < 2000; i++) {
		struct id id;

		hash_id(&id, &i, sizeof i);
		n += contest_audits(0.05, 1, &id);
		again += contest_audits(0.05, 1, &id) && contest_audits(0.1, 1, &id);
		other += contest_audits(0.05, 1, &id) && contest_audits(0.05, 2, &id);
	}
	ok(n > 60 && n < 140, "a share of all: %d of 2000", n);
	ok(again == n && other < n / 2, "the same of a seed, others of another");
}

int main(void)
{
	test_incumbent();
	test_fixed();
	test_known();
	test_recount();
	test_counts();
	test_audits();
	return done_testing();
}
