#include "lib/measure/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/host/system.h"
#include "lib/io/clock.h"
#include "lib/io/progress.h"
#include "lib/measure/ask.h"
#include "lib/measure/final.h"
#include "lib/measure/result.h"
#include "lib/nest/nest.h"
#include "lib/target/cpu.h"

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

static int look_up(struct measure *m, struct group *g, struct item *it, struct err *e)
{
	int rc = known_find(m->known, g->w.id.s, it->id.s, &g->arena, &it->known, e);

	if (rc <= 0)
		return rc;
	g->nknown++;
	it->in.at = it->known.result->at;
	return 0;
}

static struct item *new_item(struct group *g, const struct id *id, const char *line, size_t n)
{
	struct item *it = arena_new(&g->arena, struct item);

	it->line = arena_strndup(&g->arena, line, n);
	it->n = n;
	it->id = *id;
	it->in.who = it;
	return it;
}

/* The candidate of an item, read anew from its line. */
static int read_candidate(const struct item *it, struct candidate *c, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	int rc = json_parse(&d, it->line, it->n, e);

	if (rc == 0)
		rc = candidate_from_json(c, &d, 1, e);
	json_free(&d);
	return rc;
}

/* The kernel of one that was not known to be needed. */
static int late_kernel(struct measure *m, struct group *g, struct item *it, struct err *e)
{
	struct candidate c;

	if (it->build || it->status)
		return 0;
	return read_candidate(it, &c, e) < 0 ? -1 : add_kernel(m, g, it, &c, e);
}

int group_add(struct measure *m, struct group *g, const struct candidate *c, const char *line,
	      size_t n, struct err *e)
{
	struct item *it = new_item(g, &c->id, line, n);

	*g->last = it;
	g->last = &it->next;
	g->n++;
	m->total++;
	if (m->known && look_up(m, g, it, e) < 0)
		return -1;
	if (it->known.result)
		return 0;
	if (g->incumbent && late_kernel(m, g, g->incumbent, e) < 0)
		return -1;
	return add_kernel(m, g, it, c, e);
}

int group_incumbent(struct group *g, const struct json_doc *d, const struct json *incumbent,
		    struct err *e)
{
	const struct json *algo = json_get(d, incumbent, "algo");
	const struct json *knobs = json_get(d, incumbent, "knobs");
	const struct json *id = json_get(d, incumbent, "candidate_id");
	const char *at = NULL;
	struct candidate c;
	struct buf line = BUF_INIT;
	struct item *it;
	int rc;

	if (!algo || !knobs || !id) /* as older programs wrote it */
		return 0;
	buf_fmt(&line, "{\"tl\":1,\"type\":\"candidate\",\"candidate_id\":\"%.*s\",\"workload\":{",
		(int)id->n, id->s);
	workload_fields(&g->w, &line);
	buf_fmt(&line, "},\"target\":\"cpu\",\"algo\":\"%.*s\",\"knobs\":", (int)algo->n, algo->s);
	buf_add(&line, knobs->s, knobs->n);
	buf_ch(&line, '}');
	it = new_item(g, &(struct id){""}, line.s, line.n);
	buf_free(&line);
	rc = read_candidate(it, &c, e);
	if (rc < 0)
		return -1;
	it->id = c.id;
	json_str(json_get(d, incumbent, "at"), &g->arena, &at);
	it->in.at = at ? at : "";
	json_bool(json_get(d, incumbent, "final"), &g->incumbent_final);
	g->incumbent = it;
	return 0;
}

void group_opponent(struct group *g, const struct json_doc *d, const struct json *opponent)
{
	struct opponent *b = &g->opponent;
	const char *system;

	if (!opponent || json_str(json_get(d, opponent, "system"), &g->arena, &system) < 0 ||
	    strcmp(system, system_name()) != 0 ||
	    json_str(json_get(d, opponent, "impl"), &g->arena, &b->impl) < 0 ||
	    json_str(json_get(d, opponent, "layout"), &g->arena, &b->layout) < 0)
		*b = (struct opponent){0};
	else
		b->looked = 1;
}

/* ---- the worker's session ---- */

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

/* Opens the group in the worker, a new one if need be. Where the workload cannot be run, *status
 * says what happened. */
static int open_session(struct measure *m, struct group *g, const char **status, struct err *e)
{
	double start = clock_now();
	int rc = cache_wait(&m->cache, g->naive, e);

	if (rc)
		return rc;
	if (g->naive->state == BUILD_FAILED)
		return err_set(e, "the reference of %s %s does not build: %s", g->w.op->name,
			       g->w.prob, g->naive->why);
	g->open = 1;
	rc = open_truth(m, g, status, e);
	g->open_s += clock_now() - start;
	return rc;
}

