#include "lib/io/clock.h"
#include "lib/io/confine.h"
#include "lib/trial/timed.h"
#include "lib/trial/trial.h"
#include "lib/trial/verify.h"

static const double AUDIT_TIME_S = 0.1;
static const double RACE_WAIT_S = 5e-3; /* before a race, with a machine that others disturb */
static const double FAR_LOST = 2.5;	/* times the limit: more than any neighbour does */

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
