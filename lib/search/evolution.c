/* evolution: the search of Ansor (Zheng et al., OSDI 2020, section 5), a rival to compare with. Its
 * figures are those of the paper's code (Apache TVM, auto_scheduler).
 *
 * A population of 2048 holds the best measured candidates, a fifth of it at most, and points drawn
 * at random. There are four further generations. Parents are drawn in proportion to the speed that
 * the model predicts; 85% of the children have one knob changed, the others are as their parents.
 * The best of all generations are proposed, best first. One proposal in twenty is drawn at random
 * instead. The model learns from the results of this run alone, anew in each
 * round. Without one, all proposals are random.
 *
 * The paper's programs are trees of decisions, and ours are an algorithm and its knobs. So the
 * paper's other mutations and its crossover of whole stages have nothing to work on here.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/base/err.h"
#include "lib/base/map.h"
#include "lib/search/scored.h"
#include "lib/search/search.h"
#include "lib/search/split.h"

enum {
	POPULATION = 2048,
	GENERATIONS = 4,
	FROM_MEASURED = POPULATION / 5,
	RANDOM_EVERY = 20, /* proposals */
	DRAWS = 4,	   /* for each member, at most: points may make no program */
	TRIES = 20,	   /* to make a child that is a program */
};

static const double MUTATION = 0.85;

/* The value of a point is log2 of the speed, up to a constant; of measured ones, that known. */
struct evolution {
	const struct search_space *s;
	struct rng rng;
	void *random; /* search_random's state */
	int ready, nmeasured, cap;
	struct scored *measured;
	int64_t proposed;
	int n, next; /* all that were scored, the best first */
	struct scored *scored;
	struct map seen;      /* points that were scored: their places in `value` */
	struct map proposals; /* points that were proposed */
	double *value;
};

/* ---- generations ---- */

/* Gives the members their values. Each point is scored once, in whatever generation it comes first.
 * Members that make no program are dropped. Returns how many are left. */
static int score(struct evolution *v, struct scored *m, int n)
{
	uint64_t *point = xmalloc(sizeof *point * (size_t)(n + 1));
	double *value = xmalloc(sizeof *value * (size_t)(n + 1));
	int isnew, fresh = 0, kept = 0;

	for (int i = 0; i < n; i++) {
		map_put(&v->seen, (const char *)&m[i].point, sizeof m[i].point, &isnew);
		if (isnew)
			point[fresh++] = m[i].point;
	}
	fresh = scored_values(v->s, point, fresh, value, NULL);
	for (int i = 0; i < fresh; i++) {
		v->value[v->n] = value[i];
		v->scored[v->n++] = (struct scored){.point = point[i], .value = value[i]};
		*map_put(&v->seen, (const char *)&point[i], sizeof point[i], NULL) =
			&v->value[v->n - 1];
	}
	for (int i = 0; i < n; i++) {
		const double *known =
			map_get(&v->seen, (const char *)&m[i].point, sizeof m[i].point);

		if (known)
			m[kept++] = (struct scored){.point = m[i].point, .value = *known};
	}
	free(value);
	free(point);
	return kept;
}

static int first_population(struct evolution *v, struct scored *m)
{
	uint64_t size = v->s->start[v->s->nalgos];
	int n = 0, kept = 0;

	scored_sort(v->measured, v->nmeasured);
	while (n < v->nmeasured && n < FROM_MEASURED) {
		m[n] = v->measured[n];
		n++;
	}
	for (int draws = 0; kept < POPULATION && draws < DRAWS; draws++) {
		for (; n < POPULATION; n++)
			m[n].point = rng_below(&v->rng, size);
		kept = n = score(v, m, n);
	}
	return kept;
}

/* Adds up the members' speeds over that of the best: sum[i] is that of the first i + 1. */
static void add_up(const struct scored *m, int n, double *sum)
{
	double best = -INFINITY, all = 0;

	for (int i = 0; i < n; i++)
		best = fmax(best, m[i].value);
	for (int i = 0; i < n; i++)
		sum[i] = all += exp2(m[i].value - best);
}

