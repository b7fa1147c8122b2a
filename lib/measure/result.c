#include "lib/measure/result.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/host/system.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/record/checksum.h"
#include "lib/record/schema.h"

double result_number(const struct json_doc *d, const char *key)
{
	double v = 0;

	if (d)
		json_num(json_get(d, d->tok, key), &v);
	return v;
}

static void put_costs(struct measure *m, struct buf *out, struct group *g, struct item *it,
		      const struct verdict *v)
{
	double core = it->build_core_s + (v->elapsed_s + g->open_s) * m->env.limits.threads;

	field_object(out, "cost");
	field_number(out, "build_s", it->build_s);
	field_number(out, "build_core_s", it->build_core_s);
	field_number(out, "verify_s", v->verify_s);
	field_number(out, "run_s", v->run_s);
	if (v->audit_s > 0)
		field_number(out, "audit_s", v->audit_s);
	field_number(out, "baseline_s", g->open_s);
	field_number(out, "core_s", core);
	energy_put(&m->energy, energy_lap(&m->energy), out); /* since the result before it */
	buf_ch(out, '}');
	it->build_s = it->build_core_s = 0;
	g->open_s = 0;
}

static void put_time(struct buf *out, const struct stat_median *m)
{
	field_number(out, "latency_s", m->median);
	field_interval(out, "ci_s", m->lo, m->hi);
}

static void put_ratio(struct buf *out, const struct stat_median *ratio)
{
	field_object(out, "ratio");
	field_number(out, "median", ratio->median);
	field_interval(out, "ci", ratio->lo, ratio->hi);
	buf_ch(out, '}');
}

static void put_samples(const struct measure *m, struct buf *out, const double *s, int n)
{
	if (m->rules.samples)
		field_numbers(out, "samples_s", s, n);
}

/* The library in the workload's own layout, where the opponent is in another. */
static void put_own_layout(const struct measure *m, struct buf *out, const struct opponent *b,
			   const struct final *f)
{
	if (b->own_impl_why)
		field_null(out, "own_layout", b->own_impl_why);
	if (!f->own.is_there)
		return;
	field_object(out, "own_layout");
	field_text(out, "impl", b->own_impl);
	put_time(out, &f->own.time);
	put_ratio(out, &f->own.ratio);
	put_samples(m, out, f->own.s, f->n);
	buf_ch(out, '}');
}

/* The opponent of a final, and what came of it. */
static void put_opponent(const struct measure *m, struct buf *out, const struct opponent *b,
			 const struct final *f)
{
	field_object(out, "baseline");
	field_text(out, "impl", b->impl);
	field_text(out, "layout", b->layout);
	put_time(out, &f->best.time);
	field_text(out, "system", system_name());
	field_json(out, "error", b->error);
	put_samples(m, out, f->best.s, f->n);
	put_own_layout(m, out, b, f);
	buf_ch(out, '}');
	put_ratio(out, &f->best.ratio);
	field_text(out, "verdict", stat_verdict_name(stat_verdict(f->best.ratio)));
}

static void put_final(const struct measure *m, struct buf *out, const struct group *g,
		      const struct final *f)
{
	const struct opponent *b = &g->opponent;

	put_time(out, &f->time);
	field_integer(out, "reps", f->n);
	field_integer(out, "processes", f->processes);
	if (f->row) {
		field_integer(out, "row", f->row);
		field_text(out, "row_by", f->row_is_graph ? "graph" : "calls");
	}
	put_samples(m, out, f->s, f->n);
	if (f->best.is_there)
		put_opponent(m, out, b, f);
	else
		field_null(out, "baseline", b->why);
	field_json(out, "rejected", b->rejected);
}

/* A duel with the holder. */
static void put_duel(const struct measure *m, struct buf *out, const struct json_doc *d,
		     const struct item *holder)
{
	const struct json *ratio = json_get(d, d->tok, "ratio");

	if (!ratio || !holder)
		return;
	field_object(out, "duel");
	field_text(out, "against", holder->id.s);
	field_copy(out, "ratio", ratio);
	field_copy(out, "ci", json_get(d, d->tok, "ratio_ci"));
	field_copy(out, "latency_s", json_get(d, d->tok, "other_s"));
	field_copy(out, "end", json_get(d, d->tok, "end"));
	if (m->rules.samples)
		field_copy(out, "samples_s", json_get(d, d->tok, "other_samples_s"));
	buf_ch(out, '}');
}

