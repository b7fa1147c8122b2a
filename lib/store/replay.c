#include "lib/store/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trial/race.h"
#include "lib/measure/result.h"

/* What a candidate's race, or final, comes to now. */
struct played {
	const struct recorded *from;
	const char *status, *why;
	int final, as_recorded;
	struct race race; /* where it is not as recorded */
	double run_s, audit_s;
	double build_s, build_core_s, baseline_s;
	double audit_latency_s, limit_s;
	char text[200];
};

/* One that may come into the finals. */
struct finalist {
	struct contestant in;
	const struct recorded *race;
	struct id id;
	const char *line;
	size_t n;
};

void replay_open(struct replay *r, double incumbent_s)
{
	arena_reset(&r->arena);
	contest_begin(&r->contest, incumbent_s, r->rules.preempt, r->rules.finals);
	r->n = r->group_unknown = 0;
	r->opened = 0;
}

/* ---- races ---- */

/* Calls that were made before. */
struct calls {
	const double *x; /* NULL: all alike */
	double each_s;
	int n, at;
};

static int next_call(void *arg, double *seconds, struct err *e)
{
	struct calls *c = arg;

	if (c->at == c->n)
		return err_set(e, "no more calls were recorded");
	*seconds = c->x ? c->x[c->at] : c->each_s;
	c->at++;
	return 0;
}

/* As it will be read from the record. */
static double rounded(double v)
{
	char text[32];

	snprintf(text, sizeof text, "%.9g", v);
	return strtod(text, NULL);
}

/* Has it come to an end within these calls? */
static int race_again(const struct race_rules *rules, struct calls *c, struct race *out)
{
	struct err e = ERR_INIT;

	out->n = 0;
	out->spent_s = 0;
	out->warmup = out->outliers = 0;
	return race_run(rules, next_call, c, out, &e) == 0;
}

static void lose(struct played *p, const struct race_rules *rules)
{
	p->status = "preempted";
	p->as_recorded = 0;
	race_why(rules, &p->race, p->text, sizeof p->text);
	p->why = p->text;
}

/* 1 if the samples say how it ends. */
static int play_samples(struct played *p, const struct race_rules *rules)
{
	const struct recorded *x = p->from;
	struct calls calls = {.x = x->x, .n = x->nx};
	double all_s = 0;

	if (!x->x || !race_again(rules, &calls, &p->race))
		return 0;
	p->as_recorded = !p->race.lost && !strcmp(x->status, "ok") && p->race.n == x->nx;
	for (int i = 0; i < x->nx; i++)
		all_s += x->x[i];
	if (p->race.n < x->nx)
		p->run_s = x->run_s * (p->race.spent_s / all_s);
	if (p->race.lost)
		lose(p, rules);
	else
		p->status = "ok";
	return 1;
}

/* Without samples: 1 if it is clear, without a call, that it loses. */
static int play_bound(struct played *p, const struct race_rules *rules)
{
	const struct recorded *x = p->from;
	struct calls calls = {.each_s = x->lo_s, .n = RACE_MAX};

	if (rules->limit_s <= 0 || !(x->lo_s > 0) || !race_again(rules, &calls, &p->race) ||
	    !p->race.lost)
		return 0;
	if (!strcmp(x->status, "ok") && p->race.spent_s < x->run_s)
		p->run_s = p->race.spent_s;
	lose(p, rules);
	if (!strcmp(x->status, "preempted")) { /* by calls that were made, and paid for */
		p->as_recorded = 1;
		snprintf(p->text, sizeof p->text,
			 "at least %.2f times the incumbent's time, as was found once before",
			 x->lo_s / rules->limit_s);
	}
	return 1;
}

/* Is one that was preempted timed to the end all the same? As long as that took when it was. */
static void play_audit(const struct replay *r, struct played *p, const struct id *id)
{
	const struct recorded *x = p->from;

	if (strcmp(x->status, "ok") != 0 || !contest_audits(r->rules.audit, r->rules.seed, id))
		return;
	p->audit_latency_s = x->latency_s;
	p->audit_s = x->run_s - p->run_s;
}

