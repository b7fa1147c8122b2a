/* guided: evolution inside the model, before anything is built.
 *
 * The first generation holds the schedules of the portfolio, the best measured candidates, and the
 * best by the analytic draft of many points drawn at random. Each further generation holds
 * crossings and mutations of the best so far. The model scores all these points, and half of the
 * parents are the best of an algorithm; without a model, the draft scores them. The strategy
 * proposes the scored points, best first, and then points at random.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/map.h"
#include "lib/search/schedule.h"
#include "lib/search/scored.h"
#include "lib/search/split.h"

/* The search looks at so many points. Twice as many, at random and as children, were predicted to
 * be faster by 0.26% (the means of 225 workloads); these numbers cost 0.08% of what 600, 160 and 48
 * parents found, and a third less time. */
enum {
	DRAWN = 300,	/* at random, looked at by the draft */
	FIRST = 96,	/* of them, by the model */
	CHILDREN = 112, /* a generation, at most */
	DRAFTED = 96,	/* the same where the draft alone is the judge */
	GENERATIONS = 4,
	PARENTS = 32,
	NICHE = 8,     /* parents of each algorithm */
	MEASURED = 32, /* measured candidates that are remembered */
	TRIES = 20,    /* to make a child that is new and valid */
	LOOKED_AT = FIRST + GENERATIONS * CHILDREN + MODEL_PORTFOLIO + MEASURED,
};

struct guided {
	const struct search_space *s;
	struct rng rng;
	void *random; /* search_random's state */
	int ready, n, next;
	struct scored scored[LOOKED_AT + CHILDREN];
	float *x; /* features of these, while the model looks for the best; NULL: there is none */
	struct map seen; /* points that were added */
	int nmeasured;
	struct scored measured[MEASURED];
};

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

/* ---- scoring points ---- */

/* Values for the points from number `from` on. Points that make no program are dropped. */
static void score(struct guided *g, int from)
{
	int n = g->n - from;
	double *value = xmalloc(sizeof *value * (size_t)(n + 1));
	uint64_t *point = xmalloc(sizeof *point * (size_t)(n + 1));

	for (int i = 0; i < n; i++)
		point[i] = g->scored[from + i].point;
	n = scored_values(g->s, point, n, value, g->x ? g->x + (size_t)from * FEATURES : NULL);
	for (int i = 0; i < n; i++)
		g->scored[from + i] = (struct scored){point[i], value[i], from + i};
	g->n = from + n;
	free(point);
	free(value);
}

