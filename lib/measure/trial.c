#include "lib/measure/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/io/clock.h"
#include "lib/io/confine.h"
#include "lib/measure/compare.h"
#include "lib/target/kernel.h"
#include "lib/target/probe.h"

enum {
	PROCESS_ROUNDS = FINAL_ROUNDS / 2, /* turns in one process */
	MIN_ROUNDS = 5,
	FINAL_BATCH = 5, /* calls a turn, the first one is not counted */
	CACHE_LINE = 64,
	FIRST_BEATS = 5, /* to find the best of */
};

static const double BASELINE_TIME_S = 0.03, FINAL_TIME_S = 0.3, AUDIT_TIME_S = 0.1;
static const double RATIO_WIDTH = 0.01, RATIO_FAR = 0.1;
static const double PATIENCE_S = 0.02, PAUSE_S = 1e-3; /* with a machine that others disturb */
static const double BASELINE_ERROR = 1e-3; /* what the library's fast algorithms may be off */

/* ---- what is timed: the candidate, or a variant of the library's ---- */

struct timed {
	const struct trial *t;
	struct ref *ref; /* NULL: the kernel below */
	int variant;
	struct kernel kernel;
};

static void flush(const void *p, size_t bytes)
{
#ifdef __x86_64__
	const char *line = p;

	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_ia32_clflush(line + i);
	__builtin_ia32_mfence();
#else
	(void)p, (void)bytes;
#endif
}

static void flush_operands(const struct timed *x)
{
	const void *p;
	size_t bytes;

	if (x->ref)
		for (int i = 0; ref_memory(x->ref, x->variant, i, &p, &bytes); i++)
			flush(p, bytes);
	else
		for (int i = 0; i < x->t->nslots; i++)
			flush(x->t->buffers[i], x->t->bytes[i]);
}

static int call(void *arg, double *seconds, struct err *e)
{
	struct timed *x = arg;
	double start;
	int rc = 0;

	if (x->t->cold)
		flush_operands(x);
	start = clock_now();
	if (x->ref)
		rc = ref_run(x->ref, x->variant, e);
	else
		kernel_run(&x->kernel, x->t->params, x->t->buffers, x->t->threads);
	*seconds = clock_now() - start;
	return rc;
}

/* ---- a machine that others disturb ---- */

/* The first of two beats wakes the team. */
static double beat(int threads)
{
	double first = probe_beat(threads), second = probe_beat(threads);

	return first < second ? first : second;
}

static int is_quiet(struct quiet *q, int threads)
{
	for (int i = q->best_s > 0 ? FIRST_BEATS : 1; i < FIRST_BEATS; i++)
		quiet_take(q, beat(threads));
	return quiet_take(q, beat(threads));
}

static void wait_for_quiet(struct quiet *q, int threads)
{
	const struct timespec pause = {.tv_nsec = (long)(PAUSE_S * 1e9)};
	double start = clock_now();

	while (!is_quiet(q, threads)) {
		if (clock_now() - start > PATIENCE_S) {
			quiet_believe(q);
			return;
		}
		nanosleep(&pause, NULL);
	}
}

/* ---- verification ---- */

static void poison(const struct fence *f)
{
	compare_poison(f->data, f->n);
}

static struct comparison compare_output(const struct trial *t)
{
	const struct fence *out = &t->tensor[TENSOR_DST];

	return compare(out->data, t->expected, out->n);
}

static const char *scribbled(const struct trial *t)
{
	for (int i = 0; i < TENSOR_ROLES; i++)
		if (t->tensor[i].map && fence_broken(&t->tensor[i]))
			return t->tensor[i].name;
	for (int i = 0; i < t->nslots; i++)
		if (t->work[i].map && fence_broken(&t->work[i]))
			return t->work[i].name;
	return NULL;
}

