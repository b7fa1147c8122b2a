#include "lib/run/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answer/zero_shot.h"
#include "lib/features/features.h"
#include "lib/target/target.h"

/* What is known elsewhere and may compete. */
enum { FOREIGN = 8 };

static int open_database(struct chooser *c, const char *path, struct err *e)
{
	int there = store_is_there(path, e), rc;

	if (there <= 0)
		return there;
	c->db = store_open(path, STORE_READ, e);
	rc = c->db ? store_env_here(c->db, target_default(), NULL, &c->run, &c->here, e) : -1;
	if (rc < 0)
		return -1;
	if (!rc)
		c->here = (struct store_env){"", NULL, NULL}; /* it knows no env */
	c->matcher = matcher_open(c->db, &c->here);
	return 0;
}

int chooser_open(struct chooser *c, const char *path, const char *model_path,
		 const struct limits *limits, struct err *e)
{
	*c = (struct chooser){0};
	c->env.limits = *limits;
	features_rates(&c->env.limits, &c->env.rates);
	c->env.caches = caches_default(target_default());
	if (local_open(model_path, 1, &c->env.limits, &c->model, e))
		return -1;
	return path ? open_database(c, path, e) : 0;
}

void chooser_close(struct chooser *c)
{
	matcher_close(c->matcher);
	store_close(c->db);
	model_free(c->model);
	json_free(&c->doc);
	map_free(&c->predicted);
	arena_free(&c->run);
	arena_free(&c->record);
}

/* Does the candidate make a program that this machine can run? */
static int can_run(struct chooser *c, const struct candidate *x, struct err *why)
{
	double draft_s;

	return candidate_features(x, &c->env, &c->record, &draft_s, NULL, why) == 0;
}

/* The program of a stored result, which has passed the door. 0: it is of another target, or makes
 * no program here. */
static int take(struct chooser *c, const struct store_result *r, struct chosen *out)
{
	struct err why = ERR_INIT;

	if (json_parse(&c->doc, r->record, r->record_n, &why) ||
	    candidate_from_json(&out->candidate, &c->doc, 1, &why))
		return 0;
	if (out->candidate.target != target_default())
		return 0;
	if (can_run(c, &out->candidate, &why))
		return 1;
	door_refuse(&c->refused, &why);
	return 0;
}

const char *chooser_doubt(const struct chooser *c, char text[DOOR_SENTENCE])
{
	struct door_refused all = c->refused;

	door_refuse_all(&all, store_refused(c->db));
	return door_sentence(&all, text);
}

/* Adapts the model to what the database knows of the env, at the first prediction. */
static int adapt(struct chooser *c, struct err *e)
{
	if (c->is_adapted || !c->model || !c->db)
		return 0;
	c->is_adapted = 1;
	return local_adapt(c->db, c->here.id, &c->env.limits, &c->model, c->useless, e) < 0 ? -1
											    : 0;
}

/* m: what is known elsewhere, or NULL. */
static int predict_anew(struct chooser *c, const struct workload *w, const struct match *m,
			struct chosen *out, struct err *e)
{
	struct zero_shot inputs = {&c->env, NULL, 1};
	struct zero_shot_answer up;
	int rc;

	if (adapt(c, e))
		return -1;
	inputs.model = c->model;
	rc = zero_shot_find(&inputs, w, m, &up, e);
	if (rc > 0) {
		out->candidate = up.candidate;
		out->match = origin_name(up.origin);
	}
	return rc;
}

/* Searches once for each workload. */
static int predict(struct chooser *c, const struct workload *w, const struct match *m,
		   struct chosen *out, struct err *e)
{
	void **known = map_put(&c->predicted, w->id.s, ID_HEX, NULL);
	int rc;

	if (*known) {
		*out = *(const struct chosen *)*known;
		return 1;
	}
	rc = predict_anew(c, w, m, out, e);
	if (rc > 0) {
		struct chosen *kept = arena_new(&c->run, struct chosen);

		*kept = *out;
		*known = kept;
	}
	return rc;
}

/* ---- choices of whole runs ---- */

/* Did a candidate take part in the runs that made the choice? */
static int took_part(const struct json_doc *d, const char *id)
{
	const struct json *over = json_get(d, d->tok, "over");

	if (json_is(json_get(d, d->tok, "candidate_id"), id) ||
	    json_is(json_get(d, d->tok, "first"), id))
		return 1;
	for (const struct json *v = json_first(d, over); v; v = json_next(d, over, v))
		if (json_is(json_get(d, v, "candidate_id"), id))
			return 1;
	return 0;
}

/* The choice for this network, unless something better is known since. 1; 0; -1. */
static int take_choice(struct chooser *c, const struct workload *w, const char *best_id,
		       struct chosen *out, struct err *e)
{
	struct err why = ERR_INIT;
	struct store_choice choice;
	int rc = c->network ? store_choice(c->db, c->network->s, w->id.s, c->here.id, &c->record,
					   &choice, e)
			    : 0;

	if (rc <= 0)
		return rc;
	if (json_parse(&c->doc, choice.record, choice.record_n, &why) ||
	    !took_part(&c->doc, best_id) ||
	    candidate_from_json(&out->candidate, &c->doc, 1, &why) ||
	    out->candidate.target != target_default() || !can_run(c, &out->candidate, &why)) {
		if (*why.msg)
			door_refuse(&c->refused, &why);
		return 0;
	}
	out->match =
		strcmp(best_id, out->candidate.id.s) != 0 ? "in place" : match_name(MATCH_EXACT);
	out->is_decided = 1;
	json_num(json_get(&c->doc, c->doc.tok, "alone_s"), &out->predicted_s);
	return 1;
}

