#include "lib/measure/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/progress.h"
#include "lib/nest/nest.h"
#include "lib/target/c.h"
#include "lib/target/cpu.h"

struct item {
	const char *line;
	size_t n;
	struct id id;
	struct build *build;
	double build_s;	    /* charged to this candidate, the first that wanted the object */
	const char *status; /* decided before any run, else NULL */
	const char *why;
	double latency_s; /* ok: of the race */
	int ok, final;
	struct item *next;
};

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

/* ---- asking the worker ---- */

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

/* A worker that has the group open: a new one after a death. */
static int ensure_open(struct measure *m, struct group *g, struct err *e)
{
	if (m->worker.proc.pid)
		return 0;
	switch (ask_open(m, g)) {
	case ASK_OK:
		return 0;
	case ASK_STOPPED:
		return 1;
	default:
		return err_set(e, "cannot measure %s %s: %s", g->w.op->name, g->w.prob,
			       m->worker.why);
	}
}

static enum ask_result ask_candidate(struct measure *m, const struct item *it, int final,
				     double limit)
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
	r = worker_ask(&m->worker, q.s, q.n, m->timeout_s);
	buf_free(&q);
	return r;
}

/* ---- writing results ---- */

struct baseline_text {
	struct buf json;   /* the "baseline" object or null */
	struct buf direct; /* the best direct variant, where that is another one; or empty */
	char why[200];
	double open_s; /* data, reference and baseline, until charged to a result */
};

static void copy_value(struct buf *out, const struct json *v)
{
	if (v->type == JSON_STR)
		buf_ch(out, '"');
	buf_add(out, v->s, v->n);
	if (v->type == JSON_STR)
		buf_ch(out, '"');
}

/* Copies a member of the worker's answer under another name. */
static void copy_field(struct buf *out, const struct json_doc *d, const char *from, const char *to)
{
	const struct json *v = json_get(d, d->tok, from);

	if (!v)
		return;
	buf_fmt(out, ",\"%s\":", to);
	copy_value(out, v);
}

static double number(const struct json_doc *d, const char *key)
{
	double v = 0;

	if (d)
		json_num(json_get(d, d->tok, key), &v);
	return v;
}

static void put_costs(struct measure *m, struct buf *out, struct item *it, struct baseline_text *b,
		      const struct json_doc *d)
{
	double verify = number(d, "verify_s"), run = number(d, "run_s");
	double core = it->build_s + (verify + run + b->open_s) * m->env.limits.threads;

	buf_str(out, ",\"cost\":{\"build_s\":");
	buf_num(out, it->build_s);
	buf_str(out, ",\"verify_s\":");
	buf_num(out, verify);
	buf_str(out, ",\"run_s\":");
	buf_num(out, run);
	buf_str(out, ",\"baseline_s\":");
	buf_num(out, b->open_s);
	buf_str(out, ",\"core_s\":");
	buf_num(out, core);
	buf_str(out, ",\"energy_J\":null,\"energy_why\":\"energy counters are not read by this "
		     "version\"}");
	it->build_s = 0;
	b->open_s = 0;
}

/* The error against the true answer, where an output was compared and finite. */
static void put_error(struct buf *out, const struct json_doc *d)
{
	const struct json *l2 = d ? json_get(d, d->tok, "l2") : NULL;
	double v;

	if (json_num(l2, &v) < 0 || json_num(json_get(d, d->tok, "max"), &v) < 0)
		return;
	buf_str(out, ",\"error\":{\"l2\":");
	copy_value(out, l2);
	copy_field(out, d, "max", "max");
	buf_ch(out, '}');
}

/* An opponent as it was timed for the group, or in turns with this candidate where d says so. */
static void put_opponent(struct buf *out, const struct buf *json, const struct json_doc *d,
			 const char *time, const char *ci)
{
	const char *cut;

	if (!d || json->n <= 4 || !json_get(d, d->tok, time)) {
		buf_add(out, json->s, json->n);
		return;
	}
	cut = strstr(json->s, ",\"latency_s\"");
	buf_add(out, json->s, (size_t)(cut - json->s));
	copy_field(out, d, time, "latency_s");
	copy_field(out, d, ci, "ci_s");
	buf_ch(out, '}');
}

