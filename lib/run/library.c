#include "lib/run/library.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "lib/io/clock.h"
#include "lib/baseline/baseline.h"
#include "lib/run/weights.h"

enum { WARM_CALLS = 2, CALLS = 5 };

static float *data_of(const struct plan *p, const struct step *s, enum tensor_role role)
{
	const struct place *o = &s->by_role[role];

	return o->memory < 0 ? NULL : plan_address(p, o);
}

/* The least of a few calls; INFINITY if it fails. */
static double seconds(struct baseline *r, int variant)
{
	struct err ignored = ERR_INIT;
	double least = INFINITY;

	for (int i = 0; i < WARM_CALLS + CALLS; i++) {
		double start = clock_now();

		if (baseline_run(r, variant, &ignored))
			return INFINITY;
		if (i >= WARM_CALLS)
			least = fmin(least, clock_now() - start);
	}
	return least;
}

static int choose(struct step *s, float *dst, struct err *e)
{
	double best = INFINITY;

	for (int i = 0; i < baseline_variants(s->baseline); i++) {
		int rc = baseline_write_to(s->baseline, i, dst, e);
		double t = rc > 0 ? seconds(s->baseline, i) : INFINITY;

		if (rc < 0)
			return -1;
		if (t < best) {
			best = t;
			s->variant = i;
		}
	}
	return isinf(best) ? err_set(e, "the library has no code for %s in this layout", s->name)
			   : 0;
}

int library_open(struct plan *p, struct step *s, struct err *e)
{
	float *weights = NULL, *bias = NULL, *dst = data_of(p, s, TENSOR_DST);
	struct baseline_data d = {
		.src = data_of(p, s, TENSOR_SRC), .add = dst, .mul = data_of(p, s, TENSOR_MUL)};
	int rc;

	omp_set_num_threads(p->threads);
	weights_plain(p, s->weights, s->workload, &weights, &bias);
	d.weights = s->workload->rhs_const ? weights : data_of(p, s, TENSOR_WEIGHTS);
	d.bias = bias;
	s->baseline = library_onednn.open(s->workload, &d, NULL, 0, e);
	rc = s->baseline ? choose(s, dst, e) : -1;
	free(weights);
	free(bias);
	if (rc)
		library_close(s);
	return rc;
}

int library_run(const struct step *s, struct err *e)
{
	return baseline_run(s->baseline, s->variant, e);
}

void library_close(struct step *s)
{
	baseline_close(s->baseline);
	s->baseline = NULL;
}
