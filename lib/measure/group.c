#include "lib/measure/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/progress.h"
#include "lib/measure/ask.h"
#include "lib/measure/result.h"
#include "lib/nest/nest.h"
#include "lib/target/cpu.h"

enum { MAX_SUSPECTS = 2 }; /* failures in a row that go without a look at the machine */

void group_init(struct group *g, const struct workload *w)
{
	memset(g, 0, sizeof *g);
	g->w = *w;
	g->last = &g->first;
	for (int i = 0; i < ENTRANTS; i++)
		g->outcome[i] = (struct json_doc)JSON_DOC_INIT;
}

void group_free(struct group *g)
{
	arena_free(&g->arena);
	for (int i = 0; i < ENTRANTS; i++)
		json_free(&g->outcome[i]);
}

/* ---- taking candidates in ---- */

static struct build *add_nest(struct measure *m, const struct nest *n)
{
	struct buf text = BUF_INIT;
	struct build *b;

	cpu_print(n, &text);
	b = cache_add(&m->cache, text.s, text.n);
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
		g->naive = add_nest(m, &n);
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

/* Starts the build of a candidate's kernel, or settles that it has none. */
static int add_kernel(struct measure *m, struct group *g, struct item *it,
		      const struct candidate *c, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct err why = ERR_INIT;
	struct nest nest;
	int rc = 0;

	if (!g->naive && add_naive(m, g, e) < 0)
		return -1;
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
		it->build = add_nest(m, &nest);
	}
	arena_free(&a);
	return rc;
}

/* What candidates before this one came to, known or not, can only make the incumbent faster: what
 * is known to have lost by now has lost. */
static int look_up(struct measure *m, struct group *g, struct item *it, struct err *e)
{
	const struct known_result *r;
	int rc = known_find(m->known, g->w.id.s, it->id.s, g->known_s, &g->arena, &it->known, e);

	if (rc <= 0)
		return rc;
	g->nknown++;
	r = it->known.result;
	if (!strcmp(r->status, "ok") && (g->known_s <= 0 || r->latency_s < g->known_s))
		g->known_s = r->latency_s;
	return 0;
}

