#include "lib/measure/races.h"

#include <math.h>

#include "lib/io/clock.h"
#include "lib/measure/ask.h"
#include "lib/measure/attempt.h"
#include "lib/measure/group.h"
#include "lib/measure/pause.h"
#include "lib/measure/span.h"

enum { MAX_SUSPECTS = 2 }; /* failures in a row that go without a look at the machine */

static int died(const struct verdict *v)
{
	return v->said.status == STATUS_CRASH || v->said.status == STATUS_OOM;
}

/* One with another, or alone (NULL): what becomes of it, added to what was spent. */
static int run_with(struct measure *m, struct group *g, struct item *it, struct item *incumbent,
		    struct verdict *v, struct err *e)
{
	*v = (struct verdict){.arena = v->arena,
			      .incumbent = incumbent,
			      .elapsed_s = v->elapsed_s,
			      .verify_s = v->verify_s,
			      .run_s = v->run_s};
	return attempt_run(m, g, it, v, e);
}

/* A race. If the process dies, either of the two may be at fault. An incumbent that dies beside
 * itself, too, is no incumbent. Otherwise the candidate shows alone what it does, and the incumbent
 * stays. */
static int run_race(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		    struct err *e)
{
	struct item *incumbent = v->incumbent;
	int rc = attempt_run(m, g, it, v, e), dies;

	if (rc || !incumbent || !died(v))
		return rc;
	rc = run_with(m, g, incumbent, incumbent, v, e);
	if (rc)
		return rc;
	dies = died(v);
	rc = run_with(m, g, it, NULL, v, e);
	v->incumbent_stays = !dies;
	return rc;
}

/* ---- races ---- */

/* A second duel of a candidate with v->incumbent, in a new process. */
static int duel_again(struct measure *m, struct group *g, const struct item *it, int how,
		      enum cost purpose, const struct verdict *v, struct result *out, struct err *e)
{
	int rc = ask_race(m, g, it, v->incumbent, how | ASK_APART, purpose, e);

	if (rc != ASKED && rc != ASKED_DEAD)
		return rc;
	return ask_take(m, rc, v->arena, out, e);
}

/* A candidate that has lost may win yet. */
static int audit(struct measure *m, struct group *g, const struct item *it, struct contest *c,
		 struct verdict *v, struct err *e)
{
	double start = clock_now();
	struct result s;
	int rc = duel_again(m, g, it, ASK_WHOLE, COST_AUDIT, v, &s, e), won;

	v->audit_s = clock_now() - start;
	v->elapsed_s += v->audit_s;
	if (rc == ASKED_LATE)
		return 0;
	if (rc || !status_is_timed(s.status))
		return rc;
	won = s.duel.end == RESULT_WON;
	contest_audited(c, won);
	v->said.audit = (struct result_audit){1, s.duel.ratio, s.duel.ci, won};
	return 0;
}

/* A candidate that is wrong in any process is wrong. */
static void turn_wrong(struct verdict *v, const struct result *second)
{
	result_clear(&v->said);
	v->said.status = second->status;
	v->said.why =
		arena_printf(v->arena, "right in one process, wrong in the next: %s", second->why);
}

/* A candidate that has won has to be ahead in another process, too, unless its win was clear: where
 * memory came to lie there may have won the first. */
static int confirm(struct measure *m, struct group *g, const struct item *it, struct verdict *v,
		   struct err *e)
{
	double start = clock_now();
	struct result s;
	int rc = duel_again(m, g, it, 0, COST_TIME, v, &s, e), timed;

	timed = rc == 0 && status_is_timed(s.status);
	attempt_charge_trial(m, v, timed ? s.cost.run_s : NAN, clock_now() - start);
	if (rc == ASKED_LATE) {
		result_clear(&v->said); /* half of it is nothing */
		return 0;
	}
	if (rc)
		return rc;
	if (s.status == STATUS_WRONG)
		turn_wrong(v, &s);
	else if (timed)
		v->said.again =
			(struct result_again){1, s.duel.ratio, s.duel.ci, NULL, s.duel.ratio > 1};
	else
		v->said.again = (struct result_again){1, NAN, {NAN, NAN}, status_name(s.status), 0};
	return 0;
}

/* Finds the incumbent for the next race, with its kernel. NULL: there is none, or it does not build
 * here. */
static int ready_incumbent(struct measure *m, struct group *g, const struct contest *c,
			   struct item *it, struct item **out, struct err *e)
{
	struct item *incumbent = c->incumbent ? c->incumbent->owner : NULL;
	int rc;

	*out = NULL;
	if (!incumbent)
		return 0;
	rc = group_kernel(m, g, incumbent, e);
	if (rc == 0)
		rc = cache_wait(&m->cache, NULL, e);
	if (rc || incumbent->status || incumbent->build->state == BUILD_FAILED)
		return rc;
	attempt_take_cost(incumbent->build, it);
	*out = incumbent;
	return 0;
}

static int has_won(const struct verdict *v)
{
	return v->said.status == STATUS_OK && v->incumbent && v->said.duel.end == RESULT_WON;
}

/* It needed no new pairs (lib/trial/duel.h). */
static int has_won_clearly(const struct verdict *v)
{
	return has_won(v) && !v->said.duel.first.is_there;
}

/* Enters the outcome of a race into the contest, and notes if the item is the incumbent now. */
static void enter(struct contest *c, struct item *it, struct verdict *v)
{
	int ok = v->said.status == STATUS_OK, alone = ok && !v->incumbent && !v->incumbent_stays;
	const double ratio = v->said.duel.ratio;
	const struct contest_end end = {.status = v->said.status,
					.won = alone || has_won_clearly(v) ||
					       (has_won(v) && v->said.again.ahead),
					.ratio = isnan(ratio) ? 0 : ratio};

	if (alone)
		c->incumbent =
			NULL; /* there is none, or it does not build here, or its process dies */
	v->becomes_incumbent = contest_raced(c, &it->in, &end) && !c->is_fixed;
}

