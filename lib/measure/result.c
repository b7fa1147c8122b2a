#include "lib/measure/result.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/host/system.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/record/checksum.h"
#include "lib/record/schema.h"

static struct interval interval_of(const struct stat_median *m)
{
	return (struct interval){m->lo, m->hi};
}

static struct result_ratio ratio_of(const struct stat_median *m)
{
	return (struct result_ratio){1, m->median, interval_of(m)};
}

static struct numbers samples_of(const struct measure *m, const double *s, int n)
{
	return m->rules.samples ? (struct numbers){s, n} : (struct numbers){NULL, 0};
}

static struct result_cost cost_of(struct measure *m, struct group *g, struct item *it,
				  const struct verdict *v)
{
	const double energy_J = energy_lap(&m->energy); /* since the result before it */
	const struct result_cost c = {
		.is_there = 1,
		.build_s = it->build_s,
		.build_core_s = it->build_core_s,
		.verify_s = v->verify_s,
		.run_s = v->run_s,
		.audit_s = v->audit_s > 0 ? v->audit_s : NAN,
		.baseline_s = g->open_s,
		.core_s = it->build_core_s + (v->elapsed_s + g->open_s) * m->env.limits.threads,
		.energy_J = isfinite(energy_J) ? energy_J : NAN,
		.energy_why = m->energy.why,
	};

	it->build_s = it->build_core_s = 0;
	g->open_s = 0;
	return c;
}

/* The baseline of a final, and what came of it. */
static void fill_baseline(const struct measure *m, const struct group_baseline *b,
			  const struct final *f, struct result *r)
{
	struct result_baseline *x = &r->baseline;

	x->is_there = 1;
	x->impl = b->impl;
	x->layout = b->layout;
	x->latency_s = f->best.time.median;
	x->ci_s = interval_of(&f->best.time);
	x->system = system_name();
	x->error = b->error;
	x->samples_s = samples_of(m, f->best.s, f->n);
	x->own_layout_why = b->own_impl_why;
	if (f->own.is_there)
		x->own_layout = (struct result_rival){
			.is_there = 1,
			.impl = b->own_impl,
			.latency_s = f->own.time.median,
			.ci_s = interval_of(&f->own.time),
			.samples_s = samples_of(m, f->own.s, f->n),
			.ratio = ratio_of(&f->own.ratio),
		};
	r->ratio = ratio_of(&f->best.ratio);
	r->verdict = stat_verdict_name(stat_verdict(f->best.ratio));
}

static void fill_final(const struct measure *m, const struct group_baseline *b,
		       const struct final *f, struct result *r)
{
	r->latency_s = f->time.median;
	r->ci_s = interval_of(&f->time);
	r->reps = f->n;
	r->processes = f->processes;
	r->row = f->row;
	if (f->row)
		r->row_by = f->row_is_graph ? "graph" : "calls";
	r->samples_s = samples_of(m, f->s, f->n);
	r->baseline_why = b->why;
	if (f->best.is_there)
		fill_baseline(m, b, f, r);
	r->rejected = b->rejected;
}

static void fill_race(const struct measure *m, const struct verdict *v, struct result *r)
{
	*r = v->said;
	if (r->status == STATUS_PREEMPTED && !isnan(r->ci_s.lo)) {
		r->latency_s = r->ci_s.lo;
		r->bound = "lower";
	}
	r->duel.is_there &= v->incumbent != NULL;
	if (v->incumbent)
		r->duel.against = v->incumbent->id.s;
	if (!m->rules.samples)
		r->samples_s.n = r->duel.samples_s.n = r->duel.first.is_there = 0;
}

/* The measured part of a result. */
static void fill_timing(const struct measure *m, const struct group *g, const struct verdict *v,
			struct result *r)
{
	result_clear(r);
	if (v->final && v->said.status == STATUS_OK)
		fill_final(m, &g->baseline, v->final, r);
	else if (status_is_timed(v->said.status))
		fill_race(m, v, r);
	else
		r->latency_why = "not timed";
	r->status = v->said.status;
	r->why = r->status == STATUS_OK ? NULL : v->said.why ? v->said.why : "";
	r->stage = v->is_final ? STAGE_FINAL : STAGE_RACE;
	if (m->rules.caches != CACHES_WARM)
		r->cache = caches_name(m->rules.caches);
	r->error = v->said.error;
	r->incumbent = v->becomes_incumbent;
}

/* How a kernel was written: as assembly, or GNU C and why; or in its target's own language. And its
 * hash. */
static void fill_code(const struct target *target, const struct build *b, struct result *r)
{
	r->code_hash_why = "not built";
	if (!b)
		return;
	r->printer = b->why_c ? "c" : target->can & TARGET_BLOCKS ? target->name : "assembly";
	r->printer_why = b->why_c;
	r->code_hash = b->code.s;
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
	return status_may_pass(v->said.status) || v->said.status == STATUS_WRONG;
}

static int put(struct measure *m, const struct verdict *v, struct buf *line, struct err *e)
{
	if (is_suspect(v)) {
		buf_add(&m->held, line->s, line->n);
		buf_ch(&m->held, '\n');
		m->nheld++;
		return 0;
	}
	if (status_is_timed(v->said.status) && result_release(m, e) < 0)
		return -1;
	return emit(m, line->s, line->n, e);
}

int result_put(struct measure *m, struct group *g, struct item *it, const struct verdict *v,
	       struct err *e)
{
	struct json_doc line = JSON_DOC_INIT;
	struct buf out = BUF_INIT;
	struct result r;
	char now[25];
	int rc;

	if (json_parse(&line, it->line, it->n, e) < 0)
		return -1;
	result_start(&line, &out);
	json_free(&line);
	rec_now(now);
	fill_timing(m, g, v, &r);
	fill_code(m->env.limits.target, it->build, &r);
	r.cost = cost_of(m, g, it, v);
	r.env_id = m->env.id.s;
	r.settings = m->settings.s;
	r.run = m->run.s;
	r.at = now;
	r.env = m->env.json.s;
	result_write(&r, &out);
	buf_ch(&out, '}');
	checksum_put(&out);
	rc = put(m, v, &out, e);
	buf_free(&out);
	return rc;
}

int result_end(const struct ending *x, const struct counts *n, struct buf *out, struct err *e)
{
	static const char *const owned[] = {"known",   "audited",  "false_kills",
					    "unknown", "replayed", NULL};
	struct buf end = BUF_INIT, set = BUF_INIT;
	struct json_doc d = JSON_DOC_INIT;
	int rc;

	field_object(&set, NULL);
	field_integer(&set, "measured", n->measured);
	field_integer(&set, "preempted", n->preempted);
	field_integer(&set, "failed", n->failed);
	field_integer(&set, "built", n->built);
	if (n->known)
		field_integer(&set, "known", n->known);
	field_text(&set, "run", x->run);
	if (x->audited) {
		field_integer(&set, "audited", n->audited);
		field_integer(&set, "false_kills", n->false_kills);
	}
	if (x->replayed) {
		field_integer(&set, "unknown", x->unknown);
		field_flag(&set, "replayed", 1);
	}
	if (x->is_late)
		field_text(&set, "why", "out of time");
	if (x->line)
		buf_add(&end, x->line, x->n);
	else
		rec_end_text(&end, x->workload_id, x->drawn, x->drawn ? "end of input" : "stopped");
	rc = json_parse(&d, end.s, end.n, e);
	if (rc == 0)
		field_rewrite(&d, &set, owned, out);
	json_free(&d);
	buf_free(&end);
	buf_free(&set);
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
