#include "lib/door/door.h"

#include <stdio.h>
#include <string.h>

#include "lib/door/plausible.h"
#include "lib/record/check.h"
#include "lib/record/checksum.h"
#include "lib/record/status.h"

/* ---- results that contradict themselves ---- */

/* 0: a second duel stands there, in which it was not ahead. */
static int is_ahead_again(const struct json_doc *d, const struct json *rec)
{
	int ahead = 1;

	json_bool(json_get(d, json_get(d, rec, "again"), "ahead"), &ahead);
	return ahead;
}

/* The library in the workload's own layout stands only beside a baseline in another. */
static int check_own_layout(const struct json_doc *d, struct err *e)
{
	const struct json *baseline = json_get(d, d->tok, "baseline");
	const struct json *layout = json_get(d, json_get(d, d->tok, "workload"), "layout");
	const struct json *other = json_get(d, baseline, "layout");

	if (json_get(d, baseline, "own_layout") && layout && other && layout->n == other->n &&
	    !memcmp(layout->s, other->s, layout->n))
		return err_set(e, "\"own_layout\" stands beside a baseline in that layout");
	return 0;
}

static int check_story(const struct json_doc *d, struct err *e)
{
	const struct json *rec = d->tok, *end = json_get(d, json_get(d, rec, "duel"), "end");
	const int preempted = status_get(d, rec) == STATUS_PREEMPTED;
	int final = json_is(json_get(d, rec, "stage"), "final");

	if (check_own_layout(d, e) < 0)
		return -1;
	if (!final && (json_get(d, rec, "verdict") || json_get(d, rec, "ratio")))
		return err_set(e, "a verdict or ratio stands in a result whose stage is not final");
	if (json_is(end, "lost") && json_get(d, rec, "incumbent"))
		return err_set(e, "a candidate that lost its duel cannot be the incumbent");
	if (!is_ahead_again(d, rec) && json_get(d, rec, "incumbent"))
		return err_set(e, "a candidate that was not ahead again cannot be the incumbent");
	if (json_get(d, rec, "again") && !json_is(end, "won"))
		return err_set(e, "\"again\" stands in a result that did not win its duel");
	if (json_is(json_get(d, rec, "printer"), "c") != !!json_get(d, rec, "printer_why"))
		return err_set(e, "\"printer_why\" goes with \"printer\":\"c\"");
	if (json_get(d, rec, "audit") && !preempted)
		return err_set(e, "an audit stands in a result that is not preempted");
	if (preempted && json_get(d, rec, "latency_s") && !json_get(d, rec, "bound"))
		return err_set(e, "the latency of a preempted candidate needs \"bound\":\"lower\"");
	return 0;
}

/* ---- the parts of a result ---- */

/* Once for each env that comes along. */
static int check_env(struct door *g, const struct json_doc *d, struct err *e)
{
	const struct json *env = json_get(d, d->tok, "env"), *id = json_get(d, d->tok, "env_id");

	if (!env || !id)
		return 0;
	if (g->env.n == env->n + id->n && !memcmp(g->env.s, env->s, env->n) &&
	    !memcmp(g->env.s + env->n, id->s, id->n))
		return 0;
	if (plausible_env(d, e) < 0)
		return -1;
	buf_clear(&g->env);
	buf_add(&g->env, env->s, env->n);
	buf_add(&g->env, id->s, id->n);
	return 0;
}

/* Was there a program, by this status? */
static int was_built(enum status s)
{
	return s != STATUS_UNSUPPORTED && s != STATUS_FILTERED;
}

static int check_candidate(struct door *g, const struct json_doc *d, struct candidate *c,
			   struct err *e)
{
	const char *why;

	/* Recorded spaces leave out what follows from the other fields. */
	if (candidate_read(&g->reader, c, d, json_get(d, d->tok, "candidate_id") != NULL, e) < 0)
		return -1;
	if (was_built(status_get(d, d->tok)) && !algo_valid(c->algo, &c->w, c->knob, &why))
		return err_set(e,
			       "the knobs make no program, but \"status\" says that there was one: "
			       "%s: %s",
			       c->algo->name, why);
	return 0;
}

static int check_result(struct door *g, const struct json_doc *d, struct candidate *c,
			struct err *e)
{
	return record_check(&record_result, d, d->tok, e) < 0 || checksum_check(d, e) < 0 ||
			       check_candidate(g, d, c, e) < 0 || check_story(d, e) < 0 ||
			       plausible_result(d, e) < 0 || check_env(g, d, e) < 0 ||
			       record_check_quantities(d, d->tok, e) < 0
		       ? -1
		       : 0;
}

/* Its knobs make a program, which ran. */
static int check_choice(struct door *g, const struct json_doc *d, struct candidate *c,
			struct err *e)
{
	const char *why;

	if (!json_get(d, d->tok, "candidate_id"))
		return err_set(e, "a choice needs its candidate's id");
	if (candidate_read(&g->reader, c, d, 1, e) < 0)
		return -1;
	return algo_valid(c->algo, &c->w, c->knob, &why)
		       ? 0
		       : err_set(e, "the knobs make no program: %s: %s", c->algo->name, why);
}

int door_result(struct door *g, const struct json_doc *d, struct candidate *c, struct err *e)
{
	if (!json_is(json_get(d, d->tok, "type"), "result"))
		return err_set(e, "this is no result");
	return check_result(g, d, c, e);
}

int door_result_text(struct door *g, const char *line, size_t n, struct json_doc *d,
		     struct candidate *c, struct err *e)
{
	return json_parse(d, line, n, e) < 0 ? -1 : door_result(g, d, c, e);
}

/* ---- records of any type ---- */

int door_record(struct door *g, const struct json_doc *d, struct err *e)
{
	const struct json *type = json_get(d, d->tok, "type");
	const struct record_object *o =
		type && type->type == JSON_STR ? record_find(type->s, type->n) : NULL;
	struct candidate c;
	struct workload w;

	if (o == &record_result)
		return check_result(g, d, &c, e);
	if (checksum_check(d, e) < 0) /* it may have been a result */
		return -1;
	if (!o)
		return 0;
	if (record_check(o, d, d->tok, e) < 0)
		return -1;
	if (o == &record_workload && workload_from_json(&w, d, d->tok, e) < 0)
		return -1;
	if (o == &record_candidate && candidate_read(&g->reader, &c, d, 1, e) < 0)
		return -1;
	if (o == &record_choice && check_choice(g, d, &c, e) < 0)
		return -1;
	return record_check_quantities(d, d->tok, e);
}

void door_free(struct door *g)
{
	candidate_reader_free(&g->reader);
	buf_free(&g->env);
}

void door_refuse(struct door_refused *r, const struct err *why)
{
	if (!r->n++)
		snprintf(r->first, sizeof r->first, "%.190s", why->msg);
}

void door_refuse_all(struct door_refused *r, const struct door_refused *more)
{
	if (!r->n)
		memcpy(r->first, more->first, sizeof r->first);
	r->n += more->n;
}

const char *door_sentence(const struct door_refused *r, char text[DOOR_SENTENCE])
{
	if (!r->n)
		return NULL;
	snprintf(text, DOOR_SENTENCE,
		 "%lld stored record%s left out, as tl-check would refuse %s; the first: %s",
		 (long long)r->n, r->n == 1 ? " is" : "s are", r->n == 1 ? "it" : "them", r->first);
	return text;
}