/* 0: it is not known how it would have ended. */
static int play_race(const struct replay *r, const struct id *id, struct played *p)
{
	const struct recorded *x = p->from;
	const struct race_rules rules = {contest_limit(&r->contest), r->rules.race_s};
	const int was_ok = !strcmp(x->status, "ok");

	p->status = x->status;
	p->why = x->why;
	p->run_s = x->run_s;
	p->as_recorded = 1;
	p->limit_s = rules.limit_s;
	if (!was_ok && strcmp(x->status, "preempted") != 0)
		return 1;
	if (!play_samples(p, &rules) && !play_bound(p, &rules) && !was_ok)
		return 0;
	if (!strcmp(p->status, "preempted"))
		play_audit(r, p, id);
	return 1;
}

/* ---- writing ---- */

static void put_number(struct buf *out, const char *key, double v)
{
	buf_fmt(out, ",\"%s\":", key);
	buf_num(out, v);
}

static void put_race(struct buf *out, const struct race *r)
{
	put_number(out, "latency_s", r->lost ? r->time.lo : r->time.median);
	if (r->lost)
		buf_str(out, ",\"bound\":\"lower\"");
	buf_str(out, ",\"ci_s\":[");
	buf_num(out, r->time.lo);
	buf_ch(out, ',');
	buf_num(out, r->time.hi);
	buf_fmt(out, "],\"reps\":%d,\"warmup\":%d,\"outliers\":%d", r->n, r->warmup, r->outliers);
}

static void put_costs(const struct replay *r, struct buf *out, const struct played *p)
{
	const double verify_s = p->from->verify_s;
	const double alone_s = verify_s + p->run_s + p->audit_s + p->baseline_s;

	buf_str(out, ",\"cost\":{\"build_s\":");
	buf_num(out, p->build_s);
	put_number(out, "build_core_s", p->build_core_s);
	put_number(out, "verify_s", verify_s);
	put_number(out, "run_s", p->run_s);
	if (p->audit_s > 0)
		put_number(out, "audit_s", p->audit_s);
	put_number(out, "baseline_s", p->baseline_s);
	put_number(out, "core_s", p->build_core_s + alone_s * (double)r->env->threads);
	buf_str(out, ",\"energy_J\":null,\"energy_why\":\"a replay takes none\"}");
}

static void put_timing(const struct replay *r, struct buf *out, const struct played *p)
{
	const struct recorded *x = p->from;

	buf_fmt(out, ",\"stage\":\"%s\"", p->final ? "final" : "race");
	if (r->rules.cold)
		buf_str(out, ",\"cache\":\"cold\"");
	if (p->as_recorded)
		buf_str(out, x->timing);
	else
		put_race(out, &p->race);
	if (p->audit_latency_s > 0) {
		buf_str(out, ",\"audit\":{\"latency_s\":");
		buf_num(out, p->audit_latency_s);
		buf_fmt(out, ",\"false_kill\":%s}",
			p->audit_latency_s < p->limit_s ? "true" : "false");
	}
	buf_str(out, x->error);
	buf_str(out, x->baseline);
	if (p->final == x->final)
		buf_str(out, x->rest);
	else if (p->final)
		buf_str(out, ",\"ratio\":null,\"ratio_why\":\"no final was recorded: this is the "
			     "race once more\"");
}

/* d: the parse of the candidate's line. */
static void spend(struct replay *r, enum cost purpose, double seconds)
{
	ledger_switch(&r->ledger, purpose, r->elapsed_s);
	r->elapsed_s += seconds;
}

/* The clock goes on by what it cost. While it builds the run is idle, and compilers tell what they
 * took. */
static void advance(struct replay *r, const struct played *p)
{
	if (r->ledger.cores <= 0)
		ledger_open(&r->ledger, (double)r->env->threads, r->elapsed_s);
	spend(r, COST_IDLE, p->build_s);
	ledger_switch(&r->ledger, COST_OTHER, r->elapsed_s);
	ledger_beside(&r->ledger, COST_BUILD, p->build_core_s, r->elapsed_s);
	spend(r, COST_BASELINE, p->baseline_s);
	spend(r, COST_VERIFY, p->from->verify_s);
	spend(r, COST_TIME, p->run_s);
	spend(r, COST_AUDIT, p->audit_s);
	ledger_switch(&r->ledger, COST_OTHER, r->elapsed_s);
}

int replay_cost(struct replay *r, const char *program, struct err *e)
{
	char at[25];
	struct ledger_run run = {.run = r->run,
				 .program = program,
				 .at = at,
				 .energy =
					 "\"energy_J\":null,\"energy_why\":\"a replay takes none\"",
				 .replayed = 1};

	if (r->ledger.cores <= 0)
		return 0;
	ledger_close(&r->ledger, r->elapsed_s);
	rec_time(r->start_ms + (int64_t)(r->elapsed_s * 1000), at);
	buf_clear(&r->text);
	ledger_record(&r->ledger, &run, &r->text);
	return rec_put(r->out, r->text.s, r->text.n, e);
}

