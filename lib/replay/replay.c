#include "lib/replay/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/io/field.h"
#include "lib/measure/result.h"
#include "lib/record/checksum.h"
#include "lib/replay/closing.h"
#include "lib/trial/duel.h"

static const char NO_ENERGY[] = "a replay takes none";

/* What a candidate's race, or final, comes to now. */
struct played {
	const struct recorded *from;
	enum status status;
	const char *why;
	int final, as_recorded;
	struct duel duel; /* where it is not as recorded */
	const struct contender *incumbent;
	const struct recorded *against;	  /* the look at it that duels */
	int becomes_incumbent, is_behind; /* is_behind: it won, but not the second duel */
	double run_s, verify_s, audit_s;
	double build_s, build_core_s, baseline_s;
	struct stat_median audit; /* ratio of a second duel, of so many pairs; 0: none */
	int was_false;		  /* it won that */
	char text[200];
};

/* A candidate that holds the place, or may come to. */
struct contender {
	struct contestant in;
	const struct recorded *race;
	struct id id;
	const char *line;
	size_t n;
};

static struct contender *new_contender(struct replay *r, const struct recorded *x,
				       const struct id *id)
{
	struct contender *c = arena_new(&r->arena, struct contender);

	c->in.owner = c;
	c->race = x;
	c->id = *id;
	return c;
}

void replay_open(struct replay *r, const struct replay_incumbent *incumbent)
{
	const struct recorded *x = incumbent->id ? recording_race(r->env, incumbent->id->s) : NULL;
	struct contender *c = NULL;

	arena_reset(&r->arena);
	if (x && x->status == STATUS_OK) {
		c = new_contender(r, x, incumbent->id);
		c->in.at = arena_strdup(&r->arena, incumbent->at);
		if (incumbent->line)
			c->line = arena_strndup(&r->arena, incumbent->line, incumbent->n);
		c->n = incumbent->n;
	}
	contest_begin(&r->contest, c ? &c->in : NULL, !r->rules.preempt);
	r->first_incumbent = c;
	r->first_had_final = incumbent->had_final;
	r->n = r->group_unknown = 0;
	r->opened = r->gave_final = 0;
}

/* ---- races ---- */

/* A call that was made before, again from the first where they end. */
static double call(const struct recorded *x, int i)
{
	return x->x ? x->x[i % x->nx] : x->lo_s;
}

/* Over the reference's call of the same pair, in which that was not disturbed. */
static double relative(const struct recorded *x, int i)
{
	int k;

	if (!x->y)
		return 1;
	k = i % x->nx;
	if (x->calm)
		k = x->calm[i % x->ncalm];
	return x->x[k] / x->y[k];
}

/* The look at a candidate that plays in a process of a duel: the first one, or the second one,
 * which has another look if there is one. usual: the look that plays where none is drawn. */
static const struct recorded *draw(const struct replay *r, const struct recorded *usual,
				   const char *duel, int process)
{
	const struct recorded *drawn;
	struct buf stream = BUF_INIT;
	struct rng rng;
	int64_t n = 0, first, step;

	if (!r->rules.draws || usual->status != STATUS_OK)
		return usual;
	while (recording_look(r->env, usual->id, n))
		n++;
	if (n < 2)
		return n ? recording_look(r->env, usual->id, 0) : usual;
	buf_fmt(&stream, "look at %s, %s", usual->id, duel);
	rng_seed(&rng, r->rules.seed, stream.s);
	buf_free(&stream);
	first = (int64_t)rng_below(&rng, (uint64_t)n);
	step = 1 + (int64_t)rng_below(&rng, (uint64_t)n - 1);
	drawn = recording_look(r->env, usual->id, (first + process * step) % n);
	return drawn ? drawn : usual;
}

/* Both sides of a duel, in its first or second process. */
static void draw_sides(const struct replay *r, struct played *p, const struct recorded *usual,
		       int process)
{
	char duel[2 * ID_HEX + 16];

	snprintf(duel, sizeof duel, "%s against %s", usual->id,
		 p->incumbent ? p->incumbent->id.s : "none");
	p->from = draw(r, usual, duel, process);
	p->against = p->incumbent ? draw(r, p->incumbent->race, duel, process) : NULL;
}

struct calls {
	const struct recorded *x, *y; /* y NULL: none */
	int at;
};

/* Was it recorded in duels with this reference, or is it the reference? */
static int is_of(const struct recorded *x, const char *reference)
{
	return reference && (x->id == reference || (x->y && x->reference == reference));
}

