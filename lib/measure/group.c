#include "lib/measure/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/progress.h"
#include "lib/measure/result.h"
#include "lib/nest/nest.h"
#include "lib/target/c.h"
#include "lib/target/cpu.h"

/* A finalist may be this much slower than the best. */
static const double FINAL_FACTOR = 1.05;

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

	c_print(n, &text);
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
		it->build = add_nest(m, &nest);
	}
	arena_free(&a);
	return rc;
}

/* ---- asking the worker ---- */

/* What a step of a group may end with beside 0 (on with it) and -1 (the machine's fault). */
enum { STOPPED = 1, DEAD = 2 };

static int ended(struct measure *m, const struct group *g, enum ask_result r, struct err *e)
{
	m->died = r;
	if (r == ASK_OK)
		return 0;
	if (r == ASK_STOPPED)
		return STOPPED;
	if (r != ASK_FAILED)
		return DEAD;
	return err_set(e, "cannot measure %s %s: %s", g->w.op->name, g->w.prob, m->worker.why);
}

static enum ask_result ask_open(struct measure *m, struct group *g)
{
	struct buf q = BUF_INIT;
	enum ask_result r;
	/* The naive nest does about a multiply-add a nanosecond. */
	double timeout = 60 + (double)g->w.flops * 4e-9;

	buf_str(&q, "{\"cmd\":\"open\",\"workload\":{");
	workload_fields(&g->w, &q);
	buf_str(&q, "},\"naive\":");
	buf_json(&q, g->naive->object, strlen(g->naive->object));
	buf_fmt(&q, ",\"threads\":%d,\"seed\":%llu}", m->env.limits.threads,
		(unsigned long long)m->seed);
	r = worker_ask(&m->worker, q.s, q.n, timeout);
	buf_free(&q);
	return r;
}

static enum ask_result ask_baseline(struct measure *m, struct group *g)
{
	static const char ask[] = "{\"cmd\":\"baseline\"}";

	/* Each variant runs at least seven times, a slow one perhaps at a flop a cycle. */
	return worker_ask(&m->worker, ask, sizeof ask - 1, 120 + (double)g->w.flops * 2e-8);
}

static enum ask_result ask_candidate(struct measure *m, const struct item *it,
				     const struct opponents *b, int final, double limit)
{
	struct buf q = BUF_INIT;
	enum ask_result r;

	buf_fmt(&q, "{\"cmd\":\"%s\",\"candidate\":", final ? "final" : "race");
	buf_add(&q, it->line, it->n);
	buf_str(&q, ",\"object\":");
	buf_json(&q, it->build->object, strlen(it->build->object));
	buf_str(&q, ",\"limit_s\":");
	buf_num(&q, limit);
	buf_str(&q, ",\"max_error\":");
	buf_num(&q, m->max_error);
	buf_ch(&q, '}');
	/* In a final the opponents take their turns, too. */
	r = worker_ask(&m->worker, q.s, q.n, m->timeout_s + (final ? 40 * b->latency_s : 0));
	buf_free(&q);
	return r;
}

