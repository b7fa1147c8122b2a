#include "lib/model/held.h"

#include <math.h>
#include <stdlib.h>

/* Adds errors to the calibration of deviations: the error of each candidate, less the mean error of
 * the group, over the standard deviation in the bag. Candidates far from the best do not count,
 * because their deviations do not matter. */
static void add_calibration(struct held *h, const struct data_group *g, const double *value,
			    const double *deviation)
{
	static const double NEAR = 2;
	double mean = 0;
	int64_t n = 0;

	for (int64_t i = 0; i < g->n; i++)
		if (g->row[i].latency_s > 0 && g->row[i].latency_s < NEAR * g->best_s) {
			mean += log2(g->best_s / g->row[i].latency_s) - value[i];
			n++;
		}
	for (int64_t i = 0; i < g->n && n > 1; i++) {
		double error;

		if (!(g->row[i].latency_s > 0 && g->row[i].latency_s < NEAR * g->best_s))
			continue;
		error = log2(g->best_s / g->row[i].latency_s) - value[i] - mean / (double)n;
		if (h->n == h->cap) {
			h->cap = h->cap * 2 + 1024;
			h->z = xrealloc(h->z, sizeof *h->z * (size_t)h->cap);
		}
		h->z[h->n] = deviation[i] > 0 ? fabs(error) / deviation[i] : 0;
		h->n++;
	}
}

void held_add(struct held *h, const struct dataset *d, const struct data_group *g,
	      const struct model *m)
{
	const struct data_use *u = dataset_use(d, &g->w);
	const double count = u && u->count ? (double)u->count : 1;
	size_t n = (size_t)g->n + 1;
	double *value = xmalloc(sizeof *value * n), *deviation = xmalloc(sizeof *deviation * n);
	double *latency = xmalloc(sizeof *latency * n), *draft = xmalloc(sizeof *draft * n);
	float *x = xmalloc(sizeof *x * FEATURES * n);
	int64_t k = 0;

	dataset_matrix(g, x);
	model_predict(m, x, (size_t)g->n, value, deviation);
	/* The model and the prior both count what cold operands cost. */
	for (int64_t i = 0; i < g->n; i++)
		value[i] += g->row[i].prior + features_cold(g->row[i].f);
	add_calibration(h, g, value, deviation);
	for (int64_t i = 0; i < g->n; i++) {
		if (!(g->row[i].latency_s > 0))
			continue;
		value[k] = value[i];
		draft[k] = -g->row[i].draft_s;
		latency[k++] = g->row[i].latency_s;
	}
	score_add(&h->model, value, latency, k, count);
	score_add(&h->draft, draft, latency, k, count);
	free(x);
	free(draft);
	free(latency);
	free(deviation);
	free(value);
}

static int rising(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

double held_scale(struct held *h)
{
	double scale;

	if (h->n < 100)
		return 1;
	qsort(h->z, (size_t)h->n, sizeof *h->z, rising);
	scale = h->z[(int64_t)(0.6827 * (double)h->n)];
	for (int64_t i = 0; i < h->n; i++)
		h->within += h->z[i] <= 2 * scale;
	return scale > 0 ? scale : 1;
}

void held_free(struct held *h)
{
	free(h->z);
}