/* -1: the workload is not raced. */
static int raced_at(const struct chooser *c, const struct workload *w)
{
	for (int i = 0; c->raced && i < c->raced->n; i++)
		if (!strcmp(c->raced->workload[i].s, w->id.s))
			return i;
	return -1;
}

int chooser_pick(struct chooser *c, const struct workload *w, struct chosen *out, struct err *e)
{
	struct match m = {.how = MATCH_NONE};
	const int i = raced_at(c, w);
	int rc;

	if (i >= 0 && c->raced->won && c->raced->won[i].match) {
		*out = c->raced->won[i];
		return 1;
	}
	arena_reset(&c->record);
	out->predicted_s = NAN;
	out->is_decided = 0;
	if (c->matcher &&
	    match_find(c->matcher, w, c->model != NULL, FOREIGN, &c->record, &m, e) < 0)
		return -1;
	if (m.how == MATCH_EXACT &&
	    (rc = take_choice(c, w, m.result[0].candidate_id.s, out, e)) != 0)
		return rc;
	if (m.how == MATCH_EXACT && take(c, &m.result[0], out)) {
		out->match = match_name(m.how);
		out->predicted_s = m.result[0].latency_s;
		return 1;
	}
	return predict(c, w, m.n && m.how != MATCH_EXACT ? &m : NULL, out, e);
}

/* ---- rivals ---- */

static const double HARDLY_SLOWER = 1.5; /* times the fastest, alone */
enum { LOOKED_AT = 256 /* of the fastest */ };

static int by_latency(const void *a, const void *b)
{
	const struct store_result *x = a, *y = b;

	if (x->latency_s != y->latency_s)
		return x->latency_s < y->latency_s ? -1 : 1;
	return strcmp(x->candidate_id.s, y->candidate_id.s);
}

static int is_among(const struct store_result *r, int64_t n, const struct id *id)
{
	for (int64_t i = 0; i < n; i++)
		if (!strcmp(r[i].candidate_id.s, id->s))
			return 1;
	return 0;
}

/* Leaves those that have a time and were never wrong, each once, the fastest first. */
static int64_t fastest_first(struct store_result *r, int64_t n)
{
	int64_t wrong = 0, kept = 0;

	for (int64_t i = 0; i < n; i++) /* the wrong ones to the front */
		if (r[i].status == STATUS_WRONG) {
			const struct store_result x = r[i];

			r[i] = r[wrong];
			r[wrong++] = x;
		}
	qsort(r + wrong, (size_t)(n - wrong), sizeof *r, by_latency);
	for (int64_t i = wrong; i < n; i++) {
		const struct store_result x = r[i];

		if ((x.status == STATUS_OK || x.status == STATUS_PREEMPTED) && x.latency_s > 0 &&
		    !is_among(r, wrong + kept, &x.candidate_id))
			r[wrong + kept++] = x;
	}
	memmove(r, r + wrong, (size_t)kept * sizeof *r);
	return kept;
}

struct rivals {
	struct chosen at[LOOKED_AT];
	int n;
};

/* The candidates of results that make programs here, without the one that is chosen. */
static int find_rivals(struct chooser *c, const struct workload *w, const struct chosen *now,
		       struct rivals *all, struct err *e)
{
	struct store_result *r;
	int64_t n;

	all->n = 0;
	if (store_history(c->db, w->id.s, c->here.id, &c->record, &r, &n, e) < 0)
		return -1;
	n = fastest_first(r, n);
	for (int64_t i = 0; i < n && all->n < LOOKED_AT; i++) {
		struct chosen *x = &all->at[all->n];
		int rc;

		if (!strcmp(r[i].candidate_id.s, now->candidate.id.s))
			continue;
		if (r[i].latency_s > HARDLY_SLOWER * r[0].latency_s && !c->raced->any)
			break;
		rc = store_record(c->db, w->id.s, c->here.id, &c->record, &r[i], e);
		if (rc < 0)
			return -1;
		if (!rc || !take(c, &r[i], x))
			continue;
		x->match = match_name(MATCH_EXACT);
		x->predicted_s = r[i].latency_s;
		x->is_decided = 0;
		all->n++;
	}
	return 0;
}

static int has_algo(const struct chosen *x, int n, const struct algo *algo)
{
	for (int i = 0; i < n; i++)
		if (x[i].candidate.algo == algo)
			return 1;
	return 0;
}

int chooser_rivals(struct chooser *c, const struct workload *w, const struct chosen *now,
		   struct chosen out[CHOOSER_RIVALS], struct err *e)
{
	const int at = raced_at(c, w);
	struct rivals *all;
	int n = 0;

	if (at < 0 || !c->db)
		return 0;
	if (c->raced->won) {
		out[0] = c->raced->first[at];
		return c->raced->won[at].match != NULL;
	}
	arena_reset(&c->record);
	all = arena_new(&c->record, struct rivals);
	if (find_rivals(c, w, now, all, e))
		return -1;
	for (int i = 0; i < all->n && n < CHOOSER_RIVALS - 1; i++)
		if (all->at[i].candidate.algo != now->candidate.algo &&
		    !has_algo(out, n, all->at[i].candidate.algo))
			out[n++] = all->at[i];
	for (int i = 0; i < all->n && n < CHOOSER_RIVALS; i++)
		if (all->at[i].candidate.algo == now->candidate.algo)
			out[n++] = all->at[i];
	return n;
}
