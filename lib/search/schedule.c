#include "lib/search/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/json.h"

/* How far a value is from another, by ratio. 0 is no number but "all": far from any other. */
static double distance(int64_t a, int64_t b)
{
	static const double ALL = 8;

	if (a == b)
		return 0;
	if (a <= 0 || b <= 0)
		return ALL;
	return fabs(log2((double)a / (double)b));
}

static int64_t nearest(const struct knob_space *s, int knob, int64_t wanted)
{
	int64_t best = s->knob[knob].n ? s->knob[knob].value[0] : wanted;

	for (int i = 1; i < s->knob[knob].n; i++)
		if (distance(s->knob[knob].value[i], wanted) < distance(best, wanted))
			best = s->knob[knob].value[i];
	return best;
}

/* Another value of a knob, and what taking it costs. */
struct change {
	int knob;
	int64_t value;
	double cost;
};

static int cheapest_first(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return a->knob != b->knob ? a->knob - b->knob
				  : (a->value > b->value) - (a->value < b->value);
}

static int list_changes(const struct knob_space *s, const int64_t *wanted, const int64_t *now,
			struct change *out)
{
	int n = 0;

	for (int k = 0; k < s->n; k++)
		for (int i = 0; i < s->knob[k].n; i++)
			if (s->knob[k].value[i] != now[k])
				out[n++] =
					(struct change){k, s->knob[k].value[i],
							distance(s->knob[k].value[i], wanted[k])};
	qsort(out, (size_t)n, sizeof *out, cheapest_first);
	return n;
}

static int is_valid(struct candidate *c)
{
	const char *why;

	return algo_valid(c->algo, &c->w, c->knob, &why);
}

/* Changes one knob, or two. */
static int mend(const struct knob_space *s, const int64_t *wanted, struct candidate *c)
{
	struct change change[KNOB_MAX * KNOB_VALUES];
	int n = list_changes(s, wanted, c->knob, change);

	for (int i = 0; i < n; i++) {
		int64_t before = c->knob[change[i].knob];

		c->knob[change[i].knob] = change[i].value;
		if (is_valid(c))
			return 1;
		c->knob[change[i].knob] = before;
	}
	for (int sum = 1; sum < 2 * n; sum++)
		for (int i = (sum + 1) / 2; i < n && i <= sum; i++) { /* sum - i <= i */
			const struct change *a = &change[sum - i], *b = &change[i];
			int64_t had_a = c->knob[a->knob], had_b = c->knob[b->knob];

			if (a->knob == b->knob)
				continue;
			c->knob[a->knob] = a->value;
			c->knob[b->knob] = b->value;
			if (is_valid(c))
				return 1;
			c->knob[a->knob] = had_a;
			c->knob[b->knob] = had_b;
		}
	return 0;
}

int schedule_fit(const struct search_space *space, const struct schedule *s, struct candidate *c)
{
	int i = 0;

	while (i < space->nalgos && space->algo[i] != s->algo)
		i++;
	if (i == space->nalgos)
		return 0;
	memset(c->knob, 0, sizeof c->knob);
	c->w = *space->w;
	c->target = space->env->limits.target;
	c->algo = s->algo;
	for (int k = 0; k < space->space[i].n; k++)
		c->knob[k] = nearest(&space->space[i], k, s->knob[k]);
	for (int k = space->space[i].n; k < s->algo->nknobs; k++)
		c->knob[k] = s->algo->knob[k].frozen;
	if (!is_valid(c) && !mend(&space->space[i], s->knob, c))
		return 0;
	candidate_identify(c);
	return 1;
}

int schedule_fit_record(const struct search_space *space, const char *record, size_t n,
			struct candidate *c)
{
	struct json_doc d = JSON_DOC_INIT;
	struct candidate told;
	int fits = 0;

	if (!json_parse(&d, record, n, NULL) && !candidate_from_json(&told, &d, 0, NULL)) {
		struct schedule s = {.algo = told.algo};

		memcpy(s.knob, told.knob, sizeof s.knob);
		fits = schedule_fit(space, &s, c);
	}
	json_free(&d);
	return fits;
}