/* The race and, where its end asks for one, a second duel. */
static int race_and_look_again(struct measure *m, struct group *g, struct item *it,
			       struct contest *c, struct verdict *v, struct err *e)
{
	int rc = ready_incumbent(m, g, c, it, &v->incumbent, e);

	if (rc == 0)
		rc = run_race(m, g, it, v, e);
	if (rc)
		return rc;
	if (has_won(v) && !c->is_fixed && !has_won_clearly(v))
		return confirm(m, g, it, v, e);
	if (v->said.status == STATUS_PREEMPTED &&
	    contest_audits(m->rules.audit, m->rules.seed, &it->id))
		return audit(m, g, it, c, v, e);
	return 0;
}

static void skip(struct measure *m, struct group *g)
{
	g->skipped++;
	m->skipped++;
}

static int race_item(struct measure *m, struct group *g, struct item *it, struct contest *c,
		     struct err *e)
{
	struct verdict v = {.arena = &m->trial};
	int rc = 0;

	arena_reset(&m->trial);
	attempt_charge_build(g, it, &c->n);
	if (!attempt_settled(it, &v))
		rc = race_and_look_again(m, g, it, c, &v, e);
	if (rc == 0 && !v.said.status) { /* it had no time */
		m->timed--;
		skip(m, g);
		return 0;
	}
	if (rc == 0) {
		enter(c, it, &v);
		if (v.becomes_incumbent && v.incumbent)
			standing_better(&m->standing, &g->ahead, v.said.duel.ratio);
		rc = result_put(m, g, it, &v, e);
	}
	return rc ? rc : attempt_suspect(m, g, MAX_SUSPECTS, e);
}

/* The result of an earlier run, passed on as it was. */
static int pass_item(struct measure *m, struct item *it, struct contest *c, struct err *e)
{
	const struct known_result *r = it->known.result;

	contest_known(c, &it->in, r->became_incumbent);
	return rec_put(m->out, r->line, r->n, e);
}

/* The workload itself cannot be run here (no memory, no end): every candidate shares its fate. */
static int give_up(struct measure *m, struct group *g, enum status status, struct contest *c,
		   struct err *e)
{
	const struct contest_end end = {status, 0, 0};
	struct verdict v = {0};

	result_clear(&v.said);
	v.said.status = status;
	v.said.why = m->worker.why;
	for (struct item *it = g->first; it; it = it->next) {
		if (it->known.result) {
			if (pass_item(m, it, c, e) < 0)
				return -1;
			continue;
		}
		attempt_charge_build(g, it, &c->n);
		contest_raced(c, &it->in, &end);
		if (result_put(m, g, it, &v, e) < 0)
			return -1;
	}
	return result_release(m, e); /* all of one cause, that is known */
}

/* Whether the group has had its time: what is begun ends, but no other race begins. */
static int is_over(const struct measure *m, const struct group *g)
{
	return clock_now() >= fmin(g->until, m->until);
}

static int run_races(struct measure *m, struct group *g, struct contest *c, struct err *e)
{
	int rc = 0;

	for (struct item *it = g->first; it && rc == 0; it = it->next) {
		if (rec_reader_gone(m->out))
			return err_set(e, "the reader of the results is gone");
		if (!it->known.result && is_over(m, g)) {
			skip(m, g);
			continue;
		}
		if (!it->known.result && (rc = pause_for_others(m, e)))
			return rc;
		m->timed++;
		standing_next(&m->standing, &g->w);
		rc = it->known.result ? pass_item(m, it, c, e) : race_item(m, g, it, c, e);
	}
	return rc ? rc : attempt_suspect(m, g, 0, e);
}

static int run_items(struct measure *m, struct group *g, struct err *e)
{
	enum status status = STATUS_OK;
	int rc = 0;

	g->until = span_share(clock_now(), m->races_until, g->n - g->nknown,
			      m->total - m->timed - m->skipped);
	/* Else no candidate makes a program, or none has time. */
	if (g->nknown < g->n && g->naive && !is_over(m, g))
		rc = attempt_open(m, g, m->until, &status, e);
	if (rc == ASKED_LATE)
		rc = 0; /* and no race begins */
	else if (rc == 0 && status != STATUS_OK)
		return give_up(m, g, status, &g->contest, e);
	return rc ? rc : run_races(m, g, &g->contest, e);
}

/* The best of the group gets a final, unless it has had one. */
static int choose_finalist(struct measure *m, struct group *g, struct err *e)
{
	struct item *it = g->contest.best ? g->contest.best->owner : NULL;

	if (!it || !m->rules.finals || (it == g->first_incumbent && g->first_had_final))
		return 0;
	if (it->known.final)
		return rec_put(m->out, it->known.final->line, it->known.final->n, e);
	g->finalist = it;
	return 0;
}

int races_run(struct measure *m, struct group *g, struct err *e)
{
	int rc;

	contest_begin(&g->contest, g->first_incumbent ? &g->first_incumbent->in : NULL,
		      !m->rules.preempt);
	if (g->record && rec_put(m->out, g->record, g->record_n, e) < 0)
		return -1;
	rc = run_items(m, g, e);
	if (rc == 0)
		rc = choose_finalist(m, g, e);
	if (rc == 0 && !g->cut && (g->n || g->end || g->finalist))
		rc = result_put_end(m, g, &g->contest.n, e);
	return rc;
}
