#include "lib/trial/serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/field.h"
#include "lib/io/json.h"
#include "lib/record/result.h"
#include "lib/trial/session.h"

static const struct serve *with;
static struct session *session;

static int bad_request(struct err *e)
{
	return err_set(e, "the worker does not understand the request");
}

static int number(const struct json_doc *d, const char *key, double *v)
{
	return json_num(json_get(d, d->tok, key), v);
}

static int flag(const struct json_doc *d, const char *key)
{
	const struct json *v = json_get(d, d->tok, key);

	return v && v->n == 4 && !memcmp(v->s, "true", 4);
}

static const enum status status_of_end[] = {[CELL_DONE] = STATUS_OK,
					    [CELL_TIMEOUT] = STATUS_TIMEOUT,
					    [CELL_OOM] = STATUS_OOM,
					    [CELL_CRASH] = STATUS_CRASH};

static void put_answer(struct buf *out, const struct result *r)
{
	field_object(out, NULL);
	result_write(r, out);
	buf_ch(out, '}');
}

static void put_status(struct buf *out, enum status status, const char *why)
{
	struct result r;

	result_clear(&r);
	r.status = status;
	r.why = why;
	put_answer(out, &r);
}

static int open_session(const struct json_doc *d, struct arena *a, struct buf *out, struct err *e)
{
	struct session_rules rules = {.runner = with->runner, .compared = with->compared};
	double memory, timeout_s;
	int64_t threads, seed;
	struct workload w;
	struct report r;
	const char *naive, *truth, *caches;
	int rc = 0, state;

	if (workload_from_json(&w, d, json_get(d, d->tok, "workload"), e) < 0)
		return -1;
	if (json_str(json_get(d, d->tok, "naive"), a, &naive) < 0 ||
	    json_str(json_get(d, d->tok, "truth"), a, &truth) < 0 ||
	    json_str(json_get(d, d->tok, "caches"), a, &caches) < 0 ||
	    (state = caches_find(caches)) < 0 ||
	    json_int(json_get(d, d->tok, "threads"), &threads) < 0 ||
	    json_int(json_get(d, d->tok, "seed"), &seed) < 0 || number(d, "memory", &memory) < 0 ||
	    number(d, "max_error", &rules.max_error) < 0 || number(d, "timeout_s", &timeout_s) < 0)
		return bad_request(e);
	if (json_get(d, d->tok, "pci") && json_str(json_get(d, d->tok, "pci"), a, &rules.pci) < 0)
		return bad_request(e);
	rules.caches = (enum caches)state;
	rules.threads = (int)threads;
	rules.seed = (uint64_t)seed;
	rules.memory = (size_t)memory;
	session_close(session);
	session = session_open(&w, naive, truth, &rules, timeout_s, &r, e);
	if (r.end == CELL_FAILED && !r.unloadable)
		rc = -1;
	else
		put_status(out, r.unloadable ? STATUS_UNLOADABLE : status_of_end[r.end], r.why);
	return rc;
}

static int canary(const struct json_doc *d, struct buf *out, struct err *e)
{
	double timeout_s;
	int good;

	if (number(d, "timeout_s", &timeout_s) < 0)
		return bad_request(e);
	good = session_canary(session, timeout_s, e);
	if (!good)
		return -1;
	put_status(out, good > 0 ? STATUS_OK : STATUS_UNLOADABLE, NULL);
	return 0;
}

/* The error against the true answer, where an output was compared and finite. */
static struct result_error error_of(double l2, double max)
{
	return (struct result_error){isfinite(l2) && isfinite(max), l2, max};
}

/* A variant of the library's that is not used. */
static void put_rejected(struct buf *out, const struct variant_found *v)
{
	field_object(out, NULL);
	field_text(out, "impl", v->impl);
	field_text(out, "layout", v->layout);
	if (isfinite(v->error_l2) && isfinite(v->error_max)) {
		field_object(out, "error");
		field_number(out, "l2", v->error_l2);
		field_number(out, "max", v->error_max);
		buf_ch(out, '}');
	}
	if (v->why[0])
		field_text(out, "why", v->why);
	buf_ch(out, '}');
}

