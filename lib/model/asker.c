#include "lib/model/asker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/batch.h"

struct question {
	float x[FEATURES];
	double value, deviation;
	char item[];
};

struct asker {
	const struct model *model;
	int glance;
	size_t size; /* of an item */
	size_t step; /* of a question with its item */
	asker_answer *answer;
	struct batches *batches;
	/* The thread's: the model wants rows side by side. */
	float x[BATCH_ITEMS * FEATURES];
	double value[BATCH_ITEMS], deviation[BATCH_ITEMS];
};

static int predict(void *arg, int place, void *items, size_t n, struct err *e)
{
	struct asker *a = arg;
	int rc;

	(void)place; /* one thread */
	for (size_t i = 0; i < n; i++) {
		const struct question *q = (void *)((char *)items + i * a->step);

		memcpy(a->x + i * FEATURES, q->x, sizeof q->x);
		a->deviation[i] = -1;
	}
	rc = a->glance ? model_glance(a->model, a->x, n, a->value, e)
		       : model_predict(a->model, a->x, n, a->value, a->deviation, e);
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct question *q = (void *)((char *)items + i * a->step);

		q->value = a->value[i];
		q->deviation = a->deviation[i];
	}
	return rc;
}

static int take(void *arg, void *item, int done, struct err *e)
{
	const struct asker *a = arg;
	struct question *q = item;

	return done ? a->answer(q->item, q->x, q->value, q->deviation, e)
		    : a->answer(q->item, NULL, -INFINITY, 0, e);
}

struct asker *asker_new(const struct model *m, int glance, size_t size, asker_answer *answer)
{
	const size_t align = _Alignof(struct question);
	struct asker *a = xcalloc(1, sizeof *a);

	a->model = m;
	a->glance = glance;
	a->size = size;
	a->step = (sizeof(struct question) + size + align - 1) / align * align;
	a->answer = answer;
	a->batches = batches_new(a->step, BATCH_ITEMS, 1, predict, take, a);
	return a;
}

int asker_put(struct asker *a, const void *item, const float *x, struct err *e)
{
	struct question *q = batches_slot(a->batches);

	memcpy(q->x, x, sizeof q->x);
	memcpy(q->item, item, a->size);
	return batches_put(a->batches, e);
}

int asker_finish(struct asker *a, struct err *e)
{
	return batches_finish(a->batches, e);
}

void asker_free(struct asker *a)
{
	if (!a)
		return;
	batches_free(a->batches);
	free(a);
}
