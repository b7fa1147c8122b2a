#include "lib/policy/picks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/model.h"

enum {
	RANDOM_FROM = 8, /* from this k on, one is drawn from the refused */
};

static const double HEDGE_FAR = 1;	 /* of values: twice the time */
static const double SAME_TILE = 1.0 / 3; /* share of k with the same register tile, at most */

/* The best of those that share a register tile, at most k. */
struct pool {
	const struct algo *algo;
	struct pick_list list;
	int64_t worst, taken;
};

/* ---- order ---- */

static int before(const struct pick *a, const struct pick *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return strcmp(a->id.s, b->id.s) < 0;
}

static int compare_picks(const void *pa, const void *pb)
{
	const struct pick *const *a = pa, *const *b = pb;

	return before(*a, *b) ? -1 : before(*b, *a);
}

static void add(struct pick_list *l, const struct pick *p)
{
	if (l->n == l->cap) {
		l->cap = l->cap * 2 + 8;
		l->pick = xrealloc(l->pick, sizeof *l->pick * (size_t)l->cap);
	}
	l->pick[l->n++] = *p;
}

/* ---- refusing ---- */

static void lose(struct picks *p, const struct pick *loser)
{
	if (p->rules.audit > 0 && rng_unit(&p->rng) < p->rules.audit)
		add(&p->audited, loser);
	else if (p->rules.keep_refused)
		add(&p->refused, loser);
	else
		free(loser->line);
}

/* Each refused candidate has the same chance to stay as the spare (Vitter, "Random sampling with a
 * reservoir", ACM TOMS 11, 1985, algorithm R). */
static void let_go(struct picks *p, const struct pick *c)
{
	struct pick loser = *c;

	if (rng_below(&p->rng, (uint64_t)++p->spares) == 0) {
		loser = p->spare;
		p->spare = *c;
	}
	if (loser.line)
		lose(p, &loser);
}

static int drafted_before(const struct pick *a, const struct pick *b)
{
	return a->draft_s < b->draft_s || (a->draft_s == b->draft_s && before(a, b));
}

static int compare_drafts(const void *pa, const void *pb)
{
	return drafted_before(pa, pb) ? -1 : drafted_before(pb, pa);
}

/* The draft's best of those that no pool has room for stay. */
static void refuse(struct picks *p, const struct pick *c)
{
	struct pick_list *l = &p->hedge;
	struct pick *worst = l->pick;

	if (l->n < p->rules.hedge) {
		add(l, c);
		return;
	}
	for (int64_t i = 1; i < l->n; i++)
		if (drafted_before(worst, &l->pick[i]))
			worst = &l->pick[i];
	if (!l->n || !drafted_before(c, worst)) {
		let_go(p, c);
		return;
	}
	let_go(p, worst);
	*worst = *c;
}

/* ---- taking in ---- */

void picks_open(struct picks *p, const struct picks_rules *r, uint64_t seed, const char *name)
{
	memset(p, 0, sizeof *p);
	p->rules = *r;
	rng_seed(&p->rng, seed, name);
}

struct pool *picks_pool(struct picks *p, const struct candidate *c)
{
	static const char *const tile[] = {"vl", "nv", "mr"};
	struct {
		const struct algo *algo;
		int64_t knob[3];
	} key = {c->algo, {0, 0, 0}};
	void **at;

	for (int i = 0; i < c->algo->nknobs; i++)
		for (int j = 0; j < 3; j++)
			if (!strcmp(c->algo->knob[i].name, tile[j]))
				key.knob[j] = c->knob[i];
	at = map_put(&p->pools, (const char *)&key, sizeof key, NULL);
	if (!*at) {
		struct pool *pool = *at = xcalloc(1, sizeof *pool);

		pool->algo = c->algo;
	}
	return *at;
}

void picks_offer(struct picks *p, struct pool *pool, struct pick *c)
{
	struct pick_list *l = &pool->list;

	c->pool = pool;
	if (l->n < p->rules.k) {
		add(l, c);
	} else if (!p->rules.k || !before(c, &l->pick[pool->worst])) {
		refuse(p, c);
		return;
	} else {
		refuse(p, &l->pick[pool->worst]);
		l->pick[pool->worst] = *c;
	}
	pool->worst = 0;
	for (int64_t i = 1; i < l->n; i++)
		if (before(&l->pick[pool->worst], &l->pick[i]))
			pool->worst = i;
}

/* ---- choosing ---- */

/* Marks the chosen among n picks in order. The first pass takes picks whose rank differs from the
 * one chosen before, within the limit for each register tile. Places that are left go to any picks
 * within the limit, and then to any picks. */
static void choose(const struct picks_rules *r, struct pick **order, int64_t n, int64_t places)
{
	int64_t each = (int64_t)floor((double)r->k * SAME_TILE), taken = 0;

	if (each < 1)
		each = 1;
	for (int pass = 0; pass < 3; pass++) {
		double last = -INFINITY;

		for (int64_t i = 0; i < n && taken < places; i++) {
			struct pick *p = order[i];

			if (p->taken || (pass < 2 && p->pool->taken >= each) ||
			    (!pass && p->rank == last))
				continue;
			last = p->rank;
			p->taken = 1;
			p->pool->taken++;
			taken++;
		}
	}
}

