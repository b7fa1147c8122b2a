/* The contest: limits, counts and finals, against what a plain recount says. */
#include <string.h>

#include "lib/base/rng.h"
#include "lib/measure/contest.h"
#include "tests/tap.h"

enum { N = 40 };

static struct contestant in[N];

static int race(struct contest *c, int i, double latency_s)
{
	in[i].who = &in[i];
	return contest_raced(c, &in[i], "ok", latency_s, 0);
}

static void test_limit(void)
{
	struct contest c;

	contest_begin(&c, 0, 1, 2);
	ok(contest_limit(&c) == 0, "nothing to race against at first");
	race(&c, 0, 3e-3);
	ok(contest_limit(&c) == 3e-3, "then the first");
	race(&c, 1, 4e-3);
	race(&c, 2, 2e-3);
	contest_raced(&c, &in[3], "wrong", 1e-3, 0);
	contest_raced(&c, &in[4], "preempted", 1e-3, 0);
	ok(contest_limit(&c) == 2e-3, "then the best that is right");
	contest_begin(&c, 1e-3, 1, 2);
	ok(!race(&c, 0, 3e-3) && race(&c, 1, 1.04e-3), "who may come into the finals is told");
	ok(contest_limit(&c) == 1e-3, "an earlier round's incumbent stands");
	contest_begin(&c, 1e-3, 0, 2);
	ok(contest_limit(&c) == 0, "without preemption there is no limit");
}

static void test_counts(void)
{
	struct contest c;

	contest_begin(&c, 2e-3, 1, 2);
	race(&c, 0, 3e-3);
	contest_raced(&c, &in[1], "preempted", 0, 0);
	contest_raced(&c, &in[2], "preempted", 0, 2.1e-3);
	contest_raced(&c, &in[3], "preempted", 0, 1.9e-3);
	contest_raced(&c, &in[4], "crash", 0, 0);
	contest_raced(&c, &in[5], "build", 0, 0);
	ok(c.n.measured == 1 && c.n.preempted == 3 && c.n.failed == 2, "each counts once");
	ok(c.n.audited == 2 && c.n.false_kills == 1, "an audited one that was better counts");
	ok(contest_finalist(&c) == NULL, "one clearly behind an earlier round gets no final");
}

/* Who is in the finals, found otherwise: repeatedly the first of the fastest that has had none. */
static int recount(const double *t, int n, double best, int *had)
{
	int who = -1;

	for (int i = 0; i < n; i++)
		if (!had[i] && (who < 0 || t[i] < t[who]))
			who = i;
	if (who < 0 || t[who] > 1.05 * best)
		return -1;
	had[who] = 1;
	return who;
}

static void test_finals(void)
{
	int same = 1, finalists = 0;
	struct rng r;

	rng_seed(&r, 1, "contest");
	for (int round = 0; round < 500; round++) {
		int n = (int)rng_below(&r, N), finals = (int)rng_below(&r, 6), had[N] = {0};
		double t[N], best = round % 3 ? 0 : 1.02e-3;
		struct contest c;

		contest_begin(&c, best, 1, finals);
		for (int i = 0; i < n; i++) {
			/* Some alike: of equals the first comes first. */
			t[i] = 1e-3 * (1 + (double)rng_below(&r, 20) / 200);
			best = best <= 0 || t[i] < best ? t[i] : best;
			race(&c, i, t[i]);
		}
		for (int k = 0; k < finals + 1; k++) {
			const struct contestant *f = contest_finalist(&c);
			int want = k < finals ? recount(t, n, best, had) : -1;

			same &= want < 0 ? !f : f == &in[want] && f->who == f;
			finalists += want >= 0;
		}
	}
	ok(same, "finalists are the fastest in their order, none twice, none clearly behind");
	ok(finalists > 300, "and there were some: %d", finalists);
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
	test_limit();
	test_counts();
	test_finals();
	test_audits();
	return done_testing();
}