static int put_result(struct replay *r, const struct json_doc *d, const struct played *p,
		      struct err *e)
{
	struct buf *out = &r->text;
	char at[25];

	advance(r, p);
	rec_time(r->start_ms + (int64_t)(r->elapsed_s * 1000), at);
	buf_clear(out);
	result_start(d, out);
	buf_fmt(out, ",\"status\":\"%s\"", p->status);
	if (strcmp(p->status, "ok") != 0) {
		buf_str(out, ",\"why\":");
		buf_json(out, p->why, strlen(p->why));
	}
	put_timing(r, out, p);
	put_costs(r, out, p);
	buf_fmt(out, ",\"env_id\":\"%s\",\"code_hash\":", r->env->id);
	if (p->from->code) {
		buf_json(out, p->from->code->hash, strlen(p->from->code->hash));
	} else {
		buf_str(out, "null,\"code_hash_why\":");
		buf_json(out, p->from->why_no_code, strlen(p->from->why_no_code));
	}
	buf_fmt(out, ",\"run\":\"%s\",\"at\":\"%s\",\"replayed\":true", r->run, at);
	if (r->env->json) {
		buf_str(out, ",\"env\":");
		buf_str(out, r->env->json);
	}
	buf_ch(out, '}');
	return rec_put(r->out, out->s, out->n, e);
}

/* ---- the stages ---- */

/* What is shared is charged to the first. */
static void charge(struct replay *r, struct played *p)
{
	struct recorded_code *code = p->from->code;

	if (!r->opened)
		p->baseline_s = *p->from->baseline_s;
	r->opened = 1;
	if (!code || code->built)
		return;
	code->built = 1;
	p->build_s = code->build_s;
	p->build_core_s = code->build_core_s;
	r->contest.n.built += code->build_s > 0 && strcmp(p->status, "build") != 0;
}

/* Into the contest; its line is kept if it may be needed once more. */
static void enter(struct replay *r, const struct json_doc *d, const struct id *id,
		  const struct played *p, double latency_s)
{
	struct finalist *f = arena_new(&r->arena, struct finalist);

	f->in.who = f;
	if (!contest_raced(&r->contest, &f->in, p->status, latency_s, p->audit_latency_s))
		return;
	f->race = p->from;
	f->id = *id;
	f->line = arena_strndup(&r->arena, d->tok->s, d->tok->n);
	f->n = d->tok->n;
}

int replay_candidate(struct replay *r, const struct json_doc *d, const struct id *id, struct err *e)
{
	struct played p = {.from = recording_race(r->env, id->s)};

	r->asked++;
	r->n++;
	if (!p.from || !play_race(r, id, &p)) {
		r->unknown++;
		r->group_unknown++;
		return 0;
	}
	charge(r, &p);
	enter(r, d, id, &p, p.as_recorded ? p.from->latency_s : rounded(p.race.time.median));
	return put_result(r, d, &p, e) < 0 ? -1 : 1;
}

int replay_finals(struct replay *r, struct err *e)
{
	const struct contestant *in;

	while ((in = contest_finalist(&r->contest))) {
		const struct finalist *f = in->who;
		const struct recorded *x = recording_final(r->env, f->id.s);
		struct played p = {.from = x ? x : f->race, .final = 1, .as_recorded = 1};

		p.status = p.from->status;
		p.why = p.from->why;
		p.run_s = p.from->run_s;
		if (json_parse(&r->doc, f->line, f->n, e) || put_result(r, &r->doc, &p, e))
			return -1;
	}
	return 0;
}

int replay_end(struct replay *r, const char *workload_id, const char *line, size_t n, struct err *e)
{
	const struct ending x = {.line = line,
				 .n = n,
				 .workload_id = workload_id,
				 .run = r->run,
				 .drawn = r->n,
				 .audited = r->rules.audit > 0,
				 .replayed = 1,
				 .unknown = r->group_unknown};

	buf_clear(&r->text);
	if (result_end(&x, &r->contest.n, &r->text, e))
		return -1;
	return rec_put(r->out, r->text.s, r->text.n, e);
}

void replay_free(struct replay *r)
{
	arena_free(&r->arena);
	json_free(&r->doc);
	buf_free(&r->text);
}
