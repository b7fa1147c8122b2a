/* guided: evolution inside the model, before anything is built.
 *
 * A first generation of the portfolio's schedules, the best that was measured, and the best by the
 * analytic draft of many points drawn at random; then generations of crossings and mutations of the
 * best by the model (by the draft, where there is no model). The model only glances at all these;
 * the best are judged by the whole of it in the end. Proposed is all that was looked at, best
 * first, so thousands are thought of for each that is measured; then points at random.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/map.h"
#include "lib/base/rng.h"
#include "lib/search/schedule.h"

enum {
	DRAWN = 1500,	/* at random, looked at by the draft */
	FIRST = 192,	/* of them, by the model */
	CHILDREN = 160, /* a generation */
	GENERATIONS = 4,
	PARENTS = 48,
	JUDGED = 128, /* by the whole model */
	TOLD = 32,    /* measured candidates that are remembered */
	TRIES = 20,   /* to make a child that is new and valid */
	LOOKED_AT = FIRST + GENERATIONS * CHILDREN + MODEL_PORTFOLIO + TOLD,
};

struct thought {
	uint64_t point;
	double value; /* larger is better */
};

struct guided {
	const struct search_space *s;
	struct rng rng;
	struct arena scratch;
	void *random; /* search_random's state */
	int ready, n, next;
	struct thought thought[LOOKED_AT + CHILDREN];
	struct map seen; /* points thought of */
	int ntold;
	struct thought told[TOLD];
};

static int better_first(const void *pa, const void *pb)
{
	const struct thought *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->point < b->point ? -1 : a->point > b->point;
}

static int is_seen(struct guided *g, uint64_t point)
{
	return map_get(&g->seen, (const char *)&point, sizeof point) != NULL;
}

/* 1 if it had not been. */
static int see(struct guided *g, uint64_t point)
{
	int isnew;

	*map_put(&g->seen, (const char *)&point, sizeof point, &isnew) = g;
	return isnew;
}

/* ---- thinking of points ---- */

static int draft(struct guided *g, uint64_t point, double *draft_s, float *f)
{
	return search_space_draft(g->s, point, &g->scratch, draft_s, f);
}

/* Values for the thoughts from `from` on; those that make no program are dropped. */
static void think(struct guided *g, int from)
{
	float *x = xmalloc(sizeof *x * FEATURES * (size_t)(g->n - from + 1));
	double *value = xmalloc(sizeof *value * (size_t)(g->n - from + 1)), draft_s;
	struct err e = ERR_INIT;
	int n = 0, asked;

	for (int i = from; i < g->n; i++) {
		if (draft(g, g->thought[i].point, &draft_s, x + n * FEATURES) < 0)
			continue;
		value[n] = -log2(draft_s);
		g->thought[from + n++].point = g->thought[i].point;
	}
	g->n = from + n;
	asked = g->s->model && model_glance(g->s->model, x, (size_t)n, value, &e) < 0;
	for (int i = 0; i < n && !asked; i++)
		g->thought[from + i].value = value[i];
	free(value);
	free(x);
}

static void add(struct guided *g, uint64_t point)
{
	if (g->n < LOOKED_AT && see(g, point))
		g->thought[g->n++].point = point;
}

static void add_portfolio(struct guided *g)
{
	uint64_t point;

	for (int i = 0; g->s->model && i < g->s->model->nportfolio; i++) {
		struct candidate c;

		if (schedule_fit(g->s, &g->s->model->portfolio[i], &c) &&
		    search_space_point(g->s, &c, &point))
			add(g, point);
	}
}

/* The best by the draft of many. */
static void add_drawn(struct guided *g)
{
	struct thought *drawn = xmalloc(sizeof *drawn * DRAWN);
	uint64_t size = g->s->start[g->s->nalgos];
	double draft_s;
	int n = 0;

	for (int i = 0; i < DRAWN * 4 && n < DRAWN; i++) {
		uint64_t point = rng_below(&g->rng, size);

		if (is_seen(g, point) || draft(g, point, &draft_s, NULL) < 0)
			continue;
		drawn[n++] = (struct thought){point, -draft_s};
	}
	if (n)
		qsort(drawn, (size_t)n, sizeof *drawn, better_first);
	for (int i = 0, added = 0; i < n && added < FIRST; i++) {
		int before = g->n;

		add(g, drawn[i].point);
		added += g->n > before;
	}
	free(drawn);
}

/* ---- evolution ---- */

/* The algorithm's number, and for each knob the number of its value. */
static int split(const struct search_space *s, uint64_t point, int *digit)
{
	int a = 0;

	while (point >= s->start[a + 1])
		a++;
	point -= s->start[a];
	for (int k = s->space[a].n - 1; k >= 0; k--) {
		digit[k] = (int)(point % (uint64_t)s->space[a].knob[k].n);
		point /= (uint64_t)s->space[a].knob[k].n;
	}
	return a;
}

