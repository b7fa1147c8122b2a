#include "lib/model/automl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/batch.h"
#include "lib/io/clock.h"

enum { BRACKET = 9, RUNGS = 3, SCORED_ROWS = 30, MAX_ROUNDS = 250 };

const char *const automl_unit_name[AUTOML_UNITS] = {"family", "network", "operator", "env"};

/* The rungs of successive halving: how many configurations are left, and what each gets. */
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
		.trees = {.rounds = 75,
			  .depth = 6,
			  .eta = 0.2,
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

/* What configurations are assessed on, and by which rules. */
struct choice {
	const struct dataset *d;
	const char *use;
	const struct automl_rules *r;
	double started;
	const int64_t *tried;
	size_t *first; /* the index of each group's first row among all rows */
	size_t rows;
};

static int is_late(const struct choice *c)
{
	return c->r->time_s > 0 && clock_now() - c->started >= c->r->time_s;
}

static void show_progress(const struct choice *c)
{
	char detail[64];

	snprintf(detail, sizeof detail, "configuration %lld", (long long)*c->tried);
	progress_show(&c->r->shown, detail);
}

/* A configuration, and its predictions for each row while that row was held out. */
struct config {
	struct fit_params params;
	double score;
	double *value; /* of all rows; NULL: it was not assessed on all folds */
};

/* The score of a group (struct automl), by values of its rows; -1: it has too few rows. */
static double score_group(const struct data_group *g, const double *value)
{
	double *known = xmalloc(sizeof *known * (size_t)(g->n + 1));
	double *latency = xmalloc(sizeof *latency * (size_t)(g->n + 1));
	struct score s = {0};
	int64_t n = 0;

	for (int64_t k = 0; k < g->n; k++) {
		if (!(g->row[k].latency_s > 0))
			continue;
		known[n] = value[k];
		latency[n++] = g->row[k].latency_s;
	}
	if (g->n >= SCORED_ROWS)
		score_add(&s, known, latency, n, 1);
	free(latency);
	free(known);
	return s.groups ? (s.ratio[0] + s.ratio[1] + s.ratio[2]) / 3 : -1;
}

/* The mean score of the groups in the first `folds` folds. */
static double score_values(const struct choice *c, const double *value, int folds)
{
	int64_t groups = 0;
	double sum = 0;

	for (size_t i = 0; i < c->d->groups.n; i++) {
		const struct data_group *g = dataset_group(c->d, i);
		double score = -1;

		if (c->use[i] &&
		    automl_fold(c->d, g, c->r->unit, c->r->seed + 1, AUTOML_FOLDS) < folds)
			score = score_group(g, value + c->first[i]);
		if (score < 0)
			continue;
		sum += score;
		groups++;
	}
	return groups ? sum / (double)groups : 0;
}

/* Trains without the groups of a fold, and predicts them. Does nothing if all groups are in one
 * fold. */
static int hold_out(const struct choice *c, const struct fit_params *p, int fold, double *value,
		    struct err *e)
{
	const struct dataset *d = c->d;
	char *learn = xmalloc(d->groups.n + 1);
	int64_t nlearn = 0, nheld = 0;
	struct trees *t = NULL;
	int rc = 0;

	for (size_t i = 0; i < d->groups.n; i++) {
		int out = automl_fold(d, dataset_group(d, i), c->r->unit, c->r->seed + 1,
				      AUTOML_FOLDS) == fold;

		learn[i] = c->use[i] && !out;
		nlearn += learn[i];
		nheld += c->use[i] && out;
	}
	if (nlearn && nheld && !(t = fit_train(d, learn, p, e)))
		rc = -1;
	for (size_t i = 0; t && i < d->groups.n; i++)
		if (c->use[i] && !learn[i])
			fit_predict(t, dataset_group(d, i), value + c->first[i]);
	trees_free(t);
	free(learn);
	return rc;
}

/* What the folds of a configuration share. */
struct folds {
	const struct choice *c;
	struct fit_params params;
	double *value;
};

static int hold_out_fold(void *arg, int place, void *item, size_t n, struct err *e)
{
	const struct folds *f = arg;
	const int *fold = item;

	(void)place;
	(void)n; /* it is one */
	return hold_out(f->c, &f->params, *fold, f->value, e);
}

static int take_fold(void *arg, void *item, int done, struct err *e)
{
	(void)arg;
	(void)item;
	(void)done;
	(void)e;
	return 0; /* its values have their places */
}

/* The first n folds, or as many as begin in time. Returns how many, or -1. */
static int hold_out_folds(struct folds *f, int n, struct err *e)
{
	struct batches *b = batches_new(sizeof(int), 1, f->c->d->here.threads, 1, 1, hold_out_fold,
					take_fold, f);
	int rc = 0, fold = 0;

	for (; fold < n && rc == 0 && !is_late(f->c); fold++) {
		show_progress(f->c);
		*(int *)batches_slot(b) = fold;
		rc = batches_put(b, e);
	}
	if (rc == 0)
		rc = batches_finish(b, e);
	batches_free(b);
	return rc ? -1 : fold;
}

/* Cross-validates a configuration on the folds of its rung, as far as the time allows. -1: it
 * failed. */
static int assess(const struct choice *c, struct config *f, int level, struct err *e)
{
	double *value = xcalloc(c->rows + 1, sizeof *value);
	struct folds folds = {c, f->params, value};
	int rc, fold;

	folds.params.rows = (int64_t)ceil((double)f->params.rows * rung[level].rows);
	folds.params.trees.rounds = (int)ceil(f->params.trees.rounds * rung[level].rounds);
	fold = hold_out_folds(&folds, rung[level].folds, e);
	rc = fold < 0 ? -1 : 0;
	f->score = rc ? 0 : score_values(c, value, fold);
	if (rc == 0 && level == RUNGS - 1 && fold == rung[level].folds)
		f->value = value;
	else
		free(value);
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

static void draw(const struct feature_list *l, struct rng *rng, struct fit_params *p)
{
	static const double emphasis[] = {0, 0.5, 1, 2}, beta[] = {2, 4, 8};
	int groups = 0;

	while (fit_group(l, groups))
		groups++;
	p->objective = (enum fit_objective)rng_below(rng, FIT_OBJECTIVES);
	p->emphasis = pick(rng, emphasis, 4);
	p->beta = pick(rng, beta, 3);
	/* Bigger trees were no better, and each row of tl-filter goes through all of them. */
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

/* The configurations that were assessed on all folds. */
struct finished {
	struct config *config;
	int64_t n;
};

static int better_first(const void *pa, const void *pb)
{
	const struct config *a = pa, *b = pb;

	return (a->score < b->score) - (a->score > b->score);
}

static int is_over(const struct choice *by, const struct automl *a)
{
	return is_late(by) || (by->r->trials && a->tried >= by->r->trials);
}

/* Adds a configuration if it was assessed on all folds. One that ran out of time was not. */
static void finish(struct finished *all, const struct config *c)
{
	if (!c->value)
		return;
	all->config = xrealloc(all->config, sizeof *all->config * (size_t)(all->n + 1));
	all->config[all->n++] = *c;
}

static int bracket(const struct choice *by, struct rng *rng, struct automl *a, struct finished *all,
		   struct err *e)
{
	struct config c[BRACKET] = {0};
	int n = 0;

	for (; n < BRACKET && !(n && is_over(by, a)); n++, a->tried++) {
		automl_default(&c[n].params, by->r->seed);
		draw(dataset_features(by->d), rng, &c[n].params);
		if (assess(by, &c[n], 0, e) < 0)
			return -1;
	}
	for (int level = 1; level < RUNGS; level++) {
		qsort(c, (size_t)n, sizeof *c, better_first);
		n = n < rung[level].n ? n : rung[level].n;
		for (int i = 0; i < n; i++)
			if (assess(by, &c[i], level, e) < 0)
				return -1;
	}
	finish(all, &c[0]);
	return 0;
}

/* ---- the ensemble ---- */

/* The score of the ensemble if another member joins. sum: of the values of its members. */
static double score_with(const struct choice *by, const double *sum, const struct config *other)
{
	double *value = xmalloc(sizeof *value * (by->rows + 1)), score;

	for (size_t i = 0; i < by->rows; i++)
		value[i] = sum[i] + other->value[i];
	score = score_values(by, value, AUTOML_FOLDS);
	free(value);
	return score;
}

static void join(const struct choice *by, double *sum, const struct config *c, double score,
		 struct automl *a)
{
	for (size_t i = 0; i < by->rows; i++)
		sum[i] += c->value[i];
	a->member[a->members++] = c->params;
	a->score = score;
}

/* Builds the ensemble: the best configuration, then each one that improves the score most. Dividing
 * by the number of members does not change a ranking, so sums serve as means. */
static void gather(const struct choice *by, struct finished *all, struct automl *a)
{
	double *sum = xcalloc(by->rows + 1, sizeof *sum);

	qsort(all->config, (size_t)all->n, sizeof *all->config, better_first);
	join(by, sum, &all->config[0], all->config[0].score, a);
	while (a->members < AUTOML_MEMBERS) {
		const struct config *best = NULL;
		double score = a->score;

		for (int64_t i = 0; i < all->n; i++) {
			double with = score_with(by, sum, &all->config[i]);

			if (with > score) {
				score = with;
				best = &all->config[i];
			}
		}
		if (!best)
			break;
		join(by, sum, best, score, a);
	}
	free(sum);
}

/* The default is assessed on all folds at once. Few rows, trees and folds could not tell it from
 * slightly worse configurations, and the winner must be better than the default. */
static int assess_default(const struct choice *by, struct automl *a, struct finished *all,
			  struct err *e)
{
	struct config c = {.value = NULL};

	automl_default(&c.params, by->r->seed);
	a->tried = 1;
	if (assess(by, &c, RUNGS - 1, e) < 0)
		return -1;
	finish(all, &c);
	return 0;
}

static int choose(struct choice *by, struct automl *a, struct err *e)
{
	struct finished all = {NULL, 0};
	struct rng rng;
	int rc;

	by->first = xmalloc(sizeof *by->first * (by->d->groups.n + 1));
	for (size_t i = 0; i < by->d->groups.n; i++) {
		by->first[i] = by->rows;
		by->rows += (size_t)dataset_group(by->d, i)->n;
	}
	rng_seed(&rng, by->r->seed, "automl");
	rc = assess_default(by, a, &all, e);
	while (rc == 0 && !is_over(by, a))
		rc = bracket(by, &rng, a, &all, e);
	if (rc == 0 && all.n)
		gather(by, &all, a);
	for (int64_t i = 0; i < all.n; i++)
		free(all.config[i].value);
	free(all.config);
	free(by->first);
	return rc;
}

int automl_choose(const struct dataset *d, const char *use, const struct automl_rules *r,
		  struct automl *a, struct err *e)
{
	struct choice by = {.d = d, .use = use, .r = r, .started = clock_now(), .tried = &a->tried};

	*a = (struct automl){0};
	if (r->trials == 1) /* nothing to choose among */
		a->tried = 1;
	else if (choose(&by, a, e) < 0)
		return -1;
	if (!a->members)
		automl_default(&a->member[a->members++], r->seed);
	return 0;
}
