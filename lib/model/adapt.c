#include "lib/model/adapt.h"

#include <math.h>
#include <stdlib.h>

#include "lib/model/train.h"

enum { TIMES = 64, OF_GROUP = 4, FOLDS = 4 };

static const double USELESS = 0.5, BETTER = 0.01;

/* Rank correlation over groups, weighed by their times. */
struct ranked {
	double sum, times;
};

static int64_t count_times(const struct data_group *g)
{
	int64_t n = 0;

	for (int64_t i = 0; i < g->n; i++)
		n += g->row[i].latency_s > 0;
	return n;
}

/* b NULL: the priors alone. */
static int rank_group(struct boost *b, const struct data_group *g, struct ranked *r, struct err *e)
{
	size_t n = (size_t)count_times(g), k = 0;
	double *value, *speed;
	int rc = 0;

	if (n < OF_GROUP)
		return 0;
	value = xmalloc(sizeof *value * (size_t)(g->n + 1));
	speed = xmalloc(sizeof *speed * n);
	for (int64_t i = 0; i < g->n; i++)
		value[i] = g->row[i].prior;
	if (b)
		rc = fit_predict(b, g, value, e);
	for (int64_t i = 0; i < g->n; i++)
		if (g->row[i].latency_s > 0) {
			value[k] = value[i];
			speed[k++] = -g->row[i].latency_s;
		}
	r->sum += (double)n * score_spearman(value, speed, (int64_t)n);
	r->times += (double)n;
	free(speed);
	free(value);
	return rc;
}

static double correlation(const struct ranked *r)
{
	return r->times > 0 ? r->sum / r->times : NAN;
}

static void small_trees(struct fit_params *p)
{
	automl_default(p, 1);
	p->trees.rounds = 40;
	p->trees.depth = 3;
	p->trees.min_child = 4;
}

/* Correlations in groups that were held out, of the priors and of them corrected. */
static int hold_out(const struct dataset *d, const struct fit_params *p, struct ranked *before,
		    struct ranked *after, struct err *e)
{
	char *use = xmalloc(d->groups.n + 1);
	int rc = 0;

	for (int fold = 0; fold < FOLDS && rc == 0; fold++) {
		struct boost *b = NULL;
		int64_t learn = 0, held = 0;

		for (size_t i = 0; i < d->groups.n; i++) {
			int64_t n = count_times(dataset_group(d, i));

			use[i] = automl_fold(d, dataset_group(d, i), AUTOML_FAMILY, 1, FOLDS) !=
				 fold;
			learn += use[i] ? n : 0;
			held += use[i] ? 0 : n;
		}
		if (learn < TIMES / 2 || !held)
			continue;
		b = fit_train(d, use, p, e);
		rc = b ? 0 : -1;
		for (size_t i = 0; i < d->groups.n && rc == 0; i++)
			if (!use[i])
				rc = rank_group(NULL, dataset_group(d, i), before, e) ||
						     rank_group(b, dataset_group(d, i), after, e)
					     ? -1
					     : 0;
		boost_free(b);
	}
	free(use);
	return rc;
}

/* One stage more, of all that is known. */
static int correct(struct model *m, const struct dataset *d, const struct fit_params *p,
		   struct err *e)
{
	struct model_stage *s = &m->stage[m->nstages];
	char *use = xmalloc(d->groups.n + 1);

	for (size_t i = 0; i < d->groups.n; i++)
		use[i] = count_times(dataset_group(d, i)) > 0;
	s->bag[0] = fit_train(d, use, p, e);
	free(use);
	if (!s->bag[0])
		return -1;
	s->n = 1;
	m->nstages++;
	return 0;
}

int adapt_model(struct model *m, const struct dataset *d, struct adaption *a, struct err *e)
{
	struct ranked all = {0}, before = {0}, after = {0};
	struct fit_params p;
	int rc;

	*a = (struct adaption){.rank = NAN, .held_out = NAN};
	for (size_t i = 0; i < d->groups.n; i++)
		a->times += count_times(dataset_group(d, i));
	if (a->times < TIMES)
		return 0;
	rc = train_set_priors(d, m, e);
	for (size_t i = 0; i < d->groups.n && rc == 0; i++)
		rc = rank_group(NULL, dataset_group(d, i), &all, e);
	if (rc || !(all.times >= TIMES))
		return rc;
	a->rank = correlation(&all);
	a->what = a->rank < USELESS ? ADAPTED_USELESS : ADAPTED_AS_IS;
	if (a->what == ADAPTED_USELESS || m->nstages == MODEL_STAGES)
		return 0;
	small_trees(&p);
	if (hold_out(d, &p, &before, &after, e) < 0)
		return -1;
	a->held_out = correlation(&after);
	if (!(correlation(&after) > correlation(&before) + BETTER))
		return 0;
	a->what = ADAPTED_CORRECTED;
	return correct(m, d, &p, e);
}
