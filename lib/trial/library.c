#include <stdio.h>
#include <string.h>

#include "lib/trial/timed.h"
#include "lib/trial/trial.h"
#include "lib/trial/verify.h"

static const double BASELINE_TIME_S = 0.03;
static const double BASELINE_ERROR = 1e-3; /* what the library's fast algorithms may be off */
static const double VARIANT_WAIT_S = 5e-3; /* with a machine that others disturb */

/* Verifies and times one variant, until it has lost against the best so far; m->n stays 0 if its
 * result is wrong. */
static int time_variant(struct timed *x, const struct best *best, struct stat_median *m,
			struct err *e)
{
	const struct race_rules rules = {.limit_s = best->known ? best->time.median : 0,
					 .budget_s = BASELINE_TIME_S};
	struct race r = {0};
	double once;

	*m = (struct stat_median){0};
	if (timed_call(x, &once, e) < 0 ||
	    ref_output(x->ref, x->variant, x->t->tensor[TENSOR_DST].data, e) < 0)
		return -1;
	if (!(verify_output(x->t).l2 < BASELINE_ERROR))
		return 0;
	if (race_run(&rules, timed_call, x, &r, e) < 0)
		return -1;
	*m = r.time;
	return 0;
}

static void keep_better(struct best *b, const struct timed *x, struct stat_median m)
{
	if (b->known && b->time.median <= m.median)
		return;
	b->known = 1;
	snprintf(b->impl, sizeof b->impl, "%s", ref_name(x->ref, x->variant));
	snprintf(b->layout, sizeof b->layout, "%s", ref_layout(x->ref, x->variant));
	b->time = m;
}

void trial_baseline(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct baseline *b = answer;
	struct err e = ERR_INIT;
	struct ref *ref = timed_library(t, &e);

	if (!ref) {
		b->failed = 1;
		snprintf(b->why, sizeof b->why, "%.190s", e.msg);
		return;
	}
	b->quiet = t->quiet;
	snprintf(b->why, sizeof b->why, "the library has no implementation");
	for (int i = 0; i < ref_variants(ref); i++) {
		struct timed x = {.t = t, .ref = ref, .variant = i};
		int direct = !strstr(ref_name(ref, i), "winograd");
		struct stat_median m;

		timed_wait(t, &b->quiet, VARIANT_WAIT_S);
		if (time_variant(&x, direct ? &b->direct : &b->best, &m, &e) < 0) {
			snprintf(b->why, sizeof b->why, "%.190s", e.msg);
			continue;
		}
		if (!m.n) {
			snprintf(b->why, sizeof b->why, "the library's result is wrong");
			b->wrong++;
			continue;
		}
		keep_better(&b->best, &x, m);
		if (direct)
			keep_better(&b->direct, &x, m);
	}
	if (!strcmp(b->best.impl, b->direct.impl) && !strcmp(b->best.layout, b->direct.layout))
		b->direct.known = 0;
}
