#include "lib/run/choose.h"

#include <math.h>

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
static int predict(struct chooser *c, const struct workload *w, const struct match *m,
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

int chooser_pick(struct chooser *c, const struct workload *w, struct chosen *out, struct err *e)
{
	struct match m = {.how = MATCH_NONE};

	arena_reset(&c->record);
	out->predicted_s = NAN;
	if (c->matcher && match_find(c->matcher, w, FOREIGN, &c->record, &m, e) < 0)
		return -1;
	if (m.how == MATCH_EXACT && take(c, &m.result[0], out)) {
		out->match = match_name(m.how);
		out->predicted_s = m.result[0].latency_s;
		return 1;
	}
	return predict(c, w, m.n && m.how != MATCH_EXACT ? &m : NULL, out, e);
}
