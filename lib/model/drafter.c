#include "lib/model/drafter.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/batch.h"

struct sheet {
	struct candidate candidate;
	struct err why; /* msg "": a program can be made of it */
	double draft_s;
	float x[FEATURES];
	_Alignas(max_align_t) char item[];
};

struct drafter {
	const struct data_env *env;
	int features;
	size_t size; /* of an item */
	size_t step; /* of a sheet with its item */
	drafter_answer *answer;
	struct batches *batches;
	struct arena arena[BATCH_THREADS + 1]; /* the threads' */
};

static int draft(void *arg, int place, void *items, size_t n, struct err *e)
{
	struct drafter *d = arg;
	struct arena *a = &d->arena[place];

	(void)e;
	for (size_t i = 0; i < n; i++) {
		struct sheet *s = (void *)((char *)items + i * d->step);

		arena_reset(a);
		candidate_features(&s->candidate, d->env, a, &s->draft_s, d->features ? s->x : NULL,
				   &s->why);
	}
	return 0;
}

static int take(void *arg, void *item, int done, struct err *e)
{
	const struct drafter *d = arg;
	struct sheet *s = item;
	const struct drafted answer = {
		.candidate = &s->candidate,
		.why = *s->why.msg ? s->why.msg : NULL,
		.draft_s = s->draft_s,
		.x = d->features ? s->x : NULL,
	};

	return d->answer(s->item, done ? &answer : NULL, e);
}

struct drafter *drafter_new(const struct data_env *env, int features, size_t size,
			    drafter_answer *answer)
{
	const size_t align = _Alignof(struct sheet);
	struct drafter *d = xcalloc(1, sizeof *d);

	d->env = env;
	d->features = features;
	d->size = size;
	d->step = (sizeof(struct sheet) + size + align - 1) / align * align;
	d->answer = answer;
	d->batches = batches_new(d->step, BATCH_ITEMS, env->limits.threads, draft, take, d);
	return d;
}

int drafter_put(struct drafter *d, const struct candidate *c, const void *item, struct err *e)
{
	struct sheet *s = batches_slot(d->batches);

	s->candidate = *c;
	*s->why.msg = '\0';
	memcpy(s->item, item, d->size);
	return batches_put(d->batches, e);
}

int drafter_finish(struct drafter *d, struct err *e)
{
	return batches_finish(d->batches, e);
}

void drafter_free(struct drafter *d)
{
	if (!d)
		return;
	batches_free(d->batches);
	for (int i = 0; i <= BATCH_THREADS; i++)
		arena_free(&d->arena[i]);
	free(d);
}
