#include "lib/model/adapt.h"

#include <math.h>
#include <stdlib.h>

#include "lib/model/train.h"

enum { OF_GROUP = 4, FOLDS = 4 };

static const double USELESS = 0.5, BETTER = 0.01;
static const double APART = 1.1; /* times, said or known, that differ by less may be the same */

/* Over groups, weighed by their times. */
struct ranked {
	double sum, times;
};

/* How often something was timed, and (all) how often at least a bound of its time is known. */
static int64_t count_times(const struct data_group *g, int all)
{
	int64_t n = 0;

	for (int64_t i = 0; i < g->n; i++)
		n += g->row[i].latency_s > 0 || (all && g->row[i].bound_s > 0);
	return n;
}

/* Is a known to be faster than b, by more than noise may make? */
static int is_faster(const struct data_row *a, const struct data_row *b)
{
	double least = b->latency_s > 0 ? b->latency_s : b->bound_s;

	return a->latency_s > 0 && least > APART * a->latency_s;
}

/* Goodman and Kruskal's gamma (Journal of the American Statistical Association 49, 1954) of values
 * and the known order: the share of pairs in the right order minus the share in the wrong order.
 * Candidates that passed a filter are near the best, so most pairs of them differ by noise alone.
 * Such pairs do not count. Pairs with nearly equal values (log2 of speed) do not count either: a
 * candidate that was bred in a model is chosen to look alike to that model, but not to the draft.
 * NAN: no pairs are left. */
static double gamma_of(const struct data_group *g, const double *value)
{
	const double apart = log2(APART);
	int64_t right = 0, wrong = 0;

	for (int64_t i = 0; i < g->n; i++)
		for (int64_t k = 0; k < g->n; k++)
			if (is_faster(&g->row[i], &g->row[k])) {
				right += value[i] - value[k] > apart;
				wrong += value[k] - value[i] > apart;
			}
	return right + wrong ? (double)(right - wrong) / (double)(right + wrong) : NAN;
}

static void add_ranked(struct ranked *r, const struct data_group *g, const double *value)
{
	double n = (double)count_times(g, 1), gamma = gamma_of(g, value);

	if (n < OF_GROUP || isnan(gamma))
		return;
	r->sum += n * gamma;
	r->times += n;
}

/* t NULL: the priors alone. */
static void rank_group(const struct trees *t, const struct data_group *g, struct ranked *r)
{
	double *value = xmalloc(sizeof *value * (size_t)(g->n + 1));

	for (int64_t i = 0; i < g->n; i++)
		value[i] = g->row[i].prior;
	if (t)
		fit_predict(t, g, value);
	add_ranked(r, g, value);
	free(value);
}

static void rank_by_draft(const struct data_group *g, struct ranked *r)
{
	double *value = xmalloc(sizeof *value * (size_t)(g->n + 1));

	for (int64_t i = 0; i < g->n; i++)
		value[i] = -log2(g->row[i].draft_s);
	add_ranked(r, g, value);
	free(value);
}

static double correlation(const struct ranked *r)
{
	return r->times > 0 ? r->sum / r->times : NAN;
}

/* Sets the priors to the model's values, and ranks by them. */
static void rank_all(const struct model *m, const struct dataset *d, struct ranked *r)
{
	train_set_priors(d, m);
	*r = (struct ranked){0};
	for (size_t i = 0; i < d->groups.n; i++)
		rank_group(NULL, dataset_group(d, i), r);
}

static int is_useless(double rank, const struct ranked *draft)
{
	return rank < USELESS && rank < correlation(draft);
}

static void small_trees(struct fit_params *p)
{
	automl_default(p, 1);
	p->trees.rounds = 40;
	p->trees.eta = 0.1;
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
		struct trees *t;
		int64_t learn = 0, held = 0;

		for (size_t i = 0; i < d->groups.n; i++) {
			int64_t n = count_times(dataset_group(d, i), 0);

			use[i] = automl_fold(d, dataset_group(d, i), AUTOML_FAMILY, 1, FOLDS) !=
				 fold;
			learn += use[i] ? n : 0;
			held += use[i] ? 0 : n;
		}
		if (learn < ADAPT_TIMES / 2 || !held)
			continue;
		t = fit_train(d, use, p, e);
		rc = t ? 0 : -1;
		for (size_t i = 0; i < d->groups.n && rc == 0; i++) {
			if (use[i])
				continue;
			rank_group(NULL, dataset_group(d, i), before);
			rank_group(t, dataset_group(d, i), after);
		}
		trees_free(t);
	}
	free(use);
	return rc;
}

/* One stage more, of all that is known. */
static int add_stage(struct model *m, const struct dataset *d, const struct fit_params *p,
		     struct err *e)
{
	struct model_stage *s = &m->stage[m->nstages];
	char *use = xmalloc(d->groups.n + 1);

	for (size_t i = 0; i < d->groups.n; i++)
		use[i] = count_times(dataset_group(d, i), 0) > 0;
	s->bag[0] = fit_train(d, use, p, e);
	if (s->bag[0]) {
		s->n = 1;
		m->nstages++;
		train_note_seen(d, use, m);
	}
	free(use);
	return s->bag[0] ? 0 : -1;
}

static int64_t count_all(const struct dataset *d, int bounds)
{
	int64_t n = 0;

	for (size_t i = 0; i < d->groups.n; i++)
		n += count_times(dataset_group(d, i), bounds);
	return n;
}

int adapt_learn(const struct dataset *d, struct model **m, struct err *e)
{
	struct fit_params p;

	*m = NULL;
	if (count_all(d, 0) < ADAPT_TIMES / 2)
		return 0;
	automl_default(&p, 1);
	*m = model_new(dataset_features(d));
	if (add_stage(*m, d, &p, e) == 0)
		return 0;
	model_free(*m);
	*m = NULL;
	return -1;
}

int adapt_model(struct model *m, const struct dataset *d, struct adaption *a, struct err *e)
{
	struct ranked all = {0}, draft = {0}, before = {0}, after = {0};
	struct fit_params p;

	*a = (struct adaption){.rank = NAN};
	a->times = count_all(d, 1);
	if (a->times < ADAPT_TIMES)
		return 0;
	for (size_t i = 0; i < d->groups.n; i++)
		rank_by_draft(dataset_group(d, i), &draft);
	rank_all(m, d, &all);
	if (!(all.times >= ADAPT_TIMES))
		return 0;
	a->rank = correlation(&all);
	if (is_useless(a->rank, &draft) && a->rank > 0 && m->draft_share < MODEL_DOUBTED) {
		model_share(m, MODEL_DOUBTED);
		rank_all(m, d, &all);
		a->rank = correlation(&all);
	}
	a->what = is_useless(a->rank, &draft) ? ADAPTED_USELESS : ADAPTED_AS_IS;
	if (a->what == ADAPTED_USELESS || m->nstages == MODEL_STAGES)
		return 0;
	small_trees(&p);
	if (hold_out(d, &p, &before, &after, e) < 0)
		return -1;
	if (!(correlation(&after) > correlation(&before) + BETTER))
		return 0;
	a->what = ADAPTED_CORRECTED;
	return add_stage(m, d, &p, e);
}
