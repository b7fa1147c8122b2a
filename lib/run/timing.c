#include "lib/run/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/exec.h"

static const double SAME = 1e-4; /* outputs differ by less, of their largest value */

/* ---- times ---- */

void timing_free(struct timing *g)
{
	free(g->step);
	free(g->behind);
	free(g->ended);
}

static int has(const int *x, int n, int v)
{
	for (int i = 0; i < n; i++)
		if (x[i] == v)
			return 1;
	return 0;
}

static int is_of(const struct step *s, const char *workload_id)
{
	return s->workload && !strcmp(s->workload->id.s, workload_id);
}

void timing_make(struct timing *g, struct network *n, const char *workload_id)
{
	const struct plan *p = &n->plan;

	*g = (struct timing){.n = n};
	g->step = xcalloc((size_t)p->nstep + 1, sizeof *g->step);
	g->behind = xcalloc((size_t)p->nstep + 1, sizeof *g->behind);
	g->ended = xcalloc((size_t)p->nstep + 1, sizeof *g->ended);
	for (int i = 0; i < p->nstep; i++)
		if (is_of(&p->step[i], workload_id)) {
			g->w = p->step[i].workload;
			g->step[g->nstep++] = i;
		}
	for (int k = 0; k < g->nstep; k++) {
		int i = g->step[k] + 1;

		while (i < p->nstep && !step_is_live(&p->step[i]))
			i++;
		if (i < p->nstep && !has(g->step, g->nstep, i))
			g->behind[g->nbehind++] = i;
	}
}

static double sum_of(const double *ended, const int *step, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += ended[step[i] + 1] - ended[step[i]];
	return s;
}

double timing_own_s(const struct timing *g)
{
	return sum_of(g->ended, g->step, g->nstep);
}

double timing_with_behind_s(const struct timing *g)
{
	return timing_own_s(g) + sum_of(g->ended, g->behind, g->nbehind);
}

double timing_whole_s(const struct timing *g)
{
	return g->ended[g->n->plan.nstep] - g->ended[0];
}

void timing_take(const struct timing *g, int number)
{
	exec_rest(&g->n->plan);
	for (int i = 0; i < g->nstep; i++)
		plan_take(&g->n->plan, g->step[i], number);
}

int timing_run(const struct timing *g, struct err *e)
{
	struct plan *p = &g->n->plan;

	return exec_run(p, NULL, e) || exec_run(p, g->ended, e) ? -1 : 0;
}

/* ---- outputs ---- */

static const float *output_at(const struct network *n, int i, int64_t *size)
{
	*size = shape_count(&n->onnx.graph.value[n->io.output[i]]->shape);
	return plan_data(&n->plan, n->io.output_at[i]);
}

void outputs_keep(const struct network *n, struct outputs *o)
{
	o->n = n->io.noutputs;
	o->data = xcalloc((size_t)o->n + 1, sizeof *o->data);
	for (int i = 0; i < o->n; i++) {
		int64_t size;
		const float *from = output_at(n, i, &size);

		o->data[i] = xmalloc((size_t)(size + 1) * sizeof *o->data[i]);
		memcpy(o->data[i], from, (size_t)size * sizeof *from);
	}
}

void outputs_free(struct outputs *o)
{
	for (int i = 0; i < o->n; i++)
		free(o->data[i]);
	free(o->data);
}

static int are_same(const float *x, const float *y, int64_t n, enum dtype precision)
{
	double most = 0, largest = 0;

	for (int64_t i = 0; i < n; i++) {
		if (isnan(x[i]) != isnan(y[i]) || isinf(x[i]) != isinf(y[i]))
			return 0;
		if (!isfinite(x[i]))
			continue;
		most = fmax(most, fabs((double)x[i] - (double)y[i]));
		largest = fmax(largest, fabs((double)y[i]));
	}
	return most <= network_error(precision, SAME) * largest;
}

int outputs_are(const struct network *n, const struct outputs *o)
{
	for (int i = 0; i < o->n; i++) {
		int64_t size;
		const float *now = output_at(n, i, &size);

		if (!are_same(now, o->data[i], size, n->plan.precision))
			return 0;
	}
	return 1;
}
