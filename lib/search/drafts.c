#include <string.h>

#include "lib/base/err.h"
#include "lib/features/featurizer.h"
#include "lib/search/search.h"

/* The points of each thread come in so many parts. Points of one algorithm take many times as long
 * as another's, so few large parts would leave threads waiting. */
enum { PARTS = 8 };

struct drafts {
	const struct search_space *space;
	struct arena scratch;
	uint64_t *point;
	double *draft_s;
	float *x;
	int n;
};

struct waiting {
	struct drafts *drafts;
	uint64_t point;
};

static float *next_x(const struct drafts *d)
{
	return d->x ? d->x + (size_t)d->n * FEATURES : NULL;
}

/* This thread computes the draft, where the machine gives no other one. */
static void draft(struct drafts *d, uint64_t point)
{
	double *draft_s = &d->draft_s[d->n];

	if (search_space_draft(d->space, point, &d->scratch, draft_s, next_x(d)) == 0)
		d->point[d->n++] = point;
}

static int take(void *item, const struct featurized *f, struct err *e)
{
	const struct waiting *w = item;
	struct drafts *d = w->drafts;

	(void)e;
	if (!f) {
		draft(d, w->point);
	} else if (!f->why) {
		d->draft_s[d->n] = f->draft_s;
		if (d->x)
			memcpy(next_x(d), f->x, sizeof *f->x * FEATURES);
		d->point[d->n++] = w->point;
	}
	return 0;
}

/* Threads compute the first ones, all of them if threads can be started. Returns how many. */
static int draft_by_threads(struct drafts *d, const uint64_t *point, int n)
{
	const struct search_space *s = d->space;
	const int parts = s->env->limits.threads * PARTS;
	struct featurizer *f = featurizer_new(s->env, d->x != NULL, sizeof(struct waiting),
					      (size_t)(n / parts + 1), take);
	struct err ignored = ERR_INIT;
	int i = 0, rc = 0;

	while (i < n && rc == 0) {
		const struct waiting w = {d, point[i++]};
		struct candidate c = {.w = *s->w};

		if (search_space_at(s, w.point, &c))
			rc = featurizer_put(f, &c, &w, &ignored);
	}
	if (rc == 0)
		featurizer_finish(f, &ignored);
	featurizer_free(f);
	return i;
}

/* Answers come in the order of the points, so each place of the arrays was read before it is
 * written. */
int search_space_drafts(const struct search_space *s, uint64_t *point, int n, double *draft_s,
			float *x)
{
	struct drafts d = {s, ARENA_INIT, point, draft_s, x, 0};
	int i = s->one_thread ? 0 : draft_by_threads(&d, point, n);

	while (i < n)
		draft(&d, point[i++]);
	arena_free(&d.scratch);
	return d.n;
}