/* The worker may have died since, or have had no need of this group yet. */
static int ensure_session(struct measure *m, struct group *g, struct err *e)
{
	const char *status = NULL;
	int rc = m->worker.proc.pid && g->open ? 0 : open_session(m, g, &status, e);

	if (rc == 0 && status) /* once it could be opened; now the machine cannot */
		return err_set(e, "cannot measure %s %s any more: %s", g->w.op->name, g->w.prob,
			       m->worker.why);
	return rc;
}

/* The text of a member that is an object or a list, in the group's arena; NULL if it is not there.
 */
static const char *member(struct group *g, const struct json_doc *d, const struct json *obj,
			  const char *key)
{
	const struct json *v = json_get(d, obj, key);

	return v ? arena_strndup(&g->arena, v->s, v->n) : NULL;
}

/* Who the finals are against. Candidates can be measured beside a library that fails. */
static int find_opponent(struct measure *m, struct group *g, struct err *e)
{
	struct opponent *b = &g->opponent;
	const struct json_doc *d = &m->worker.answer;
	const struct json *best;
	double start;
	int rc;

	if (b->looked)
		return 0;
	rc = ensure_session(m, g, e);
	start = clock_now();
	if (rc == 0)
		rc = ask_library(m, g, e);
	g->open_s += clock_now() - start;
	if (rc == ASKED_DEAD)
		b->why = arena_strdup(&g->arena, m->worker.why);
	if (rc == ASKED) {
		best = json_get(d, d->tok, "baseline");
		json_str(json_get(d, best, "impl"), &g->arena, &b->impl);
		json_str(json_get(d, best, "layout"), &g->arena, &b->layout);
		b->error = member(g, d, best, "error");
		b->rejected = member(g, d, d->tok, "rejected");
		b->why = answer_text(d, g, "why");
	}
	b->looked = 1;
	return rc == ASKED_DEAD ? 0 : rc;
}

/* ---- costs ---- */

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

/* Whatever of a trial is not timing is verifying: a process, its data, the comparison. */
static void charge_trial(struct measure *m, struct verdict *v, double elapsed_s)
{
	double run_s = result_number(v->answer, "run_s");

	v->elapsed_s += elapsed_s;
	v->run_s += run_s;
	v->verify_s += elapsed_s - run_s;
	ledger_move(&m->ledger, COST_TIME, COST_VERIFY, (elapsed_s - run_s) * m->env.limits.threads,
		    clock_now());
}

/* ---- trials ---- */

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

/* Asks for a race, or a process of a final, and says what came of it: 0, ASKED_STOPPED or -1. */
static int try_item(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		    struct err *e)
{
	int rc = ensure_session(m, g, e);
	double start = clock_now();

	if (rc == 0)
		rc = v->is_final ? ask_final(m, g, it, e)
				 : ask_race(m, g, it, v->holder, v->holder && !m->rules.preempt,
					    COST_TIME, e);
	if (rc != ASKED && rc != ASKED_DEAD)
		return rc;
	v->status = rc == ASKED_DEAD ? m->died : answer_text(&m->worker.answer, g, "status");
	v->why = rc == ASKED_DEAD ? arena_strdup(&g->arena, m->worker.why)
				  : answer_text(&m->worker.answer, g, "why");
	v->answer = rc == ASKED_DEAD ? NULL : &m->worker.answer;
	charge_trial(m, v, clock_now() - start);
	return 0;
}

static int rebuild(struct measure *m, struct item *it, struct item *holder, struct err *e)
{
	int rc = cache_rebuild(&m->cache, it->build, e);

	return rc || !holder ? rc : cache_rebuild(&m->cache, holder->build, e);
}

/* An object that does not load was damaged or is gone: it is built anew, once. */
static int run_item(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		    struct err *e)
{
	int rc = 0;

	for (int again = 0; again < 2; again++) {
		rc = try_item(m, g, it, v, e);
		if (rc || strcmp(v->status, "unloadable") != 0)
			return rc;
		rc = rebuild(m, it, v->holder, e);
		v->status = NULL;
		if (rc || settled(it, v))
			return rc;
	}
	return err_set(e, "a kernel just built does not load: %s", v->why);
}

static int died(const struct verdict *v)
{
	return !strcmp(v->status, "crash") || !strcmp(v->status, "oom");
}

/* One with another, or alone (NULL): what becomes of it, added to what was spent. */
static int run_with(struct measure *m, struct group *g, struct item *it, struct item *holder,
		    struct verdict *v, struct err *e)
{
	*v = (struct verdict){.holder = holder,
			      .elapsed_s = v->elapsed_s,
			      .verify_s = v->verify_s,
			      .run_s = v->run_s};
	return run_item(m, g, it, v, e);
}

