#include "lib/model/predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/batch.h"

/* Rows of a batch: few, as a workload waits for its last one. Answers are taken of 2048 at a time,
 * because which candidate tl-filter draws at random follows from their order. */
enum { PREDICTED = 256, TOGETHER = 2048 / PREDICTED };

struct input {
	float x[FEATURES];
	double value, deviation;
	char item[];
};

struct predictor {
	const struct model *model;
	int first_only;
	size_t size; /* of an item */
	size_t step; /* of an input with its item */
	predictor_take *take;
	struct batches *batches;
	/* Used by the thread: the model reads rows that lie side by side. */
	float x[PREDICTED * FEATURES];
	double value[PREDICTED], deviation[PREDICTED];
};

static int predict(void *arg, int place, void *items, size_t n, struct err *e)
{
	struct predictor *p = arg;

	(void)place; /* one thread */
	(void)e;
	for (size_t i = 0; i < n; i++) {
		const struct input *q = (void *)((char *)items + i * p->step);

		memcpy(p->x + i * FEATURES, q->x, sizeof q->x);
		p->deviation[i] = -1;
	}
	if (p->first_only)
		model_predict_first(p->model, p->x, n, p->value);
	else
		model_predict(p->model, p->x, n, p->value, p->deviation);
	for (size_t i = 0; i < n; i++) {
		struct input *q = (void *)((char *)items + i * p->step);

		q->value = p->value[i];
		q->deviation = p->deviation[i];
	}
	return 0;
}

static int take_one(void *arg, void *item, int done, struct err *e)
{
	const struct predictor *p = arg;
	struct input *q = item;

	return done ? p->take(q->item, q->x, q->value, q->deviation, e)
		    : p->take(q->item, NULL, -INFINITY, 0, e);
}

struct predictor *predictor_new(const struct model *m, int first_only, size_t size,
				predictor_take *take)
{
	const size_t align = _Alignof(struct input);
	struct predictor *p = xcalloc(1, sizeof *p);

	p->model = m;
	p->first_only = first_only;
	p->size = size;
	p->step = (sizeof(struct input) + size + align - 1) / align * align;
	p->take = take;
	p->batches =
		batches_new(p->step, PREDICTED, 1, BATCH_WAITING, TOGETHER, predict, take_one, p);
	return p;
}

int predictor_put(struct predictor *p, const void *item, const float *x, struct err *e)
{
	struct input *q = batches_slot(p->batches);

	memcpy(q->x, x, sizeof q->x);
	memcpy(q->item, item, p->size);
	return batches_put(p->batches, e);
}

int predictor_finish(struct predictor *p, struct err *e)
{
	return batches_finish(p->batches, e);
}

void predictor_free(struct predictor *p)
{
	if (!p)
		return;
	batches_free(p->batches);
	free(p);
}
