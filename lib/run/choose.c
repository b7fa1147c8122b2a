#include "lib/run/choose.h"

#include <math.h>

#include "lib/answer/zero_shot.h"
#include "lib/model/default.h"
#include "lib/model/features.h"
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
	struct buf model = BUF_INIT;
	int rc;

	*c = (struct chooser){0};
	c->env.limits = *limits;
	features_rates(&c->env.limits, &c->env.rates);
	rc = model_default(model_path, 1, target_default(), &model, e);
	if (rc > 0)
		c->model = model_load(model.s, &features_threads, e);
	if (c->model)
		model_meet(c->model, limits);
	buf_free(&model);
	if (rc < 0 || (rc && !c->model))
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

int chooser_pick(struct chooser *c, const struct workload *w, struct chosen *out, struct err *e)
{
	const struct zero_shot inputs = {&c->env, c->model, 1};
	struct match m = {.how = MATCH_NONE};
	struct zero_shot_answer up;
	int rc;

	arena_reset(&c->record);
	out->predicted_s = NAN;
	if (c->matcher && match_find(c->matcher, w, FOREIGN, &c->record, &m, e) < 0)
		return -1;
	if (m.how == MATCH_EXACT && take(c, &m.result[0], out)) {
		out->match = match_name(m.how);
		out->predicted_s = m.result[0].latency_s;
		return 1;
	}
	rc = zero_shot_find(&inputs, w, m.n && m.how != MATCH_EXACT ? &m : NULL, &up, e);
	if (rc > 0) {
		out->candidate = up.candidate;
		out->match = origin_name(up.origin);
	}
	return rc;
}
