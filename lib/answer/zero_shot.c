#include "lib/answer/zero_shot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search/schedule.h"

enum { FITS = 8 + MODEL_PORTFOLIO, WEIGHED = 32, TRIES = 4 * WEIGHED };

static const double OFF = 0.1; /* a prediction whose relative error is smaller counts as right */
/* This difference of values is half of the speed. On the Zen 3 the best of 42 was up to 0.95 behind
 * the favourite of a model that had not learned from it, and one drawn at random a fifth of the
 * times more than 1. */
static const double FAR_BEHIND = 1;

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

/* Fits the stored results to the workload, and passes them to the search as parents. Returns how
 * many fit; *first is the best of these. */
static int add_match(const struct search_space *space, const struct match *m, void *search,
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
	return f->n;
}

static void add_portfolio(const struct search_space *space, struct fits *f)
{
	struct candidate c;

	for (int i = 0; i < space->model->nportfolio; i++)
		if (schedule_fit(space, &space->model->portfolio[i], &c))
			add_fit(f, &c, ORIGIN_PORTFOLIO);
}

/* These points were found so far, and each makes a program. */
struct found {
	int n;
	uint64_t point[WEIGHED];
	double draft_s[WEIGHED], value[WEIGHED], deviation[WEIGHED];
	float x[WEIGHED * FEATURES];
};

/* Takes the first `wanted` of the search, WEIGHED at most. In a small space the search goes on with
 * points at random, of which some make no program: it has TRIES in all. */
static void take_first(const struct search_space *space, void *search, int wanted, struct found *f)
{
	for (int tries = 0, more = 1; f->n < wanted && more;) {
		for (more = 0; f->n + more < wanted && tries < TRIES; more++, tries++)
			if (!search_guided.propose(search, &f->point[f->n + more]))
				break;
		f->n += search_space_drafts(space, f->point + f->n, more, f->draft_s + f->n,
					    f->x + (size_t)f->n * FEATURES);
	}
}

/* Returns the best by the model among those that the draft does not put far behind the others. */
static int best_of(const struct found *f)
{
	double least_s = INFINITY;
	int best = -1;

	for (int i = 0; i < f->n; i++)
		least_s = fmin(least_s, f->draft_s[i]);
	for (int i = 0; i < f->n; i++)
		if (!draft_refutes(f->draft_s[i], least_s) &&
		    (best < 0 || model_cautious(f->value[i], f->deviation[i]) >
					 model_cautious(f->value[best], f->deviation[best])))
			best = i;
	return best;
}

/* Values what was found. Where the model has seen nothing like its favourite, the draft has its
 * say. Returns the best's number. */
static int judge(const struct model *m, struct found *f, struct zero_shot_answer *out)
{
	int best, beyond;

	model_predict(m, f->x, (size_t)f->n, f->value, f->deviation);
	best = best_of(f);
	beyond = best < 0 ? -1 : seen_beyond(&m->seen, f->x + (size_t)best * FEATURES);
	if (beyond >= 0) {
		out->beyond = m->features->name[beyond];
		model_doubt(m, f->x, (size_t)f->n, f->value);
		best = best_of(f);
	}
	return best;
}

/* Fills in what the answer says of itself. Without a model value and deviation are NAN. */
static void tell(double draft_s, double value, double deviation, struct zero_shot_answer *out)
{
	out->draft_s = draft_s;
	out->value = value;
	out->deviation = deviation;
	out->confidence = isnan(value) || out->beyond ? NAN
			  : deviation > 0	      ? erf(log2(1 + OFF) / (deviation * M_SQRT2))
						      : 1;
}

/* The model's best of hundreds of values is likely to be one that it gets wrong. So this
 * weighs the first WEIGHED by their deviations, and leaves out those that the draft puts far behind
 * the others, as tl-filter does. */
