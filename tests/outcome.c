/* Finals: what turns come to, in one process and two, and what a disturbed machine may decide. */
#include "lib/trial/outcome.h"

#include "tests/tap.h"

/* n turns of `own` against an opponent that takes `ratio` times as long, with a wobble of 1/1000.
 */
static struct outcome turns(double own, double ratio, int n, int is_calm)
{
	struct outcome o = {.n = n, .nopponents = 1, .is_calm = is_calm};

	for (int k = 0; k < n; k++) {
		o.x[k] = own;
		o.turn[0][k] = own * ratio * (1 + 1e-3 * (k % 3 - 1));
	}
	outcome_judge_turns(&o);
	return o;
}

static int is_near(double a, double b)
{
	return a > 0.998 * b && a < 1.002 * b;
}

int main(void)
{
	struct outcome a = turns(1e-3, 1.05, 11, 1), b = turns(1.1e-3, 1.03, 11, 1), c;

	ok(is_near(a.time.median, 1e-3) && is_near(a.opponent[0].median, 1.05e-3) &&
		   is_near(a.ratio[0].median, 1.05),
	   "times and their ratio");
	ok(outcome_verdict(&a) == STAT_FASTER && !outcome_is_clear(&a), "faster, but not clear");
	b.verify_s = 2;
	b.quiet.disturbed = 3;
	outcome_add(&a, &b);
	ok(a.n == 22 && is_near(a.ratio[0].median, 1.04) && a.ratio[0].hi > 1.045 &&
		   a.ratio[0].lo < 1.035,
	   "two processes: the interval spans both");
	ok(a.verify_s == 2 && a.quiet.disturbed == 3, "and costs sum");

	a = turns(2e-3, 1.05, 11, 0);
	ok(outcome_verdict(&a) == STAT_UNDECIDED,
	   "a disturbed machine decides nothing that is near");
	c = turns(2e-3, 1.2, 11, 0);
	ok(outcome_verdict(&c) == STAT_FASTER && outcome_is_clear(&c), "what is far it does");
	outcome_add(&a, &b);
	ok(a.n == 11 && a.is_calm && is_near(a.ratio[0].median, 1.03) && a.verify_s == 2,
	   "quiet turns take the place of disturbed ones");
	outcome_add(&a, &c);
	ok(a.n == 11 && is_near(a.ratio[0].median, 1.03), "which add nothing to them");
	c = turns(2e-3, 1.02, 5, 0);
	ok(!outcome_is_clear(&c), "a second process may find the machine quiet");
	c.quiet.in_vain = 100;
	ok(outcome_is_clear(&c), "unless there is no hope of that");

	c = turns(1e-3, 1.03, 11, 1);
	c.status = OUTCOME_WRONG;
	outcome_add(&a, &c);
	ok(a.status == OUTCOME_WRONG, "wrong in the second process is wrong");
	a = turns(1e-3, 1.03, 11, 1);
	ok(outcome_is_sane(&a), "what a trial makes is sane");
	a.turn[0][3] = -1;
	ok(!outcome_is_sane(&a), "a time below 0 is not");
	return done_testing();
}