static void put_race(const struct measure *m, struct buf *out, const struct verdict *v)
{
	static const char *const same[] = {"ci_s", "reps", "row", "row_by", "use", "watch"};
	const struct json_doc *d = v->answer;
	const struct json *lo = json_first(d, json_get(d, d->tok, "ci_s"));

	if (v->status == STATUS_PREEMPTED && lo) {
		field_copy(out, "latency_s", lo);
		field_text(out, "bound", "lower");
	} else {
		field_copy(out, "latency_s", json_get(d, d->tok, "latency_s"));
	}
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		field_copy(out, same[i], json_get(d, d->tok, same[i]));
	if (m->rules.samples)
		field_copy(out, "samples_s", json_get(d, d->tok, "samples_s"));
	put_duel(m, out, d, v->holder);
	field_json(out, "audit", v->audit);
	field_json(out, "again", v->again);
}

/* The measured part of a result. */
static void put_timing(const struct measure *m, struct buf *out, const struct group *g,
		       const struct verdict *v)
{
	field_text(out, "stage", v->is_final ? "final" : "race");
	if (m->rules.caches != CACHES_WARM)
		field_text(out, "cache", caches_name(m->rules.caches));
	if (v->final && v->status == STATUS_OK)
		put_final(m, out, g, v->final);
	else if (v->answer && status_is_timed(v->status))
		put_race(m, out, v);
	else
		field_null(out, "latency_s", "not timed");
	field_json(out, "error", v->error);
	if (v->is_incumbent)
		field_flag(out, "incumbent", 1);
}

/* How a kernel was written: as assembly, or GNU C and why; or in its target's own language. */
static void put_printer(struct buf *out, const struct target *target, const struct build *b)
{
	const char *printer = target->can & TARGET_BLOCKS ? target->name : "assembly";

	if (!b)
		return;
	field_text(out, "printer", b->why_c ? "c" : printer);
	field_text(out, "printer_why", b->why_c);
}

/* What this program writes into a record: "type", the schema's fields of a result, and the reasons
 * of those that may be null. A result that is measured once more brings old ones. */
enum { FIELDS = 64 };
struct owned {
	struct json_field field[FIELDS * (1 + RECORD_REASONS)];
	struct record_reasons why[FIELDS];
	int n;
};

static void list_owned(struct owned *o)
{
	const struct record_field *f = record_result.field;

	o->field[0] = (struct json_field){"type", "\"result\""};
	o->n = 1;
	for (int i = 0; f[i].name; i++) {
		assert(i < FIELDS - 1);
		o->field[o->n++] = (struct json_field){f[i].name, NULL};
		o->why[i].n = 0;
		if (f[i].nullable)
			record_reasons(f[i].name, strlen(f[i].name), &o->why[i]);
		for (int k = 0; k < o->why[i].n; k++)
			o->field[o->n++] = (struct json_field){o->why[i].name[k], NULL};
	}
}

static int is_reason(const struct json *key, const struct record_field *f)
{
	struct record_reasons why;
	int i = 0;

	record_reasons(f->name, strlen(f->name), &why);
	while (i < why.n && !json_is(key, why.name[i]))
		i++;
	return i < why.n;
}

int result_owns(const struct json *key)
{
	int is_why = key->n > 4 && !memcmp(key->s + key->n - 4, "_why", 4);

	for (const struct record_field *f = record_result.field; f->name; f++)
		if (json_is(key, f->name) || (is_why && f->nullable && is_reason(key, f)))
			return 1;
	return json_is(key, "type");
}

void result_start(const struct json_doc *line, struct buf *out)
{
	struct owned o;

	list_owned(&o);
	json_rewrite(line, o.field, o.n, out);
	while (out->s[--out->n] != '}') /* white space may stand behind it */
		;
}

/* Out with a result: to where a death cannot reach it, then on. */
static int emit(struct measure *m, const char *line, size_t n, struct err *e)
{
	enum cost before;
	int rc = 0;

	if (m->journal) {
		before = ledger_switch(&m->ledger, COST_STORE, clock_now());
		rc = journal_add(m->journal, line, n, e);
		ledger_switch(&m->ledger, before, clock_now());
	}
	return rc ? rc : rec_put(m->out, line, n, e);
}

