#include "lib/measure/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/progress.h"
#include "lib/measure/ask.h"
#include "lib/measure/result.h"
#include "lib/nest/nest.h"
#include "lib/target/c.h"
#include "lib/target/cpu.h"

/* A finalist may be this much slower than the best. */
static const double FINAL_FACTOR = 1.05;

enum { MAX_SUSPECTS = 2 }; /* failures in a row that go without a look at the machine */

void group_init(struct group *g, const struct workload *w)
{
	memset(g, 0, sizeof *g);
	g->w = *w;
	g->last = &g->first;
}

void group_free(struct group *g)
{
	arena_free(&g->arena);
}

/* ---- taking candidates in ---- */

static struct build *add_nest(struct measure *m, const struct nest *n, struct err *e)
{
	struct buf text = BUF_INIT;
	struct build *b;

	c_print(n, &text);
	b = cache_add(&m->cache, text.s, text.n, e);
	buf_free(&text);
	return b;
}

static int add_naive(struct measure *m, struct group *g, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct nest n;
	int rc;

	nest_init(&n, &a, "naive");
	rc = g->w.op->naive(&g->w, 1, &n, e);
	if (rc == 0)
		rc = (g->naive = add_nest(m, &n, e)) ? 0 : -1;
	arena_free(&a);
	return rc;
}

static const char *unsupported(const struct measure *m, const struct candidate *c, struct arena *a)
{
	const char *why = NULL;

	if (!c->algo->valid(&c->w, c->knob, &why))
		return why;
	if (c->knob[0] > m->env.limits.lanes && !strcmp(c->algo->knob[0].name, "vl"))
		return arena_printf(a, "vectors of %lld lanes, but %s has %d",
				    (long long)c->knob[0], m->env.limits.isa, m->env.limits.lanes);
	return NULL;
}

int group_add(struct measure *m, struct group *g, const struct candidate *c, const char *line,
	      size_t n, struct err *e)
{
	struct item *it = arena_new(&g->arena, struct item);
	struct arena a = ARENA_INIT;
	struct err why = ERR_INIT;
	struct nest nest;
	int rc = 0;

	if (!g->naive && add_naive(m, g, e) < 0)
		return -1;
	it->line = arena_strndup(&g->arena, line, n);
	it->n = n;
	it->id = c->id;
	*g->last = it;
	g->last = &it->next;
	g->n++;
	m->total++;
	it->why = unsupported(m, c, &g->arena);
	if (it->why) {
		it->status = "unsupported";
		return 0;
	}
	nest_init(&nest, &a, "kernel");
	if (c->algo->build(&c->w, c->knob, &nest, &why) < 0) {
		it->status = "unsupported";
		it->why = arena_strdup(&g->arena, why.msg);
	} else {
		it->build = add_nest(m, &nest, e);
		rc = it->build ? 0 : -1;
	}
	arena_free(&a);
	return rc;
}

/* ---- the stages ---- */

static void keep_opponent(struct buf *out, double *latency_s, const struct json_doc *d,
			  const char *key)
{
	const struct json *v = json_get(d, d->tok, key);
	double t = 0;

	buf_clear(out);
	if (!v)
		return;
	buf_add(out, v->s, v->n);
	json_num(json_get(d, v, "latency_s"), &t);
	*latency_s += t;
}

/* Makes data and the truth. An object of the reference that was damaged or is gone is built anew,
 * once. */
static int open_truth(struct measure *m, struct group *g, const char **status, struct err *e)
{
	int rc = ask_open(m, g, status, e);

	if (rc == ASKED && *status && !strcmp(*status, "unloadable")) {
		rc = cache_again(&m->cache, g->naive, e);
		if (rc == 0)
			rc = cache_wait(&m->cache, g->naive, e);
		if (rc == 0)
			rc = ask_open(m, g, status, e);
		if (rc == ASKED && *status && !strcmp(*status, "unloadable"))
			return err_set(e, "a reference just built does not load: %s",
				       m->worker.why);
	}
	return rc;
}

/* Opens the group in the worker, a new one if need be, and has the library timed: a new session
 * knows nothing of the one before it. Candidates can be measured beside a library that fails. Where
 * the workload cannot be run, *status says what happened. */