/* A race. If the process dies, either of the two may be at fault. A holder that dies beside itself,
 * too, is no holder. Otherwise the candidate shows alone what it does, and the holder stays. */
static int run_race(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		    struct err *e)
{
	struct item *holder = v->holder;
	int rc = run_item(m, g, it, v, e), dies;

	if (rc || !holder || !died(v))
		return rc;
	rc = run_with(m, g, holder, holder, v, e);
	if (rc)
		return rc;
	dies = died(v);
	rc = run_with(m, g, it, NULL, v, e);
	v->holder_stays = !dies;
	return rc;
}

/* Failures in a row: is it the machine? */
static int suspect(struct measure *m, struct group *g, int most, struct err *e)
{
	int rc;

	if (m->nheld <= most)
		return 0;
	rc = ensure_session(m, g, e);
	if (rc == 0)
		rc = ask_canary(m, g, e);
	if (rc == 0 && !strcmp(answer_text(&m->worker.answer, g, "status"), "unloadable")) {
		rc = cache_rebuild(&m->cache, g->naive, e);
		if (rc == 0)
			rc = ask_canary(m, g, e);
	}
	return rc ? rc : result_release(m, e);
}

/* ---- races ---- */

/* A second duel of a candidate that has lost its first, in a new process: an object for its result
 * in v->audit. first: where the answer of the first is kept meanwhile. */
static int audit(struct measure *m, struct group *g, const struct item *it, struct contest *c,
		 struct verdict *v, struct json_doc *first, struct err *e)
{
	const struct json_doc *d = &m->worker.answer;
	const char *text = arena_strndup(&g->arena, d->tok->s, d->tok->n);
	double start = clock_now();
	const char *ci;
	int rc, won;

	if (json_parse(first, text, d->tok->n, e) < 0)
		return -1;
	v->answer = first;
	rc = ask_race(m, g, it, v->holder, 1, COST_AUDIT, e);
	v->audit_s = clock_now() - start;
	v->elapsed_s += v->audit_s;
	if (rc != ASKED)
		return rc == ASKED_DEAD ? 0 : rc;
	ci = member(g, d, d->tok, "ratio_ci");
	if (!ci)
		return 0; /* it was wrong this time, or did not load */
	won = !strcmp(answer_text(d, g, "end"), "won");
	contest_audited(c, won);
	v->audit = arena_printf(&g->arena, "{\"ratio\":%.9g,\"ci\":%s,\"false_kill\":%s}",
				result_number(d, "ratio"), ci, won ? "true" : "false");
	return 0;
}

/* Whom the next one races against, with its kernel; NULL: with nobody, for there is none, or it
 * does not build here. */
static int ready_holder(struct measure *m, struct group *g, const struct contest *c,
			struct item *it, struct item **out, struct err *e)
{
	struct item *holder = c->holder ? c->holder->who : NULL;
	int rc;

	*out = NULL;
	if (!holder)
		return 0;
	rc = late_kernel(m, g, holder, e);
	if (rc == 0)
		rc = cache_wait(&m->cache, NULL, e);
	if (rc || holder->status || holder->build->state == BUILD_FAILED)
		return rc;
	take_cost(holder->build, it);
	*out = holder;
	return 0;
}

/* What a race means for who holds the place. */
static void enter(struct contest *c, struct item *it, struct verdict *v)
{
	const struct json_doc *d = v->answer;
	int ok = !strcmp(v->status, "ok"), alone = ok && !v->holder && !v->holder_stays;
	const struct contest_end end = {
		.status = v->status,
		.won = alone || (ok && v->holder && json_is(json_get(d, d->tok, "end"), "won")),
		.ratio = result_number(d, "ratio")};

	if (alone)
		c->holder =
			NULL; /* there is none, or it does not build here, or its process dies */
	v->is_incumbent = contest_raced(c, &it->in, &end) && !c->is_fixed;
}

static int race_item(struct measure *m, struct group *g, struct item *it, struct contest *c,
		     struct err *e)
{
	struct json_doc first = JSON_DOC_INIT;
	struct verdict v = {0};
	int rc = 0;

	charge_build(g, it, &c->n);
	if (!settled(it, &v)) {
		rc = ready_holder(m, g, c, it, &v.holder, e);
		if (rc == 0)
			rc = run_race(m, g, it, &v, e);
		if (rc)
			return rc;
	}
	enter(c, it, &v);
	if (!strcmp(v.status, "preempted") &&
	    contest_audits(m->rules.audit, m->rules.seed, &it->id))
		rc = audit(m, g, it, c, &v, &first, e);
	if (rc == 0)
		rc = result_put(m, g, it, &v, e);
	json_free(&first);
	return rc ? rc : suspect(m, g, MAX_SUSPECTS, e);
}