/* A string of the worker's answer. */
static const char *answer_text(struct measure *m, struct group *g, const char *key)
{
	const struct json_doc *d = &m->worker.answer;
	const char *s = "";

	json_str(json_get(d, d->tok, key), &g->arena, &s);
	return s;
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

/* Opens the group in the worker, a new one if need be, and has the library timed: a new session
 * knows nothing of the one before it. Candidates can be measured beside a library that fails. */
static int open_session(struct measure *m, struct group *g, struct opponents *b, struct err *e)
{
	double start = clock_now();
	enum ask_result r = ask_open(m, g);
	int rc;

	if (r == ASK_OK) {
		r = ask_baseline(m, g);
		b->latency_s = 0;
		if (r == ASK_OK) {
			keep_opponent(&b->json, &b->latency_s, &m->worker.answer, "baseline");
			keep_opponent(&b->direct, &b->latency_s, &m->worker.answer, "direct");
			snprintf(b->why, sizeof b->why, "%s", answer_text(m, g, "why"));
		} else if (r != ASK_STOPPED) {
			snprintf(b->why, sizeof b->why, "%s", m->worker.why);
			buf_clear(&b->json);
			buf_str(&b->json, "null");
			buf_clear(&b->direct);
			r = ask_open(m, g);
		}
	}
	rc = ended(m, g, r, e);
	b->open_s += clock_now() - start;
	return rc;
}

static int ensure_session(struct measure *m, struct group *g, struct opponents *b, struct err *e)
{
	return m->worker.proc.pid ? 0 : open_session(m, g, b, e);
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

static const char *death(enum ask_result r)
{
	return r == ASK_TIMEOUT ? "timeout" : r == ASK_OOM ? "oom" : "crash";
}

/* Runs a candidate's race or final and says what came of it: 0, STOPPED or -1. */
static int run_item(struct measure *m, struct group *g, struct item *it, struct opponents *b,
		    int final, double limit, struct verdict *v, struct err *e)
{
	double start = clock_now();
	enum ask_result r = ask_candidate(m, it, b, final, limit);
	int rc = ended(m, g, r, e);

	if (rc != 0 && rc != DEAD)
		return rc;
	*v = (struct verdict){.final = final, .elapsed_s = clock_now() - start};
	if (rc == DEAD) {
		v->status = death(r);
		v->why = m->worker.why;
	} else {
		v->status = answer_text(m, g, "status");
		v->why = answer_text(m, g, "why");
		v->answer = &m->worker.answer;
	}
	return 0;
}

static int race_item(struct measure *m, struct group *g, struct item *it, double *best,
		     struct opponents *b, struct counts *n, struct err *e)
{
	struct verdict v = {0};
	int rc = 0, ok;

	charge_build(it, n);
	if (!settled(it, &v)) {
		rc = ensure_session(m, g, b, e);
		if (rc == 0)
			rc = run_item(m, g, it, b, 0, m->preempt ? *best : 0, &v, e);
		else if (rc == DEAD) /* once it could be opened; now the machine cannot */
			return err_set(e, "cannot measure %s %s any more: %s", g->w.op->name,
				       g->w.prob, m->worker.why);
		if (rc)
			return rc;
	}
	ok = !strcmp(v.status, "ok");
	if (ok) {
		it->ok = 1;
		it->latency_s = result_number(v.answer, "latency_s");
		if (*best <= 0 || it->latency_s < *best)
			*best = it->latency_s;
	}
	n->measured += ok;
	n->preempted += !strcmp(v.status, "preempted");
	n->failed += !ok && strcmp(v.status, "preempted") != 0;
	return result_put(m, it, &v, b, e);
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

	for (int64_t i = 0; i < m->finals && (it = next_finalist(g)) && rc == 0; i++) {
		struct verdict v = {0};

		/* Clearly behind the best of the race, or of an earlier round: not worth a final.
		 */
		if (it->latency_s > FINAL_FACTOR * best)
			break;
		it->final = 1;
		rc = ensure_session(m, g, b, e);
		if (rc == 0)
			rc = run_item(m, g, it, b, 1, 0, &v, e);
		else if (rc == DEAD)
			return err_set(e, "cannot measure %s %s any more: %s", g->w.op->name,
				       g->w.prob, m->worker.why);
		if (rc == 0)
			rc = result_put(m, it, &v, b, e);
	}
	return rc;
}

/* The workload itself cannot be run here (no memory, no end): every candidate shares its fate. */
static int give_up(struct measure *m, struct group *g, struct opponents *b, struct counts *n,
		   struct err *e)
{
	struct verdict v = {.status = death(m->died), .why = m->worker.why};

	if (!b->json.n) {
		buf_str(&b->json, "null");
		snprintf(b->why, sizeof b->why, "the workload cannot be run here");
	}
	for (struct item *it = g->first; it; it = it->next, n->failed++) {
		charge_build(it, n);
		if (result_put(m, it, &v, b, e) < 0)
			return -1;
	}
	return 0;
}

static int run_items(struct measure *m, struct group *g, struct opponents *b, struct counts *n,
		     struct err *e)
{
	double best = g->incumbent_s;
	int rc;

	if (g->naive->state == BUILD_FAILED)
		return err_set(e, "the reference of %s %s does not build: %s", g->w.op->name,
			       g->w.prob, g->naive->why);
	rc = open_session(m, g, b, e);
	if (rc == DEAD)
		return give_up(m, g, b, n, e);
	for (struct item *it = g->first; it && rc == 0; it = it->next) {
		if (rec_reader_gone(m->out))
			return err_set(e, "the reader of the results is gone");
		progress_set("measure %lld/%lld  %s %s", (long long)++m->timed, (long long)m->total,
			     g->w.op->name, g->w.prob);
		rc = race_item(m, g, it, &best, b, n, e);
	}
	return rc ? rc : finals(m, g, best, b, e);
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