int result_release(struct measure *m, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < m->held.n && rc == 0;) {
		size_t n = strcspn(m->held.s + i, "\n");

		rc = emit(m, m->held.s + i, n, e);
		i += n + 1;
	}
	buf_clear(&m->held);
	m->nheld = 0;
	return rc;
}

/* May be the machine's doing. */
static int is_suspect(const struct verdict *v)
{
	return status_may_pass(v->status) || v->status == STATUS_WRONG;
}

static int put(struct measure *m, const struct verdict *v, struct buf *line, struct err *e)
{
	if (is_suspect(v)) {
		buf_add(&m->held, line->s, line->n);
		buf_ch(&m->held, '\n');
		m->nheld++;
		return 0;
	}
	if (status_is_timed(v->status) && result_release(m, e) < 0)
		return -1;
	return emit(m, line->s, line->n, e);
}

int result_put(struct measure *m, struct group *g, struct item *it, const struct verdict *v,
	       struct err *e)
{
	struct json_doc line = JSON_DOC_INIT;
	struct buf out = BUF_INIT;
	char now[25];
	int rc;

	if (json_parse(&line, it->line, it->n, e) < 0)
		return -1;
	result_start(&line, &out);
	json_free(&line);
	field_text(&out, "status", status_name(v->status));
	if (v->status != STATUS_OK)
		field_text(&out, "why", v->why);
	put_printer(&out, m->env.limits.target, it->build);
	put_timing(m, &out, g, v);
	put_costs(m, &out, g, it, v);
	rec_now(now);
	field_text(&out, "env_id", m->env.id.s);
	if (it->build)
		field_text(&out, "code_hash", it->build->code.s);
	else
		field_null(&out, "code_hash", "not built");
	field_text(&out, "settings", m->settings.s);
	field_text(&out, "run", m->run.s);
	field_text(&out, "at", now);
	field_json(&out, "env", m->env.json.s);
	buf_ch(&out, '}');
	checksum_put(&out);
	rc = put(m, v, &out, e);
	buf_free(&out);
	return rc;
}

int result_end(const struct ending *x, const struct counts *n, struct buf *out, struct err *e)
{
	char number[8][24], run[ID_HEX + 3];
	const int64_t count[] = {n->measured, n->preempted,   n->failed,  n->built,
				 n->audited,  n->false_kills, x->unknown, n->known};
	const struct json_field field[] = {{"measured", number[0]},
					   {"preempted", number[1]},
					   {"failed", number[2]},
					   {"built", number[3]},
					   {"known", n->known ? number[7] : NULL},
					   {"run", run},
					   {"audited", x->audited ? number[4] : NULL},
					   {"false_kills", x->audited ? number[5] : NULL},
					   {"unknown", x->replayed ? number[6] : NULL},
					   {"replayed", x->replayed ? "true" : NULL},
					   {"why", "\"out of time\""}};
	const int n_field = (int)(sizeof field / sizeof *field) - !x->is_late;
	struct buf end = BUF_INIT;
	struct json_doc d = JSON_DOC_INIT;
	int rc;

	for (int i = 0; i < 8; i++)
		snprintf(number[i], sizeof number[i], "%lld", (long long)count[i]);
	snprintf(run, sizeof run, "\"%s\"", x->run);
	if (x->line)
		buf_add(&end, x->line, x->n);
	else
		rec_end_text(&end, x->workload_id, x->drawn, x->drawn ? "end of input" : "stopped");
	rc = json_parse(&d, end.s, end.n, e);
	if (rc == 0)
		json_rewrite(&d, field, n_field, out);
	json_free(&d);
	buf_free(&end);
	return rc;
}

int result_put_end(struct measure *m, const struct group *g, const struct counts *n, struct err *e)
{
	const struct ending x = {.line = g->end,
				 .n = g->end_n,
				 .workload_id = g->w.id.s,
				 .run = m->run.s,
				 .drawn = g->n,
				 .is_late = g->skipped > 0,
				 .audited = m->rules.audit > 0};
	struct buf out = BUF_INIT;
	int rc = result_end(&x, n, &out, e);

	if (rc == 0)
		rc = rec_put(m->out, out.s, out.n, e);
	buf_free(&out);
	return rc;
}
