#include "lib/answer/zero_shots.h"

#include <stdlib.h>

#include "lib/base/batch.h"

struct question {
	struct workload w;
	struct match m;
	struct arena arena; /* of the match */
	int found;	    /* as zero_shot_find() returns it */
	struct zero_shot_answer answer;
};

struct zero_shots {
	struct zero_shot z;
	zero_shots_take *take;
	void *arg;
	struct batches *batches;
	int asked; /* questions that the batches have not answered yet */
	int holds; /* the last question waits: it may be the only one */
	struct question held;
};

static int find(const struct zero_shots *z, int one_thread, struct question *q, struct err *e)
{
	struct zero_shot by = z->z;

	by.one_thread = one_thread;
	q->found = zero_shot_find(&by, &q->w, q->m.n ? &q->m : NULL, &q->answer, e);
	return q->found < 0 ? -1 : 0;
}

static int work(void *arg, int place, void *items, size_t n, struct err *e)
{
	struct question *q = items;
	int rc = 0;

	(void)place;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = find(arg, 1, &q[i], e);
	return rc;
}

static int answer(const struct zero_shots *z, struct question *q, struct err *e)
{
	return z->take(z->arg, q->found ? &q->answer : NULL, e);
}

static int take_one(void *arg, void *item, int done, struct err *e)
{
	struct zero_shots *z = arg;
	struct question *q = item;

	arena_free(&q->arena);
	return done ? answer(z, q, e) : 0;
}

struct zero_shots *zero_shots_new(const struct zero_shot *z, zero_shots_take *take, void *arg)
{
	struct zero_shots *s = xcalloc(1, sizeof *s);

	s->z = *z;
	s->take = take;
	s->arg = arg;
	s->batches = batches_new(sizeof(struct question), 1, z->env->limits.threads, BATCH_WAITING,
				 1, work, take_one, s);
	return s;
}

/* Hands the question that waits to a thread. */
static int hand_on(struct zero_shots *z, struct err *e)
{
	struct question *q = batches_slot(z->batches);

	*q = z->held;
	z->holds = 0;
	z->asked++;
	return batches_put(z->batches, e);
}

int zero_shots_put(struct zero_shots *z, const struct workload *w, const struct match *m,
		   struct arena *a, struct err *e)
{
	int rc = z->holds ? hand_on(z, e) : 0;

	z->held = (struct question){.w = *w, .m = *m, .arena = *a};
	*a = (struct arena)ARENA_INIT;
	z->holds = 1;
	return rc;
}

static int find_alone(struct zero_shots *z, struct err *e)
{
	int rc;

	z->holds = 0;
	rc = find(z, 0, &z->held, e);
	if (rc == 0)
		rc = answer(z, &z->held, e);
	arena_free(&z->held.arena);
	return rc;
}

int zero_shots_finish(struct zero_shots *z, struct err *e)
{
	int rc = 0;

	if (z->holds)
		rc = z->asked ? hand_on(z, e) : find_alone(z, e);
	if (rc == 0)
		rc = batches_finish(z->batches, e);
	z->asked = 0;
	return rc;
}

void zero_shots_free(struct zero_shots *z)
{
	if (!z)
		return;
	if (z->holds)
		arena_free(&z->held.arena);
	batches_free(z->batches);
	free(z);
}
