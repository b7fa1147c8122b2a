#include "lib/model/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/batch.h"
#include "lib/io/clock.h"
#include "lib/io/progress.h"
#include "lib/model/failure.h"
#include "lib/model/held.h"

enum { OF_FIVE = 4 }; /* families that a booster of the bag sees */

/* What the outer folds found. */
struct found {
	struct held held;
	struct held abroad; /* CPUs that were left out */
	int ncpus;	    /* so many of them */
	int64_t tried;
	struct progress shown;
};

/* ---- bags ---- */

static void stage_free(struct model_stage *s)
{
	for (int i = 0; i < s->n; i++)
		trees_free(s->bag[i]);
	s->n = 0;
}

struct bag {
	const struct dataset *d;
	const char *use;
	int n;
	struct model_stage *s;
};

struct bagged {
	int number;
	struct fit_params params;
	struct trees *trees; /* NULL: not trained */
};

/* Each booster of several sees its part of the families. */
static int train_bagged(void *arg, int place, void *item, size_t n, struct err *e)
{
	const struct bag *bag = arg;
	struct bagged *t = item;
	const uint64_t seed = t->params.trees.seed;
	char *part = xmalloc(bag->d->groups.n + 1);
	int64_t left = 0;

	(void)place;
	(void)n; /* it is one */
	for (size_t i = 0; i < bag->d->groups.n; i++) {
		int fold = automl_fold(bag->d, dataset_group(bag->d, i), AUTOML_FAMILY,
				       seed + 77 + (uint64_t)(t->number / 5), 5);

		part[i] = bag->use[i] && (bag->n == 1 || fold != t->number % 5);
		left += part[i];
	}
	t->params.trees.seed = seed + (uint64_t)t->number;
	t->trees = fit_train(bag->d, left ? part : bag->use, &t->params, e);
	free(part);
	return t->trees ? 0 : -1;
}

static int take_bagged(void *arg, void *item, int done, struct err *e)
{
	const struct bag *bag = arg;
	struct bagged *t = item;

	(void)e;
	if (done)
		bag->s->bag[bag->s->n++] = t->trees;
	else
		trees_free(t->trees);
	return 0;
}

int train_bag(const struct dataset *d, const char *use, const struct automl *a, int n,
	      struct model_stage *s, struct err *e)
{
	struct bag bag = {d, use, n, s};
	struct batches *b = batches_new(sizeof(struct bagged), 1, d->here.threads, train_bagged,
					take_bagged, &bag);
	int rc = 0;

	s->n = 0;
	for (int i = 0; i < n && rc == 0; i++) {
		struct bagged *t = batches_slot(b);

		*t = (struct bagged){i, a->member[i % a->members], NULL};
		rc = batches_put(b, e);
	}
	if (rc == 0)
		rc = batches_finish(b, e);
	batches_free(b);
	if (rc)
		stage_free(s);
	return rc;
}

/* ---- the outer folds ---- */

static struct automl_rules inner_rules(const struct train_rules *r, double share,
				       const struct progress *shown)
{
	return (struct automl_rules){
		.shown = *shown,
		.time_s = r->time_s * share,
		.trials = r->trials || r->time_s > 0 ? r->trials : 1,
		.seed = r->seed,
		.unit = r->unit,
	};
}

static int outer_fold(const struct dataset *d, const char *use, const struct train_rules *r,
		      int fold, struct found *f, struct err *e)
{
	const struct automl_rules inner = inner_rules(r, 0.5 / AUTOML_FOLDS, &f->shown);
	char *learn = xmalloc(d->groups.n + 1);
	struct model m = {.features = dataset_features(d), .scale = 1, .nstages = 1};
	int64_t nlearn = 0, nheld = 0;
	struct automl chosen;
	int rc = 0;

	for (size_t i = 0; i < d->groups.n; i++) {
		int out =
			automl_fold(d, dataset_group(d, i), r->unit, r->seed, AUTOML_FOLDS) == fold;

		learn[i] = use[i] && !out;
		nlearn += learn[i];
		nheld += use[i] && out;
	}
	if (nlearn && nheld) {
		rc = automl_choose(d, learn, &inner, &chosen, e);
		if (rc == 0)
			rc = train_bag(d, learn, &chosen, r->bag, &m.stage[0], e);
		f->tried += chosen.tried;
		for (size_t i = 0; i < d->groups.n && rc == 0; i++)
			if (use[i] && !learn[i])
				held_add(&f->held, d, dataset_group(d, i), &m);
		stage_free(&m.stage[0]);
	}
	free(learn);
	return rc;
}

