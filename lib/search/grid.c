/* grid: every point of the space in order. Ends with the space; the seed does not matter, a round
 * goes on with the whole space again (what is known is skipped by the caller). */
#include "lib/search/search.h"

struct grid {
	uint64_t next, end;
};

static void *start(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a)
{
	struct grid *g = arena_new(a, struct grid);

	(void)seed;
	(void)round;
	g->end = s->start[s->nalgos];
	return g;
}

static int propose(void *state, uint64_t *point)
{
	struct grid *g = state;

	if (g->next >= g->end)
		return 0;
	*point = g->next++;
	return 1;
}

const struct search search_grid = {
	.name = "grid",
	.summary = "every point of the space, in order",
	.start = start,
	.propose = propose,
};
