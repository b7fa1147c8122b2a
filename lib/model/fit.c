#include "lib/model/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FLOOR = -6; /* labels: 64 times the best's time, and beyond */

const char *const fit_objective_name[FIT_OBJECTIVES] = {"contrast", "list", "roofline"};

const char *fit_group(const struct feature_list *l, int k)
{
	for (int i = 0; i < l->n; i++)
		if (!i || strcmp(l->group[i], l->group[i - 1]) != 0) {
			if (!k--)
				return l->group[i];
		}
	return NULL;
}

/* Which columns are left out. */
static void left_out(const struct feature_list *l, unsigned mask, char out[FEATURES])
{
	const char *name;

	memset(out, 0, FEATURES);
	for (int k = 0; (name = fit_group(l, k)); k++)
		for (int i = 0; mask >> k & 1 && i < l->n; i++)
			out[i] |= !strcmp(l->group[i], name);
}

/* ---- the rows that are learned from ---- */

struct rows {
	size_t n, cap, groups;
	float *x, *label, *weight, *margin;
	size_t *end; /* of each group's rows */
	const struct fit_params *p;
};

static float label_of(const struct data_group *g, const struct data_row *r,
		      enum fit_objective objective)
{
	double relative = log2(g->best_s / r->latency_s), roof_s;

	if (relative < FLOOR)
		relative = FLOOR;
	if (objective != FIT_ROOFLINE)
		return (float)relative;
	roof_s = r->draft_s / exp2((double)r->f[FEATURE_draft] + features_cold(r->f));
	return (float)(log2(roof_s / g->best_s) + relative);
}

static void add_row(struct rows *t, const struct data_group *g, const struct data_row *r,
		    const char *out)
{
	float *x;

	if (t->n == t->cap) {
		t->cap = t->cap * 2 + 4096;
		t->x = xrealloc(t->x, sizeof *t->x * FEATURES * t->cap);
		t->label = xrealloc(t->label, sizeof *t->label * t->cap);
		t->weight = xrealloc(t->weight, sizeof *t->weight * t->cap);
		t->margin = xrealloc(t->margin, sizeof *t->margin * t->cap);
	}
	x = t->x + t->n * FEATURES;
	for (int i = 0; i < FEATURES; i++)
		x[i] = out[i] ? NAN : r->f[i];
	t->label[t->n] = label_of(g, r, t->p->objective);
	t->weight[t->n] = (float)pow(g->best_s / r->latency_s, t->p->emphasis);
	t->margin[t->n] = (float)r->prior;
	t->n++;
}

/* A group's rows, or as many as wanted, each with the same chance. Their weights have a mean of 1.
 */
static void add_group(struct rows *t, const struct data_group *g, const char *out)
{
	int64_t left = 0, want = t->p->rows;
	size_t first = t->n;
	double sum = 0;
	struct rng rng;

	rng_seed(&rng, t->p->trees.seed, g->w.id.s);
	for (int64_t i = 0; i < g->n; i++)
		left += g->row[i].latency_s > 0;
	if (!want || want > left)
		want = left;
	for (int64_t i = 0; i < g->n; i++) {
		if (!(g->row[i].latency_s > 0))
			continue;
		if ((int64_t)rng_below(&rng, (uint64_t)left--) < want) {
			add_row(t, g, &g->row[i], out);
			want--;
		}
	}
	if (t->n == first)
		return;
	for (size_t i = first; i < t->n; i++)
		sum += (double)t->weight[i];
	for (size_t i = first; i < t->n; i++)
		t->weight[i] *= (float)((double)(t->n - first) / sum);
	t->end = xrealloc(t->end, sizeof *t->end * (t->groups + 1));
	t->end[t->groups++] = t->n;
}

static void rows_free(struct rows *t)
{
	free(t->x);
	free(t->label);
	free(t->weight);
	free(t->margin);
	free(t->end);
}

/* ---- objectives ---- */

static void contrast(void *arg, const float *sum, float *grad, float *hess, size_t rows)
{
	const struct rows *t = arg;

	(void)rows;
	for (size_t g = 0, i = 0; g < t->groups; i = t->end[g++]) {
		double off = 0, n = (double)(t->end[g] - i);

		for (size_t k = i; k < t->end[g]; k++)
			off += (double)t->weight[k] * (double)(sum[k] - t->label[k]) / n;
		for (size_t k = i; k < t->end[g]; k++) {
			grad[k] = t->weight[k] * (sum[k] - t->label[k] - (float)off);
			hess[k] = t->weight[k];
		}
	}
}

/* Shares of exp(scale x value), which sum to 1. */
static void shares(const float *value, size_t n, double scale, double *out)
{
	double most = -INFINITY, all = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, (double)value[i]);
	for (size_t i = 0; i < n; i++)
		all += out[i] = exp(scale * ((double)value[i] - most));
	for (size_t i = 0; i < n; i++)
		out[i] /= all;
}

static void list(void *arg, const float *sum, float *grad, float *hess, size_t rows)
{
	const struct rows *t = arg;
	const double beta = t->p->beta;
	double *p = xmalloc(sizeof *p * rows), *q = xmalloc(sizeof *q * rows);

	for (size_t g = 0, i = 0; g < t->groups; i = t->end[g++]) {
		size_t n = t->end[g] - i;

		shares(sum + i, n, beta, p);
		shares(t->label + i, n, beta, q);
		for (size_t k = 0; k < n; k++) {
			grad[i + k] = (float)((double)n * (p[k] - q[k]) / beta);
			hess[i + k] = (float)fmax((double)n * p[k] * (1 - p[k]), 1e-6);
		}
	}
	free(q);
	free(p);
}

/* ---- training and predicting ---- */

struct trees *fit_train(const struct dataset *d, const char *use, const struct fit_params *p,
			struct err *e)
{
	struct rows t = {.p = p};
	struct boost_params params = p->trees;
	struct boost_data data;
	struct trees *trees;
	char out[FEATURES];

	left_out(dataset_features(d), p->leave_out, out);
	for (size_t i = 0; i < d->groups.n; i++)
		if (use[i])
			add_group(&t, dataset_group(d, i), out);
	data = (struct boost_data){t.x, t.n, FEATURES, t.label, t.weight, t.margin};
	params.objective = "reg:squarederror";
	params.arg = &t;
	params.gradient = p->objective == FIT_CONTRAST ? contrast
			  : p->objective == FIT_LIST   ? list
						       : NULL;
	trees = boost_train(&params, &data, e);
	rows_free(&t);
	return trees;
}

void fit_predict(const struct trees *t, const struct data_group *g, double *value)
{
	float *x = xmalloc(sizeof *x * FEATURES * (size_t)(g->n + 1));
	float *out = xmalloc(sizeof *out * (size_t)(g->n + 1));

	dataset_matrix(g, x);
	trees_predict(t, x, (size_t)g->n, out);
	for (int64_t i = 0; i < g->n; i++)
		value[i] = (double)out[i] + g->row[i].prior;
	free(out);
	free(x);
}