/* ---- CPUs left out ---- */

enum { CPUS = 16, LEAST_CPUS = 3 };

/* These tell CPUs apart; one CPU has envs of several instruction sets. */
struct cpu {
	int64_t l1d, l2;
};

static int is_on(const struct data_group *g, const struct cpu *c)
{
	return g->env->limits.l1d == c->l1d && g->env->limits.l2 == c->l2;
}

static int find_cpus(const struct dataset *d, const char *use, struct cpu cpu[CPUS])
{
	int n = 0;

	for (size_t i = 0; i < d->groups.n && n < CPUS; i++) {
		const struct data_group *g = dataset_group(d, i);
		int known = !use[i];

		for (int k = 0; k < n && !known; k++)
			known = is_on(g, &cpu[k]);
		if (!known)
			cpu[n++] = (struct cpu){g->env->limits.l1d, g->env->limits.l2};
	}
	return n;
}

/* Learns from the other CPUs, and without a fold's families. Predicts those on this CPU as
 * model_meet() would have it. */
static int leave_out(const struct dataset *d, const char *use, const struct train_rules *r,
		     const struct automl *chosen, const struct cpu *cpu, int fold, struct held *h,
		     struct err *e)
{
	char *learn = xcalloc(d->groups.n + 1, 1), *rank = xcalloc(d->groups.n + 1, 1);
	struct model m = {.features = dataset_features(d), .scale = 1, .nstages = 1};
	int64_t nlearn = 0, nrank = 0;
	int rc = 0;

	for (size_t i = 0; i < d->groups.n; i++) {
		const struct data_group *g = dataset_group(d, i);
		const int out = automl_fold(d, g, AUTOML_FAMILY, r->seed, AUTOML_FOLDS) == fold;

		learn[i] = use[i] && !is_on(g, cpu) && !out;
		rank[i] = use[i] && is_on(g, cpu) && out;
		nlearn += learn[i];
		nrank += rank[i];
	}
	if (nlearn && nrank)
		rc = train_bag(d, learn, chosen, r->bag, &m.stage[0], e);
	model_share(&m, MODEL_ABROAD);
	for (size_t i = 0; i < d->groups.n && nlearn && rc == 0; i++)
		if (rank[i])
			held_add(h, d, dataset_group(d, i), &m);
	stage_free(&m.stage[0]);
	free(rank);
	free(learn);
	return rc;
}

/* Leaves each CPU out in turn. It does nothing with fewer than LEAST_CPUS, as then too few are left
 * to learn from. */
static int leave_cpus_out(const struct dataset *d, const char *use, const struct train_rules *r,
			  const struct automl *chosen, struct found *f, struct err *e)
{
	struct cpu cpu[CPUS];
	const int n = find_cpus(d, use, cpu);
	int rc = 0;

	if (n < LEAST_CPUS || dataset_features(d) != &features_threads)
		return 0;
	f->ncpus = n;
	for (int i = 0; i < n && rc == 0; i++)
		rc = leave_out(d, use, r, chosen, &cpu[i], i % AUTOML_FOLDS, &f->abroad, e);
	return rc;
}

/* ---- all of it ---- */

