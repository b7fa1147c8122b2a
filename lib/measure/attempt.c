#include "lib/measure/attempt.h"

#include <math.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/measure/ask.h"
#include "lib/measure/group.h"

/* ---- the worker's session ---- */

/* Makes data and the truth. An object of the reference that was damaged or is gone is built anew,
 * once. */
static int open_truth(struct measure *m, struct group *g, double until, enum status *status,
		      struct err *e)
{
	int rc = ask_open(m, g, until, status, e);

	if (rc == ASKED && *status == STATUS_UNLOADABLE) {
		rc = cache_rebuild(m->definitions, g->naive, e);
		if (rc == 0)
			rc = ask_open(m, g, until, status, e);
		if (rc == ASKED && *status == STATUS_UNLOADABLE)
			return err_set(e, "a reference just built does not load: %s",
				       m->worker.why);
	}
	return rc;
}

/* Opens the group in the worker, a new one if need be. Where the workload cannot be run, *status
 * says what happened. */
int attempt_open(struct measure *m, struct group *g, double until, enum status *status,
		 struct err *e)
{
	double start = clock_now();
	int rc = cache_wait(m->definitions, g->naive, e);

	if (rc)
		return rc;
	if (g->naive->state == BUILD_FAILED)
		return err_set(e, "the reference of %s %s does not build: %s", g->w.op->name,
			       g->w.prob, g->naive->why);
	m->opened = g;
	rc = open_truth(m, g, until, status, e);
	if (rc == ASKED_LATE)
		m->opened = NULL; /* the worker may still have another one */
	g->open_s += clock_now() - start;
	return rc;
}

/* The worker may have died since, or have had no need of this group yet. */
static int ensure_session(struct measure *m, struct group *g, double until, struct err *e)
{
	enum status status = STATUS_OK;
	int rc = m->worker.proc.pid && m->opened == g ? 0 : attempt_open(m, g, until, &status, e);

	if (rc == 0 && status != STATUS_OK) /* once it could be opened; now the machine cannot */
		return err_set(e, "cannot measure %s %s any more: %s", g->w.op->name, g->w.prob,
			       m->worker.why);
	return rc;
}

/* What the worker found. */
static void take_baseline(struct group *g, const struct json_doc *answer)
{
	struct group_baseline *b = &g->baseline;
	struct result r;

	result_read(&r, answer, &g->arena);
	b->impl = r.baseline.impl;
	b->layout = r.baseline.layout;
	b->error = r.baseline.error;
	b->rejected = r.rejected;
	b->why = r.baseline_why ? r.baseline_why : "";
	b->own_impl = r.baseline.own_layout.impl;
	if (b->impl && !b->own_impl && strcmp(b->layout, layout_name(g->w.layout)) != 0)
		b->own_impl_why = "the library has no implementation in this layout";
}

/* Finds the baseline of the finals. Candidates can be measured even if the library fails. */
int attempt_baseline(struct measure *m, struct group *g, struct err *e)
{
	struct group_baseline *b = &g->baseline;
	double start;
	int rc;

	if (b->looked)
		return 0;
	rc = ensure_session(m, g, m->until, e);
	start = clock_now();
	if (rc == 0)
		rc = ask_baseline(m, g, e);
	g->open_s += clock_now() - start;
	if (rc == ASKED_LATE)
		return 0;
	if (rc == ASKED_DEAD)
		b->why = arena_strdup(&g->arena, m->worker.why);
	if (rc == ASKED)
		take_baseline(g, &m->worker.answer);
	b->looked = 1;
	return rc == ASKED_DEAD ? 0 : rc;
}

/* ---- costs ---- */

void attempt_take_cost(struct build *b, struct item *it)
{
	it->build_s += b->seconds;
	it->build_core_s += b->cpu_s;
	b->seconds = b->cpu_s = 0;
}

/* The build is charged to the first candidate that wanted it, whatever came of it; that of the
 * reference to the first of all. */