static int open_session(struct measure *m, struct group *g, struct opponents *b,
			const char **status, struct err *e)
{
	double start = clock_now();
	int rc = open_truth(m, g, status, e);

	if (rc == ASKED && !*status) {
		rc = ask_baseline(m, g, e);
		b->latency_s = 0;
		if (rc == ASKED) {
			keep_opponent(&b->json, &b->latency_s, &m->worker.answer, "baseline");
			keep_opponent(&b->direct, &b->latency_s, &m->worker.answer, "direct");
			snprintf(b->why, sizeof b->why, "%s", answer_text(m, g, "why"));
		} else if (rc == ASKED_DEAD) {
			snprintf(b->why, sizeof b->why, "%s", m->worker.why);
			buf_clear(&b->json);
			buf_str(&b->json, "null");
			buf_clear(&b->direct);
			rc = open_truth(m, g, status, e);
		}
	}
	b->open_s += clock_now() - start;
	return rc;
}

/* The worker may have died since: a new one is opened likewise. */
static int ensure_session(struct measure *m, struct group *g, struct opponents *b, struct err *e)
{
	const char *status = NULL;
	int rc = m->worker.proc.pid ? 0 : open_session(m, g, b, &status, e);

	if (rc == 0 && status) /* once it could be opened; now the machine cannot */
		return err_set(e, "cannot measure %s %s any more: %s", g->w.op->name, g->w.prob,
			       m->worker.why);
	return rc;
}

/* The build is charged to the first candidate that wanted it, whatever came of it. */
static void charge_build(struct item *it, struct counts *n)
{
	if (!it->build || it->build->cached || it->build->seconds <= 0)
		return;
	it->build_s = it->build->seconds;
	it->build->seconds = 0;
	n->built += it->build->state == BUILD_DONE;
}

/* A candidate that needs no run: it was refused or did not build. */
static int settled(const struct item *it, struct verdict *v)
{
	if (it->status)
		*v = (struct verdict){.status = it->status, .why = it->why};
	else if (it->build->state == BUILD_FAILED)
		*v = (struct verdict){.status = it->build->late ? "timeout" : "build",
				      .why = it->build->why};
	return v->status != NULL;
}

static void judge(struct measure *m, struct group *g, int rc, double elapsed_s, struct verdict *v)
{
	v->elapsed_s = elapsed_s;
	if (rc == ASKED_DEAD) {
		v->status = m->died;
		v->why = m->worker.why;
	} else {
		v->status = answer_text(m, g, "status");
		v->why = answer_text(m, g, "why");
		v->answer = &m->worker.answer;
	}
}

/* Runs a candidate's race or final and says what came of it: 0, ASKED_STOPPED or -1. An object that
 * does not load was damaged or is gone: it is built anew, once. */
static int run_item(struct measure *m, struct group *g, struct item *it, struct opponents *b,
		    int final, double limit_s, struct verdict *v, struct err *e)
{
	/* In a final the opponents take their turns, too. */
	const double timeout_s = m->rules.timeout_s + (final ? 40 * b->latency_s : 0);
	int rc = 0;

	*v = (struct verdict){.final = final, .limit_s = limit_s};
	for (int again = 0; again < 2; again++) {
		double start;

		rc = ensure_session(m, g, b, e);
		start = clock_now();
		if (rc == 0)
			rc = ask_candidate(m, g, it, final, limit_s, timeout_s, e);
		if (rc != ASKED && rc != ASKED_DEAD)
			return rc;
		judge(m, g, rc, clock_now() - start, v);
		if (strcmp(v->status, "unloadable") != 0)
			return 0;
		rc = cache_again(&m->cache, it->build, e);
		if (rc == 0)
			rc = cache_wait(&m->cache, it->build, e);
		if (rc)
			return rc;
	}
	return err_set(e, "a kernel just built does not load: %s", v->why);
}

/* Failures in a row: is it the machine? */
static int suspect(struct measure *m, struct group *g, int most, struct opponents *b, struct err *e)
{
	int rc;

	if (m->nheld <= most)
		return 0;
	rc = ensure_session(m, g, b, e);
	if (rc == 0)
		rc = ask_canary(m, g, e);
	return rc ? rc : result_release(m, e);
}

static int race_item(struct measure *m, struct group *g, struct item *it, double *best,
		     struct opponents *b, struct counts *n, struct err *e)
{
	struct verdict v = {0};
	int rc, ok, preempted;

