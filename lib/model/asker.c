#include "lib/model/asker.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 2048 };

struct batch {
	const struct model *model;
	int glance;
	size_t n;
	char *items;
	float x[BATCH * FEATURES];
	double value[BATCH], deviation[BATCH];
	struct err e;
};

struct asker {
	size_t size;
	asker_answer *answer;
	struct batch batch[2], *filling, *asked; /* asked: NULL, or the other one */
	pthread_t thread;
};

struct asker *asker_new(const struct model *m, int glance, size_t size, asker_answer *answer)
{
	struct asker *a = xcalloc(1, sizeof *a);

	a->size = size;
	a->answer = answer;
	for (int i = 0; i < 2; i++) {
		a->batch[i].model = m;
		a->batch[i].glance = glance;
		a->batch[i].items = xmalloc(size * BATCH);
	}
	a->filling = a->batch;
	return a;
}

float *asker_row(struct asker *a)
{
	return a->filling->x + a->filling->n * FEATURES;
}

static void *predict(void *arg)
{
	struct batch *b = arg;

	if (b->glance)
		model_glance(b->model, b->x, b->n, b->value, &b->e);
	else
		model_predict(b->model, b->x, b->n, b->value, b->deviation, &b->e);
	return NULL;
}

/* Those from `first` on stay without an answer. */
static void drop(struct asker *a, struct batch *b, size_t first)
{
	struct err ignored = ERR_INIT;

	for (size_t i = first; i < b->n; i++)
		a->answer(b->items + i * a->size, NULL, -INFINITY, 0, &ignored);
	b->n = 0;
}

/* Passes on what the model says of the batch that it was asked about. */
static int take_answers(struct asker *a, struct err *e)
{
	struct batch *b = a->asked;
	size_t first = 0;
	int rc = 0;

	if (!b)
		return 0;
	pthread_join(a->thread, NULL);
	a->asked = NULL;
	if (*b->e.msg) {
		*e = b->e;
		return -1;
	}
	for (; first < b->n && rc == 0; first++)
		rc = a->answer(b->items + first * a->size, b->x + first * FEATURES, b->value[first],
			       b->glance ? -1 : b->deviation[first], e);
	drop(a, b, first);
	return rc;
}

/* Asks about the batch that was filled, and lets the other one fill. */
static int ask(struct asker *a, struct err *e)
{
	struct batch *b = a->filling;

	if (take_answers(a, e) < 0)
		return -1;
	if (!b->n)
		return 0;
	b->e = (struct err)ERR_INIT;
	errno = pthread_create(&a->thread, NULL, predict, b);
	if (errno)
		return err_sys(e, "cannot start a thread");
	a->asked = b;
	a->filling = &a->batch[b == a->batch];
	return 0;
}

int asker_put(struct asker *a, const void *item, struct err *e)
{
	struct batch *b = a->filling;

	memcpy(b->items + b->n * a->size, item, a->size);
	return ++b->n == BATCH ? ask(a, e) : 0;
}

int asker_finish(struct asker *a, struct err *e)
{
	return ask(a, e) < 0 || take_answers(a, e) < 0 ? -1 : 0;
}

void asker_free(struct asker *a)
{
	if (!a)
		return;
	if (a->asked)
		pthread_join(a->thread, NULL);
	for (int i = 0; i < 2; i++) {
		drop(a, &a->batch[i], 0);
		free(a->batch[i].items);
	}
	free(a);
}
