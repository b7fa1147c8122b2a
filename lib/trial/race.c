/* Races and finals of a trial (trial.h). */
#include <stdio.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/confine.h"
#include "lib/trial/verify.h"

/* The team of a process in which nothing of the library's will run, which needs others at times. */
static void start_team(int threads)
{
	kernel_team(threads);
	confine_team();
}

static void fail(struct outcome *o, enum outcome_status status, const struct err *e)
{
	o->status = status;
	snprintf(o->why, sizeof o->why, "%.190s", e->msg);
}

/* Times them, and verifies the challenger once more. */
static void run(struct duellists *d, struct outcome *o)
{
	const struct duel_rules *rules = &d->x.t->rules;
	struct err e = ERR_INIT;
	double start = clock_now();
	int rc;

	o->is_duel = !d->alone;
	if (d->alone)
		rc = duel_alone(rules->budget_s, timed_pair, d, &o->duel, &e);
	else
		rc = duel_run(rules, timed_pair, d, &o->duel, &e);
	o->run_s = clock_now() - start;
	if (rc < 0) {
		fail(o, OUTCOME_FAILED, &e);
		return;
	}
	if (o->is_duel && rules->kind == DUEL_RACE && o->duel.end == DUEL_LOST) {
		o->status = OUTCOME_PREEMPTED;
		duel_why(&o->duel, o->why, sizeof o->why);
	}
	if (o->status == OUTCOME_OK)
		verify_again(&d->x, o);
}

/* An answer is made in memory of this process, and copied in the end: what a kernel writes into the
 * answer's place misleads nobody here. */
static void race(const struct trial *t, struct outcome *o)
{
	struct duellists d = {.x = {.t = t, .in = &t->entrant[0]},
			      .y = {.t = t, .in = &t->entrant[1]},
			      .alone = t->nentrants < 2};
	struct err e = ERR_INIT;
	double start = clock_now();

	verify_ready(t);
	start_team(t->threads);
	if (verify(&d.x, o) < 0)
		return;
	if (!d.alone && kernel_load(&d.y.kernel, d.y.in->object, &e) < 0) {
		fail(o, OUTCOME_UNLOADABLE, &e);
		return;
	}
	o->verify_s = clock_now() - start;
	run(&d, o);
}

void trial_race(void *trial, void *answer)
{
	struct outcome o = {0};

	race(trial, &o);
	memcpy(answer, &o, sizeof o);
}

/* The opponent as the library offers it here. */
static int find_opponent(const struct trial *t, struct timed *y, struct err *e)
{
	y->ref = timed_library(t, &t->opponent, e);
	if (!y->ref)
		return -1;
	if (!ref_variants(y->ref))
		return err_set(e, "the library no longer offers %s", t->opponent.name);
	return 0;
}

static void final(const struct trial *t, struct outcome *o)
{
	struct duellists d = {
		.x = {.t = t, .in = &t->entrant[0]}, .y = {.t = t}, .alone = !t->opponent.name};
	struct err e = ERR_INIT;

	verify_ready(t);
	if (verify(&d.x, o) < 0)
		return;
	if (!d.alone && find_opponent(t, &d.y, &e) < 0) {
		fail(o, OUTCOME_FAILED, &e);
		return;
	}
	run(&d, o);
}

void trial_final(void *trial, void *answer)
{
	struct outcome o = {0};

	final(trial, &o);
	memcpy(answer, &o, sizeof o);
}
