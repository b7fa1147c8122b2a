#include "lib/search/cover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search/schedule.h"

enum {
	OF_EACH = 2, /* schedules that a workload offers */
	OFFERS_MAX = 400,
	GROUPS_MAX = 1024,
};

/* What a portfolio of nothing loses, and a schedule where it does not apply: log2. */
static const double NOTHING = 6;

struct offers {
	int n;
	struct schedule schedule[OFFERS_MAX];
};

static int is_offered(const struct offers *o, const struct data_row *r)
{
	for (int i = 0; i < o->n; i++)
		if (o->schedule[i].algo == r->algo &&
		    !memcmp(o->schedule[i].knob, r->knob, sizeof r->knob))
			return 1;
	return 0;
}

/* The fastest of a group, unless offered already. */
static void add_offers(struct offers *o, const struct data_group *g)
{
	double above = 0;

	for (int k = 0; k < OF_EACH; k++) {
		const struct data_row *best = NULL;

		for (int64_t i = 0; i < g->n; i++) {
			const struct data_row *r = &g->row[i];

			if (r->latency_s > above && (!best || r->latency_s < best->latency_s))
				best = r;
		}
		if (!best)
			return;
		above = best->latency_s;
		if (o->n < OFFERS_MAX && !is_offered(o, best)) {
			o->schedule[o->n].algo = best->algo;
			memcpy(o->schedule[o->n++].knob, best->knob, sizeof best->knob);
		}
	}
}

/* Computes what each schedule loses on one workload: log2 of its time over the least known or
 * predicted. */
static void losses(const struct data_group *g, const struct offers *o, const struct model *m,
		   double *loss)
{
	size_t all = (size_t)(g->n + o->n);
	float *x = xmalloc(sizeof *x * FEATURES * (all + 1));
	double *value = xmalloc(sizeof *value * (all + 1)), best = -INFINITY, off = 0;
	struct arena scratch = ARENA_INIT;
	struct search_space space;
	int64_t known = 0, n = g->n, top = 0;

	search_space_init(&space, &g->w, g->env, NULL);
	dataset_matrix(g, x);
	for (int k = 0; k < o->n; k++) {
		struct candidate c;
		double draft_s;

		loss[k] = NOTHING;
		if (!schedule_fit(&space, &o->schedule[k], &c))
			continue;
		known = (intptr_t)map_get(&g->ids, c.id.s, ID_HEX);
		arena_reset(&scratch);
		if (known && g->row[known - 1].latency_s > 0)
			loss[k] = -(double)known; /* told below */
		else if (!candidate_features(&c, g->env, &scratch, &draft_s, x + n * FEATURES,
					     NULL))
			loss[k] = -(double)++n; /* likewise */
	}
	model_predict(m, x, (size_t)n, value, NULL);
	/* The model's values, and the logarithms of the recorded speeds, differ by a constant; it
	 * is seen best where it matters, among the fast. */
	for (int64_t i = 0; i < g->n; i++)
		if (g->row[i].latency_s > 0 && g->row[i].latency_s < 1.25 * g->best_s) {
			off += log2(g->best_s / g->row[i].latency_s) - value[i];
			top++;
		}
	for (int64_t i = 0; i < n && top; i++) {
		if (i < g->n)
			value[i] = g->row[i].latency_s > 0 ? log2(g->best_s / g->row[i].latency_s)
							   : -NOTHING;
		else
			value[i] += off / (double)top;
		best = fmax(best, value[i]);
	}
	for (int k = 0; k < o->n; k++)
		if (loss[k] < 0)
			loss[k] = fmin(best - value[(int64_t)-loss[k] - 1], NOTHING);
	arena_free(&scratch);
	free(value);
	free(x);
}

static int is_for(const struct data_group *g, const char *isa)
{
	return !strcmp(g->env->limits.isa, isa);
}

/* Returns the schedule by which the sum of the least losses falls most; -1: none helps. */
static int next_of(const struct offers *o, const double *loss, const double *least, int groups)
{
	double most = 0;
	int best = -1;

	for (int k = 0; k < o->n; k++) {
		double gain = 0;

		for (int g = 0; g < groups; g++)
			gain += fmax(least[g] - loss[(size_t)g * OFFERS_MAX + (size_t)k], 0);
		if (gain > most) {
			most = gain;
			best = k;
		}
	}
	return best;
}

static void choose(const struct offers *o, const double *loss, int groups, const char *isa,
		   struct model *m)
{
	double least[GROUPS_MAX];

	for (int g = 0; g < groups; g++)
		least[g] = NOTHING;
	for (int n = 0; n < PORTFOLIO_SIZE && m->nportfolio < MODEL_PORTFOLIO; n++) {
		const int k = next_of(o, loss, least, groups);
		struct schedule *to = &m->portfolio[m->nportfolio];

		if (k < 0)
			return;
		*to = o->schedule[k];
		snprintf(to->isa, sizeof to->isa, "%s", isa);
		m->nportfolio++;
		for (int g = 0; g < groups; g++)
			least[g] = fmin(least[g], loss[(size_t)g * OFFERS_MAX + (size_t)k]);
	}
}

static void choose_for(const struct dataset *d, const char *use, const char *isa, struct model *m)
{
	struct offers *o = xcalloc(1, sizeof *o);
	double *loss = xmalloc(sizeof *loss * GROUPS_MAX * OFFERS_MAX);
	int groups = 0;

	for (size_t i = 0; i < d->groups.n; i++)
		if (use[i] && is_for(dataset_group(d, i), isa))
			add_offers(o, dataset_group(d, i));
	for (size_t i = 0; i < d->groups.n && groups < GROUPS_MAX; i++)
		if (use[i] && is_for(dataset_group(d, i), isa) && dataset_group(d, i)->best_s > 0)
			losses(dataset_group(d, i), o, m, loss + (size_t)groups++ * OFFERS_MAX);
	choose(o, loss, groups, isa, m);
	free(loss);
	free(o);
}

static int is_chosen_for(const struct model *m, const char *isa)
{
	for (int i = 0; i < m->nportfolio; i++)
		if (!strcmp(m->portfolio[i].isa, isa))
			return 1;
	return 0;
}

void cover_choose(const struct dataset *d, const char *use, struct model *m)
{
	m->nportfolio = 0;
	for (size_t i = 0; i < d->groups.n && m->nportfolio < MODEL_PORTFOLIO; i++) {
		const struct data_group *g = dataset_group(d, i);

		if (use[i] && g->best_s > 0 && !is_chosen_for(m, g->env->limits.isa))
			choose_for(d, use, g->env->limits.isa, m);
	}
}