static void put_ratio(struct buf *out, const struct json_doc *d, const char *name, const char *ci)
{
	const struct json *v = json_get(d, d->tok, name);

	if (!v)
		return;
	buf_fmt(out, ",\"%s\":{\"median\":", name);
	copy_value(out, v);
	copy_field(out, d, ci, "ci");
	buf_ch(out, '}');
}

/* The measured part of a result; d is the worker's answer, NULL if it gave none. */
static void put_timing(struct buf *out, const struct json_doc *d, const char *status, int final,
		       const struct baseline_text *b)
{
	int ok = !strcmp(status, "ok"), preempted = !strcmp(status, "preempted");

	buf_fmt(out, ",\"stage\":\"%s\"", final ? "final" : "race");
	if (d && (ok || preempted)) {
		copy_field(out, d, "latency_s", "latency_s");
		if (preempted)
			buf_str(out, ",\"bound\":\"lower\"");
		copy_field(out, d, "ci_s", "ci_s");
		copy_field(out, d, "reps", "reps");
	} else {
		buf_str(out, ",\"latency_s\":null,\"latency_why\":\"not timed\"");
	}
	put_error(out, d);
	buf_str(out, ",\"baseline\":");
	put_opponent(out, &b->json, d, "baseline_s", "baseline_ci_s");
	if (b->json.n == 4) { /* null */
		buf_str(out, ",\"baseline_why\":");
		buf_json(out, b->why, strlen(b->why));
	}
	if (b->direct.n) {
		buf_str(out, ",\"baseline_direct\":");
		put_opponent(out, &b->direct, d, "direct_s", "direct_ci_s");
	}
	if (d && ok) {
		put_ratio(out, d, "ratio", "ratio_ci");
		put_ratio(out, d, "direct_ratio", "direct_ratio_ci");
		copy_field(out, d, "verdict", "verdict");
	}
}

/* What this program writes into a record. A result that is measured once more brings old ones. */
static const struct json_field owned[] = {
	{"type", "\"result\""}, {"status", NULL},
	{"why", NULL},		{"stage", NULL},
	{"latency_s", NULL},	{"latency_why", NULL},
	{"bound", NULL},	{"ci_s", NULL},
	{"reps", NULL},		{"error", NULL},
	{"baseline", NULL},	{"baseline_why", NULL},
	{"ratio", NULL},	{"baseline_direct", NULL},
	{"direct_ratio", NULL}, {"verdict", NULL},
	{"cost", NULL},		{"env_id", NULL},
	{"code_hash", NULL},	{"code_hash_why", NULL},
	{"run", NULL},		{"at", NULL},
	{"env", NULL},
};

static int put_result(struct measure *m, struct item *it, const char *status, const char *why,
		      int final, struct baseline_text *b, const struct json_doc *d, struct err *e)
{
	struct json_doc line = JSON_DOC_INIT;
	struct buf out = BUF_INIT;
	char now[25];
	int rc;

	if (json_parse(&line, it->line, it->n, e) < 0)
		return -1;
	json_rewrite(&line, owned, sizeof owned / sizeof *owned, &out);
	json_free(&line);
	out.n--; /* the closing brace */
	buf_fmt(&out, ",\"status\":\"%s\"", status);
	if (strcmp(status, "ok") != 0) {
		buf_str(&out, ",\"why\":");
		buf_json(&out, why, strlen(why));
	}
	put_timing(&out, d, status, final, b);
	put_costs(m, &out, it, b, d);
	rec_now(now);
	buf_fmt(&out, ",\"env_id\":\"%s\",\"code_hash\":", m->env.id.s);
	if (it->build)
		buf_fmt(&out, "\"%s\"", it->build->code.s);
	else
		buf_str(&out, "null,\"code_hash_why\":\"not built\"");
	buf_fmt(&out, ",\"run\":\"%s\",\"at\":\"%s\",\"env\":", m->run.s, now);
	buf_add(&out, m->env.json.s, m->env.json.n);
	buf_ch(&out, '}');
	rc = rec_put(m->out, out.s, out.n, e);
	buf_free(&out);
	return rc;
}

/* ---- the stages ---- */

struct counts {
	int64_t measured, preempted, failed, built;
};

