#include "lib/measure/trial.h"

#include <stdio.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/confine.h"
#include "lib/measure/timed.h"
#include "lib/measure/verify.h"

static const double BASELINE_TIME_S = 0.03, AUDIT_TIME_S = 0.1;
static const double RACE_WAIT_S = 5e-3;	   /* before a race, with a machine that others disturb */
static const double FAR_LOST = 2.5;	   /* times the limit: more than any neighbour does */
static const double BASELINE_ERROR = 1e-3; /* what the library's fast algorithms may be off */

/* ---- racing ---- */

/* The team of a process in which nothing of the library's will run, which needs others at times. */
static void start_team(int threads)
{
	kernel_team(threads);
	confine_team();
}

/* The kernel's calls cannot fail, so neither can its races. */
static void audit(struct timed *x, struct race *r, struct outcome *o)
{
	const struct race_rules rules = {.budget_s = r->spent_s + AUDIT_TIME_S};
	double start = clock_now();
	struct err e = ERR_INIT;

	race_run(&rules, timed_call, x, r, &e);
	o->audit = r->time;
	o->has_audit = 1;
	o->audit_s = clock_now() - start;
}

/* 1: nobody disturbed it. What neighbours do makes calls longer by FAR_LOST times at most. */
static int race_once(struct timed *x, struct race *r, struct quiet *q, int was_quiet)
{
	const struct race_rules *rules = &x->t->rules;
	struct err e = ERR_INIT;

	*r = (struct race){0};
	race_run(rules, timed_call, x, r, &e);
	return (timed_look(x->t, q) && was_quiet) ||
	       (r->lost && r->time.lo > FAR_LOST * rules->limit_s);
}

/* Once more if neighbours came meanwhile; again and again as long as patience lasts. */
static void race(struct timed *x, struct race *r, struct outcome *o)
{
	const struct trial *t = x->t;
	double end = clock_now() + t->patience_s;
	int was_quiet, again;

	for (int i = 0;; i++) {
		was_quiet = timed_wait(t, &o->quiet, RACE_WAIT_S);
		o->is_calm = race_once(x, r, &o->quiet, was_quiet);
		again = t->patience_s > 0 ? clock_now() < end : was_quiet && !i;
		if (o->is_calm || !again)
			return;
	}
}

void trial_race(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct outcome *o = answer;
	struct timed x = {.t = t, .in = t->entrant};
	struct race r = {0};
	double start = clock_now();

	verify_ready(t);
	start_team(t->threads);
	if (verify(&x, o) < 0)
		return;
	o->verify_s = clock_now() - start;
	start = clock_now();
	race(&x, &r, o);
	o->run_s = clock_now() - start;
	outcome_keep_race(o, &r);
	if (!r.lost) {
		verify_again(&x, o);
		return;
	}
	o->status = OUTCOME_PREEMPTED;
	o->time.median = o->time.lo;
	race_why(&t->rules, &r, o->why, sizeof o->why);
	if (t->audit)
		audit(&x, &r, o);
}

/* ---- the library ---- */

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

		timed_wait(t, &b->quiet, RACE_WAIT_S);
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

/* ---- the truth ---- */

void trial_naive(void *trial, void *answer)
{
	const struct trial *t = trial;
	const struct fence *dst = &t->tensor[TENSOR_DST];
	struct naive_output *out = answer;
	struct err e = ERR_INIT;
	struct kernel k;

	if (kernel_load(&k, t->entrant->object, &e) < 0) {
		snprintf(out->why, sizeof out->why, "%.190s", e.msg);
		return;
	}
	compare_poison(dst->data, dst->n);
	kernel_run(&k, t->entrant->params, t->entrant->buffers, t->threads);
	memcpy(out->dst, dst->data, (size_t)dst->n * sizeof(float));
	out->ran = 1;
}