/* 0, or -1 with status and reason. */
static int judge(const struct trial *t, struct outcome *o)
{
	const int64_t size = t->tensor[TENSOR_DST].n;
	struct comparison c = compare_output(t);
	const char *where = scribbled(t);

	o->error_l2 = c.l2;
	o->error_max = c.max;
	o->status = OUTCOME_WRONG;
	if (where)
		snprintf(o->why, sizeof o->why, "it wrote behind the end of %s", where);
	else if (c.unwritten)
		snprintf(o->why, sizeof o->why, "%lld of %lld outputs were not written",
			 (long long)c.unwritten, (long long)size);
	else if (c.strange)
		snprintf(o->why, sizeof o->why, "%lld of %lld outputs are NaN or infinite",
			 (long long)c.strange, (long long)size);
	else if (!(c.l2 <= t->max_error && c.max <= t->max_error))
		snprintf(o->why, sizeof o->why,
			 "the error is %.3g (relative L2) and %.3g (largest), beyond %g", c.l2,
			 c.max, t->max_error);
	else
		o->status = OUTCOME_OK;
	return o->status == OUTCOME_OK ? 0 : -1;
}

static void ready(const struct trial *t)
{
	fence_populate(&t->tensor[TENSOR_DST]);
	fence_arm(&t->tensor[TENSOR_DST]);
	for (int i = 0; i < t->nslots; i++)
		if (t->work[i].map) {
			fence_populate(&t->work[i]);
			poison(&t->work[i]);
			fence_arm(&t->work[i]);
		}
}

/* Loads the kernel and does the run that is compared. alone: nothing of the library's will run in
 * this process, which needs other teams at times. 0, or -1 with the outcome decided. */
static int verify(struct timed *x, int alone, struct outcome *o)
{
	struct err e = ERR_INIT;
	double start = clock_now(), once;
	int rc;

	memset(o, 0, sizeof *o);
	if (kernel_load(&x->kernel, x->t->object, &e) < 0) {
		o->status = OUTCOME_UNLOADABLE;
		snprintf(o->why, sizeof o->why, "%.190s", e.msg);
		return -1;
	}
	ready(x->t);
	poison(&x->t->tensor[TENSOR_DST]);
	if (alone) {
		kernel_team(x->t->threads);
		confine_team();
	}
	call(x, &once, &e);
	rc = judge(x->t, o);
	o->verify_s = clock_now() - start;
	return rc;
}

/* Once more behind the timing: what is kept from call to call, or a race between threads, may have
 * shown only now. */
static void verify_again(struct timed *x, struct outcome *o)
{
	double start = clock_now(), once;
	struct err e = ERR_INIT;
	char why[TRIAL_WHY];

	poison(&x->t->tensor[TENSOR_DST]);
	call(x, &once, &e);
	if (judge(x->t, o) < 0) {
		snprintf(why, sizeof why, "%s", o->why);
		snprintf(o->why, sizeof o->why, "right at first, wrong later: %.170s", why);
	}
	o->verify_s += clock_now() - start;
}

/* ---- racing ---- */

static void keep_race(struct outcome *o, const struct race *r)
{
	o->time = r->time;
	o->warmup = r->warmup;
	o->outliers = r->outliers;
	o->n = r->n;
	memcpy(o->x, r->x, (size_t)r->n * sizeof *r->x);
}

/* The kernel's calls cannot fail, so neither can its races. */
static void audit(struct timed *x, struct race *r, struct outcome *o)
{
	const struct race_rules rules = {.budget_s = r->spent_s + AUDIT_TIME_S};
	double start = clock_now();
	struct err e = ERR_INIT;

	race_run(&rules, call, x, r, &e);
	o->audit = r->time;
	o->has_audit = 1;
	o->audit_s = clock_now() - start;
}