static int baseline(const struct json_doc *d, struct buf *out, struct err *e)
{
	struct buf rejected = BUF_INIT;
	struct result r;
	struct baseline_found b;
	double timeout_s;

	if (number(d, "timeout_s", &timeout_s) < 0)
		return bad_request(e);
	session_baseline(session, timeout_s, &b);
	result_clear(&r);
	r.baseline_why = b.why;
	if (b.known) {
		r.baseline.is_there = 1;
		r.baseline.impl = b.best.impl;
		r.baseline.layout = b.best.layout;
		r.baseline.error = error_of(b.best.error_l2, b.best.error_max);
	}
	r.baseline.own_layout.is_there = b.own_known;
	r.baseline.own_layout.impl = b.own.impl;
	if (b.nrejected > 0) {
		field_list(&rejected, NULL);
		for (int i = 0; i < b.nrejected && i < TRIAL_REJECTED; i++)
			put_rejected(&rejected, &b.rejected[i]);
		buf_ch(&rejected, ']');
	}
	r.rejected = rejected.s;
	put_answer(out, &r);
	buf_free(&rejected);
	return 0;
}

static void add_timing(const struct outcome *o, struct result *r)
{
	const struct duel *d = &o->duel;

	duel_result(d, !o->is_duel, r);
	r->row = o->row;
	if (o->row)
		r->row_by = o->row_is_graph ? "graph" : "calls";
	r->samples_s = (struct numbers){d->x, d->n};
	if (o->is_duel)
		r->duel.samples_s = (struct numbers){d->y, d->n};
	if (o->is_duel && d->first.n)
		r->duel.first = (struct result_first){
			1, {d->first.x, d->first.n}, {d->first.y, d->first.n}};
	if (!o->has_own)
		return;
	r->baseline.is_there = r->baseline.own_layout.is_there = 1;
	r->baseline.own_layout.samples_s = (struct numbers){o->own, d->n};
}

static void put_outcome(struct buf *out, const struct report *report, const struct outcome *o)
{
	const struct device_use *u = &o->use;
	struct buf watch = BUF_INIT;
	struct result r;

	result_clear(&r);
	r.status = o->status;
	r.why = o->why;
	watch_put(&report->watched, &watch);
	r.watch = watch.s;
	r.error = error_of(o->error_l2, o->error_max);
	r.cost.is_there = 1;
	r.cost.verify_s = o->verify_s;
	r.cost.run_s = o->run_s;
	if (o->has_use)
		r.use = (struct result_use){1, u->registers, u->spilled_bytes, u->block_bytes,
					    u->blocks};
	if (o->duel.n)
		add_timing(o, &r);
	put_answer(out, &r);
	buf_free(&watch);
}

/* A candidate of a request; its texts lie in a. */
static int read_entry(const struct json *candidate, const struct json *object, struct arena *a,
		      struct session_entry *in, struct err *e)
{
	struct candidate *c = arena_new(a, struct candidate);
	struct json_doc d = JSON_DOC_INIT;
	int rc;

	if (!candidate || json_str(object, a, &in->object) < 0)
		return bad_request(e);
	in->c = c;
	rc = json_parse(&d, candidate->s, candidate->n, e);
	if (rc == 0)
		rc = candidate_from_json(c, &d, 0, e);
	json_free(&d);
	return rc;
}

/* What came of a trial; faults of the machine are the worker's end. */
static int put_trial(struct buf *out, const struct report *r, const struct outcome *o,
		     struct err *e)
{
	if (r->end == CELL_FAILED)
		return err_set(e, "%s", r->why);
	if (r->end == CELL_DONE && o->status == STATUS_FAILED)
		return err_set(e, "%s", o->why);
	if (r->end == CELL_DONE) {
		put_outcome(out, r, o);
		return 0;
	}
	put_status(out, status_of_end[r->end], r->why);
	return 0;
}

static int read_ask(const struct json_doc *d, struct session_ask *ask, struct err *e)
{
	if (number(d, "timeout_s", &ask->timeout_s) < 0 ||
	    number(d, "budget_s", &ask->rules.budget_s) < 0)
		return bad_request(e);
	return 0;
}