/* Two recordings. If the one was a duel with the other, it is that duel; where both were duels with
 * the same reference, its calls cancel what the hours of the two had of their own. */
static int next_pair(void *arg, int turn, double *x, double *y, struct err *e)
{
	struct calls *c = arg;
	const struct recorded *own = c->x, *incumbent = c->y;
	int i = c->at++;

	(void)turn, (void)e;
	*x = call(own, i);
	if (!incumbent)
		return 0;
	*y = call(incumbent, i);
	if (own->y && own->reference == incumbent->id)
		*y = own->y[i % own->nx];
	else if (incumbent->y && is_of(own, incumbent->reference))
		*x = relative(own, i) * incumbent->y[i % incumbent->nx];
	return 0;
}

/* What the calls of a duel would have taken, those that warm up included. */
static double calls_s(const struct duel *d)
{
	return 2 * d->spent_s;
}

static void play_duel(const struct replay *r, struct played *p, enum duel_kind kind, struct duel *d)
{
	const struct duel_rules rules = {kind, r->rules.race_s, 0};
	struct calls calls = {p->from, p->against, 0};
	struct err e = ERR_INIT;

	*d = (struct duel){0};
	if (p->incumbent)
		duel_run(&rules, next_pair, &calls, d, &e);
	else
		duel_alone(rules.budget_s, next_pair, &calls, d, &e);
}

/* A candidate that has lost gets a second duel, to the end. */
static void play_audit(struct replay *r, struct played *p, const struct id *id)
{
	struct played again = *p;
	struct duel d;

	if (!contest_audits(r->rules.audit, r->rules.seed, id))
		return;
	draw_sides(r, &again, recording_race(r->env, id->s), 1);
	play_duel(r, &again, DUEL_WHOLE, &d);
	p->audit_s = calls_s(&d);
	contest_audited(&r->contest, d.end == DUEL_WON);
	p->audit = d.ratio;
	p->was_false = d.end == DUEL_WON;
}

/* A candidate that has won duels once more, in a second process. Without other looks the calls are
 * the same ones. */
static void play_again(const struct replay *r, struct played *p, const struct recorded *usual)
{
	struct played again = *p;
	struct duel d;

	draw_sides(r, &again, usual, 1);
	if (again.from == p->from) {
		p->run_s *= 2;
		p->verify_s *= 2;
		return;
	}
	play_duel(r, &again, DUEL_RACE, &d);
	p->run_s += calls_s(&d);
	p->verify_s += again.from->verify_s;
	p->is_behind = d.ratio.median <= 1;
}

/* 0: it is not known how it would have ended. */
static int play_race(struct replay *r, const struct id *id, struct played *p)
{
	const struct recorded *usual = p->from, *x;
	const int was_ok = usual->status == STATUS_OK, was_lost = usual->status == STATUS_PREEMPTED;
	int lost;

	p->incumbent = r->contest.incumbent ? r->contest.incumbent->owner : NULL;
	draw_sides(r, p, usual, 0);
	x = p->from;
	p->status = x->status;
	p->why = x->why;
	p->run_s = x->run_s;
	p->verify_s = x->verify_s;
	p->as_recorded = 1;
	if (!was_ok && !was_lost)
		return 1;
	if (!p->incumbent && was_ok)
		return 1;
	if (!p->incumbent || !(x->lo_s > 0))
		return 0;
	play_duel(r, p, r->rules.preempt ? DUEL_RACE : DUEL_WHOLE, &p->duel);
	lost = p->duel.end == DUEL_LOST;
	if (was_lost && !lost && !x->x)
		return 0; /* it had lost to another incumbent, which was faster */
	p->as_recorded = 0;
	p->run_s = calls_s(&p->duel);
	if (p->duel.end == DUEL_WON && r->rules.preempt)
		play_again(r, p, usual);
	p->status = lost && r->rules.preempt ? STATUS_PREEMPTED : STATUS_OK;
	if (p->status == STATUS_PREEMPTED) {
		duel_why(&p->duel, p->text, sizeof p->text);
		p->why = p->text;
		play_audit(r, p, id);
	}
	return 1;
}

/* ---- writing ---- */

static void put_race(struct buf *out, const struct played *p)
{
	static const char *const end[] = {"lost", "even", "won"};
	const struct duel *d = &p->duel;
	int preempted = p->status == STATUS_PREEMPTED;

	field_number(out, "latency_s", preempted ? d->time.lo : d->time.median);
	if (preempted)
		field_text(out, "bound", "lower");
	field_interval(out, "ci_s", d->time.lo, d->time.hi);
	field_integer(out, "reps", d->n);
	if (!p->incumbent)
		return;
	field_object(out, "duel");
	field_text(out, "against", p->incumbent->id.s);
	field_number(out, "ratio", d->ratio.median);
	field_interval(out, "ci", d->ratio.lo, d->ratio.hi);
	field_number(out, "latency_s", d->other_time.median);
	field_text(out, "end", end[d->end]);
	buf_ch(out, '}');
}