static int take_baseline(struct measure *m, struct group *g, struct baseline_text *b, struct err *e)
{
	static const char ask[] = "{\"cmd\":\"baseline\"}";
	const struct json *v, *why;
	double start = clock_now();
	int rc;

	/* A new group is a new session: of the worker that is there, or of a new one. */
	if (m->worker.proc.pid && ask_open(m, g) != ASK_OK)
		worker_kill(&m->worker);
	if ((rc = ensure_open(m, g, e)))
		return rc;
	switch (worker_ask(&m->worker, ask, sizeof ask - 1, 120)) {
	case ASK_OK:
		break;
	case ASK_STOPPED:
		return 1;
	default: /* the library failed: candidates can be measured all the same */
		buf_str(&b->json, "null");
		snprintf(b->why, sizeof b->why, "%s", m->worker.why);
		b->open_s = clock_now() - start;
		return ensure_open(m, g, e);
	}
	v = json_get(&m->worker.answer, m->worker.answer.tok, "baseline");
	why = json_get(&m->worker.answer, m->worker.answer.tok, "why");
	buf_add(&b->json, v->s, v->n);
	v = json_get(&m->worker.answer, m->worker.answer.tok, "direct");
	if (v)
		buf_add(&b->direct, v->s, v->n);
	if (why)
		snprintf(b->why, sizeof b->why, "%.*s", (int)why->n, why->s);
	b->open_s = clock_now() - start;
	return 0;
}

/* A candidate that needs no run: it was refused or did not build. */
static int settled(struct item *it, const char **status, const char **why)
{
	if (it->status) {
		*status = it->status;
		*why = it->why;
		return 1;
	}
	if (it->build->state == BUILD_FAILED) {
		*status = "build";
		*why = it->build->why;
		return 1;
	}
	return 0;
}

static const char *death(enum ask_result r)
{
	return r == ASK_TIMEOUT ? "timeout" : r == ASK_OOM ? "oom" : "crash";
}

/* Races one candidate. 0; 1 stopped; -1. */
static int race_item(struct measure *m, struct group *g, struct item *it, double *best,
		     struct baseline_text *b, struct counts *n, struct err *e)
{
	const char *status, *why;
	char text[256], word[16];
	const struct json *v;
	enum ask_result r;
	int rc;

