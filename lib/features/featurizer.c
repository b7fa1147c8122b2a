#include "lib/features/featurizer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/batch.h"

struct slot {
	struct candidate candidate;
	struct err why; /* msg "": a program can be made of it */
	double draft_s;
	float x[FEATURES];
	_Alignas(max_align_t) char item[];
};

/* A thread's arena, in cache lines of its own: each allocation writes it, and a line that two
 * threads write goes back and forth between them. */
struct place {
	struct arena arena;
	char apart[128];
};

struct featurizer {
	const struct data_env *env;
	int features;
	size_t size; /* of an item */
	size_t step; /* of a slot with its item */
	featurizer_take *take;
	struct batches *batches;
	struct place place[BATCH_THREADS];
};

static int work(void *arg, int place, void *items, size_t n, struct err *e)
{
	struct featurizer *f = arg;
	struct arena *a = &f->place[place].arena;

	(void)e;
	for (size_t i = 0; i < n; i++) {
		struct slot *s = (void *)((char *)items + i * f->step);

		arena_reset(a);
		candidate_features(&s->candidate, f->env, a, &s->draft_s, f->features ? s->x : NULL,
				   &s->why);
	}
	return 0;
}

static int take_one(void *arg, void *item, int done, struct err *e)
{
	const struct featurizer *f = arg;
	struct slot *s = item;
	const struct featurized result = {
		.candidate = &s->candidate,
		.why = *s->why.msg ? s->why.msg : NULL,
		.draft_s = s->draft_s,
		.x = f->features ? s->x : NULL,
	};

	return f->take(s->item, done ? &result : NULL, e);
}

struct featurizer *featurizer_new(const struct data_env *env, int features, size_t size,
				  size_t items, featurizer_take *take)
{
	const size_t align = _Alignof(struct slot);
	struct featurizer *f = xcalloc(1, sizeof *f);

	f->env = env;
	f->features = features;
	f->size = size;
	f->step = (sizeof(struct slot) + size + align - 1) / align * align;
	f->take = take;
	f->batches = batches_new(f->step, items, env->limits.threads, BATCH_WAITING, 1, work,
				 take_one, f);
	return f;
}

int featurizer_put(struct featurizer *f, const struct candidate *c, const void *item, struct err *e)
{
	struct slot *s = batches_slot(f->batches);

	s->candidate = *c;
	*s->why.msg = '\0';
	memcpy(s->item, item, f->size);
	return batches_put(f->batches, e);
}

int featurizer_finish(struct featurizer *f, struct err *e)
{
	return batches_finish(f->batches, e);
}

void featurizer_free(struct featurizer *f)
{
	if (!f)
		return;
	batches_free(f->batches);
	for (int i = 0; i < BATCH_THREADS; i++)
		arena_free(&f->place[i].arena);
	free(f);
}
