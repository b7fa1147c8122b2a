#include "lib/base/batch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct batch {
	struct batches *of;
	int place;
	size_t n;
	char *items;
	pthread_t thread;
	int rc;
	struct err e;
};

/* A ring: one batch fills, those before it are worked on. */
struct batches {
	size_t size, items;
	batch_work *work;
	batch_take *take;
	void *arg;
	int threads, working; /* batches that are worked on or have answers that wait */
	int filling;
	struct batch batch[BATCH_THREADS + 1];
};

struct batches *batches_new(size_t size, size_t items, int threads, batch_work *work,
			    batch_take *take, void *arg)
{
	struct batches *b = xcalloc(1, sizeof *b);

	b->size = size;
	b->items = items;
	b->work = work;
	b->take = take;
	b->arg = arg;
	b->threads = threads < 1 ? 1 : threads > BATCH_THREADS ? BATCH_THREADS : threads;
	for (int i = 0; i <= b->threads; i++) {
		b->batch[i].of = b;
		b->batch[i].place = i;
		b->batch[i].items = xmalloc(size * items);
	}
	return b;
}

void *batches_slot(struct batches *b)
{
	const struct batch *t = &b->batch[b->filling];

	return t->items + t->n * b->size;
}

static void *work(void *arg)
{
	struct batch *t = arg;

	t->rc = t->of->work(t->of->arg, t->place, t->items, t->n, &t->e);
	return NULL;
}

/* Those from `first` on stay without an answer. */
static void drop(struct batches *b, struct batch *t, size_t first)
{
	struct err ignored = ERR_INIT;

	for (size_t i = first; i < t->n; i++)
		b->take(b->arg, t->items + i * b->size, 0, &ignored);
	t->n = 0;
}

/* The one that is worked on longest, when it is done. */
static struct batch *oldest(struct batches *b)
{
	const int ring = b->threads + 1;
	struct batch *t = &b->batch[(b->filling + ring - b->working) % ring];

	pthread_join(t->thread, NULL);
	b->working--;
	return t;
}

/* Passes on the answers of the oldest. */
static int take_answers(struct batches *b, struct err *e)
{
	struct batch *t = oldest(b);
	size_t first = 0;
	int rc = t->rc;

	if (rc < 0)
		*e = t->e;
	while (first < t->n && rc == 0) {
		rc = b->take(b->arg, t->items + first * b->size, 1, e);
		first++;
	}
	drop(b, t, first);
	return rc;
}

/* Begins the work on the batch that was filled, and lets the next one fill. */
static int begin(struct batches *b, struct err *e)
{
	struct batch *t = &b->batch[b->filling];

	if (b->working == b->threads && take_answers(b, e) < 0)
		return -1;
	t->e = (struct err)ERR_INIT;
	errno = pthread_create(&t->thread, NULL, work, t);
	if (errno)
		return err_sys(e, "cannot start a thread");
	b->working++;
	b->filling = (b->filling + 1) % (b->threads + 1);
	return 0;
}

int batches_put(struct batches *b, struct err *e)
{
	return ++b->batch[b->filling].n == b->items ? begin(b, e) : 0;
}

int batches_finish(struct batches *b, struct err *e)
{
	if (b->batch[b->filling].n && begin(b, e) < 0)
		return -1;
	while (b->working)
		if (take_answers(b, e) < 0)
			return -1;
	return 0;
}

void batches_free(struct batches *b)
{
	if (!b)
		return;
	while (b->working)
		drop(b, oldest(b), 0);
	for (int i = 0; i <= b->threads; i++) {
		drop(b, &b->batch[i], 0);
		free(b->batch[i].items);
	}
	free(b);
}