static void put_audit(struct buf *out, const struct played *p)
{
	if (!p->audit.n)
		return;
	field_object(out, "audit");
	field_number(out, "ratio", p->audit.median);
	field_interval(out, "ci", p->audit.lo, p->audit.hi);
	field_flag(out, "false_kill", p->was_false);
	buf_ch(out, '}');
}

static void put_costs(const struct replay *r, struct buf *out, const struct played *p)
{
	const double verify_s = p->verify_s;
	const double alone_s = verify_s + p->run_s + p->audit_s + p->baseline_s;

	field_object(out, "cost");
	field_number(out, "build_s", p->build_s);
	field_number(out, "build_core_s", p->build_core_s);
	field_number(out, "verify_s", verify_s);
	field_number(out, "run_s", p->run_s);
	if (p->audit_s > 0)
		field_number(out, "audit_s", p->audit_s);
	field_number(out, "baseline_s", p->baseline_s);
	field_number(out, "core_s", p->build_core_s + alone_s * (double)r->env->threads);
	field_null(out, "energy_J", NO_ENERGY);
	buf_ch(out, '}');
}

static void put_timing(const struct replay *r, struct buf *out, const struct played *p)
{
	const struct recorded *x = p->from;

	field_text(out, "stage", p->final ? "final" : "race");
	if (r->rules.caches != CACHES_WARM)
		field_text(out, "cache", caches_name(r->rules.caches));
	if (p->as_recorded)
		buf_str(out, x->timing);
	else
		put_race(out, p);
	put_audit(out, p);
	buf_str(out, x->error);
	if (p->final)
		buf_str(out, x->baseline);
	if (p->final == x->final)
		buf_str(out, x->rest);
	else if (p->final)
		field_null(out, "ratio", "no final was recorded: this is the race once more");
	if (p->becomes_incumbent)
		field_flag(out, "incumbent", 1);
}

static void spend(struct replay *r, enum cost purpose, double seconds)
{
	ledger_switch(&r->ledger, purpose, r->elapsed_s);
	r->elapsed_s += seconds;
}

/* Idle time of which others take so much. */
static void take_idle(struct replay *r, enum cost purpose, double core_s)
{
	ledger_move(&r->ledger, COST_IDLE, purpose, core_s, r->elapsed_s);
}

void replay_lead(struct replay *r, const struct lead *p)
{
	ledger_open(&r->ledger, (double)r->env->threads, r->elapsed_s);
	spend(r, COST_IDLE, p->before_s);
	take_idle(r, COST_SEARCH, p->before_s);
	spend(r, COST_IDLE, p->wait_s);
	take_idle(r, COST_BUILD, p->build_core_s);
	take_idle(r, COST_SEARCH, p->search_s);
	take_idle(r, COST_INFERENCE, p->inference_s);
	take_idle(r, COST_PROBE, p->start_s * (double)r->env->threads);
}

/* The clock goes on by what it cost. While it builds the run is idle, and compilers tell what they
 * took. */
static void advance(struct replay *r, const struct played *p)
{
	if (r->ledger.cores <= 0)
		ledger_open(&r->ledger, (double)r->env->threads, r->elapsed_s);
	if (!r->rules.by_run) {
		spend(r, COST_IDLE, p->build_s);
		ledger_switch(&r->ledger, COST_OTHER, r->elapsed_s);
		ledger_beside(&r->ledger, COST_BUILD, p->build_core_s, r->elapsed_s);
	}
	spend(r, COST_BASELINE, p->baseline_s);
	spend(r, COST_VERIFY, p->verify_s);
	spend(r, COST_TIME, p->run_s);
	spend(r, COST_AUDIT, p->audit_s);
	ledger_switch(&r->ledger, COST_OTHER, r->elapsed_s);
}

static int put(struct replay *r, const char *s, size_t n, struct err *e)
{
	return r->out ? rec_put(r->out, s, n, e) : 0;
}

/* Writes the time that the simulated clock shows. */
static void tell_time(const struct replay *r, char at[25])
{
	static const double most_ms = 1e15; /* beyond the times of day */

	rec_time(r->start_ms + (int64_t)fmin(r->elapsed_s * 1000, most_ms), at);
}

