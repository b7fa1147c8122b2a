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

/* Boosters that learn from the same groups. */
struct bag {
	const struct dataset *d;
	const char *use;
	const struct automl *chosen;
	int n;
	struct model_stage *s;
};

struct bagged {
	const struct bag *bag;
	int number;
	struct fit_params params;
	struct trees *trees; /* NULL: not trained */
};

/* Each booster of several sees its part of the families. */
static int train_bagged(void *arg, int place, void *item, size_t n, struct err *e)
{
	struct bagged *t = item;
	const struct bag *bag = t->bag;
	const uint64_t seed = t->params.trees.seed;
	char *part = xmalloc(bag->d->groups.n + 1);
	int64_t left = 0;

	(void)arg;
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
	const struct bagged *t = item;
	struct model_stage *s = t->bag->s;

	(void)arg;
	(void)e;
	if (done)
		s->bag[s->n++] = t->trees;
	else
		trees_free(t->trees);
	return 0;
}

/* Trains the boosters of all bags side by side. */
static int train_bags(const struct bag *bag, int bags, int threads, struct err *e)
{
	struct batches *b = batches_new(sizeof(struct bagged), 1, threads, 1, 1, train_bagged,
					take_bagged, NULL);
	int rc = 0;

	for (int k = 0; k < bags; k++)
		bag[k].s->n = 0;
	for (int k = 0; k < bags; k++)
		for (int i = 0; i < bag[k].n && rc == 0; i++) {
			const struct automl *a = bag[k].chosen;

			*(struct bagged *)batches_slot(b) =
				(struct bagged){&bag[k], i, a->member[i % a->members], NULL};
			rc = batches_put(b, e);
		}
	if (rc == 0)
		rc = batches_finish(b, e);
	batches_free(b);
	for (int k = 0; k < bags && rc; k++)
		stage_free(bag[k].s);
	return rc;
}

int train_bag(const struct dataset *d, const char *use, const struct automl *a, int n,
	      struct model_stage *s, struct err *e)
{
	const struct bag bag = {d, use, a, n, s};

	return train_bags(&bag, 1, d->here.threads, e);
}

/* ---- what is held out ---- */

/* A model learns from some groups, to be held to others. */
struct part {
	char *learn, *held;
	int64_t nlearn, nheld;
	struct automl chosen;
	struct model m;
};

enum { PARTS = 16 }; /* at most */
_Static_assert((int)AUTOML_FOLDS <= (int)PARTS, "each fold is a part");

static struct part *parts_new(const struct dataset *d, int n)
{
	struct part *p = xcalloc((size_t)n, sizeof *p);

	for (int k = 0; k < n; k++) {
		p[k].learn = xcalloc(d->groups.n + 1, 1);
		p[k].held = xcalloc(d->groups.n + 1, 1);
		p[k].m.features = dataset_features(d);
		p[k].m.scale = p[k].m.nstages = 1;
	}
	return p;
}

static void parts_free(struct part *p, int n)
{
	for (int k = 0; k < n; k++) {
		stage_free(&p[k].m.stage[0]);
		free(p[k].held);
		free(p[k].learn);
	}
	free(p);
}

static void part_put(struct part *p, size_t group, int learn, int held)
{
	p->learn[group] = (char)learn;
	p->held[group] = (char)held;
	p->nlearn += learn;
	p->nheld += held;
}

/* Without groups of either kind nothing is trained. */
static int part_is_whole(const struct part *p)
{
	return p->nlearn && p->nheld;
}

static int train_parts(const struct dataset *d, struct part *p, int n, int boosters, struct err *e)
{
	struct bag bag[PARTS];
	int bags = 0;

	for (int k = 0; k < n; k++)
		if (part_is_whole(&p[k]))
			bag[bags++] = (struct bag){d, p[k].learn, &p[k].chosen, boosters,
						   &p[k].m.stage[0]};
	return train_bags(bag, bags, d->here.threads, e);
}

static void hold(const struct dataset *d, const struct part *p, struct held *h)
{
	for (size_t i = 0; i < d->groups.n && part_is_whole(p); i++)
		if (p->held[i])
			held_add(h, d, dataset_group(d, i), &p->m);
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

/* Chooses what learns without the groups of a fold. */
static int choose_without(const struct dataset *d, const char *use, const struct train_rules *r,
			  int fold, struct part *p, struct found *f, struct err *e)
{
	const struct automl_rules inner = inner_rules(r, 0.5 / AUTOML_FOLDS, &f->shown);

	for (size_t i = 0; i < d->groups.n; i++) {
		const int out =
			automl_fold(d, dataset_group(d, i), r->unit, r->seed, AUTOML_FOLDS) == fold;

		part_put(p, i, use[i] && !out, use[i] && out);
	}
	if (!part_is_whole(p))
		return 0;
	if (automl_choose(d, p->learn, &inner, &p->chosen, e) < 0)
		return -1;
	f->tried += p->chosen.tried;
	return 0;
}

/* ---- CPUs left out ---- */

enum { CPUS = PARTS, LEAST_CPUS = 3 };

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
 * model_meet() would have it. On a CPU that is not known the draft ranks other types
 * (model_knows()).
 */
static void leave_out(const struct dataset *d, const char *use, uint64_t seed,
		      const struct cpu *cpu, int fold, struct part *p)
{
	for (size_t i = 0; i < d->groups.n; i++) {
		const struct data_group *g = dataset_group(d, i);
		const int out = automl_fold(d, g, AUTOML_FAMILY, seed, AUTOML_FOLDS) == fold;

		part_put(p, i, use[i] && !is_on(g, cpu) && !out,
			 use[i] && is_on(g, cpu) && out && dtypes_are_f32(&g->w.dtype));
	}
	model_share(&p->m, MODEL_ABROAD);
}

/* Leaves each CPU out in turn. It does nothing with fewer than LEAST_CPUS, as then too few are left
 * to learn from. */
static int leave_cpus_out(const struct dataset *d, const char *use, const struct train_rules *r,
			  const struct automl *chosen, struct found *f, struct err *e)
{
	struct cpu cpu[CPUS];
	const int n = find_cpus(d, use, cpu);
	struct part *p;
	int rc;

	if (n < LEAST_CPUS || dataset_features(d) != &features_threads)
		return 0;
	f->ncpus = n;
	p = parts_new(d, n);
	for (int i = 0; i < n; i++) {
		p[i].chosen = *chosen;
		leave_out(d, use, r->seed, &cpu[i], i % AUTOML_FOLDS, &p[i]);
	}
	rc = train_parts(d, p, n, r->bag, e);
	for (int i = 0; i < n && rc == 0; i++)
		hold(d, &p[i], &f->abroad);
	parts_free(p, n);
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

/* The folds are chosen for one after the other: what each is about to do stands in the progress
 * line. Then they are trained side by side. */
static int outer_folds(const struct dataset *d, const char *use, const struct train_rules *r,
		       struct found *f, struct err *e)
{
	struct part *p = parts_new(d, AUTOML_FOLDS);
	int rc = 0;

	f->shown.all = AUTOML_FOLDS + 1; /* and the choice by all groups */
	for (int fold = 0; fold < AUTOML_FOLDS && rc == 0; fold++) {
		f->shown.done = fold;
		rc = choose_without(d, use, r, fold, &p[fold], f, e);
	}
	if (rc == 0)
		rc = train_parts(d, p, AUTOML_FOLDS, r->bag, e);
	for (int fold = 0; fold < AUTOML_FOLDS && rc == 0; fold++)
		hold(d, &p[fold], &f->held);
	parts_free(p, AUTOML_FOLDS);
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