void trial_race(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct outcome *o = answer;
	struct timed x = {.t = t};
	struct race r = {0};
	struct err e = ERR_INIT;
	double start;

	o->quiet.best_s = t->quiet_s;
	if (verify(&x, 1, o) < 0)
		return;
	start = clock_now();
	wait_for_quiet(&o->quiet, t->threads);
	race_run(&t->rules, call, &x, &r, &e);
	if (!is_quiet(&o->quiet, t->threads)) { /* who knows since when: once more */
		r = (struct race){0};
		wait_for_quiet(&o->quiet, t->threads);
		race_run(&t->rules, call, &x, &r, &e);
	}
	o->run_s = clock_now() - start;
	keep_race(o, &r);
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

/* ---- finals ---- */

/* One turn: the first call brings the caches back, the others count; their median is the turn's
 * time. */
static int turn(struct timed *x, double *seconds, struct err *e)
{
	double s[FINAL_BATCH];

	for (int i = 0; i < FINAL_BATCH; i++)
		if (call(x, &s[i], e) < 0)
			return -1;
	*seconds = stat_median(s + 1, FINAL_BATCH - 1).median;
	return 0;
}

static int is_far(const struct stat_median *ratio)
{
	return ratio->lo > 1 + RATIO_FAR || ratio->hi < 1 - RATIO_FAR;
}

/* Enough rounds: the ratio is known to 1%, or far from 1. */
static int is_known(const double *ratio, int k)
{
	double sorted[PROCESS_ROUNDS];
	struct stat_median m;

	if (k < MIN_ROUNDS)
		return 0;
	memcpy(sorted, ratio, (size_t)k * sizeof *sorted);
	m = stat_median(sorted, k);
	return m.hi - m.lo < RATIO_WIDTH * m.median || is_far(&m);
}

/* What follows from the turns that are there. */
static void judge_turns(struct outcome *o)
{
	double own[FINAL_ROUNDS], ratio[FINAL_ROUNDS], time[FINAL_ROUNDS];
	size_t bytes = (size_t)o->n * sizeof(double);

	for (int i = 0; i < o->nopponents; i++) {
		for (int k = 0; k < o->n; k++)
			ratio[k] = o->turn[i][k] / o->x[k];
		memcpy(time, o->turn[i], bytes);
		o->opponent[i] = stat_median(time, o->n);
		o->ratio[i] = stat_median(ratio, o->n);
	}
	memcpy(own, o->x, bytes);
	o->time = stat_median(own, o->n);
}

int outcome_is_clear(const struct outcome *o)
{
	return !o->nopponents || is_far(&o->ratio[0]);
}

void outcome_add_turns(struct outcome *o, const struct outcome *more)
{
	int n = more->n < FINAL_ROUNDS - o->n ? more->n : FINAL_ROUNDS - o->n;

	memcpy(o->x + o->n, more->x, (size_t)n * sizeof *o->x);
	for (int i = 0; i < o->nopponents; i++)
		memcpy(o->turn[i] + o->n, more->turn[i], (size_t)n * sizeof *o->x);
	o->n += n;
	o->quiet.disturbed += more->quiet.disturbed;
	o->verify_s += more->verify_s;
	o->run_s += more->run_s;
	judge_turns(o);
}

static int take_turns(struct timed *x, struct timed *opponent, int n, struct outcome *o,
		      struct err *e)
{
	double ratio[PROCESS_ROUNDS], start = clock_now();
	int k = 0;

	while (k < PROCESS_ROUNDS && (k < MIN_ROUNDS || clock_now() - start < FINAL_TIME_S) &&
	       !is_known(ratio, k)) {
		wait_for_quiet(&o->quiet, x->t->threads);
		/* Who follows whom changes from round to round. */
		for (int i = 0; i <= n; i++) {
			int who = (i + k) % (n + 1);

			if (turn(who ? &opponent[who - 1] : x,
				 who ? &o->turn[who - 1][k] : &o->x[k], e) < 0)
				return -1;
		}
		ratio[k] = o->turn[0][k] / o->x[k];
		k++;
	}
	o->n = k;
	o->nopponents = n;
	judge_turns(o);
	return 0;
}

static struct ref *open_library(const struct trial *t, struct err *e)
{
	const struct ref_data data = {t->tensor[TENSOR_SRC].data, t->tensor[TENSOR_WEIGHTS].data,
				      t->tensor[TENSOR_BIAS].data, t->tensor[TENSOR_ADD].data};

	return ref_onednn_open(t->w, &data, t->opponent, t->nopponents, e);
}

/* The opponents as the library offers them here. */
static int find_opponents(const struct trial *t, struct ref *ref, struct timed *opponent,
			  struct err *e)
{
	for (int i = 0; i < t->nopponents; i++) {
		int v = 0;

		while (v < ref_variants(ref) &&
		       (strcmp(ref_name(ref, v), t->opponent[i].name) != 0 ||
			strcmp(ref_layout(ref, v), t->opponent[i].layout) != 0))
			v++;
		if (v == ref_variants(ref))
			return err_set(e, "the library no longer offers %s", t->opponent[i].name);
		opponent[i] = (struct timed){.t = t, .ref = ref, .variant = v};
	}
	return 0;
}

static int time_final(struct timed *x, struct outcome *o, struct err *e)
{
	const struct race_rules alone = {.budget_s = FINAL_TIME_S};
	struct timed opponent[2];
	struct race r = {0};
	struct ref *ref;

	if (!x->t->nopponents) {
		race_run(&alone, call, x, &r, e);
		keep_race(o, &r);
		return 0;
	}
	ref = open_library(x->t, e);
	if (!ref || find_opponents(x->t, ref, opponent, e) < 0)
		return -1;
	return take_turns(x, opponent, x->t->nopponents, o, e);
}

void trial_final(void *trial, void *answer)
{
	struct timed x = {.t = trial};
	struct outcome *o = answer;
	struct err e = ERR_INIT;
	double start;

	o->quiet.best_s = ((const struct trial *)trial)->quiet_s;
	if (verify(&x, 0, o) < 0)
		return;
	start = clock_now();
	if (time_final(&x, o, &e) < 0) {
		o->status = OUTCOME_FAILED;
		snprintf(o->why, sizeof o->why, "%.190s", e.msg);
		return;
	}
	o->run_s = clock_now() - start;
	verify_again(&x, o);
}

/* ---- what came of it ---- */

static int is_time(const struct stat_median *m)
{
	return m->lo >= 0 && m->lo <= m->hi && isfinite(m->hi) && m->median >= 0 &&
	       isfinite(m->median);
}

int outcome_is_sane(const struct outcome *o)
{
	int sane = (unsigned)o->status < OUTCOME_STATUSES && memchr(o->why, 0, sizeof o->why) &&
		   o->n >= 0 && o->n <= RACE_MAX && o->nopponents >= 0 && o->nopponents <= 2 &&
		   is_time(&o->time) && is_time(&o->audit) && o->verify_s >= 0 && o->run_s >= 0 &&
		   o->audit_s >= 0 && o->warmup >= 0 && o->outliers >= 0 &&
		   (o->status != OUTCOME_OK || o->n > 0) &&
		   (!o->nopponents || o->n <= PROCESS_ROUNDS) && o->quiet.disturbed >= 0;

	for (int i = 0; sane && i < o->n; i++)
		sane = o->x[i] >= 0 && isfinite(o->x[i]);
	for (int i = 0; sane && i < o->nopponents; i++) {
		sane = is_time(&o->opponent[i]) && is_time(&o->ratio[i]);
		for (int k = 0; sane && k < o->n; k++)
			sane = o->turn[i][k] >= 0 && isfinite(o->turn[i][k]);
	}
	return sane;
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
	if (call(x, &once, e) < 0 ||
	    ref_output(x->ref, x->variant, x->t->tensor[TENSOR_DST].data, e) < 0)
		return -1;
	if (!(compare_output(x->t).l2 < BASELINE_ERROR))
		return 0;
	if (race_run(&rules, call, x, &r, e) < 0)
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
	struct ref *ref = open_library(t, &e);

	if (!ref) {
		b->failed = 1;
		snprintf(b->why, sizeof b->why, "%.190s", e.msg);
		return;
	}
	b->quiet.best_s = t->quiet_s;
	snprintf(b->why, sizeof b->why, "the library has no implementation");
	for (int i = 0; i < ref_variants(ref); i++) {
		struct timed x = {.t = t, .ref = ref, .variant = i};
		int direct = !strstr(ref_name(ref, i), "winograd");
		struct stat_median m;

		wait_for_quiet(&b->quiet, t->threads);
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

	if (kernel_load(&k, t->object, &e) < 0) {
		snprintf(out->why, sizeof out->why, "%.190s", e.msg);
		return;
	}
	poison(dst);
	kernel_run(&k, t->params, t->buffers, t->threads);
	memcpy(out->dst, dst->data, (size_t)dst->n * sizeof(float));
	out->ran = 1;
}