int replay_cost(struct replay *r, const char *program, struct err *e)
{
	char at[25];
	struct buf energy = BUF_INIT;
	struct ledger_run run = {.run = r->run, .program = program, .at = at, .replayed = 1};

	if (r->ledger.cores <= 0)
		return 0;
	ledger_close(&r->ledger, r->elapsed_s);
	tell_time(r, at);
	field_null(&energy, "energy_J", NO_ENERGY);
	run.energy = energy.s;
	buf_clear(&r->text);
	ledger_record(&r->ledger, &run, &r->text);
	buf_free(&energy);
	return put(r, r->text.s, r->text.n, e);
}

/* d: the parse of the candidate's line. */
static int put_result(struct replay *r, const struct json_doc *d, const struct played *p,
		      struct err *e)
{
	struct buf *out = &r->text;
	char at[25];

	advance(r, p);
	tell_time(r, at);
	buf_clear(out);
	result_start(d, out);
	field_text(out, "status", status_name(p->status));
	if (p->status != STATUS_OK)
		field_text(out, "why", p->why);
	put_timing(r, out, p);
	put_costs(r, out, p);
	field_text(out, "env_id", r->env->id);
	if (p->from->code)
		field_text(out, "code_hash", p->from->code->hash);
	else
		field_null(out, "code_hash", p->from->why_no_code);
	field_text(out, "run", r->run);
	field_text(out, "at", at);
	field_flag(out, "replayed", 1);
	field_json(out, "env", r->env->json);
	buf_ch(out, '}');
	checksum_put(out);
	return put(r, out->s, out->n, e);
}

/* ---- the stages ---- */

/* What is shared is charged to the first. */
static void charge(struct replay *r, struct played *p)
{
	struct recorded_code *code = p->from->code;

	struct recorded_workload *w = p->from->workload;

	if (!r->opened)
		p->baseline_s = r->rules.by_run && w->was_opened ? w->again_s : w->baseline_s;
	r->opened = w->was_opened = 1;
	if (!code || code->built)
		return;
	code->built = 1;
	p->build_s = code->build_s;
	p->build_core_s = code->build_core_s;
	r->contest.n.built += code->build_s > 0 && p->status != STATUS_BUILD;
}

/* The recording knows how the second duel with its incumbent ended. With another incumbent that is
 * not known, and the candidate counts as ahead. */
static int has_won(const struct played *p)
{
	const struct recorded *x = p->from;

	return p->duel.end == DUEL_WON && !p->is_behind &&
	       !(x->is_behind_again && x->reference == p->incumbent->race->id);
}

/* Into the contest; its line is kept if it may be needed once more. */
static void enter(struct replay *r, const struct json_doc *d, const struct id *id, struct played *p)
{
	struct contender *c = new_contender(r, p->from, id);
	const struct contest_end end = {p->status, !p->incumbent || has_won(p),
					p->as_recorded ? 0 : p->duel.ratio.median};

	if (!contest_raced(&r->contest, &c->in, &end))
		return;
	p->becomes_incumbent = r->rules.preempt;
	c->line = arena_strndup(&r->arena, d->tok->s, d->tok->n);
	c->n = d->tok->n;
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
	enter(r, d, id, &p);
	return put_result(r, d, &p, e) < 0 ? -1 : 1;
}

int replay_final(struct replay *r, struct err *e)
{
	const struct contender *c = r->contest.best ? r->contest.best->owner : NULL;
	const struct recorded *x;
	struct played p = {.final = 1, .as_recorded = 1};

	if (!c || !r->rules.finals || !c->line)
		return 0;
	if (c == r->first_incumbent && (!r->rules.of_first || r->first_had_final))
		return 0;
	x = recording_final(r->env, c->id.s);
	if (!x && r->lacking && closing_add_final(c->line, c->n, c->race, r->lacking, e))
		return -1;
	p.from = x ? x : c->race;
	r->gave_final = 1;
	p.status = p.from->status;
	p.why = p.from->why;
	p.run_s = p.from->run_s;
	p.verify_s = p.from->verify_s;
	p.baseline_s = r->rules.by_run && x ? x->own_baseline_s : 0;
	p.becomes_incumbent = r->rules.preempt && p.status == STATUS_OK;
	if (json_parse(&r->doc, c->line, c->n, e) || put_result(r, &r->doc, &p, e))
		return -1;
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
	return put(r, r->text.s, r->text.n, e);
}

void replay_free(struct replay *r)
{
	arena_free(&r->arena);
	json_free(&r->doc);
	buf_free(&r->text);
}