	if (settled(it, &status, &why)) {
		n->failed++;
		return put_result(m, it, status, why, 0, b, NULL, e);
	}
	if (!it->build->cached && it->build->seconds > 0) {
		it->build_s = it->build->seconds;
		it->build->seconds = 0;
		n->built++;
	}
	if ((rc = ensure_open(m, g, e)))
		return rc;
	r = ask_candidate(m, it, 0, m->preempt ? *best : 0);
	if (r == ASK_STOPPED)
		return 1;
	if (r == ASK_FAILED)
		return err_set(e, "cannot measure %s %s: %s", g->w.op->name, g->w.prob,
			       m->worker.why);
	if (r != ASK_OK) {
		n->failed++;
		return put_result(m, it, death(r), m->worker.why, 0, b, NULL, e);
	}
	v = json_get(&m->worker.answer, m->worker.answer.tok, "status");
	snprintf(word, sizeof word, "%.*s", (int)v->n, v->s);
	v = json_get(&m->worker.answer, m->worker.answer.tok, "why");
	snprintf(text, sizeof text, "%.*s", (int)v->n, v->s);
	n->measured += !strcmp(word, "ok");
	n->preempted += !strcmp(word, "preempted");
	n->failed += strcmp(word, "ok") != 0 && strcmp(word, "preempted") != 0;
	if (!strcmp(word, "ok")) {
		it->ok = 1;
		it->latency_s = number(&m->worker.answer, "latency_s");
		if (*best <= 0 || it->latency_s < *best)
			*best = it->latency_s;
	}
	return put_result(m, it, word, text, 0, b, &m->worker.answer, e);
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

/* The new session of a replaced worker has no baseline yet: the finalists need one. */
static int restore_baseline(struct measure *m, struct group *g, struct err *e)
{
	static const char ask[] = "{\"cmd\":\"baseline\"}";

	if (m->worker.proc.pid)
		return 0;
	if (ensure_open(m, g, e))
		return -1;
	return worker_ask(&m->worker, ask, sizeof ask - 1, 120) == ASK_OK
		       ? 0
		       : err_set(e, "the baseline fails: %s", m->worker.why);
}

static int finals(struct measure *m, struct group *g, struct baseline_text *b, struct err *e)
{
	struct item *it;

	for (int64_t i = 0; i < m->finals && (it = next_finalist(g)); i++) {
		const char *status = "ok";
		const struct json_doc *d = &m->worker.answer;
		const struct json *v;
		char word[16], text[256];
		enum ask_result r;

		/* Not worth a final: clearly behind the best of the race, or of an earlier round.
		 */
		if (g->incumbent_s > 0 && it->latency_s > 1.05 * g->incumbent_s)
			break;
		it->final = 1;
		if (restore_baseline(m, g, e) < 0)
			return -1;
		r = ask_candidate(m, it, 1, 0);
		if (r == ASK_STOPPED)
			return 1;
		if (r != ASK_OK) {
			if (put_result(m, it, death(r), m->worker.why, 1, b, NULL, e) < 0)
				return -1;
			continue;
		}
		v = json_get(d, d->tok, "status");
		snprintf(word, sizeof word, "%.*s", (int)v->n, v->s);
		status = word;
		v = json_get(d, d->tok, "why");
		snprintf(text, sizeof text, "%.*s", (int)v->n, v->s);
		if (put_result(m, it, status, text, 1, b, d, e) < 0)
			return -1;
	}
	return 0;
}

static int put_end(struct measure *m, const struct group *g, const struct counts *n, struct err *e)
{
	char measured[24], preempted[24], failed[24], built[24], run[ID_HEX + 3];
	const struct json_field field[] = {{"measured", measured},
					   {"preempted", preempted},
					   {"failed", failed},
					   {"built", built},
					   {"run", run}};
	struct buf end = BUF_INIT, out = BUF_INIT;
	struct json_doc d = JSON_DOC_INIT;
	int rc;

	snprintf(measured, sizeof measured, "%lld", (long long)n->measured);
	snprintf(preempted, sizeof preempted, "%lld", (long long)n->preempted);
	snprintf(failed, sizeof failed, "%lld", (long long)n->failed);
	snprintf(built, sizeof built, "%lld", (long long)n->built);
	snprintf(run, sizeof run, "\"%s\"", m->run.s);
	if (g->end)
		buf_add(&end, g->end, g->end_n);
	else
		rec_end_text(&end, g->w.id.s, g->n, "end of input");
	rc = json_parse(&d, end.s, end.n, e);
	if (rc == 0) {
		json_rewrite(&d, field, sizeof field / sizeof *field, &out);
		rc = rec_put(m->out, out.s, out.n, e);
	}
	json_free(&d);
	buf_free(&end);
	buf_free(&out);
	return rc;
}

int group_run(struct measure *m, struct group *g, struct err *e)
{
	struct baseline_text b = {.json = BUF_INIT, .direct = BUF_INIT};
	double best = g->incumbent_s;
	struct counts n = {0};
	int rc = 0;

	if (g->record && rec_put(m->out, g->record, g->record_n, e) < 0)
		return -1;
	if (g->n) {
		if (g->naive->state == BUILD_FAILED)
			return err_set(e, "the reference of %s %s does not build: %s",
				       g->w.op->name, g->w.prob, g->naive->why);
		rc = take_baseline(m, g, &b, e);
	}
	for (struct item *it = g->first; it && rc == 0; it = it->next) {
		progress_set("measure %lld/%lld  %s %s", (long long)++m->timed, (long long)m->total,
			     g->w.op->name, g->w.prob);
		rc = race_item(m, g, it, &best, &b, &n, e);
	}
	if (rc == 0)
		rc = finals(m, g, &b, e);
	if (rc == 0 && !g->cut && (g->n || g->end))
		rc = put_end(m, g, &n, e);
	buf_free(&b.json);
	buf_free(&b.direct);
	/* Between groups nothing is timed: let the next program work now. */
	if (rec_flush(m->out, rc < 0 ? NULL : e) < 0)
		return -1;
	return rc;
}
