#include "lib/base/batch.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum state { FILLS, WAITS, IS_DONE };

struct batch {
	size_t n;
	char *items;
	enum state state;
	int rc;
	struct err e;
};

enum { RING = BATCH_WAITING * BATCH_THREADS + 1 };

/* A ring: one batch fills, those before it are worked on, in their order. */
struct batches {
	size_t size, items;
	batch_work *work;
	batch_take *take;
	void *arg;
	int threads, ring, together;
	int working; /* batches that wait, are worked on or have answers that wait */
	int filling;
	struct batch batch[RING];
	/* Threads live as long as the batches do: to start one costs more than many an item. */
	int started;
	pthread_t thread[BATCH_THREADS];
	pthread_mutex_t lock; /* of the batches' states, and of these: */
	pthread_cond_t changed;
	int next;   /* batch to work on */
	int places; /* that threads have taken */
	int ended;
};

struct batches *batches_new(size_t size, size_t items, int threads, int waiting, int together,
			    batch_work *work, batch_take *take, void *arg)
{
	struct batches *b = xcalloc(1, sizeof *b);

	b->size = size;
	b->items = items;
	b->work = work;
	b->take = take;
	b->arg = arg;
	b->threads = threads < 1 ? 1 : threads > BATCH_THREADS ? BATCH_THREADS : threads;
	b->together = together;
	b->ring = together > 1 ? 2 * together : waiting * b->threads + 1;
	assert(b->ring <= RING);
	for (int i = 0; i < b->ring; i++)
		b->batch[i].items = xmalloc(size * items);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	return b;
}

void *batches_slot(struct batches *b)
{
	const struct batch *t = &b->batch[b->filling];

	return t->items + t->n * b->size;
}

/* A thread works on the next batch, and on the next. */
static void *work(void *arg)
{
	struct batches *b = arg;
	int place;

	pthread_mutex_lock(&b->lock);
	place = b->places++;
	for (;;) {
		struct batch *t = &b->batch[b->next];

		if (t->state == WAITS) {
			b->next = (b->next + 1) % b->ring;
			pthread_mutex_unlock(&b->lock);
			t->rc = b->work(b->arg, place, t->items, t->n, &t->e);
			pthread_mutex_lock(&b->lock);
			t->state = IS_DONE;
			pthread_cond_broadcast(&b->changed);
		} else if (b->ended) {
			break;
		} else {
			pthread_cond_wait(&b->changed, &b->lock);
		}
	}
	pthread_mutex_unlock(&b->lock);
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
	struct batch *t = &b->batch[(b->filling + b->ring - b->working) % b->ring];

	pthread_mutex_lock(&b->lock);
	while (t->state != IS_DONE)
		pthread_cond_wait(&b->changed, &b->lock);
	t->state = FILLS;
	pthread_mutex_unlock(&b->lock);
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

/* With one thread at least the work goes on. */
static int start_thread(struct batches *b, struct err *e)
{
	errno = pthread_create(&b->thread[b->started], NULL, work, b);
	if (errno && !b->started)
		return err_sys(e, "cannot start a thread");
	b->started += !errno;
	return 0;
}

/* Begins the work on the batch that was filled, and lets the next one fill. */
static int begin(struct batches *b, struct err *e)
{
	struct batch *t = &b->batch[b->filling];

	for (int i = 0, full = b->working == b->ring - 1; full && i < b->together; i++)
		if (take_answers(b, e) < 0)
			return -1;
	if (b->started < b->threads && b->started == b->working && start_thread(b, e) < 0)
		return -1;
	t->e = (struct err)ERR_INIT;
	pthread_mutex_lock(&b->lock);
	t->state = WAITS;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	b->working++;
	b->filling = (b->filling + 1) % b->ring;
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
	pthread_mutex_lock(&b->lock);
	b->ended = 1;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	for (int i = 0; i < b->started; i++)
		pthread_join(b->thread[i], NULL);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	for (int i = 0; i < b->ring; i++) {
		drop(b, &b->batch[i], 0);
		free(b->batch[i].items);
	}
	free(b);
}
