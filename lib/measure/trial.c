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
	MIN_ROUNDS = 5,
	FINAL_BATCH = 5, /* calls a turn, the first one is not counted */
	CACHE_LINE = 64,
	FIRST_BEATS = 40, /* to find the best of */
};

static const double BASELINE_TIME_S = 0.03, FINAL_TIME_S = 0.3, AUDIT_TIME_S = 0.1;
static const double RATIO_WIDTH = 0.01;
/* With a machine that others disturb: before a race, and before a round of a final. */
static const double RACE_WAIT_S = 5e-3, ROUND_WAIT_S = 0.1, PAUSE_S = 5e-4;
static const double FAR_LOST = 2.5;	   /* times the limit: more than any neighbour does */
static const double BASELINE_ERROR = 1e-3; /* what the library's fast algorithms may be off */

/* ---- what is timed: the candidate, or a variant of the library's ---- */

struct timed {
	const struct trial *t;
	struct ref *ref; /* NULL: the kernel below */
	int variant;
	const struct entrant *in;
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
		for (int i = 0; i < x->in->nslots; i++)
			flush(x->in->buffers[i], x->in->bytes[i]);
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
		kernel_run(&x->kernel, x->in->params, x->in->buffers, x->t->threads);
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

static void pause_a_little(void)
{
	const struct timespec pause = {.tv_nsec = (long)(PAUSE_S * 1e9)};

	nanosleep(&pause, NULL);
}

static int is_quiet(struct quiet *q, int threads)
{
	for (int i = q->best_s > 0 ? FIRST_BEATS : 1; i < FIRST_BEATS; i++) {
		quiet_take(q, beat(threads));
		pause_a_little();
	}
	return quiet_take(q, beat(threads));
}

/* By default for usual_s, if that is worth it at all. 1: it is quiet. */
static int wait_for_quiet(const struct trial *t, struct quiet *q, double usual_s)
{
	double wait_s = t->patience_s > 0 ? t->patience_s : quiet_hope(q) ? usual_s : 0;
	double end = clock_now() + wait_s;
	int quiet;

	while (!(quiet = is_quiet(q, t->threads)) && clock_now() < end)
		pause_a_little();
	if (!quiet)
		quiet_believe(q);
	return quiet;
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

static const char *scribbled(const struct timed *x)
{
	for (int i = 0; i < TENSOR_ROLES; i++)
		if (x->t->tensor[i].map && fence_broken(&x->t->tensor[i]))
			return x->t->tensor[i].name;
	for (int i = 0; i < x->in->nslots; i++)
		if (x->in->work[i].map && fence_broken(&x->in->work[i]))
			return x->in->work[i].name;
	return NULL;
}

/* 0, or -1 with status and reason. */
static int judge(const struct timed *x, struct outcome *o)
{
	const struct trial *t = x->t;
	const int64_t size = t->tensor[TENSOR_DST].n;
	struct comparison c = compare_output(t);
	const char *where = scribbled(x);

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
	for (const struct entrant *in = t->entrant; in < t->entrant + t->nentrants; in++)
		for (int i = 0; i < in->nslots; i++)
			if (in->work[i].map) {
				fence_populate(&in->work[i]);
				poison(&in->work[i]);
				fence_arm(&in->work[i]);
			}
}

/* The team of a process in which nothing of the library's will run, which needs others at times. */
static void start_team(int threads)
{
	kernel_team(threads);
	confine_team();
}

/* Loads the kernel and does the run that is compared. 0, or -1 with the outcome decided. */
static int verify(struct timed *x, struct outcome *o)
{
	struct err e = ERR_INIT;
	double start = clock_now(), once;
	int rc;

	memset(o, 0, sizeof *o);
	o->quiet = x->t->quiet;
	if (kernel_load(&x->kernel, x->in->object, &e) < 0) {
		o->status = OUTCOME_UNLOADABLE;
		snprintf(o->why, sizeof o->why, "%.190s", e.msg);
		return -1;
	}
	poison(&x->t->tensor[TENSOR_DST]);
	call(x, &once, &e);
	rc = judge(x, o);
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
	if (judge(x, o) < 0) {
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

/* 1: nobody disturbed it. What neighbours do makes calls longer by FAR_LOST times at most. */
static int race_once(struct timed *x, struct race *r, struct quiet *q, int was_quiet)
{
	const struct race_rules *rules = &x->t->rules;
	struct err e = ERR_INIT;

	*r = (struct race){0};
	race_run(rules, call, x, r, &e);
	return (is_quiet(q, x->t->threads) && was_quiet) ||
	       (r->lost && r->time.lo > FAR_LOST * rules->limit_s);
}

/* Once more if neighbours came meanwhile; again and again as long as patience lasts. */
static void race(struct timed *x, struct race *r, struct outcome *o)
{
	const struct trial *t = x->t;
	double end = clock_now() + t->patience_s;
	int was_quiet, again;

	for (int i = 0;; i++) {
		was_quiet = wait_for_quiet(t, &o->quiet, RACE_WAIT_S);
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

	ready(t);
	start_team(t->threads);
	if (verify(&x, o) < 0)
		return;
	o->verify_s = clock_now() - start;
	start = clock_now();
	race(&x, &r, o);
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

/* Rounds of turns; a machine that neighbours disturb has times of its own, and ratios too. */
struct rounds {
	double time[ENTRANTS + 2][PROCESS_ROUNDS];
	int n;
};

/* Entrants that are right, then opponents: all who take turns. */
struct turns {
	const struct trial *t;
	struct timed x[ENTRANTS + 2];
	struct outcome *o[ENTRANTS];
	int nentrants, nopponents;
	struct rounds calm, disturbed;
	int is_calm; /* now */
	struct quiet quiet;
};

/* Enough rounds: the ratio is known to 1%, or far from 1. */
static int is_known(const double *candidate, const double *opponent, int n)
{
	double ratio[PROCESS_ROUNDS];
	struct stat_median m;

	for (int k = 0; k < n; k++)
		ratio[k] = opponent[k] / candidate[k];
	m = stat_median(ratio, n);
	return m.hi - m.lo < RATIO_WIDTH * m.median || outcome_is_far(&m);
}

static int are_known(const struct turns *a, const struct rounds *r)
{
	int i = 0;

	if (r->n < MIN_ROUNDS || !a->nopponents)
		return 0;
	while (i < a->nentrants && is_known(r->time[i], r->time[a->nentrants], r->n))
		i++;
	return i == a->nentrants;
}

/* Who follows whom changes from round to round. */
static int take_round(struct turns *a, struct err *e)
{
	int n = a->nentrants + a->nopponents, first = a->calm.n + a->disturbed.n;
	double time[ENTRANTS + 2];
	struct rounds *r;

	if (!a->is_calm)
		a->is_calm = wait_for_quiet(a->t, &a->quiet, ROUND_WAIT_S);
	for (int i = 0; i < n; i++) {
		int who = (i + first) % n;

		if (turn(&a->x[who], &time[who], e) < 0)
			return -1;
	}
	r = a->is_calm ? &a->calm : &a->disturbed;
	a->is_calm = is_quiet(&a->quiet, a->t->threads);
	if (!a->is_calm)
		r = &a->disturbed;
	for (int i = 0; i < n; i++)
		r->time[i][r->n] = time[i];
	r->n++;
	return 0;
}

/* Of a machine that will not be ours soon, few do: they decide nothing that is not clear anyhow. */
static int are_enough(const struct turns *a)
{
	int hope = a->t->patience_s > 0 || quiet_hope(&a->quiet);
	int disturbed = hope ? PROCESS_ROUNDS : MIN_ROUNDS;

	return a->calm.n >= PROCESS_ROUNDS || a->disturbed.n >= disturbed || are_known(a, &a->calm);
}

/* Calm rounds are what counts, unless there are too few before time is up. */
static int take_turns(struct turns *a, struct err *e)
{
	double start = clock_now();
	double time_s = FINAL_TIME_S * (1 + a->nentrants) / 2 + a->t->patience_s;
	int in_time = 1;

	while (!are_enough(a) && (in_time || a->calm.n + a->disturbed.n < MIN_ROUNDS)) {
		if (take_round(a, e) < 0)
			return -1;
		in_time = clock_now() - start < time_s;
	}
	return 0;
}

static int is_calm(const struct turns *a)
{
	return a->calm.n >= MIN_ROUNDS;
}

/* The rounds that count. */
static struct rounds choose(const struct turns *a)
{
	struct rounds r = a->calm;

	for (int k = 0; k < a->disturbed.n && r.n < PROCESS_ROUNDS && !is_calm(a); k++) {
		for (int i = 0; i < a->nentrants + a->nopponents; i++)
			r.time[i][r.n] = a->disturbed.time[i][k];
		r.n++;
	}
	return r;
}

static void keep_turns(const struct turns *a, const struct rounds *r, int entrant)
{
	struct outcome *o = a->o[entrant];
	size_t bytes = (size_t)r->n * sizeof(double);

	o->n = r->n;
	o->is_calm = is_calm(a);
	o->nopponents = a->nopponents;
	o->quiet = a->quiet;
	memcpy(o->x, r->time[entrant], bytes);
	for (int i = 0; i < a->nopponents; i++)
		memcpy(o->turn[i], r->time[a->nentrants + i], bytes);
	outcome_judge_turns(o);
}

static struct ref *open_library(const struct trial *t, struct err *e)
{
	const struct ref_data data = {t->tensor[TENSOR_SRC].data, t->tensor[TENSOR_WEIGHTS].data,
				      t->tensor[TENSOR_BIAS].data, t->tensor[TENSOR_ADD].data};

	return ref_onednn_open(t->w, &data, t->opponent, t->nopponents, e);
}

/* The opponents as the library offers them here. */
static int find_opponents(struct turns *a, struct ref *ref, struct err *e)
{
	const struct trial *t = a->t;

	for (int i = 0; i < t->nopponents; i++) {
		int v = 0;

		while (v < ref_variants(ref) &&
		       (strcmp(ref_name(ref, v), t->opponent[i].name) != 0 ||
			strcmp(ref_layout(ref, v), t->opponent[i].layout) != 0))
			v++;
		if (v == ref_variants(ref))
			return err_set(e, "the library no longer offers %s", t->opponent[i].name);
		a->x[a->nentrants + i] = (struct timed){.t = t, .ref = ref, .variant = v};
		a->nopponents++;
	}
	return 0;
}

static int time_alone(struct timed *x, struct outcome *o, struct err *e)
{
	const struct race_rules alone = {.budget_s = FINAL_TIME_S};
	struct race r = {0};

	if (race_run(&alone, call, x, &r, e) < 0)
		return -1;
	keep_race(o, &r);
	return 0;
}

static int time_final(struct turns *a, struct err *e)
{
	struct rounds r;
	struct ref *ref;

	if (a->t->nopponents) {
		ref = open_library(a->t, e);
		if (!ref || find_opponents(a, ref, e) < 0)
			return -1;
	} else if (a->nentrants == 1) {
		return time_alone(&a->x[0], a->o[0], e);
	}
	if (take_turns(a, e) < 0)
		return -1;
	r = choose(a);
	for (int i = 0; i < a->nentrants; i++)
		keep_turns(a, &r, i);
	return 0;
}

static void fail(const struct turns *a, const struct err *e)
{
	for (int i = 0; i < a->nentrants; i++) {
		a->o[i]->status = OUTCOME_FAILED;
		snprintf(a->o[i]->why, sizeof a->o[i]->why, "%.190s", e->msg);
	}
}

void trial_final(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct outcome *o = answer;
	struct turns a = {.t = t, .quiet = t->quiet};
	struct err e = ERR_INIT;
	double start, run_s;

	ready(t);
	for (int i = 0; i < t->nentrants; i++) {
		struct timed *x = &a.x[a.nentrants];

		*x = (struct timed){.t = t, .in = &t->entrant[i]};
		if (verify(x, &o[i]) == 0)
			a.o[a.nentrants++] = &o[i];
	}
	if (!a.nentrants)
		return;
	start = clock_now();
	if (time_final(&a, &e) < 0) {
		fail(&a, &e);
		return;
	}
	run_s = (clock_now() - start) / a.nentrants;
	for (int i = 0; i < a.nentrants; i++) {
		a.o[i]->run_s = run_s;
		verify_again(&a.x[i], a.o[i]);
	}
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
	b->quiet = t->quiet;
	snprintf(b->why, sizeof b->why, "the library has no implementation");
	for (int i = 0; i < ref_variants(ref); i++) {
		struct timed x = {.t = t, .ref = ref, .variant = i};
		int direct = !strstr(ref_name(ref, i), "winograd");
		struct stat_median m;

		wait_for_quiet(t, &b->quiet, RACE_WAIT_S);
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
	poison(dst);
	kernel_run(&k, t->entrant->params, t->entrant->buffers, t->threads);
	memcpy(out->dst, dst->data, (size_t)dst->n * sizeof(float));
	out->ran = 1;
}