/* The result of an earlier run, passed on as it was. */
static int pass_item(struct measure *m, struct item *it, struct contest *c, struct err *e)
{
	const struct known_result *r = it->known.result;

	contest_known(c, &it->in, r->is_incumbent);
	return rec_put(m->out, r->line, r->n, e);
}

/* The workload itself cannot be run here (no memory, no end): every candidate shares its fate. */
static int give_up(struct measure *m, struct group *g, const char *status, struct contest *c,
		   struct err *e)
{
	struct verdict v = {.status = status, .why = m->worker.why};
	const struct contest_end end = {status, 0, 0};

	for (struct item *it = g->first; it; it = it->next) {
		if (it->known.result) {
			if (pass_item(m, it, c, e) < 0)
				return -1;
			continue;
		}
		charge_build(g, it, &c->n);
		contest_raced(c, &it->in, &end);
		if (result_put(m, g, it, &v, e) < 0)
			return -1;
	}
	return result_release(m, e); /* all of one cause, that is known */
}

static int run_races(struct measure *m, struct group *g, struct contest *c, struct err *e)
{
	int rc = 0;

	for (struct item *it = g->first; it && rc == 0; it = it->next) {
		if (rec_reader_gone(m->out))
			return err_set(e, "the reader of the results is gone");
		progress_set("measure %lld/%lld  %s %s", (long long)++m->timed, (long long)m->total,
			     g->w.op->name, g->w.prob);
		rc = it->known.result ? pass_item(m, it, c, e) : race_item(m, g, it, c, e);
	}
	return rc ? rc : suspect(m, g, 0, e);
}

/* ---- finals ---- */

/* The processes of a final, each with a worker of its own, until one ends badly. */
static int run_final(struct measure *m, struct group *g, struct item *it, struct final *f,
		     struct verdict *v, struct err *e)
{
	int rc = find_opponent(m, g, e);

	for (int i = 0; i < m->rules.finals && rc == 0; i++) {
		worker_kill(&m->worker);
		rc = run_item(m, g, it, v, e);
		if (rc || !v->answer || strcmp(v->status, "ok") != 0)
			return rc;
		rc = final_add(f, v->answer, e);
	}
	return rc;
}

/* The best of the group against the library. */
static int final_item(struct measure *m, struct group *g, struct item *it, struct contest *c,
		      struct err *e)
{
	struct final *f = xcalloc(1, sizeof *f);
	struct verdict v = {.is_final = 1, .final = f};
	int rc = late_kernel(m, g, it, e);

	if (rc == 0)
		rc = cache_wait(&m->cache, NULL, e);
	charge_build(g, it, &c->n);
	if (rc == 0 && !settled(it, &v))
		rc = run_final(m, g, it, f, &v, e);
	if (rc == 0) {
		v.is_incumbent = !strcmp(v.status, "ok") && !c->is_fixed;
		rc = result_put(m, g, it, &v, e);
	}
	free(f);
	return rc ? rc : suspect(m, g, 0, e);
}

static int finals(struct measure *m, struct group *g, struct contest *c, struct err *e)
{
	struct item *it = c->best ? c->best->who : NULL;

	if (!it || !m->rules.finals || (it == g->incumbent && g->incumbent_final))
		return 0;
	if (it->known.final)
		return rec_put(m->out, it->known.final->line, it->known.final->n, e);
	g->has_final = 1;
	return final_item(m, g, it, c, e);
}

static int run_items(struct measure *m, struct group *g, struct contest *c, struct err *e)
{
	const char *status = NULL;
	int rc = 0;

	if (g->nknown < g->n)
		rc = open_session(m, g, &status, e);
	if (rc == 0 && status)
		return give_up(m, g, status, c, e);
	if (rc == 0)
		rc = run_races(m, g, c, e);
	return rc ? rc : finals(m, g, c, e);
}

int group_run(struct measure *m, struct group *g, struct err *e)
{
	struct contest c;
	int rc;

	contest_begin(&c, g->incumbent ? &g->incumbent->in : NULL, !m->rules.preempt);
	if (g->record && rec_put(m->out, g->record, g->record_n, e) < 0)
		return -1;
	rc = run_items(m, g, &c, e);
	if (rc == 0 && !g->cut && (g->n || g->end || g->has_final))
		rc = result_put_end(m, g, &c.n, e);
	/* Between groups nothing is timed: let the next program work now. */
	if (rec_flush(m->out, rc < 0 ? NULL : e) < 0)
		return -1;
	return rc;
}
