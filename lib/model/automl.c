#include "lib/model/automl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"

enum { BRACKET = 9, RUNGS = 3, SCORED_ROWS = 30, MAX_ROUNDS = 250 };

const char *const automl_unit_name[AUTOML_UNITS] = {"family", "network", "operator", "env"};

/* Of a bracket's rungs: how many are left, and what each gets. */
static const struct {
	int n, folds;
	double rows, rounds; /* shares */
} rung[RUNGS] = {{9, 1, 0.25, 0.34}, {3, 2, 0.5, 0.67}, {1, AUTOML_FOLDS, 1, 1}};

void automl_default(struct fit_params *p, uint64_t seed)
{
	*p = (struct fit_params){
		.objective = FIT_CONTRAST,
		.emphasis = 1,
		.beta = 4,
		.rows = 1000,
		.trees = {.rounds = 150,
			  .depth = 6,
			  .eta = 0.1,
			  .min_child = 10,
			  .subsample = 0.8,
			  .colsample = 0.5,
			  .lambda = 1,
			  .seed = seed},
	};
}

/* ---- folds ---- */

int automl_fold(const struct dataset *d, const struct data_group *g, enum automl_unit unit,
		uint64_t seed, int n)
{
	const struct data_use *u = dataset_use(d, &g->w);
	const char *name = g->family;
	struct rng rng;

	if (unit == AUTOML_NETWORK && u && u->nnetworks)
		name = u->network[0];
	else if (unit == AUTOML_OPERATOR)
		name = g->w.op->name;
	else if (unit == AUTOML_ENV)
		name = g->env->id;
	rng_seed(&rng, seed, name);
	return (int)rng_below(&rng, (uint64_t)n);
}

/* ---- one configuration ---- */

/* Sum over the groups held out of what their first ones reach. */
static int score_fold(const struct dataset *d, const char *held, struct boost *b, double *sum,
		      int64_t *groups, struct err *e)
{
	for (size_t i = 0; i < d->groups.n; i++) {
		const struct data_group *g = dataset_group(d, i);
		double *value, *latency;
		struct score s = {0};
		int64_t n = 0;

		if (!held[i] || g->n < SCORED_ROWS)
			continue;
		value = xmalloc(sizeof *value * (size_t)g->n);
		latency = xmalloc(sizeof *latency * (size_t)g->n);
		if (fit_predict(b, g, value, e) < 0) {
			free(latency);
			free(value);
			return -1;
		}
		for (int64_t k = 0; k < g->n; k++) {
			if (!(g->row[k].latency_s > 0))
				continue;
			value[n] = value[k];
			latency[n++] = g->row[k].latency_s;
		}
		score_add(&s, value, latency, n, 1);
		free(latency);
		free(value);
		if (!s.groups)
			continue;
		*sum += (s.ratio[0] + s.ratio[1] + s.ratio[2]) / 3;
		++*groups;
	}
	return 0;
}

/* Cross-validates a configuration on the first few of the folds. -1: it failed. */
static int assess(const struct dataset *d, const char *use, const struct automl_rules *r,
		  const struct fit_params *p, int level, double *score, struct err *e)
{
	char *learn = xmalloc(d->groups.n), *held = xmalloc(d->groups.n);
	struct fit_params q = *p;
	int64_t groups = 0;
	double sum = 0;
	int rc = 0;

	q.rows = (int64_t)ceil((double)p->rows * rung[level].rows);
	q.trees.rounds = (int)ceil(p->trees.rounds * rung[level].rounds);
	for (int f = 0; f < rung[level].folds && rc == 0; f++) {
		struct boost *b;
		int nlearn = 0, nheld = 0;

		for (size_t i = 0; i < d->groups.n; i++) {
			int out = automl_fold(d, dataset_group(d, i), r->unit, r->seed + 1,
					      AUTOML_FOLDS) == f;

			learn[i] = use[i] && !out;
			held[i] = use[i] && out;
			nlearn += learn[i];
			nheld += held[i];
		}
		if (!nlearn || !nheld)
			continue;
		b = fit_train(d, learn, &q, e);
		rc = b ? score_fold(d, held, b, &sum, &groups, e) : -1;
		boost_free(b);
	}
	free(held);
	free(learn);
	*score = groups ? sum / (double)groups : 0;
	return rc;
}