static int is_algo_taken(struct pick **order, int64_t n, const struct algo *algo)
{
	for (int64_t i = 0; i < n; i++)
		if (order[i]->taken && order[i]->pool->algo == algo)
			return 1;
	return 0;
}

static void take_pick(struct pick *p)
{
	p->taken = 1;
	p->pool->taken++;
}

/* Marks the one that the model would choose if it had one choice. Returns how many places are left.
 */
static int64_t choose_surest(struct pick **order, int64_t n, int64_t places)
{
	struct pick *best = NULL;

	for (int64_t i = 0; i < n; i++)
		if (order[i]->deviation >= 0 && order[i]->value > -INFINITY &&
		    (!best || model_cautious(order[i]->value, order[i]->deviation) >
				      model_cautious(best->value, best->deviation)))
			best = order[i];
	if (!best || places < 1)
		return places;
	take_pick(best);
	return places - 1;
}

/* Marks the first of each algorithm that the model does not put far behind. Returns how many places
 * are left. */
static int64_t choose_of_each_algo(struct pick **order, int64_t n, int64_t places)
{
	for (int64_t i = 0; i < n && places > 0; i++)
		if (order[i]->value > order[0]->value - HEDGE_FAR &&
		    !is_algo_taken(order, n, order[i]->pool->algo)) {
			take_pick(order[i]);
			places--;
		}
	return places;
}

/* The best by the draft of those that are left. What the model thinks much slower than its own
 * best, or likely to fail, is none of them, unless the model is on trial. Returns how many places
 * are left. */
static int64_t choose_hedge(struct pick **order, int64_t n, int64_t places, double far)
{
	for (; places > 0; places--) {
		struct pick *best = NULL;

		for (int64_t i = 0; i < n; i++)
			if (!order[i]->taken && order[i]->value > order[0]->value - far &&
			    (!best || drafted_before(order[i], best)))
				best = order[i];
		if (!best)
			break;
		best->taken = 1;
	}
	return places;
}

/* How many there are to choose from. */
static int64_t count_held(const struct picks *p)
{
	int64_t n = p->hedge.n;

	for (size_t i = 0; i < p->pools.n; i++)
		n += ((struct pool *)p->pools.item[i].value)->list.n;
	return n;
}

/* All of them in order; the caller's to free. */
static struct pick **in_order(const struct picks *p, int64_t n)
{
	struct pick **order = xmalloc(sizeof *order * (size_t)(n + 1));
	int64_t k = 0;

	for (size_t i = 0; i < p->pools.n; i++) {
		struct pool *pool = p->pools.item[i].value;

		for (int64_t j = 0; j < pool->list.n; j++)
			order[k++] = &pool->list.pick[j];
	}
	for (int64_t i = 0; i < p->hedge.n; i++)
		order[k++] = &p->hedge.pick[i];
	if (n > 1)
		qsort(order, (size_t)n, sizeof *order, compare_picks);
	return order;
}

void picks_close(struct picks *p)
{
	int64_t n = count_held(p), places, own, hedge;
	struct pick **order = in_order(p, n);

	p->has_random = p->rules.k >= RANDOM_FROM && n + p->spares > p->rules.k;
	places = p->rules.k - p->has_random;
	own = places > 0 && !p->rules.given; /* the model's first choice */
	hedge = p->rules.hedge < places - own ? p->rules.hedge : places - own;
	if (p->rules.on_trial)
		places = choose_of_each_algo(order, n, choose_surest(order, n, places));
	if (hedge > places)
		hedge = places;
	choose(&p->rules, order, n, places - hedge);
	choose(&p->rules, order, n,
	       choose_hedge(order, n, hedge, p->rules.on_trial ? INFINITY : HEDGE_FAR));
	for (int64_t i = 0; i < n; i++)
		if (order[i]->taken)
			add(&p->chosen, order[i]);
		else
			let_go(p, order[i]);
	if (p->rules.on_trial && p->chosen.n > 1)
		qsort(p->chosen.pick, (size_t)p->chosen.n, sizeof *p->chosen.pick, compare_drafts);
	for (int64_t i = 0; i < n; i++)
		order[i]->line = NULL; /* it is elsewhere now */
	free(order);
	if (p->has_random)
		add(&p->chosen, &p->spare);
	else if (p->spare.line)
		lose(p, &p->spare);
	p->spare.line = NULL;
}

static void free_lines(struct pick_list *l)
{
	for (int64_t i = 0; i < l->n; i++)
		free(l->pick[i].line);
	free(l->pick);
}

void picks_free(struct picks *p)
{
	for (size_t i = 0; i < p->pools.n; i++) {
		struct pool *pool = p->pools.item[i].value;

		free_lines(&pool->list);
		free(pool);
	}
	map_free(&p->pools);
	free(p->spare.line);
	free_lines(&p->hedge);
	free_lines(&p->chosen);
	free_lines(&p->audited);
	free_lines(&p->refused);
}