static void set_priors(struct data_group *g, const struct model *older)
{
	float *x = xmalloc(sizeof *x * FEATURES * (size_t)(g->n + 1));
	double *value = xmalloc(sizeof *value * (size_t)(g->n + 1));

	dataset_matrix(g, x);
	model_predict(older, x, (size_t)g->n, value, NULL);
	for (int64_t i = 0; i < g->n; i++)
		g->row[i].prior = value[i];
	free(value);
	free(x);
}

void train_set_priors(const struct dataset *d, const struct model *older)
{
	for (size_t i = 0; i < d->groups.n; i++)
		set_priors(dataset_group(d, i), older);
}

void train_note_seen(const struct dataset *d, const char *use, struct model *m)
{
	for (size_t i = 0; i < d->groups.n; i++) {
		const struct data_group *g = dataset_group(d, i);

		for (int64_t k = 0; use[i] && k < g->n; k++)
			if (g->row[k].latency_s > 0)
				seen_add(&m->seen, g->row[k].f);
	}
}

/* An older model's stays where there is too little for a new one. */
static int train_failure(const struct dataset *d, const char *use, uint64_t seed, struct model *m,
			 struct buf *card, struct err *e)
{
	struct trees *t;

	if (failure_train(d, use, seed, &t, card, e) < 0) {
		trees_free(t);
		return -1;
	}
	if (t) {
		trees_free(m->failure);
		m->failure = t;
	}
	return 0;
}

static void fill_card(struct card *c, const struct train_rules *r, const struct found *f,
		      const struct automl *chosen)
{
	c->unit = r->unit;
	c->folds = AUTOML_FOLDS;
	c->model = f->held.model;
	c->draft = f->held.draft;
	c->errors = f->held.n;
	c->within = f->held.within;
	c->ncpus = f->ncpus;
	c->abroad = f->abroad.model;
	c->draft_abroad = f->abroad.draft;
	c->chosen = *chosen;
	c->tried = f->tried + chosen->tried;
	c->bag = r->bag;
	c->seed = r->seed;
	c->seconds = clock_now() - f->shown.started;
}

/* The folds, one after the other: what each is about to do stands in the progress line. */
static int outer_folds(const struct dataset *d, const char *use, const struct train_rules *r,
		       struct found *f, struct err *e)
{
	int rc = 0;

	f->shown.all = AUTOML_FOLDS + 1; /* and the choice by all groups */
	for (int fold = 0; fold < AUTOML_FOLDS && rc == 0; fold++) {
		f->shown.done = fold;
		rc = outer_fold(d, use, r, fold, f, e);
	}
	f->shown.done = AUTOML_FOLDS;
	f->shown.what = "choosing the model";
	return rc;
}

int train_model(const struct dataset *d, const char *use, const struct train_rules *r,
		struct model *m, struct card *card, struct err *e)
{
	struct found f = {.shown = {.what = "holding out folds",
				    .started = clock_now(),
				    .limit_s = r->time_s}};
	struct automl_rules last;
	struct automl chosen;
	int rc;

	if (m->nstages == MODEL_STAGES)
		return err_set(e, "the older model was gone on from %d times: train anew",
			       MODEL_STAGES - 1);
	if (m->nstages)
		train_set_priors(d, m);
	rc = outer_folds(d, use, r, &f, e);
	last = inner_rules(r, 0.5, &f.shown);
	if (rc == 0)
		rc = automl_choose(d, use, &last, &chosen, e);
	if (rc == 0)
		rc = train_bag(d, use, &chosen, r->bag, &m->stage[m->nstages], e);
	if (rc == 0 && !m->nstages)
		rc = leave_cpus_out(d, use, r, &chosen, &f, e);
	if (rc == 0)
		rc = train_failure(d, use, r->seed, m, &card->failure, e);
	if (rc == 0) {
		m->nstages++;
		m->scale = held_scale(&f.held);
		train_note_seen(d, use, m);
		m->scale_abroad = f.abroad.model.groups ? held_scale(&f.abroad) : 0;
		fill_card(card, r, &f, &chosen);
	}
	progress_clear();
	held_free(&f.held);
	held_free(&f.abroad);
	return rc;
}
