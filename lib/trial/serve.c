#include "lib/trial/serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/field.h"
#include "lib/io/json.h"
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

static void put_status(struct buf *out, enum status status, const char *why)
{
	field_object(out, NULL);
	field_text(out, "status", status_name(status));
	field_text(out, "why", why);
}

static int open_session(const struct json_doc *d, struct arena *a, struct buf *out, struct err *e)
{
	struct session_rules rules = {.runner = with->runner, .vendor = with->vendor};
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
	buf_ch(out, '}');
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
	buf_ch(out, '}');
	return 0;
}

static void put_median(struct buf *out, const char *time, const char *ci, struct stat_median m)
{
	field_number(out, time, m.median);
	field_interval(out, ci, m.lo, m.hi);
}

static void put_variant(struct buf *out, const char *key, const struct variant_found *v, int timed)
{
	field_object(out, key);
	field_text(out, "impl", v->impl);
	field_text(out, "layout", v->layout);
	if (timed)
		put_median(out, "latency_s", "ci_s", v->time);
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

static int library(const struct json_doc *d, struct buf *out, struct err *e)
{
	double timeout_s;
	struct library b;

	if (number(d, "timeout_s", &timeout_s) < 0)
		return bad_request(e);
	session_library(session, timeout_s, &b);
	field_object(out, NULL);
	if (b.known) {
		put_variant(out, "baseline", &b.best, 1);
	} else {
		field_json(out, "baseline", "null");
		field_text(out, "why", b.why);
	}
	if (b.own_known)
		put_variant(out, "own_layout", &b.own, 1);
	if (b.nrejected > 0)
		field_list(out, "rejected");
	for (int i = 0; i < b.nrejected && i < TRIAL_REJECTED; i++)
		put_variant(out, NULL, &b.rejected[i], 0);
	buf_str(out, b.nrejected > 0 ? "]}" : "}");
	return 0;
}

static void put_duel(struct buf *out, const struct duel *d)
{
	static const char *const end[] = {"lost", "even", "won"};

	put_median(out, "other_s", "other_ci_s", d->other_time);
	put_median(out, "ratio", "ratio_ci", d->ratio);
	field_text(out, "end", end[d->end]);
	field_numbers(out, "other_samples_s", d->y, d->n);
}

static void put_use(struct buf *out, const struct device_use *u)
{
	field_object(out, "use");
	field_integer(out, "registers", u->registers);
	field_integer(out, "spilled_bytes", u->spilled_bytes);
	field_integer(out, "block_bytes", u->block_bytes);
	field_integer(out, "blocks", u->blocks);
	buf_ch(out, '}');
}

static void put_outcome(struct buf *out, const struct report *r, const struct outcome *o)
{
	put_status(out, o->status, o->why);
	field_name(out, "watch");
	watch_put(&r->watched, out);
	field_number(out, "l2", o->error_l2);
	field_number(out, "max", o->error_max);
	field_number(out, "verify_s", o->verify_s);
	field_number(out, "run_s", o->run_s);
	if (o->has_use)
		put_use(out, &o->use);
	if (o->duel.n) {
		put_median(out, "latency_s", "ci_s", o->duel.time);
		field_integer(out, "reps", o->duel.n);
		if (o->row) {
			field_integer(out, "row", o->row);
			field_text(out, "row_by", o->row_is_graph ? "graph" : "calls");
		}
		field_numbers(out, "samples_s", o->duel.x, o->duel.n);
	}
	if (o->duel.n && o->is_duel)
		put_duel(out, &o->duel);
	if (o->duel.n && o->has_own)
		field_numbers(out, "own_samples_s", o->own, o->duel.n);
	buf_ch(out, '}');
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
	buf_ch(out, '}');
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
	struct session_ask ask = {.rules.kind = flag(d, "whole") ? DUEL_WHOLE : DUEL_RACE};
	struct session_entry in, holder = {NULL, NULL};
	const struct json *other = json_get(d, d->tok, "holder");
	struct outcome o;
	struct report r;

	if (read_ask(d, &ask, e) < 0 || read_entry(json_get(d, d->tok, "candidate"),
						   json_get(d, d->tok, "object"), a, &in, e) < 0)
		return -1;
	if (other && read_entry(other, json_get(d, d->tok, "holder_object"), a, &holder, e) < 0)
		return -1;
	r = session_race(session, &in, &holder, &ask, &o);
	return put_trial(out, &r, &o, e);
}

/* Reads the opponents of a candidate's final. */
static int read_opponents(const struct json_doc *d, const struct candidate *c, struct arena *a,
			  struct opponents *o, struct err *e)
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
	struct opponents opponents = {{NULL, NULL}, {NULL, NULL}};
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
	if (read_opponents(d, in.c, a, &opponents, e) < 0)
		return -1;
	r = session_final(session, &in, &opponents, &ask, &o);
	return put_trial(out, &r, &o, e);
}

static int answer(const struct json_doc *d, struct arena *a, struct buf *out, struct err *e)
{
	const struct json *cmd = json_get(d, d->tok, "cmd");

	if (json_is(cmd, "open"))
		return open_session(d, a, out, e);
	if (!session)
		return bad_request(e);
	if (json_is(cmd, "library"))
		return library(d, out, e);
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
