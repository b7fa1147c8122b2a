#include "lib/search/search.h"

#include <stdlib.h>
#include <string.h>

static void add_algo(struct search_space *s, const struct algo *a)
{
	struct knob_space *space = &s->space[s->nalgos];

	if (s->nalgos == SEARCH_MAX_ALGOS || !algo_suits(a, s->env->limits.target) ||
	    !algo_space(a, s->w, &s->env->limits, space))
		return;
	s->algo[s->nalgos++] = a;
	s->start[s->nalgos] = s->start[s->nalgos - 1] + knob_space_size(space);
}

void search_space_init(struct search_space *s, const struct workload *w, const struct data_env *env,
		       const char *only)
{
	*s = (struct search_space){.w = w, .env = env};
	for (const struct algo *const *a = algo_list; *a; a++)
		if (!only || !strcmp(only, (*a)->name))
			add_algo(s, *a);
}

void search_space_init_even(struct search_space *s, const struct workload *w,
			    const struct data_env *env)
{
	*s = (struct search_space){.w = w, .env = env};
	for (const struct algo *const *a = algo_list; *a; a++)
		if (!(*a)->uneven)
			add_algo(s, *a);
}

int search_space_at(const struct search_space *s, uint64_t point, struct candidate *c)
{
	const char *why;
	int i = 0;

	while (point >= s->start[i + 1])
		i++;
	c->target = s->env->limits.target;
	c->algo = s->algo[i];
	knob_point(&s->space[i], point - s->start[i], c->knob);
	for (int k = s->space[i].n; k < c->algo->nknobs; k++)
		c->knob[k] = c->algo->knob[k].frozen;
	return algo_valid(c->algo, s->w, c->knob, &why);
}

void search_space_rng(const struct search_space *s, uint64_t seed, int64_t round, struct rng *r)
{
	rng_seed(r, seed + 0x9e3779b97f4a7c15u * (uint64_t)round, s->w->id.s);
}

/* The number of a candidate's algorithm; nalgos: the space lacks it. */
static int number_of_algo(const struct search_space *s, const struct candidate *c)
{
	int a = 0;

	while (a < s->nalgos && s->algo[a] != c->algo)
		a++;
	return a;
}

int search_space_point(const struct search_space *s, const struct candidate *c, uint64_t *point)
{
	const int a = number_of_algo(s, c);
	const struct knob_space *space;
	uint64_t at = 0;

	if (a == s->nalgos)
		return 0;
	space = &s->space[a];
	for (int k = 0; k < space->n; k++) {
		int i = 0;

		while (i < space->knob[k].n && space->knob[k].value[i] != c->knob[k])
			i++;
		if (i == space->knob[k].n)
			return 0;
		at = at * (uint64_t)space->knob[k].n + (uint64_t)i;
	}
	*point = s->start[a] + at;
	return 1;
}

int search_space_lacks(const struct search_space *s, const struct candidate *c, struct err *e)
{
	const int a = number_of_algo(s, c);
	struct candidate other = *c;
	uint64_t point;

	if (a == s->nalgos)
		return err_set(e, "algorithm %s does not apply to this workload", c->algo->name);
	/* The first knob with which it is out, where all others have a value of the space. */
	for (int k = 0; k < s->space[a].n; k++)
		other.knob[k] = s->space[a].knob[k].value[0];
	for (int k = 0; k < s->space[a].n; k++) {
		other.knob[k] = c->knob[k];
		if (!search_space_point(s, &other, &point))
			return err_set(e, "%s of %s is %lld, which is none of its values here",
				       c->algo->knob[k].name, c->algo->name, (long long)c->knob[k]);
	}
	return err_set(e, "it is in the space");
}

int search_space_draft(const struct search_space *s, uint64_t point, struct arena *scratch,
		       double *draft_s, float *f)
{
	struct candidate c = {.w = *s->w};

	if (!search_space_at(s, point, &c))
		return -1;
	arena_reset(scratch);
	return candidate_features(&c, s->env, scratch, draft_s, f, NULL);
}

void search_names(struct buf *out)
{
	for (const struct search *const *s = search_list; *s; s++)
		buf_fmt(out, "%s%s%s", s == search_list ? "" : "|", (*s)->name,
			*s == &search_exec ? ":" : "");
}

const struct search *search_find(const char *name)
{
	for (const struct search *const *s = search_list; *s; s++)
		if (!strcmp((*s)->name, name))
			return *s;
	return NULL;
}