static int best_of_search(const struct zero_shot *z, const struct search_space *space, void *search,
			  struct zero_shot_answer *out)
{
	struct found *f = xcalloc(1, sizeof *f);
	int best = 0;

	take_first(space, search, z->model ? WEIGHED : 1, f);
	f->value[0] = f->deviation[0] = NAN;
	if (z->model)
		best = judge(z->model, f, out);
	if (f->n) {
		out->candidate.w = *space->w;
		search_space_at(space, f->point[best], &out->candidate);
		candidate_identify(&out->candidate);
		tell(f->draft_s[best], f->value[best], f->deviation[best], out);
	}
	best = f->n > 0;
	free(f);
	return best;
}

/* Says of a schedule that fits what draft and model expect of it. Keeps out->beyond, which is the
 * favourite's. */
static int tell_fit(const struct zero_shot *z, struct zero_shot_answer *out, struct err *e)
{
	struct arena scratch = ARENA_INIT;
	double draft_s = NAN, value = NAN, deviation = NAN;
	float x[FEATURES];
	const int rc = candidate_features(&out->candidate, z->env, &scratch, &draft_s, x, e);

	arena_free(&scratch);
	if (rc >= 0 && z->model)
		model_predict(z->model, x, 1, &value, &deviation);
	tell(draft_s, value, deviation, out);
	return rc;
}

/* Is a schedule far behind the model's favourite? Where the model has seen nothing like that, the
 * draft tells. */
static int is_far_behind(const struct zero_shot_answer *a, const struct zero_shot_answer *favourite)
{
	if (favourite->beyond)
		return draft_refutes(a->draft_s, favourite->draft_s);
	return model_cautious(a->value, a->deviation) + FAR_BEHIND <
	       model_cautious(favourite->value, favourite->deviation);
}

/* The best measured is the answer where post-ops alone differ, instead of the favourite in *out;
 * but not if it is far behind: then little was measured, such as what was drawn at random. */
static int prefer_measured(const struct zero_shot *z, const struct candidate *measured,
			   enum origin origin, struct zero_shot_answer *out, struct err *e)
{
	struct zero_shot_answer a = {
		.origin = origin, .candidate = *measured, .beyond = out->beyond};

	if (tell_fit(z, &a, e) < 0)
		return -1;
	if (!is_far_behind(&a, out))
		*out = a;
	return 1;
}

int zero_shot_find(const struct zero_shot *asked, const struct workload *w, const struct match *m,
		   struct zero_shot_answer *out, struct err *e)
{
	struct zero_shot here = *asked;
	const struct zero_shot *z = &here;
	struct candidate measured;
	struct arena a = ARENA_INIT;
	struct search_space space;
	struct fits fits = {.n = 0};
	void *search;
	int rc, known;

	if (z->model && !model_knows(z->model, &w->dtype))
		here.model = NULL;
	search_space_init_even(&space, w, z->env);
	space.model = z->model;
	space.one_thread = z->one_thread;
	out->beyond = NULL;
	if (!space.nalgos)
		return 0;
	search = search_guided.start(&space, z->seed, 0, &a);
	known = m ? add_match(&space, m, search, &fits, &measured) : 0;
	if (z->model)
		add_portfolio(&space, &fits);
	if (known && !z->model) {
		out->candidate = measured;
		out->origin = fits.fit[0].origin;
		rc = tell_fit(z, out, e) < 0 ? -1 : 1;
	} else if ((rc = best_of_search(z, &space, search, out)) > 0) {
		out->origin = z->model ? ORIGIN_MODEL : ORIGIN_DEFAULT;
		for (int i = 0; i < fits.n; i++)
			if (!strcmp(fits.fit[i].id.s, out->candidate.id.s))
				out->origin = fits.fit[i].origin;
		if (known && m->alike)
			rc = prefer_measured(z, &measured, fits.fit[0].origin, out, e);
	}
	search_guided.stop(search);
	arena_free(&a);
	return rc;
}