void attempt_charge_build(struct group *g, struct item *it, struct counts *n)
{
	if (g->naive)
		attempt_take_cost(g->naive, it);
	if (!it->build || it->build->cached || it->build->seconds <= 0)
		return;
	attempt_take_cost(it->build, it);
	n->built += it->build->state == BUILD_DONE;
}

void attempt_charge_trial(struct measure *m, struct verdict *v, double run_s, double elapsed_s)
{
	if (isnan(run_s))
		run_s = 0;
	v->elapsed_s += elapsed_s;
	v->run_s += run_s;
	v->verify_s += elapsed_s - run_s;
	ledger_move(&m->ledger, COST_TIME, COST_VERIFY, (elapsed_s - run_s) * m->threads,
		    clock_now());
}

/* ---- trials ---- */

static enum status failed_build(const struct build *b)
{
	static const enum status of_fault[] = {[FAULT_SOURCE] = STATUS_BUILD,
					       [FAULT_LATE] = STATUS_TIMEOUT,
					       [FAULT_STARVED] = STATUS_OOM};

	return of_fault[b->fault];
}

/* A candidate that needs no run: it was refused or did not build. */
int attempt_settled(const struct item *it, struct verdict *v)
{
	if (!it->status && it->build->state != BUILD_FAILED)
		return 0;
	*v = (struct verdict){.arena = v->arena};
	result_clear(&v->said);
	v->said.status = it->status ? it->status : failed_build(it->build);
	v->said.why = it->status ? it->why : it->build->why;
	return 1;
}

/* Asks for a race, or a process of a final, and says what came of it: 0, ASKED_STOPPED, ASKED_LATE
 * or -1. */
static int try_item(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		    struct err *e)
{
	int rc = ensure_session(m, g, m->until, e);
	double start = clock_now();

	if (rc == 0)
		rc = v->pairs ? ask_final(m, g, it, v->pairs, v->limit_s, e)
			      : ask_race(m, g, it, v->incumbent,
					 v->incumbent && !m->rules.preempt ? ASK_WHOLE : 0,
					 COST_TIME, e);
	if (rc != ASKED && rc != ASKED_DEAD)
		return rc;
	if (ask_take(m, rc, v->arena, &v->said, e) < 0)
		return -1;
	attempt_charge_trial(m, v, v->said.cost.run_s, clock_now() - start);
	return 0;
}

static int rebuild(struct measure *m, struct item *it, struct item *incumbent, struct err *e)
{
	int rc = cache_rebuild(&m->cache, it->build, e);

	return rc || !incumbent ? rc : cache_rebuild(&m->cache, incumbent->build, e);
}

/* An object that does not load was damaged or is gone: it is built anew, once. */
int attempt_run(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		struct err *e)
{
	int rc = 0;

	for (int again = 0; again < 2; again++) {
		rc = try_item(m, g, it, v, e);
		if (rc == ASKED_LATE) {
			result_clear(&v->said);
			return 0;
		}
		if (rc || v->said.status != STATUS_UNLOADABLE)
			return rc;
		rc = rebuild(m, it, v->incumbent, e);
		if (rc || attempt_settled(it, v))
			return rc;
	}
	return err_set(e, "a kernel just built does not load: %s", v->said.why);
}

/* Failures in a row: is it the machine? */
int attempt_suspect(struct measure *m, struct group *g, int most, struct err *e)
{
	int rc;

	if (m->nheld <= most)
		return 0;
	rc = ensure_session(m, g, INFINITY, e);
	if (rc == 0)
		rc = ask_canary(m, g, e);
	if (rc == 0 && status_answered(&m->worker.answer) == STATUS_UNLOADABLE) {
		rc = cache_rebuild(m->definitions, g->naive, e);
		if (rc == 0)
			rc = ask_canary(m, g, e);
	}
	return rc ? rc : result_release(m, e);
}
