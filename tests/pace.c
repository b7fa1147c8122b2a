/* How many candidates the next round has time for. */
#include <math.h>
#include <string.h>

#include "lib/policy/pace.h"
#include "tests/tap.h"

static void test_budget(void)
{
	struct pace p = {.limit_s = INFINITY, .used_s = 1e6, .candidates = 10};

	ok(pace_budget(&p, 64) == 64, "without a limit the budget stays");
	p = (struct pace){.limit_s = 60, .used_s = NAN};
	ok(pace_budget(&p, 64) == 64, "and where no time is known");
	p = (struct pace){.limit_s = 60, .reserve_s = 10, .used_s = 20, .candidates = 40};
	ok(pace_each(&p) == 0.5 && pace_end(&p) == 50 && pace_budget(&p, 64) == 60 &&
		   pace_budget(&p, 48) == 48,
	   "a candidate takes what one took so far, and no more are planned than there is time for");
	p = (struct pace){.limit_s = 10, .reserve_s = 2, .used_s = 0};
	ok(pace_budget(&p, 64) > 8 && pace_budget(&p, 64) < 64, "the first round is a guess: %d",
	   (int)pace_budget(&p, 64));
	p = (struct pace){.limit_s = 0.1, .used_s = 0.05};
	ok(pace_budget(&p, 64) == 4 && pace_budget(&p, 2) == 2, "but no round is too small");
}

static void test_over(void)
{
	struct pace p = {.limit_s = 60, .reserve_s = 10, .used_s = 47, .candidates = 47};
	char why[200] = "";

	ok(!strncmp(pace_over(&p, why, sizeof why), "all stop: of seconds<60 13 s are left", 37),
	   "with time for three candidates no round begins: %s", why);
	p.used_s = 61;
	ok(!strncmp(pace_over(&p, why, sizeof why), "all stop: of seconds<60 0 s are left", 36),
	   "no time is left where more was used");
	p.used_s = p.candidates = 40;
	ok(!pace_over(&p, why, sizeof why), "with time for ten one does");
	p = (struct pace){.limit_s = 1, .reserve_s = 0.2, .used_s = 0.7};
	ok(!pace_over(&p, why, sizeof why), "the first round begins whatever is left");
	p.used_s = 0.8;
	ok(pace_over(&p, why, sizeof why) != NULL, "if anything is");
	p = (struct pace){.limit_s = INFINITY, .used_s = 1e9, .candidates = 1};
	ok(!pace_over(&p, why, sizeof why), "without a limit there is time");
	p = (struct pace){.limit_s = 60, .used_s = NAN};
	ok(!pace_over(&p, why, sizeof why), "and where no time is known");
}

int main(void)
{
	test_budget();
	test_over();
	return done_testing();
}
