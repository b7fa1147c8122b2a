/* tl-check: any records -> the same, validated and in canonical form, ids recomputed.
 *
 * The executable form of man 5 tl-record. */
#include <assert.h>
#include <string.h>

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"
#include "lib/io/json.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/op/op.h"
#include "lib/store/plausible.h"

static int fix, quiet;
static const char *output;

static const struct opt opts[] = {
	{0, "fix", OPT_FLAG, &fix, NULL,
	 "Correct what follows from other fields (ids, flops, the order of \"tl\" and \"type\") "
	 "instead "
	 "of refusing the line.",
	 NULL},
	{'o', "output", OPT_FILE, &output, "FILE",
	 "Write to FILE instead of standard output. FILE is replaced at the end, and only if no "
	 "line "
	 "was bad.",
	 NULL},
	{'q', "quiet", OPT_FLAG, &quiet, NULL, "Write no records; only the exit status tells.",
	 NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-check",
	.summary = "validate records and bring them into canonical form",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* Fields and their kinds */

enum kind {
	STRING,
	COUNT,
	NUMBER,
	NUMBERS,
	INTERVAL,
	OBJECT,
	OBJECTS,
	STRINGS,
	HEX,
	TIME,
	FLAG,
	WORD
};

struct field {
	const char *key;
	enum kind kind;
	int required;
	const char *words; /* WORD: "a|b" */
};

static const struct field workload_fields_known[] = {
	{"count", COUNT, 0, NULL},     {"source", STRINGS, 0, NULL},   {"round", COUNT, 0, NULL},
	{"budget", COUNT, 0, NULL},    {"incumbent", OBJECT, 0, NULL}, {"prune", OBJECT, 0, NULL},
	{"opponent", OBJECT, 0, NULL}, {NULL, STRING, 0, NULL},
};
static const struct field incumbent_fields[] = {
	{"candidate_id", HEX, 1, NULL}, {"latency_s", NUMBER, 1, NULL}, {"algo", STRING, 0, NULL},
	{"knobs", OBJECT, 0, NULL},	{"final", FLAG, 0, NULL},	{"at", TIME, 0, NULL},
	{NULL, STRING, 0, NULL},
};
static const struct field opponent_fields[] = {
	{"impl", STRING, 1, NULL},     {"layout", STRING, 1, NULL}, {"system", STRING, 1, NULL},
	{"own_impl", STRING, 0, NULL}, {NULL, STRING, 0, NULL},
};
static const struct field prune_fields[] = {
	{"action", WORD, 1, "tune|stop"},
	{"reason", STRING, 1, NULL},
	{NULL, STRING, 0, NULL},
};
static const struct field candidate_fields[] = {
	{"target", STRING, 1, NULL}, {"algo", STRING, 1, NULL}, {"knobs", OBJECT, 1, NULL},
	{"score", OBJECT, 0, NULL},  {NULL, STRING, 0, NULL},
};
static const struct field result_fields[] = {
	{"status", WORD, 1, "ok|preempted|build|timeout|crash|oom|wrong|unsupported|filtered"},
	{"at", TIME, 1, NULL},
	{"why", STRING, 0, NULL},
	{"stage", WORD, 0, "race|final"},
	{"latency_s", NUMBER, 0, NULL},
	{"bound", WORD, 0, "lower"},
	{"ci_s", INTERVAL, 0, NULL},
	{"reps", COUNT, 0, NULL},
	{"warmup", COUNT, 0, NULL},
	{"outliers", COUNT, 0, NULL},
	{"watch", OBJECT, 0, NULL},
	{"disturbed", COUNT, 0, NULL},
	{"noisy", FLAG, 0, NULL},
	{"samples_s", NUMBERS, 0, NULL},
	{"audit", OBJECT, 0, NULL},
	{"printer", WORD, 0, "assembly|c|cuda|opencl"},
	{"printer_why", STRING, 0, NULL},
	{"again", OBJECT, 0, NULL},
	{"duel", OBJECT, 0, NULL},
	{"incumbent", FLAG, 0, NULL},
	{"processes", COUNT, 0, NULL},
	{"rejected", OBJECTS, 0, NULL},
	{"cache", WORD, 0, "cold|weights-cold"},
	{"error", OBJECT, 0, NULL},
	{"baseline", OBJECT, 0, NULL},
	{"ratio", OBJECT, 0, NULL},
	{"baseline_direct", OBJECT, 0, NULL},
	{"direct_ratio", OBJECT, 0, NULL},
	{"verdict", WORD, 0, "faster|same|slower|undecided"},
	{"cost", OBJECT, 0, NULL},
	{"env_id", STRING, 0, NULL},
	{"code_hash", STRING, 0, NULL},
	{"settings", HEX, 0, NULL},
	{"run", STRING, 0, NULL},
	{"replayed", FLAG, 0, NULL},
	{"env", OBJECT, 0, NULL},
	{NULL, STRING, 0, NULL},
};
static const struct field error_fields[] = {
	{"l2", NUMBER, 1, NULL},
	{"max", NUMBER, 1, NULL},
	{NULL, STRING, 0, NULL},
};
static const struct field baseline_fields[] = {
	{"impl", STRING, 1, NULL},	 {"layout", STRING, 0, NULL},
	{"latency_s", NUMBER, 1, NULL},	 {"ci_s", INTERVAL, 0, NULL},
	{"samples_s", NUMBERS, 0, NULL}, {"system", STRING, 0, NULL},
	{"error", OBJECT, 0, NULL},	 {"own_layout", OBJECT, 0, NULL},
	{NULL, STRING, 0, NULL},
};
static const struct field own_layout_fields[] = {
	{"impl", STRING, 1, NULL},   {"latency_s", NUMBER, 1, NULL},
	{"ci_s", INTERVAL, 1, NULL}, {"samples_s", NUMBERS, 0, NULL},
	{"ratio", OBJECT, 1, NULL},  {NULL, STRING, 0, NULL},
};
static const struct field duel_fields[] = {
	{"against", HEX, 1, NULL},	   {"ratio", NUMBER, 1, NULL},
	{"ci", INTERVAL, 1, NULL},	   {"latency_s", NUMBER, 1, NULL},
	{"end", WORD, 1, "lost|even|won"}, {"samples_s", NUMBERS, 0, NULL},
	{NULL, STRING, 0, NULL},
};
static const struct field ratio_fields[] = {
	{"median", NUMBER, 1, NULL},
	{"ci", INTERVAL, 1, NULL},
	{NULL, STRING, 0, NULL},
};
static const struct field audit_fields[] = {
	{"ratio", NUMBER, 0, NULL},  {"ci", INTERVAL, 0, NULL},	    {"latency_s", NUMBER, 0, NULL},
	{"ci_s", INTERVAL, 0, NULL}, {"false_kill", FLAG, 1, NULL}, {NULL, STRING, 0, NULL},
};
static const struct field again_fields[] = {
	{"ratio", NUMBER, 0, NULL}, {"ci", INTERVAL, 0, NULL}, {"status", STRING, 0, NULL},
	{"ahead", FLAG, 1, NULL},   {NULL, STRING, 0, NULL},
};
static const struct field end_fields[] = {
	{"workload_id", HEX, 1, NULL},	  {"drawn", COUNT, 1, NULL},
	{"why", STRING, 1, NULL},	  {"kept", COUNT, 0, NULL},
	{"refused", COUNT, 0, NULL},	  {"measured", COUNT, 0, NULL},
	{"preempted", COUNT, 0, NULL},	  {"failed", COUNT, 0, NULL},
	{"built", COUNT, 0, NULL},	  {"known", COUNT, 0, NULL},
	{"run", STRING, 0, NULL},	  {"search_s", NUMBER, 0, NULL},
	{"inference_s", NUMBER, 0, NULL}, {"unknown", COUNT, 0, NULL},
	{"replayed", FLAG, 0, NULL},	  {"audited", COUNT, 0, NULL},
	{"false_kills", COUNT, 0, NULL},  {NULL, STRING, 0, NULL},
};

static const struct field run_fields[] = {
	{"run", STRING, 1, NULL},      {"program", STRING, 1, NULL}, {"part_of", STRING, 0, NULL},
	{"why", STRING, 0, NULL},      {"at", TIME, 1, NULL},	     {"wall_s", NUMBER, 1, NULL},
	{"cores", NUMBER, 1, NULL},    {"parts_s", NUMBER, 0, NULL}, {"cost", OBJECT, 1, NULL},
	{"energy_J", NUMBER, 0, NULL}, {"replayed", FLAG, 0, NULL},  {NULL, STRING, 0, NULL},
};
static const struct field mark_fields[] = {
	{"run", STRING, 1, NULL},
	{NULL, STRING, 0, NULL},
};

static int is_hex(const struct json *v)
{
	if (v->type != JSON_STR || v->n != ID_HEX)
		return 0;
	for (size_t i = 0; i < v->n; i++)
		if (!strchr("0123456789abcdef", v->s[i]))
			return 0;
	return 1;
}

static int two_digits(const char *s, int lo, int hi)
{
	int v;

	if (s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9')
		return 0;
	v = (s[0] - '0') * 10 + s[1] - '0';
	return v >= lo && v <= hi;
}

/* "2026-11-21T09:00:00.000Z": RFC 3339, UTC, milliseconds. */
static int is_time(const struct json *v)
{
	static const char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const char *s = v->s;

	if (v->type != JSON_STR || v->n != 24 || s[4] != '-' || s[7] != '-' || s[10] != 'T' ||
	    s[13] != ':' || s[16] != ':' || s[19] != '.' || s[23] != 'Z')
		return 0;
	return two_digits(s, 0, 99) && two_digits(s + 2, 0, 99) && two_digits(s + 5, 1, 12) &&
	       two_digits(s + 8, 1, days[(s[5] - '0') * 10 + s[6] - '1']) &&
	       two_digits(s + 11, 0, 23) && two_digits(s + 14, 0, 59) &&
	       two_digits(s + 17, 0, 60) && two_digits(s + 20, 0, 99) && s[22] >= '0' &&
	       s[22] <= '9';
}

static int is_word(const struct json *v, const char *words)
{
	for (size_t n; v->type == JSON_STR && *words; words += n + (words[n] == '|')) {
		n = strcspn(words, "|");
		if (v->n == n && !memcmp(v->s, words, n))
			return 1;
	}
	return 0;
}

static int is_interval(const struct json_doc *d, const struct json *v)
{
	const struct json *lo = json_first(d, v), *hi = lo ? json_next(d, v, lo) : NULL;
	double a, b;

	return v->type == JSON_ARR && v->size == 2 && !json_num(lo, &a) && !json_num(hi, &b) &&
	       a >= 0 && a <= b;
}

static int is_strings(const struct json_doc *d, const struct json *v)
{
	if (v->type != JSON_ARR)
		return 0;
	for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
		if (k->type != JSON_STR)
			return 0;
	return 1;
}

static int is_numbers(const struct json_doc *d, const struct json *v)
{
	double x;

	if (v->type != JSON_ARR)
		return 0;
	for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
		if (json_num(k, &x) < 0 || x < 0)
			return 0;
	return 1;
}

/* NULL, or what the value should be. */
static const char *wanted(const struct json_doc *d, const struct json *v, const struct field *f)
{
	int64_t i;
	double x;
	int flag;

	switch (f->kind) {
	case STRING:
		return v->type == JSON_STR ? NULL : "a string";
	case COUNT:
		return !json_int(v, &i) && i >= 0 ? NULL : "a whole number, 0 or more";
	case NUMBER:
		return !json_num(v, &x) && x >= 0 ? NULL : "a number, 0 or more";
	case INTERVAL:
		return is_interval(d, v) ? NULL : "an interval [low, high]";
	case OBJECTS:
		return v->type == JSON_ARR ? NULL : "a list of objects";
	case OBJECT:
		return v->type == JSON_OBJ ? NULL : "an object";
	case STRINGS:
		return is_strings(d, v) ? NULL : "an array of strings";
	case NUMBERS:
		return is_numbers(d, v) ? NULL : "an array of numbers, 0 or more";
	case HEX:
		return is_hex(v) ? NULL : "an id of 32 hexadecimal digits";
	case FLAG:
		return !json_bool(v, &flag) ? NULL : "true or false";
	case TIME:
		return is_time(v) ? NULL : "a UTC time such as 2026-11-21T09:00:00.000Z";
	default:
		return is_word(v, f->words) ? NULL : f->words;
	}
}

static int check_fields(const struct json_doc *d, const struct json *obj, const struct field *f,
			struct err *e)
{
	for (; obj && f->key; f++) {
		const struct json *v = json_get(d, obj, f->key);
		const char *want;

		if (!v && f->required)
			return err_set(e, "\"%s\" is missing", f->key);
		if (!v || (v->type == JSON_NULL && !f->required)) /* check_units asks why */
			continue;
		if ((want = wanted(d, v, f)))
			return err_set(e, "\"%s\" is not %s", f->key, want);
	}
	return 0;
}

static int check_inner(const struct json_doc *d, const char *key, const struct field *f,
		       struct err *e)
{
	const struct json *v = json_get(d, d->tok, key);

	if (v && v->type == JSON_OBJ && check_fields(d, v, f, e))
		return err_in(e, "%s", key);
	return 0;
}

/* Units */

static int has_suffix(const struct json *key, const char *suffix)
{
	size_t n = strlen(suffix);

	return key->n >= n && !memcmp(key->s + key->n - n, suffix, n);
}

/* null is a value only with its reason beside it: latency_s, and latency_why or latency_s_why. */
static int has_reason(const struct json_doc *d, const struct json *obj, const struct json *key)
{
	char name[80];
	size_t n = key->n;

	if (n > 60)
		return 0;
	memcpy(name, key->s, n);
	memcpy(name + n, "_why", 5);
	if (json_get(d, obj, name))
		return 1;
	while (n && name[n - 1] != '_')
		n--;
	if (!n)
		return 0;
	memcpy(name + n, "why", 4);
	return json_get(d, obj, name) != NULL;
}

/* In every object but the user's: no quantity is negative, no null without a reason. */
static int check_units(const struct json_doc *d, const struct json *obj, struct err *e)
{
	for (const struct json *k = json_first(d, obj); k; k = json_next(d, obj, k)) {
		const struct json *v = k + 1;
		double x;

		if (json_is(k, "x"))
			continue;
		if (v->type == JSON_NULL && !has_reason(d, obj, k))
			return err_set(e, "\"%.*s\" is null without a reason beside it",
				       k->n < 60 ? (int)k->n : 60, k->s);
		if ((has_suffix(k, "_s") || has_suffix(k, "_J") || has_suffix(k, "bytes")) &&
		    v->type != JSON_NULL && v->type != JSON_ARR && (json_num(v, &x) || x < 0))
			return err_set(e, "\"%.*s\" is not a quantity, 0 or more",
				       k->n < 60 ? (int)k->n : 60, k->s);
		if (v->type == JSON_OBJ && check_units(d, v, e))
			return -1;
	}
	return 0;
}

/* 0: a second duel stands there, in which it was not ahead. */
static int is_ahead_again(const struct json_doc *d, const struct json *rec)
{
	int ahead = 1;

	json_bool(json_get(d, json_get(d, rec, "again"), "ahead"), &ahead);
	return ahead;
}

/* The library in the workload's own layout, beside a baseline in another. */
static int check_own_layout(const struct json_doc *d, struct err *e)
{
	const struct json *baseline = json_get(d, d->tok, "baseline"), *ratio;
	const struct json *own = json_get(d, baseline, "own_layout");
	const struct json *layout = json_get(d, json_get(d, d->tok, "workload"), "layout");
	const struct json *other = json_get(d, baseline, "layout");

	if (!own)
		return 0;
	if (layout && other && layout->n == other->n && !memcmp(layout->s, other->s, layout->n))
		return err_set(e, "\"own_layout\" stands beside a baseline in that layout");
	if (own->type != JSON_OBJ)
		return 0;
	ratio = json_get(d, own, "ratio");
	if (check_fields(d, own, own_layout_fields, e) || check_fields(d, ratio, ratio_fields, e))
		return err_in(e, "%s", "own_layout");
	return 0;
}

static int check_result(const struct json_doc *d, struct err *e)
{
	static const struct field ok_fields[] = {
		{"stage", WORD, 1, "race|final"}, {"latency_s", NUMBER, 1, NULL},
		{"error", OBJECT, 1, NULL},	  {"env_id", STRING, 1, NULL},
		{NULL, STRING, 0, NULL},
	};
	const struct json *rec = d->tok;
	int ok = json_is(json_get(d, rec, "status"), "ok");
	int final = json_is(json_get(d, rec, "stage"), "final");

	if (check_fields(d, rec, result_fields, e) || (ok && check_fields(d, rec, ok_fields, e)) ||
	    check_inner(d, "error", error_fields, e) ||
	    check_inner(d, "baseline", baseline_fields, e) || check_own_layout(d, e) ||
	    check_inner(d, "duel", duel_fields, e) || check_inner(d, "audit", audit_fields, e) ||
	    check_inner(d, "again", again_fields, e) || check_inner(d, "ratio", ratio_fields, e) ||
	    check_inner(d, "baseline_direct", baseline_fields, e) ||
	    check_inner(d, "direct_ratio", ratio_fields, e))
		return -1;
	if (!ok && json_get(d, rec, "status") && !json_get(d, rec, "why"))
		return err_set(e, "\"why\" is missing, which a status other than ok needs");
	if (!final && (json_get(d, rec, "verdict") || json_get(d, rec, "ratio")))
		return err_set(e, "a verdict or ratio stands in a result whose stage is not final");
	if (json_is(json_get(d, json_get(d, rec, "duel"), "end"), "lost") &&
	    json_get(d, rec, "incumbent"))
		return err_set(e, "a candidate that lost its duel cannot be the incumbent");
	if (!is_ahead_again(d, rec) && json_get(d, rec, "incumbent"))
		return err_set(e, "a candidate that was not ahead again cannot be the incumbent");
	if (json_get(d, rec, "again") &&
	    !json_is(json_get(d, json_get(d, rec, "duel"), "end"), "won"))
		return err_set(e, "\"again\" stands in a result that did not win its duel");
	if (json_is(json_get(d, rec, "printer"), "c") != !!json_get(d, rec, "printer_why"))
		return err_set(e, "\"printer_why\" goes with \"printer\":\"c\"");
	if (json_get(d, rec, "audit") && !json_is(json_get(d, rec, "status"), "preempted"))
		return err_set(e, "an audit stands in a result that is not preempted");
	if (json_is(json_get(d, rec, "status"), "preempted") && json_get(d, rec, "latency_s") &&
	    !json_get(d, rec, "bound"))
		return err_set(e, "the latency of a preempted candidate needs \"bound\":\"lower\"");
	return plausible_result(d, e) < 0 ? -1 : plausible_env(d, e);
}

/* Identity: a working copy of the line whose ids and derived fields are right */

static struct {
	struct json_doc doc, inner, fields;
	struct buf line, next, object, value;
	struct arena arena;
} work;

enum { WORKLOAD_FIELDS = 8 };

static int reparse(struct json_doc *d, const struct buf *text, struct err *e)
{
	return json_parse(d, text->s, text->n, e);
}

/* Reads the workload of the object text; *canonical gets the object with its derived fields filled
 * in. */
static int check_workload(const char *text, size_t len, struct workload *w, struct buf *canonical,
			  struct err *e)
{
	static const struct json_field derived[] = {{"workload_id", NULL}, {"flops", NULL}};
	struct json_field f[WORKLOAD_FIELDS];
	int n = 0;

	buf_clear(canonical);
	if (json_parse(&work.inner, text, len, e))
		return -1;
	if (!fix) {
		if (workload_from_json(w, &work.inner, work.inner.tok, e))
			return -1;
	} else {
		if (work.inner.tok->type != JSON_OBJ)
			return err_set(e, "the workload is not an object");
		json_rewrite(&work.inner, derived, 2, canonical);
		if (reparse(&work.inner, canonical, e) ||
		    workload_from_json(w, &work.inner, work.inner.tok, e) ||
		    json_parse(&work.inner, text, len, e))
			return -1;
		buf_clear(canonical);
	}
	/* The fields as tl writes them are the ones that the object gets. */
	buf_clear(&work.value);
	buf_ch(&work.value, '{');
	workload_fields(w, &work.value);
	buf_ch(&work.value, '}');
	if (reparse(&work.fields, &work.value, e))
		return -1;
	for (const struct json *k = json_first(&work.fields, work.fields.tok); k;
	     k = json_next(&work.fields, work.fields.tok, k)) {
		const struct json *v = k + 1;
		int quotes = v->type == JSON_STR;

		assert(n < WORKLOAD_FIELDS);
		f[n].key = arena_strndup(&work.arena, k->s, k->n);
		f[n++].value = arena_strndup(&work.arena, v->s - quotes, v->n + 2 * (size_t)quotes);
	}
	json_rewrite(&work.inner, f, n, canonical);
	return 0;
}

static int check_candidate(struct err *e)
{
	const struct json *v = json_get(&work.doc, work.doc.tok, "workload");
	struct json_field f = {"workload", NULL};
	struct candidate c;

	if (!v)
		return err_set(e, "\"workload\" is missing");
	if (check_workload(v->s, v->n, &c.w, &work.object, e))
		return err_in(e, "workload");
	f.value = work.object.s;
	buf_clear(&work.next);
	json_rewrite(&work.doc, &f, 1, &work.next);
	if (reparse(&work.doc, &work.next, e) ||
	    check_fields(&work.doc, work.doc.tok, candidate_fields, e))
		return -1;
	v = json_get(&work.doc, work.doc.tok, "candidate_id");
	if (candidate_from_json(&c, &work.doc, v && !fix, e))
		return -1;
	f.key = "candidate_id";
	f.value = arena_printf(&work.arena, "\"%s\"", c.id.s);
	buf_clear(&work.line);
	json_rewrite(&work.doc, &f, 1, &work.line);
	return reparse(&work.doc, &work.line, e);
}

/* Core-seconds by purpose. */
static int check_costs(struct err *e)
{
	const struct json *cost = json_get(&work.doc, work.doc.tok, "cost");

	for (const struct json *k = json_first(&work.doc, cost); k;
	     k = json_next(&work.doc, cost, k)) {
		double v;

		if (json_num(k + 1, &v) || v < 0)
			return err_set(e, "cost: \"%.*s\" is not a number, 0 or more",
				       k->n < 60 ? (int)k->n : 60, k->s);
	}
	return 0;
}

static int check_record(const struct rec *r, struct err *e)
{
	struct workload w;

	if (json_parse(&work.doc, r->s, r->n, e))
		return -1;
	switch (r->type) {
	case REC_WORKLOAD:
		if (check_workload(r->s, r->n, &w, &work.line, e) ||
		    reparse(&work.doc, &work.line, e) ||
		    check_fields(&work.doc, work.doc.tok, workload_fields_known, e) ||
		    check_inner(&work.doc, "incumbent", incumbent_fields, e) ||
		    check_inner(&work.doc, "opponent", opponent_fields, e) ||
		    check_inner(&work.doc, "prune", prune_fields, e))
			return -1;
		break;
	case REC_CANDIDATE:
		if (check_candidate(e))
			return -1;
		break;
	case REC_RESULT:
		if (check_candidate(e) || check_result(&work.doc, e))
			return -1;
		break;
	case REC_END:
		if (check_fields(&work.doc, work.doc.tok, end_fields, e))
			return -1;
		break;
	case REC_RUN:
		if (check_fields(&work.doc, work.doc.tok, run_fields, e) || check_costs(e))
			return -1;
		break;
	case REC_BEGIN:
	case REC_DONE:
		if (check_fields(&work.doc, work.doc.tok, mark_fields, e))
			return -1;
		break;
	default:
		return 0; /* of a later version: only its grammar is known */
	}
	return check_units(&work.doc, work.doc.tok, e);
}

static int check_all(struct rec_in *in, struct rec_out *out, struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(in, &r, e)) > 0) {
		struct err why = ERR_INIT;

		arena_reset(&work.arena);
		if (check_record(&r, &why)) {
			rec_bad(in, &r, &why);
			continue;
		}
		if (!out)
			continue;
		buf_clear(&work.value);
		json_canonical(&work.doc, work.doc.tok, &work.value);
		if (rec_put(out, work.value.s, work.value.n, e))
			return -1;
	}
	return more;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status = EXIT_DONE;
	struct err e = ERR_INIT;
	struct rec_out *out = NULL;
	struct rec_in *in;

	if (!quiet && !(out = rec_create(output, &e)))
		return opt_fail(&program, &e);
	if (!(in = rec_open(argv + first, argc - first, out, &e))) {
		rec_discard(out);
		return opt_fail(&program, &e);
	}
	rec_stop_on_signals();
	if (fix)
		rec_accept_any_start(in);
	if (check_all(in, out, &e))
		status = opt_fail(&program, &e);
	else if (rec_bad_count(in))
		status = EXIT_INPUT;
	/* What was good goes to the next program; a file is only replaced by a whole one. */
	if (out && !rec_stopped() && (status == EXIT_DONE || !output) && rec_commit(out, &e))
		status = opt_fail(&program, &e);
	rec_close(in);
	rec_discard(out);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
