/* Races and finals of a trial (trial.h). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/confine.h"
#include "lib/trial/cell.h"
#include "lib/trial/verify.h"

/* The team of a process in which nothing of the library's will run, which needs others at times. */
static void start_team(const struct trial *t)
{
	if (!t->runner->team)
		return;
	cell_starts_threads(1);
	t->runner->team(t->threads);
	cell_starts_threads(0);
	confine_team();
}

static void fail(struct outcome *o, enum status status, const struct err *e)
{
	o->status = status;
	o->error_l2 = o->error_max = NAN;
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
	errno = 0;
	rc = timed_choose_row(d, &e);
	o->row = d->x.row;
	o->row_is_graph = d->x.row_is_graph;
	if (rc == 0 && d->alone)
		rc = duel_alone(rules->budget_s, timed_pair, d, &o->duel, &e);
	else if (rc == 0)
		rc = duel_run(rules, timed_pair, d, &o->duel, &e);
	if (rc < 0) {
		const enum status status = timed_failure(STATUS_FAILED);

		if (d->failed && d->failed->baseline)
			err_in(&e, "beside it %s fails",
			       baseline_name(d->failed->baseline, d->failed->variant));
		fail(o, status, &e);
		o->duel = (struct duel){0};
	}
	o->run_s = clock_now() - start;
	if (rc < 0)
		return;
	if (o->is_duel && rules->kind == DUEL_RACE && o->duel.end == DUEL_LOST) {
		o->status = STATUS_PREEMPTED;
		duel_why(&o->duel, o->why, sizeof o->why);
	}
	if (o->status == STATUS_OK)
		verify_again(&d->x, o);
}

/* An answer is made in memory of this process, and copied at the end, so that a kernel that writes
 * into the answer's place does no harm here. */
static void race(const struct trial *t, struct duellists *d, struct outcome *o)
{
	struct err e = ERR_INIT;
	double start = clock_now();

	verify_ready(t);
	start_team(t);
	if (verify(&d->x, o) < 0)
		return;
	if (!d->alone && timed_load(&d->y, &e) < 0) {
		fail(o, STATUS_UNLOADABLE, &e);
		return;
	}
	if (!d->alone && timed_put(&d->y, &e) < 0) {
		fail(o, timed_failure(STATUS_FAILED), &e);
		return;
	}
	o->verify_s = clock_now() - start;
	run(d, o);
}

void trial_race(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct duellists d = {.x = {.t = t, .in = &t->entrant[0]},
			      .y = {.t = t, .in = &t->entrant[1]},
			      .alone = t->nentrants < 2};
	struct outcome o = {0};

	race(t, &d, &o);
	timed_unload(&d.x);
	timed_unload(&d.y);
	memcpy(answer, &o, sizeof o);
}

/* The variant that was chosen in another process. */
static int find_variant(struct baseline *baseline, const struct baseline_choice *c, struct timed *x,
			struct err *e)
{
	int i = 0, n = baseline_variants(baseline);

	while (i < n && (strcmp(baseline_name(baseline, i), c->name) ||
			 strcmp(baseline_layout(baseline, i), c->layout)))
		i++;
	if (i == n)
		return err_set(e, "the library no longer offers %s, %s", c->name, c->layout);
	x->baseline = baseline;
	x->variant = i;
	return 0;
}

/* The baselines as the library offers them here. */
static int find_baselines(const struct trial *t, struct duellists *d, struct err *e)
{
	const struct baseline_choice only[] = {t->baselines.best, t->baselines.own};
	const int n = only[1].name ? 2 : 1;
	struct baseline *baseline = timed_baseline(t, only, n, e);

	if (!baseline || find_variant(baseline, &only[0], &d->y, e) < 0)
		return -1;
	return n > 1 ? find_variant(baseline, &only[1], &d->own, e) : 0;
}

static void final(const struct trial *t, struct outcome *o)
{
	struct duellists d = {.x = {.t = t, .in = &t->entrant[0]},
			      .y = {.t = t},
			      .own = {.t = t},
			      .alone = !t->baselines.best.name};
	struct err e = ERR_INIT;

	verify_ready(t);
	if (verify(&d.x, o) < 0)
		return;
	if (!d.alone && find_baselines(t, &d, &e) < 0) {
		fail(o, STATUS_FAILED, &e);
		return;
	}
	run(&d, o);
	o->has_own = d.own.baseline != NULL;
	memcpy(o->own, d.own_s, sizeof o->own);
}

void trial_final(void *trial, void *answer)
{
	struct outcome o = {0};

	final(trial, &o);
	memcpy(answer, &o, sizeof o);
}