	charge_build(it, n);
	if (!settled(it, &v)) {
		rc = run_item(m, g, it, b, 0, m->rules.preempt ? *best : 0, &v, e);
		if (rc)
			return rc;
	}
	ok = !strcmp(v.status, "ok");
	preempted = !strcmp(v.status, "preempted");
	if (ok) {
		it->ok = 1;
		it->latency_s = result_number(v.answer, "latency_s");
	}
	if (preempted && result_number(v.answer, "audit_latency_s") > 0) {
		n->audited++;
		n->false_kills += result_number(v.answer, "audit_latency_s") < *best;
	}
	if (ok && (*best <= 0 || it->latency_s < *best))
		*best = it->latency_s;
	n->measured += ok;
	n->preempted += preempted;
	n->failed += !ok && !preempted;
	rc = result_put(m, it, &v, b, e);
	return rc ? rc : suspect(m, g, MAX_SUSPECTS, b, e);
}

/* The fastest candidate of the race that has had no final yet. */
static struct item *next_finalist(const struct group *g)
{
	struct item *best = NULL;

	for (struct item *it = g->first; it; it = it->next)
		if (it->ok && !it->final && (!best || it->latency_s < best->latency_s))
			best = it;
	return best;
}

static int finals(struct measure *m, struct group *g, double best, struct opponents *b,
		  struct err *e)
{
	struct item *it;
	int rc = 0;

	for (int64_t i = 0; i < m->rules.finals && (it = next_finalist(g)) && rc == 0; i++) {
		struct verdict v = {0};

		/* Clearly behind the best of the race, or of an earlier round: not worth a final.
		 */
		if (it->latency_s > FINAL_FACTOR * best)
			break;
		it->final = 1;
		rc = run_item(m, g, it, b, 1, 0, &v, e);
		if (rc == 0)
			rc = result_put(m, it, &v, b, e);
	}
	return rc;
}

/* The workload itself cannot be run here (no memory, no end): every candidate shares its fate. */
static int give_up(struct measure *m, struct group *g, const char *status, struct opponents *b,
		   struct counts *n, struct err *e)
{
	struct verdict v = {.status = status, .why = m->worker.why};

	if (!b->json.n) {
		buf_str(&b->json, "null");
		snprintf(b->why, sizeof b->why, "the workload cannot be run here");
	}
	for (struct item *it = g->first; it; it = it->next, n->failed++) {
		charge_build(it, n);
		if (result_put(m, it, &v, b, e) < 0)
			return -1;
	}
	return result_release(m, e); /* all of one cause, that is known */
}

static int run_items(struct measure *m, struct group *g, struct opponents *b, struct counts *n,
		     struct err *e)
{
	double best = g->incumbent_s;
	const char *status = NULL;
	int rc;

	if (g->naive->state == BUILD_FAILED)
		return err_set(e, "the reference of %s %s does not build: %s", g->w.op->name,
			       g->w.prob, g->naive->why);
	rc = open_session(m, g, b, &status, e);
	if (rc == 0 && status)
		return give_up(m, g, status, b, n, e);
	for (struct item *it = g->first; it && rc == 0; it = it->next) {
		if (rec_reader_gone(m->out))
			return err_set(e, "the reader of the results is gone");
		progress_set("measure %lld/%lld  %s %s", (long long)++m->timed, (long long)m->total,
			     g->w.op->name, g->w.prob);
		rc = race_item(m, g, it, &best, b, n, e);
	}
	if (rc == 0)
		rc = suspect(m, g, 0, b, e);
	if (rc == 0)
		rc = finals(m, g, best, b, e);
	return rc ? rc : suspect(m, g, 0, b, e);
}

int group_run(struct measure *m, struct group *g, struct err *e)
{
	struct opponents b = {.json = BUF_INIT, .direct = BUF_INIT};
	struct counts n = {0};
	int rc = 0;

	if (g->record && rec_put(m->out, g->record, g->record_n, e) < 0)
		return -1;
	if (g->n)
		rc = run_items(m, g, &b, &n, e);
	if (rc == 0 && !g->cut && (g->n || g->end))
		rc = result_put_end(m, g, &n, e);
	buf_free(&b.json);
	buf_free(&b.direct);
	/* Between groups nothing is timed: let the next program work now. */
	if (rec_flush(m->out, rc < 0 ? NULL : e) < 0)
		return -1;
	return rc;
}