static uint64_t join(const struct search_space *s, int a, const int *digit)
{
	uint64_t point = 0;

	for (int k = 0; k < s->space[a].n; k++)
		point = point * (uint64_t)s->space[a].knob[k].n + (uint64_t)digit[k];
	return s->start[a] + point;
}

/* The better, the likelier. */
static uint64_t parent(struct guided *g, int n)
{
	double u = rng_unit(&g->rng);

	return g->thought[(int)(u * u * n)].point;
}

static uint64_t child(struct guided *g, int n)
{
	int digit[KNOB_MAX], other[KNOB_MAX], a = split(g->s, parent(g, n), digit);
	int b = split(g->s, parent(g, n), other), changes = 1 + (int)rng_below(&g->rng, 2);
	const struct knob_space *k = &g->s->space[a];

	for (int i = 0; a == b && i < k->n; i++)
		if (rng_below(&g->rng, 3) == 0)
			digit[i] = other[i];
	while (changes--) {
		int i = (int)rng_below(&g->rng, (uint64_t)k->n);

		digit[i] = (int)rng_below(&g->rng, (uint64_t)k->knob[i].n);
	}
	return join(g->s, a, digit);
}

static void generation(struct guided *g)
{
	int from = g->n, parents = g->n < PARENTS ? g->n : PARENTS;

	if (!parents)
		return;
	for (int i = 0; i < CHILDREN; i++)
		for (int t = 0; t < TRIES; t++) {
			struct candidate c = {.w = *g->s->w};
			uint64_t point = child(g, parents);
			int before = g->n;

			if (is_seen(g, point) || !search_space_at(g->s, point, &c))
				continue;
			add(g, point);
			if (g->n > before)
				break;
		}
	think(g, from);
	qsort(g->thought, (size_t)g->n, sizeof *g->thought, better_first);
}

/* The best by a glance, put in order by the whole model. */
static void judge(struct guided *g)
{
	int n = g->n < JUDGED ? g->n : JUDGED;
	float *x = xmalloc(sizeof *x * FEATURES * (size_t)(n + 1));
	double value[JUDGED], draft_s;
	struct err e = ERR_INIT;

	for (int i = 0; i < n; i++)
		draft(g, g->thought[i].point, &draft_s, x + i * FEATURES);
	if (n && model_predict(g->s->model, x, (size_t)n, value, NULL, &e) == 0) {
		for (int i = 0; i < n; i++)
			g->thought[i].value = value[i];
		qsort(g->thought, (size_t)n, sizeof *g->thought, better_first);
	}
	free(x);
}

static void evolve(struct guided *g)
{
	for (int i = 0; i < g->ntold; i++)
		add(g, g->told[i].point);
	add_portfolio(g);
	add_drawn(g);
	think(g, 0);
	if (g->n)
		qsort(g->thought, (size_t)g->n, sizeof *g->thought, better_first);
	for (int i = 0; i < GENERATIONS; i++)
		generation(g);
	if (g->s->model)
		judge(g);
	arena_free(&g->scratch);
}

/* ---- the strategy ---- */

static void *start(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a)
{
	struct guided *g = arena_new(a, struct guided);

	g->s = s;
	rng_seed(&g->rng, seed + 0x9e3779b97f4a7c15u * (uint64_t)round, s->w->id.s);
	g->random = search_random.start(s, seed, round, a);
	return g;
}

/* Remembers the best of what was measured. */
static void observe(void *state, const struct candidate *c, double latency_s)
{
	struct guided *g = state;
	struct thought t = {.value = -latency_s};
	int last = g->ntold - 1;

	if (!search_space_point(g->s, c, &t.point))
		return;
	if (g->ntold < TOLD)
		last = g->ntold++;
	else if (g->told[last].value >= t.value)
		return;
	g->told[last] = t;
	qsort(g->told, (size_t)g->ntold, sizeof *g->told, better_first);
}

static int propose(void *state, uint64_t *point)
{
	struct guided *g = state;

	if (!g->ready++)
		evolve(g);
	if (g->next < g->n) {
		*point = g->thought[g->next++].point;
		return 1;
	}
	while (search_random.propose(g->random, point))
		if (!is_seen(g, *point))
			return 1;
	map_free(&g->seen);
	return 0;
}

static void stop(void *state)
{
	struct guided *g = state;

	map_free(&g->seen);
	arena_free(&g->scratch);
}

const struct search search_guided = {
	.name = "guided",
	.summary = "evolution against the rank that a model predicts",
	.predicts = 1,
	.start = start,
	.propose = propose,
	.observe = observe,
	.stop = stop,
};