static uint64_t parent(struct evolution *v, const struct scored *m, int n, const double *sum)
{
	double u = rng_unit(&v->rng) * sum[n - 1];
	int lo = 0, hi = n - 1;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (sum[mid] > u)
			hi = mid;
		else
			lo = mid + 1;
	}
	return m[lo].point;
}

/* One knob has another value. Where no program is found, the parent stays. */
static uint64_t mutate(struct evolution *v, uint64_t point)
{
	const struct search_space *s = v->s;

	for (int t = 0; t < TRIES; t++) {
		struct candidate c = {.w = *s->w};
		int digit[KNOB_MAX], a = split_point(s, point, digit);
		int k = (int)rng_below(&v->rng, (uint64_t)s->space[a].n);
		uint64_t child;

		digit[k] = (int)rng_below(&v->rng, (uint64_t)s->space[a].knob[k].n);
		child = join_point(s, a, digit);
		if (child != point && search_space_at(s, child, &c))
			return child;
	}
	return point;
}

static int next_population(struct evolution *v, const struct scored *m, int n, struct scored *next)
{
	double *sum = xmalloc(sizeof *sum * (size_t)n);

	add_up(m, n, sum);
	for (int i = 0; i < POPULATION; i++) {
		next[i].point = parent(v, m, n, sum);
		if (rng_unit(&v->rng) < MUTATION)
			next[i].point = mutate(v, next[i].point);
	}
	free(sum);
	return score(v, next, POPULATION);
}

static void evolve(struct evolution *v)
{
	const size_t most = POPULATION * (DRAWS + GENERATIONS);
	struct scored *m = xmalloc(sizeof *m * POPULATION),
		      *next = xmalloc(sizeof *next * POPULATION);
	int n;

	v->scored = xmalloc(sizeof *v->scored * most);
	v->value = xmalloc(sizeof *v->value * most);
	n = first_population(v, m);
	for (int g = 0; g < GENERATIONS && n; g++) {
		struct scored *old = m;

		n = next_population(v, m, n, next);
		m = next;
		next = old;
	}
	scored_sort(v->scored, v->n);
	free(m);
	free(next);
}

/* ---- the strategy ---- */

static void *start(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a)
{
	struct evolution *v = arena_new(a, struct evolution);

	v->s = s;
	search_space_rng(s, seed, round, &v->rng);
	v->random = search_random.start(s, seed, round, a);
	return v;
}

static void observe(void *state, const struct candidate *c, double latency_s)
{
	struct evolution *v = state;
	struct scored m = {.value = -log2(latency_s)};

	if (!search_space_point(v->s, c, &m.point))
		return;
	if (v->nmeasured == v->cap) {
		v->cap = v->cap ? 2 * v->cap : 64;
		v->measured = xrealloc(v->measured, sizeof *v->measured * (size_t)v->cap);
	}
	v->measured[v->nmeasured++] = m;
}

static int is_first_proposal(struct evolution *v, uint64_t point)
{
	int isnew;

	map_put(&v->proposals, (const char *)&point, sizeof point, &isnew);
	return isnew;
}

static int propose_random(struct evolution *v, uint64_t *point)
{
	while (search_random.propose(v->random, point))
		if (is_first_proposal(v, *point))
			return 1;
	return 0;
}

static int propose(void *state, uint64_t *point)
{
	struct evolution *v = state;

	if (!v->ready++ && v->s->model)
		evolve(v);
	if (++v->proposed % RANDOM_EVERY == 0 && propose_random(v, point))
		return 1;
	while (v->next < v->n) {
		*point = v->scored[v->next++].point;
		if (is_first_proposal(v, *point))
			return 1;
	}
	return propose_random(v, point);
}

static void stop(void *state)
{
	struct evolution *v = state;

	map_free(&v->seen);
	map_free(&v->proposals);
	free(v->measured);
	free(v->scored);
	free(v->value);
}

const struct search search_evolution = {
	.name = "evolution",
	.summary = "Ansor's evolutionary search, by a model of this machine's times alone",
	.predicts = 1,
	.learns = 1,
	.start = start,
	.propose = propose,
	.observe = observe,
	.stop = stop,
};
