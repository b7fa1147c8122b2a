/* Which candidates of a workload are worth building. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/algo/algo.h"
#include "lib/policy/picks.h"
#include "tests/tap.h"

/* A candidate: the first letter of its algorithm, and what model and draft say of it. */
struct offer {
	char algo;
	double value, draft_s;
};

static const struct algo *algo_of(char letter)
{
	const char *name = letter == 's' ? "strassen" : letter == 'd' ? "direct" : "gemm";

	return algo_find(name, strlen(name));
}

/* The chosen in their order, by number. Each has a register tile of its own. */
static const char *pick(const struct picks_rules *rules, const struct offer *offer, int n)
{
	static char chosen[32];
	struct picks p;
	size_t k = 0;

	picks_open(&p, rules, 1, "test");
	for (int i = 0; i < n; i++) {
		struct candidate c = {.algo = algo_of(offer[i].algo)};
		struct pick one = {.rank = -offer[i].value,
				   .value = offer[i].value,
				   .draft_s = offer[i].draft_s,
				   .line = strdup("")};

		for (int j = 0; j < c.algo->nknobs; j++)
			c.knob[j] = i;
		snprintf(one.id.s, sizeof one.id.s, "%d", i);
		picks_offer(&p, picks_pool(&p, &c), &one);
	}
	picks_close(&p);
	for (int64_t i = 0; i < p.chosen.n; i++)
		chosen[k++] = p.chosen.pick[i].id.s[0];
	chosen[k] = 0;
	picks_free(&p);
	return chosen;
}

static void is(const char *got, const char *want, const char *what)
{
	ok(!strcmp(got, want), "%s: %s", what, got);
}

/* By value: 0, 1, 2 (gemm), 3 (strassen), 4 (direct, far behind). By the draft: 4, 3, 2, 1, 0. */
static const struct offer offers[] = {
	{'g', 0, 5}, {'g', -0.1, 4}, {'g', -0.2, 3}, {'s', -0.5, 2}, {'d', -1.5, 1}};
enum { OFFERS = sizeof offers / sizeof *offers };

static void test_trust(void)
{
	const struct picks_rules rules = {.k = 3}, hedged = {.k = 3, .hedge = 1};

	is(pick(&rules, offers, OFFERS), "012", "a model that is trusted chooses alone");
	is(pick(&hedged, offers, OFFERS), "013",
	   "the draft's place goes to none that the model puts at half the speed");
}

static void test_trial(void)
{
	const struct picks_rules rules = {.k = 3, .on_trial = 1},
				 hedged = {.k = 3, .hedge = 1, .on_trial = 1},
				 one = {.k = 1, .on_trial = 1};

	is(pick(&rules, offers, OFFERS), "310",
	   "on trial each algorithm that is not far behind has a place, in the draft's order");
	is(pick(&hedged, offers, OFFERS), "430", "the draft's place goes to any then");
	is(pick(&one, offers, OFFERS), "0", "the model's best comes before other algorithms");
}

int main(void)
{
	test_trust();
	test_trial();
	return done_testing();
}
