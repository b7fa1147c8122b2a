#include "lib/answer/zero_shot.h"

#include <math.h>
#include <string.h>

#include "lib/search/schedule.h"

enum { FITS = 8 + MODEL_PORTFOLIO, WEIGHED = 32, TRIES = 4 * WEIGHED };

/* Normally distributed errors of half the deviation lengthen the expected time by so much for each
 * square of the deviation. The whole deviation cost 0.006 of the speed on CPUs left out, half of it
 * cost nothing (docs/EXPERIMENTS.md, "Times whose samples disagree"). */
static const double CAUTION = M_LN2 / 8;
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

/* Sets the draft's time and the features. -1: no program can be made of the candidate. */
static int look_at(const struct zero_shot *z, struct zero_shot_answer *out, float *f,
		   struct err *why)
{
	struct arena scratch = ARENA_INIT;
	const int rc = candidate_features(&out->candidate, z->env, &scratch, &out->draft_s, f, why);

	arena_free(&scratch);
	return rc;
}

static int judge(const struct zero_shot *z, struct zero_shot_answer *out, const float *f,
		 struct err *e)
{
	out->value = out->deviation = out->confidence = NAN;
	if (!z->model)
		return 0;
	if (model_predict(z->model, f, 1, &out->value, &out->deviation, e) < 0)
		return -1;
	out->confidence = out->deviation > 0 ? erf(log2(1 + OFF) / (out->deviation * M_SQRT2)) : 1;
	return 0;
}

double zero_shot_value(double value, double deviation)
{
	return value - CAUTION * deviation * deviation;
}

static double value_of(const struct zero_shot_answer *a)
{
	return zero_shot_value(a->value, a->deviation);
}

/* The model's best of about a thousand values is likely to be one that it gets wrong. So this
 * weighs the first WEIGHED by their deviations, and leaves out those that the draft puts far behind
 * the others, as tl-filter does. In a small space the search goes on with points at random, of
 * which some make no program: it has TRIES in all. */
static int best_of_search(const struct zero_shot *z, const struct search_space *space, void *search,
			  struct zero_shot_answer *out, struct err *e)
{
	struct zero_shot_answer next;
	double draft_s = INFINITY;
	uint64_t point;
	float f[FEATURES];
	int n = 0;

	next.candidate.w = *space->w;
	for (int tries = TRIES; tries && n < (z->model ? WEIGHED : 1); tries--) {
		struct err why = ERR_INIT;
		int far;

		if (!search_guided.propose(search, &point))
			break;
		if (!search_space_at(space, point, &next.candidate))
			continue;
		candidate_identify(&next.candidate);
		if (look_at(z, &next, f, &why) < 0)
			continue;
		if (judge(z, &next, f, e) < 0)
			return -1;
		far = n && draft_refutes(out->draft_s, fmin(draft_s, next.draft_s));
		draft_s = fmin(draft_s, next.draft_s);
		if (!n++ || far ||
		    (value_of(&next) > value_of(out) && !draft_refutes(next.draft_s, draft_s)))
			*out = next;
	}
	return n > 0;
}

int zero_shot_find(const struct zero_shot *z, const struct workload *w, const struct match *m,
		   struct zero_shot_answer *out, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct search_space space;
	struct fits fits = {.n = 0};
	void *search;
	float f[FEATURES];
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
		rc = look_at(z, out, f, e) < 0 || judge(z, out, f, e) < 0 ? -1 : 1;
	} else if ((rc = best_of_search(z, &space, search, out, e)) > 0) {
		out->origin = z->model ? ORIGIN_MODEL : ORIGIN_DEFAULT;
		for (int i = 0; i < fits.n; i++)
			if (!strcmp(fits.fit[i].id.s, out->candidate.id.s))
				out->origin = fits.fit[i].origin;
	}
	search_guided.stop(search);
	arena_free(&a);
	return rc;
}
