/* portfolio: the model's few schedules that together lose least, fitted to the workload; then
 * points at random. */
#include "lib/search/schedule.h"

struct portfolio {
	void *random; /* search_random's state */
	int next, n;
	uint64_t point[MODEL_PORTFOLIO];
};

static int is_there(const struct portfolio *p, uint64_t point)
{
	for (int i = 0; i < p->n; i++)
		if (p->point[i] == point)
			return 1;
	return 0;
}

static void *start(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a)
{
	struct portfolio *p = arena_new(a, struct portfolio);
	struct candidate c;
	uint64_t point;

	p->random = search_random.start(s, seed, round, a);
	for (int i = 0; s->model && i < s->model->nportfolio; i++)
		if (schedule_fit(s, &s->model->portfolio[i], &c) &&
		    search_space_point(s, &c, &point) && !is_there(p, point))
			p->point[p->n++] = point;
	return p;
}

static int propose(void *state, uint64_t *point)
{
	struct portfolio *p = state;

	if (p->next < p->n) {
		*point = p->point[p->next++];
		return 1;
	}
	while (search_random.propose(p->random, point))
		if (!is_there(p, *point))
			return 1;
	return 0;
}

const struct search search_portfolio = {
	.name = "portfolio",
	.summary = "the model's portfolio of schedules, fitted, then points at random",
	.predicts = 1,
	.start = start,
	.propose = propose,
};