static int race(const struct json_doc *d, struct arena *a, struct buf *out, struct err *e)
{
	struct session_ask ask = {.rules.kind = flag(d, "whole") ? DUEL_WHOLE : DUEL_RACE,
				  .apart = flag(d, "apart")};
	struct session_entry in, incumbent = {NULL, NULL};
	const struct json *other = json_get(d, d->tok, "incumbent");
	struct outcome o;
	struct report r;

	if (read_ask(d, &ask, e) < 0 || read_entry(json_get(d, d->tok, "candidate"),
						   json_get(d, d->tok, "object"), a, &in, e) < 0)
		return -1;
	if (other &&
	    read_entry(other, json_get(d, d->tok, "incumbent_object"), a, &incumbent, e) < 0)
		return -1;
	r = session_race(session, &in, &incumbent, &ask, &o);
	return put_trial(out, &r, &o, e);
}

/* Reads the baselines of a candidate's final. */
static int read_baselines(const struct json_doc *d, const struct candidate *c, struct arena *a,
			  struct baselines *o, struct err *e)
{
	const struct json *impl = json_get(d, d->tok, "impl"),
			  *own = json_get(d, d->tok, "own_impl");

	if (impl && (json_str(impl, a, &o->best.name) < 0 ||
		     json_str(json_get(d, d->tok, "layout"), a, &o->best.layout) < 0))
		return bad_request(e);
	if (own && (!impl || json_str(own, a, &o->own.name) < 0))
		return bad_request(e);
	o->own.layout = layout_name(c->w.layout);
	return 0;
}

static int final(const struct json_doc *d, struct arena *a, struct buf *out, struct err *e)
{
	struct session_ask ask = {.rules.kind = DUEL_FINAL};
	struct baselines baselines = {{NULL, NULL}, {NULL, NULL}};
	struct session_entry in;
	struct outcome o;
	struct report r;
	int64_t pairs;

	if (read_ask(d, &ask, e) < 0 || read_entry(json_get(d, d->tok, "candidate"),
						   json_get(d, d->tok, "object"), a, &in, e) < 0)
		return -1;
	if (json_int(json_get(d, d->tok, "pairs"), &pairs) < 0 || pairs < 1 || pairs > DUEL_MAX)
		return bad_request(e);
	ask.rules.pairs = (int)pairs;
	json_num(json_get(d, d->tok, "limit_s"), &ask.rules.limit_s);
	if (read_baselines(d, in.c, a, &baselines, e) < 0)
		return -1;
	r = session_final(session, &in, &baselines, &ask, &o);
	return put_trial(out, &r, &o, e);
}

static int answer(const struct json_doc *d, struct arena *a, struct buf *out, struct err *e)
{
	const struct json *cmd = json_get(d, d->tok, "cmd");

	if (json_is(cmd, "open"))
		return open_session(d, a, out, e);
	if (!session)
		return bad_request(e);
	if (json_is(cmd, "baseline"))
		return baseline(d, out, e);
	if (json_is(cmd, "race"))
		return race(d, a, out, e);
	if (json_is(cmd, "final"))
		return final(d, a, out, e);
	if (json_is(cmd, "canary"))
		return canary(d, out, e);
	return bad_request(e);
}

int serve(const struct serve *what, FILE *answers)
{
	struct json_doc d = JSON_DOC_INIT;
	struct buf out = BUF_INIT;
	struct arena a = ARENA_INIT; /* of a request */
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	with = what;
	while ((n = getline(&line, &cap, stdin)) > 0) {
		struct err e = ERR_INIT;

		buf_clear(&out);
		if (json_parse(&d, line, (size_t)n, &e) < 0 || answer(&d, &a, &out, &e) < 0) {
			buf_clear(&out);
			field_object(&out, NULL);
			field_text(&out, "error", e.msg);
			buf_ch(&out, '}');
		}
		buf_ch(&out, '\n');
		if (fwrite(out.s, 1, out.n, answers) != out.n || fflush(answers))
			return -1;
		arena_reset(&a);
	}
	session_close(session);
	arena_free(&a);
	json_free(&d);
	buf_free(&out);
	free(line);
	return 0;
}