/* ---- drawing ---- */

static double pick(struct rng *rng, const double *value, int n)
{
	return value[rng_below(rng, (uint64_t)n)];
}

static double between(struct rng *rng, double lo, double hi)
{
	return lo + (hi - lo) * rng_unit(rng);
}

static double log_between(struct rng *rng, double lo, double hi)
{
	return exp(between(rng, log(lo), log(hi)));
}

static void draw(struct rng *rng, struct fit_params *p)
{
	static const double emphasis[] = {0, 0.5, 1, 2}, beta[] = {2, 4, 8};
	int groups = 0;

	while (fit_feature_groups()[groups])
		groups++;
	p->objective = (enum fit_objective)rng_below(rng, FIT_OBJECTIVES);
	p->emphasis = pick(rng, emphasis, 4);
	p->beta = pick(rng, beta, 3);
	/* Bigger ones were no better, and each row that tl-filter asks about goes through all. */
	p->trees.depth = 4 + (int)rng_below(rng, 4);
	p->trees.eta = log_between(rng, 0.06, 0.2);
	p->trees.rounds = (int)fmin(between(rng, 10, 22) / p->trees.eta, MAX_ROUNDS);
	p->trees.min_child = log_between(rng, 1, 40);
	p->trees.subsample = between(rng, 0.5, 1);
	p->trees.colsample = between(rng, 0.2, 1);
	p->trees.lambda = log_between(rng, 0.5, 20);
	p->leave_out = rng_below(rng, 3) ? 0 : 1U << rng_below(rng, (uint64_t)groups);
}

/* ---- brackets ---- */

struct config {
	struct fit_params params;
	double score;
};

static int better_first(const void *pa, const void *pb)
{
	const struct config *a = pa, *b = pb;

	return (a->score < b->score) - (a->score > b->score);
}

static int is_late(const struct automl_rules *r, double started)
{
	return r->time_s > 0 && clock_now() - started >= r->time_s;
}

static int is_over(const struct automl_rules *r, const struct automl *a, double started)
{
	return is_late(r, started) || (r->trials && a->tried >= r->trials);
}

static int bracket(const struct dataset *d, const char *use, const struct automl_rules *r,
		   struct rng *rng, double started, struct automl *a, struct err *e)
{
	struct config c[BRACKET];
	int n = 0;

	for (; n < BRACKET && !(n && is_over(r, a, started)); n++, a->tried++) {
		automl_default(&c[n].params, r->seed);
		if (a->tried)
			draw(rng, &c[n].params);
		if (assess(d, use, r, &c[n].params, 0, &c[n].score, e) < 0)
			return -1;
	}
	for (int level = 1; level < RUNGS; level++) {
		qsort(c, (size_t)n, sizeof *c, better_first);
		n = n < rung[level].n ? n : rung[level].n;
		for (int i = 0; i < n; i++) {
			if (is_late(r, started))
				n = i;
			else if (assess(d, use, r, &c[i].params, level, &c[i].score, e) < 0)
				return -1;
		}
	}
	if (!n) /* none got everything in time */
		return 0;
	if (!a->finished++ || c[0].score > a->score) {
		a->params = c[0].params;
		a->score = c[0].score;
	}
	return 0;
}

int automl_choose(const struct dataset *d, const char *use, const struct automl_rules *r,
		  struct automl *a, struct err *e)
{
	double started = clock_now();
	struct rng rng;

	*a = (struct automl){0};
	automl_default(&a->params, r->seed);
	if (r->trials == 1) { /* nothing to choose among */
		a->tried = 1;
		return 0;
	}
	rng_seed(&rng, r->seed, "automl");
	while (!is_over(r, a, started))
		if (bracket(d, use, r, &rng, started, a, e) < 0)
			return -1;
	a->seconds = clock_now() - started;
	return 0;
}
