#include "lib/answer/zero_shot.h"

#include <math.h>
#include <string.h>

#include "lib/search/schedule.h"

enum { FITS = 8 + MODEL_PORTFOLIO };

static const double OFF = 0.1; /* a prediction whose relative error is smaller counts as right */

const char *origin_name(enum origin o)
{
	static const char *const name[] = {"env", "nearest", "portfolio", "model", "default"};

	return name[o];
}

/* Schedules of other envs, other workloads and the portfolio, fitted to the workload. */
struct fits {
	int n;
	struct {
		struct id id;
		enum origin origin;
	} fit[FITS];
};

static void add_fit(struct fits *f, const struct candidate *c, enum origin origin)
{
	for (int i = 0; i < f->n; i++)
		if (!strcmp(f->fit[i].id.s, c->id.s))
			return;
	if (f->n == FITS)
		return;
	f->fit[f->n].id = c->id;
	f->fit[f->n++].origin = origin;
}

/* Fits the stored results to the workload, and passes them to the search as parents. */
static void add_match(const struct search_space *space, const struct match *m, void *search,
		      struct fits *f, struct candidate *first)
{
	const enum origin origin = m->how == MATCH_ENV ? ORIGIN_ENV : ORIGIN_NEAREST;

	for (int64_t i = 0; i < m->n; i++) {
		struct candidate c;

		if (!schedule_fit_record(space, m->result[i].record, m->result[i].record_n, &c))
			continue;
		if (!f->n)
			*first = c;
		add_fit(f, &c, origin);
		search_guided.observe(search, &c, 1 + (double)i); /* best first */
	}
}

static void add_portfolio(const struct search_space *space, struct fits *f)
{
	struct candidate c;

	for (int i = 0; i < space->model->nportfolio; i++)
		if (schedule_fit(space, &space->model->portfolio[i], &c))
			add_fit(f, &c, ORIGIN_PORTFOLIO);
}

static int judge(const struct zero_shot *z, struct zero_shot_answer *out, struct err *e)
{
	struct arena scratch = ARENA_INIT;
	float f[FEATURES];
	int rc = candidate_features(&out->candidate, z->env, &scratch, &out->draft_s, f, e);

	arena_free(&scratch);
	out->value = out->deviation = out->confidence = NAN;
	if (rc < 0 || !z->model)
		return rc;
	rc = model_predict(z->model, f, 1, &out->value, &out->deviation, e);
	if (out->deviation > 0)
		out->confidence = erf(log2(1 + OFF) / (out->deviation * M_SQRT2));
	else
		out->confidence = 1;
	return rc;
}

static int best_of_search(const struct search_space *space, void *search, struct candidate *c)
{
	uint64_t point;

	c->w = *space->w;
	while (search_guided.propose(search, &point))
		if (search_space_at(space, point, c)) {
			candidate_identify(c);
			return 1;
		}
	return 0;
}

int zero_shot_find(const struct zero_shot *z, const struct workload *w, const struct match *m,
		   struct zero_shot_answer *out, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct search_space space;
	struct fits fits = {.n = 0};
	void *search;
	int rc = 1;

	search_space_init_even(&space, w, z->env);
	space.model = z->model;
	if (!space.nalgos)
		return 0;
	search = search_guided.start(&space, z->seed, 0, &a);
	if (m)
		add_match(&space, m, search, &fits, &out->candidate);
	if (z->model)
		add_portfolio(&space, &fits);
	if (!z->model && fits.n) {
		out->origin = fits.fit[0].origin;
	} else if ((rc = best_of_search(&space, search, &out->candidate))) {
		out->origin = z->model ? ORIGIN_MODEL : ORIGIN_DEFAULT;
		for (int i = 0; i < fits.n; i++)
			if (!strcmp(fits.fit[i].id.s, out->candidate.id.s))
				out->origin = fits.fit[i].origin;
	}
	search_guided.stop(search);
	arena_free(&a);
	return rc && judge(z, out, e) < 0 ? -1 : rc;
}