int group_add(struct measure *m, struct group *g, const struct candidate *c, const char *line,
	      size_t n, struct err *e)
{
	struct item *it = arena_new(&g->arena, struct item);

	it->line = arena_strndup(&g->arena, line, n);
	it->n = n;
	it->id = c->id;
	it->in.who = it;
	*g->last = it;
	g->last = &it->next;
	if (!g->n++)
		g->known_s = g->incumbent_s;
	m->total++;
	if (m->known && look_up(m, g, it, e) < 0)
		return -1;
	return it->known.result ? 0 : add_kernel(m, g, it, c, e);
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
		rc = cache_rebuild(&m->cache, g->naive, e);
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
	int rc;

	if (g->naive->state == BUILD_FAILED)
		return err_set(e, "the reference of %s %s does not build: %s", g->w.op->name,
			       g->w.prob, g->naive->why);
	b->open = 1;
	rc = open_truth(m, g, status, e);
	if (rc == ASKED && !*status) {
		rc = ask_baseline(m, g, e);
		b->latency_s = 0;
		if (rc == ASKED) {
			keep_opponent(&b->json, &b->latency_s, &m->worker.answer, "baseline");
			keep_opponent(&b->direct, &b->latency_s, &m->worker.answer, "direct");
			snprintf(b->why, sizeof b->why, "%s",
				 answer_text(&m->worker.answer, g, "why"));
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

/* The worker may have died since, or have had no need of this group yet. */
static int ensure_session(struct measure *m, struct group *g, struct opponents *b, struct err *e)
{
	const char *status = NULL;
	int rc = m->worker.proc.pid && b->open ? 0 : open_session(m, g, b, &status, e);

	if (rc == 0 && status) /* once it could be opened; now the machine cannot */
		return err_set(e, "cannot measure %s %s any more: %s", g->w.op->name, g->w.prob,
			       m->worker.why);
	return rc;
}

static void take_cost(struct build *b, struct item *it)
{
	it->build_s += b->seconds;
	it->build_core_s += b->cpu_s;
	b->seconds = b->cpu_s = 0;
}

/* The build is charged to the first candidate that wanted it, whatever came of it; that of the
 * reference to the first of all. */
static void charge_build(struct group *g, struct item *it, struct counts *n)
{
	if (g->naive)
		take_cost(g->naive, it);
	if (!it->build || it->build->cached || it->build->seconds <= 0)
		return;
	take_cost(it->build, it);
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

/* Whatever of a trial is not timing is verifying: a process, its data, the comparison. */
static void charge_trial(struct measure *m, struct verdict *v)
{
	const double cores = m->env.limits.threads, now = clock_now();

	v->run_s = result_number(v->answer, "run_s");
	v->audit_s = result_number(v->answer, "audit_s");
	v->verify_s = v->elapsed_s - v->run_s - v->audit_s;
	ledger_move(&m->ledger, COST_TIME, COST_VERIFY, v->verify_s * cores, now);
	ledger_move(&m->ledger, COST_TIME, COST_AUDIT, v->audit_s * cores, now);
}

static void judge_answer(struct measure *m, struct group *g, const struct json_doc *answer,
			 struct verdict *v)
{
	v->status = answer_text(answer, g, "status");
	v->why = answer_text(answer, g, "why");
	v->answer = answer;
	charge_trial(m, v);
}

/* The process is gone, and the worker perhaps with it. */
static void judge_death(struct measure *m, struct group *g, int rc, struct verdict *v)
{
	v->status = rc == ASKED_DEAD ? m->died : answer_text(&m->worker.answer, g, "status");
	v->why = rc == ASKED_DEAD ? m->worker.why : answer_text(&m->worker.answer, g, "why");
	v->answer = NULL;
	charge_trial(m, v);
}

/* What became of n finalists: how many have an outcome. */
static int take_outcomes(const struct measure *m, struct group *g, struct err *e)
{
	const struct json_doc *d = &m->worker.answer;
	const struct json *all = json_get(d, d->tok, "outcomes");
	int n = 0;

	for (const struct json *v = all ? json_first(d, all) : NULL; v && n < ENTRANTS;
	     v = json_next(d, all, v))
		if (json_parse(&g->outcome[n++], v->s, v->n, e) < 0)
			return -1;
	return n;
}

/* Asks for a candidate's race or final, and says what came of it: 0, ASKED_STOPPED or -1. */
static int try_item(struct measure *m, struct group *g, struct item *it, struct opponents *b,
		    struct verdict *v, struct err *e)
{
	int rc = ensure_session(m, g, b, e), n = 0;
	double start = clock_now();

	if (rc == 0)
		rc = v->final ? ask_finals(m, g, &it, 1, b->latency_s, e)
			      : ask_race(m, g, it, v->limit_s, e);
	if (rc != ASKED && rc != ASKED_DEAD)
		return rc;
	v->elapsed_s = clock_now() - start;
	if (rc == ASKED && v->final && (n = take_outcomes(m, g, e)) < 0)
		return -1;
	if (rc == ASKED && (!v->final || n == 1))
		judge_answer(m, g, v->final ? g->outcome : &m->worker.answer, v);
	else
		judge_death(m, g, rc, v);
	return 0;
}

/* An object that does not load was damaged or is gone: it is built anew, once. */
static int run_item(struct measure *m, struct group *g, struct item *it, struct opponents *b,
		    struct verdict *v, struct err *e)
{
	int rc = 0;

	for (int again = 0; again < 2; again++) {
		rc = try_item(m, g, it, b, v, e);
		if (rc || strcmp(v->status, "unloadable") != 0)
			return rc;
		rc = cache_rebuild(&m->cache, it->build, e);
		v->status = NULL;
		if (rc || settled(it, v))
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

static int race_item(struct measure *m, struct group *g, struct item *it, struct contest *c,
		     struct opponents *b, struct err *e)
{
	struct verdict v = {.limit_s = contest_limit(c)};
	int rc;

	charge_build(g, it, &c->n);
	if (!settled(it, &v)) {
		rc = run_item(m, g, it, b, &v, e);
		if (rc)
			return rc;
	}
	contest_raced(c, &it->in, v.status, result_number(v.answer, "latency_s"),
		      result_number(v.answer, "audit_latency_s"));
	rc = result_put(m, it, &v, b, e);
	return rc ? rc : suspect(m, g, MAX_SUSPECTS, b, e);
}

/* The result of an earlier run, passed on as it was. */
static int pass_item(struct measure *m, struct item *it, struct contest *c, struct err *e)
{
	const struct known_result *r = it->known.result;

	contest_known(c, &it->in, r->status, r->latency_s);
	return rec_put(m->out, r->line, r->n, e);
}

/* The kernel of a candidate whose race was known, but not its final. */
static int late_kernel(struct measure *m, struct group *g, struct item *it, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	struct candidate c;
	int rc = json_parse(&d, it->line, it->n, e);

	if (rc == 0)
		rc = candidate_from_json(&c, &d, 1, e);
	if (rc == 0)
		rc = add_kernel(m, g, it, &c, e);
	json_free(&d);
	return rc ? rc : cache_wait(&m->cache, NULL, e);
}

/* Those whose kernels take turns in one process. */
struct heat {
	struct item *it[ENTRANTS];
	int n;
};

/* A finalist comes into the heat, unless its final is known or it has no kernel any more. */
static int enter_final(struct measure *m, struct group *g, struct item *it, struct opponents *b,
		       struct contest *c, struct heat *h, struct err *e)
{
	struct verdict v = {.final = 1};
	int rc = 0;

	if (it->known.final)
		return rec_put(m->out, it->known.final->line, it->known.final->n, e);
	if (it->known.result)
		rc = late_kernel(m, g, it, e);
	if (rc)
		return rc;
	charge_build(g, it, &c->n);
	if (settled(it, &v))
		return result_put(m, it, &v, b, e);
	h->it[h->n++] = it;
	return 0;
}

/* All of the heat in turns. If one of them ends the process, or has no kernel that loads, nothing
 * is written and *apart is set: then each has to show alone what it does. */
static int run_together(struct measure *m, struct group *g, const struct heat *h,
			struct opponents *b, int *apart, struct err *e)
{
	int rc = ensure_session(m, g, b, e), n;
	double start = clock_now(), elapsed_s;

	if (rc == 0)
		rc = ask_finals(m, g, h->it, h->n, b->latency_s, e);
	elapsed_s = clock_now() - start;
	*apart = rc == ASKED_DEAD;
	if (rc != ASKED)
		return rc == ASKED_DEAD ? 0 : rc;
	n = take_outcomes(m, g, e);
	if (n < 0)
		return -1;
	*apart = n != h->n;
	for (int i = 0; i < n; i++)
		*apart |= !strcmp(answer_text(&g->outcome[i], g, "status"), "unloadable");
	for (int i = 0; i < n && rc == 0 && !*apart; i++) {
		struct verdict v = {.final = 1, .elapsed_s = elapsed_s / n};

		judge_answer(m, g, &g->outcome[i], &v);
		rc = result_put(m, h->it[i], &v, b, e);
	}
	return rc;
}

static int run_heat(struct measure *m, struct group *g, struct heat *h, struct opponents *b,
		    struct err *e)
{
	int apart = h->n == 1, rc = 0;

	if (h->n > 1)
		rc = run_together(m, g, h, b, &apart, e);
	for (int i = 0; i < h->n && rc == 0 && apart; i++) {
		struct verdict v = {.final = 1};

		rc = run_item(m, g, h->it[i], b, &v, e);
		if (rc == 0)
			rc = result_put(m, h->it[i], &v, b, e);
	}
	h->n = 0;
	return rc;
}

static int finals(struct measure *m, struct group *g, struct contest *c, struct opponents *b,
		  struct err *e)
{
	const struct contestant *in;
	struct heat h = {.n = 0};
	int rc = 0;

	while (rc == 0 && (in = contest_finalist(c))) {
		rc = enter_final(m, g, in->who, b, c, &h, e);
		if (rc == 0 && h.n == ENTRANTS)
			rc = run_heat(m, g, &h, b, e);
	}
	return rc || !h.n ? rc : run_heat(m, g, &h, b, e);
}

/* The workload itself cannot be run here (no memory, no end): every candidate shares its fate. */
static int give_up(struct measure *m, struct group *g, const char *status, struct opponents *b,
		   struct contest *c, struct err *e)
{
	struct verdict v = {.status = status, .why = m->worker.why};

	if (!b->json.n) {
		buf_str(&b->json, "null");
		snprintf(b->why, sizeof b->why, "the workload cannot be run here");
	}
	for (struct item *it = g->first; it; it = it->next) {
		if (it->known.result) {
			if (pass_item(m, it, c, e) < 0)
				return -1;
			continue;
		}
		charge_build(g, it, &c->n);
		contest_raced(c, &it->in, status, 0, 0);
		if (result_put(m, it, &v, b, e) < 0)
			return -1;
	}
	return result_release(m, e); /* all of one cause, that is known */
}

static int run_items(struct measure *m, struct group *g, struct opponents *b, struct contest *c,
		     struct err *e)
{
	const char *status = NULL;
	int rc = 0;

	if (g->nknown < g->n)
		rc = open_session(m, g, b, &status, e);
	if (rc == 0 && status)
		return give_up(m, g, status, b, c, e);
	for (struct item *it = g->first; it && rc == 0; it = it->next) {
		if (rec_reader_gone(m->out))
			return err_set(e, "the reader of the results is gone");
		progress_set("measure %lld/%lld  %s %s", (long long)++m->timed, (long long)m->total,
			     g->w.op->name, g->w.prob);
		rc = it->known.result ? pass_item(m, it, c, e) : race_item(m, g, it, c, b, e);
	}
	if (rc == 0)
		rc = suspect(m, g, 0, b, e);
	if (rc == 0)
		rc = finals(m, g, c, b, e);
	return rc ? rc : suspect(m, g, 0, b, e);
}

int group_run(struct measure *m, struct group *g, struct err *e)
{
	struct opponents b = {.json = BUF_INIT, .direct = BUF_INIT};
	struct contest c;
	int rc = 0;

	contest_begin(&c, g->incumbent_s, m->rules.preempt, m->rules.finals);
	if (g->record && rec_put(m->out, g->record, g->record_n, e) < 0)
		return -1;
	if (g->n)
		rc = run_items(m, g, &b, &c, e);
	if (rc == 0 && !g->cut && (g->n || g->end))
		rc = result_put_end(m, g, &c.n, e);
	buf_free(&b.json);
	buf_free(&b.direct);
	/* Between groups nothing is timed: let the next program work now. */
	if (rec_flush(m->out, rc < 0 ? NULL : e) < 0)
		return -1;
	return rc;
}