static void add(struct guided *g, uint64_t point)
{
	if (g->n < LOOKED_AT && see(g, point))
		g->scored[g->n++].point = point;
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

/* Returns a point at random. Algorithms by halves have small spaces, and are drawn as often as all
 * others together. */
static uint64_t draw_point(struct guided *g)
{
	const struct search_space *s = g->s;
	int of[SEARCH_MAX_ALGOS], n = 0, a;

	for (a = 0; a < s->nalgos; a++)
		if (s->algo[a]->halves)
			of[n++] = a;
	if (!n || rng_below(&g->rng, 2))
		return rng_below(&g->rng, s->start[s->nalgos]);
	a = of[rng_below(&g->rng, (uint64_t)n)];
	return s->start[a] + rng_below(&g->rng, s->start[a + 1] - s->start[a]);
}

/* Says how many points are drawn at most. With tile registers one in 300 makes a program, and
 * 85,000 draws take 20 ms. In single precision all stays as it was when models were made. */
static int most_draws(const struct guided *g)
{
	enum { EACH = 4, OF_FEW = 400 };

	return DRAWN * (dtypes_are_f32(&g->s->w->dtype) ? EACH : OF_FEW);
}

/* DRAWN points that make a program, if that many are found. x: their features; NULL: none. */
static int draw(struct guided *g, struct scored *drawn, float *x)
{
	uint64_t *point = xmalloc(sizeof *point * DRAWN);
	double *draft_s = xmalloc(sizeof *draft_s * DRAWN);
	int n = 0, draws = 0, most = most_draws(g);

	while (n < DRAWN && draws < most) {
		int drafted = 0;

		for (int want = DRAWN - n; want > 0 && draws < most; want--, draws++) {
			point[drafted] = draw_point(g);
			drafted += !is_seen(g, point[drafted]);
		}
		drafted = search_space_drafts(g->s, point, drafted, draft_s,
					      x ? x + (size_t)n * FEATURES : NULL);
		for (int i = 0; i < drafted; i++, n++)
			drawn[n] = (struct scored){point[i], -draft_s[i], n};
	}
	free(draft_s);
	free(point);
	return n;
}

/* Adds a point that was drawn, with what the draw has found of it, unless it was seen before. */
static void add_scored(struct guided *g, const struct scored *drawn, const float *x)
{
	const int row = g->n;

	add(g, drawn->point);
	if (g->n == row)
		return;
	g->scored[row].value = -log2(-drawn->value);
	g->scored[row].row = row;
	if (x)
		memcpy(g->x + (size_t)row * FEATURES, x + (size_t)drawn->row * FEATURES,
		       sizeof *x * FEATURES);
}

/* The best by the draft of many. Their features are known by then, where there is a model. */
static void add_drawn(struct guided *g)
{
	struct scored *drawn = xmalloc(sizeof *drawn * DRAWN);
	float *x = g->x ? xmalloc(sizeof *x * FEATURES * DRAWN) : NULL;
	double value[FIRST];
	int from = g->n, n = draw(g, drawn, x);

	scored_sort(drawn, n);
	for (int i = 0; i < n && g->n < from + FIRST; i++)
		add_scored(g, &drawn[i], x);
	if (x)
		model_predict(g->s->model, g->x + (size_t)from * FEATURES, (size_t)(g->n - from),
			      value, NULL);
	for (int i = from; x && i < g->n; i++)
		g->scored[i].value = value[i - from];
	free(x);
	free(drawn);
}

/* ---- evolution ---- */

/* Sorts the points. The draft gives one value to programs that differ in prefetches, or in the
 * order of a single block: where it is the judge, the first of each value come before all others.
 * In single precision all stay as they were when models were made. */
static void sort_points(struct guided *g)
{
	struct scored *sorted = xmalloc(sizeof *sorted * (size_t)(g->n + 1));
	const int is_judged = g->s->model || dtypes_are_f32(&g->s->w->dtype);
	int n = 0;

	scored_sort(g->scored, g->n);
	memcpy(sorted, g->scored, sizeof *sorted * (size_t)g->n);
	for (int others = 0; others < 2 && !is_judged; others++)
		for (int i = 0; i < g->n; i++)
			if ((i > 0 && sorted[i].value == sorted[i - 1].value) == others)
				g->scored[n++] = sorted[i];
	free(sorted);
}

/* Niches hold the best points of each algorithm that is not far behind. The best of all may be of
 * one alone, though another has a better point that is still to be found. */
struct niches {
	int n, algo[SEARCH_MAX_ALGOS], size[SEARCH_MAX_ALGOS];
	uint64_t point[SEARCH_MAX_ALGOS][NICHE];
};

static const double FAR_BEHIND = 1; /* half of the best's speed */

static void take_niches(const struct guided *g, struct niches *niches)
{
	memset(niches->size, 0, sizeof niches->size);
	niches->n = 0;
	for (int i = 0; i < g->n && g->scored[i].value >= g->scored[0].value - FAR_BEHIND; i++) {
		int digit[KNOB_MAX], a = split_point(g->s, g->scored[i].point, digit);

		if (!niches->size[a])
			niches->algo[niches->n++] = a;
		if (niches->size[a] < NICHE)
			niches->point[a][niches->size[a]++] = g->scored[i].point;
	}
}

/* Draws a number below n: smaller ones are likelier. */
static int draw_first(struct guided *g, int n)
{
	const double u = rng_unit(&g->rng);

	return (int)(u * u * n);
}

/* Draws one of the best n of all, or, where a model judges, of the best of an algorithm. */
static uint64_t parent(struct guided *g, const struct niches *niches, int n)
{
	int a;

	if (!g->s->model || !niches->n || rng_below(&g->rng, 2))
		return g->scored[draw_first(g, n)].point;
	a = niches->algo[rng_below(&g->rng, (uint64_t)niches->n)];
	return niches->point[a][draw_first(g, niches->size[a])];
}

/* Draws a knob that has several values. In single precision it may have one, as it might when
 * models were made. */
static int knob_to_change(struct guided *g, const struct knob_space *k)
{
	enum { TRIES_OF_KNOBS = 100 };
	int i = (int)rng_below(&g->rng, (uint64_t)k->n);

	for (int t = 0; t < TRIES_OF_KNOBS && k->knob[i].n == 1 && !dtypes_are_f32(&g->s->w->dtype);
	     t++)
		i = (int)rng_below(&g->rng, (uint64_t)k->n);
	return i;
}

static uint64_t child(struct guided *g, const struct niches *niches, int n)
{
	int digit[KNOB_MAX], other[KNOB_MAX];
	const int a = split_point(g->s, parent(g, niches, n), digit);
	const int b = split_point(g->s, parent(g, niches, n), other);
	int changes = 1 + (int)rng_below(&g->rng, 2);
	const struct knob_space *k = &g->s->space[a];

	for (int i = 0; a == b && i < k->n; i++)
		if (rng_below(&g->rng, 3) == 0)
			digit[i] = other[i];
	while (changes--) {
		const int i = knob_to_change(g, k);

		digit[i] = (int)rng_below(&g->rng, (uint64_t)k->knob[i].n);
	}
	return join_point(g->s, a, digit);
}

static void generation(struct guided *g)
{
	const int children = g->s->model ? CHILDREN : DRAFTED;
	int from = g->n, parents = g->n < PARENTS ? g->n : PARENTS;
	struct niches niches;

	if (!parents)
		return;
	take_niches(g, &niches);
	for (int i = 0; i < children; i++)
		for (int t = 0; t < TRIES; t++) {
			struct candidate c = {.w = *g->s->w};
			uint64_t point = child(g, &niches, parents);
			int before = g->n;

			if (is_seen(g, point) || !search_space_at(g->s, point, &c))
				continue;
			add(g, point);
			if (g->n > before)
				break;
		}
	score(g, from);
	sort_points(g);
}

static void evolve(struct guided *g)
{
	if (g->s->model)
		g->x = xmalloc(sizeof *g->x * FEATURES * (LOOKED_AT + CHILDREN));
	for (int i = 0; i < g->nmeasured; i++)
		add(g, g->measured[i].point);
	add_portfolio(g);
	score(g, 0);
	add_drawn(g);
	sort_points(g);
	for (int i = 0; i < GENERATIONS; i++)
		generation(g);
	free(g->x);
	g->x = NULL;
}

int search_guided_drafted(const struct search_space *s, uint64_t seed, struct candidate *c, int n)
{
	struct search_space drafts = *s;
	struct guided *g = xcalloc(1, sizeof *g);
	int found = 0;

	drafts.model = NULL;
	g->s = &drafts;
	search_space_rng(s, seed, 0, &g->rng);
	evolve(g);
	for (int i = 0; i < g->n && found < n; i++) {
		c[found].w = *s->w;
		if (!search_space_at(s, g->scored[i].point, &c[found]))
			continue;
		candidate_identify(&c[found++]);
	}
	map_free(&g->seen);
	free(g);
	return found;
}

/* ---- the strategy ---- */

static void *start(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a)
{
	struct guided *g = arena_new(a, struct guided);

	g->s = s;
	search_space_rng(s, seed, round, &g->rng);
	g->random = search_random.start(s, seed, round, a);
	return g;
}

/* Remembers the best of what was measured. */
static void observe(void *state, const struct candidate *c, double latency_s)
{
	struct guided *g = state;
	struct scored t = {.value = -latency_s};
	int last = g->nmeasured - 1;

	if (!search_space_point(g->s, c, &t.point))
		return;
	if (g->nmeasured < MEASURED)
		last = g->nmeasured++;
	else if (g->measured[last].value >= t.value)
		return;
	g->measured[last] = t;
	scored_sort(g->measured, g->nmeasured);
}

static int propose(void *state, uint64_t *point)
{
	struct guided *g = state;

	if (!g->ready++)
		evolve(g);
	if (g->next < g->n) {
		*point = g->scored[g->next++].point;
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
