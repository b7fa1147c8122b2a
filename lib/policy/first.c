#include "lib/policy/first.h"

#include <string.h>

#include "lib/answer/zero_shot.h"
#include "lib/search/schedule.h"
#include "lib/search/scored.h"

enum {
	FOREIGN = 8,	/* of other envs */
	NEIGHBOURS = 3, /* near workloads whose best is tried, */
	NEAREST = 2,	/* but no more than these in a round */
	PORTFOLIO = 1,	/* of the model's schedules */
	DRAFTED = 2,	/* of the draft's choices */
};

static int has_room(const struct first *f, int64_t n)
{
	return !f->space->wanted || n < f->space->wanted;
}

static int take(const struct first *f, const struct candidate *c, const char *match, int64_t *n,
		struct err *e)
{
	int rc = f->take(f->to, c, match, e);

	*n += rc > 0;
	return rc < 0 ? -1 : 0;
}

/* The best that the database knows of in another env. */
static int take_of_env(const struct first *f, const char *env_id, struct arena *a, int64_t *n,
		       struct err *e)
{
	struct store_result *r;
	int64_t nr;
	int rc = 0;

	if (store_top(f->db, f->space->w->id.s, env_id, FOREIGN, a, &r, &nr, e) < 0)
		return -1;
	for (int64_t i = 0; i < nr && rc == 0 && *n < FOREIGN; i++) {
		struct candidate c;

		if (has_room(f, *n) &&
		    schedule_fit_record(f->space, r[i].record, r[i].record_n, &c))
			rc = take(f, &c, "env", n, e);
	}
	return rc;
}

static int take_foreign(const struct first *f, struct arena *a, int64_t *n, struct err *e)
{
	struct store_env *env;
	int nenvs, rc = 0;

	if (!f->db || !f->env_id)
		return 0;
	if (store_envs(f->db, a, &env, &nenvs, e) < 0)
		return -1;
	for (int i = 0; i < nenvs && rc == 0; i++)
		if (strcmp(env[i].id, f->env_id) != 0)
			rc = take_of_env(f, env[i].id, a, n, e);
	return rc;
}

/* Takes the best of a near workload, fitted to this one. */
static int take_of_neighbour(const struct first *f, const struct workload *near, struct arena *a,
			     int64_t *n, struct err *e)
{
	struct store_result *r;
	struct candidate c;
	int64_t nr;

	if (store_top(f->db, near->id.s, f->env_id, 1, a, &r, &nr, e) < 0)
		return -1;
	if (!nr || !has_room(f, *n) || !schedule_fit_record(f->space, r->record, r->record_n, &c))
		return 0;
	return take(f, &c, "nearest", n, e);
}

static int take_nearest(const struct first *f, struct arena *a, int64_t *n, struct err *e)
{
	const struct workload *near[NEIGHBOURS];
	const int64_t most = *n + NEAREST;
	int nnear, rc = 0;

	if (!f->matcher)
		return 0;
	if ((nnear = match_near(f->matcher, f->space->w, NEIGHBOURS, near, e)) < 0)
		return -1;
	for (int i = 0; i < nnear && *n < most && !rc; i++)
		rc = take_of_neighbour(f, near[i], a, n, e);
	return rc;
}

/* The model's schedules, as points of this workload's space. Returns how many there are. */
static int portfolio_points(const struct search_space *s, uint64_t *point)
{
	int n = 0;

	for (int i = 0; i < s->model->nportfolio; i++) {
		struct candidate c;
		int k = 0;

		if (!schedule_fit(s, &s->model->portfolio[i], &c) ||
		    !search_space_point(s, &c, &point[n]))
			continue;
		while (k < n && point[k] != point[n])
			k++;
		n += k == n;
	}
	return n;
}

/* Takes the one that the draft expects to be the fastest here. The portfolio's first suits most
 * workloads, but is plain, and far behind for many. */
static int take_portfolio(const struct first *f, int64_t *n, struct err *e)
{
	uint64_t point[MODEL_PORTFOLIO + 1];
	double draft_s[MODEL_PORTFOLIO + 1];
	struct scored by_draft[MODEL_PORTFOLIO];
	int found, rc = 0;

	if (!f->space->model)
		return 0;
	found = portfolio_points(f->space, point);
	found = search_space_drafts(f->space, point, found, draft_s, NULL);
	for (int i = 0; i < found; i++)
		by_draft[i] = (struct scored){.point = point[i], .value = -draft_s[i]};
	scored_sort(by_draft, found);
	for (int i = 0; i < found && i < PORTFOLIO && !rc; i++) {
		struct candidate c = {.w = *f->space->w};

		if (!has_room(f, *n) || !search_space_at(f->space, by_draft[i].point, &c))
			continue;
		candidate_identify(&c);
		rc = take(f, &c, "portfolio", n, e);
	}
	return rc;
}

static int take_drafted(const struct first *f, int64_t *n, struct err *e)
{
	struct candidate c[DRAFTED] = {0};
	int found, rc = 0;

	if (!f->space->model || !has_room(f, *n))
		return 0;
	found = search_guided_drafted(f->space, f->seed, c, DRAFTED);
	for (int i = 0; i < found && has_room(f, *n) && !rc; i++)
		rc = take(f, &c[i], "draft", n, e);
	return rc;
}

/* Takes what tl-query --predict answers with the same model and database, if this space has it. */
static int take_predicted(const struct first *f, struct arena *a, int64_t *n, struct err *e)
{
	const struct search_space *s = f->space;
	const struct zero_shot z = {s->env, s->model, f->seed, s->one_thread};
	struct zero_shot_answer answer;
	struct match m = {.how = MATCH_NONE};
	uint64_t point;
	int rc;

	if (!s->model || !has_room(f, *n))
		return 0;
	if (f->matcher && match_find(f->matcher, s->w, 1, FOREIGN, a, &m, e) < 0)
		return -1;
	rc = zero_shot_find(&z, s->w, m.n ? &m : NULL, &answer, e);
	if (rc <= 0 || !search_space_point(s, &answer.candidate, &point))
		return rc < 0 ? -1 : 0;
	return take(f, &answer.candidate, origin_name(answer.origin), n, e);
}

int first_candidates(const struct first *f, struct arena *a, int64_t *n, struct err *e)
{
	int rc = f->is_new ? take_predicted(f, a, n, e) : 0;

	if (rc == 0)
		rc = take_foreign(f, a, n, e);
	if (rc == 0)
		rc = take_nearest(f, a, n, e);
	if (rc == 0 && f->is_new)
		rc = take_portfolio(f, n, e);
	return rc == 0 && f->is_new ? take_drafted(f, n, e) : rc;
}
