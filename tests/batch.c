/* Batches: every item is answered once, in order, however many threads work; what fails or is given
 * up is told of each item that it had.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "lib/base/batch.h"
#include "tests/tap.h"

struct item {
	int64_t n, square;
};

static struct {
	pthread_t caller;
	int64_t answered, dropped, fail_from; /* fail_from: the first that fails; -1: none does */
	int64_t stop_at;		      /* the taker wants no more from here on; -1: never */
	int in_order, here;
	atomic_int at[BATCH_THREADS], shared, not_elsewhere;
} seen;

static int work(void *arg, int place, void *items, size_t n, struct err *e)
{
	struct item *item = items;
	int rc = 0;

	(void)arg;
	if (atomic_fetch_add(&seen.at[place], 1))
		atomic_store(&seen.shared, 1);
	if (pthread_equal(pthread_self(), seen.caller))
		atomic_store(&seen.not_elsewhere, 1);
	for (size_t i = 0; i < n; i++) {
		item[i].square = item[i].n * item[i].n;
		if (seen.fail_from >= 0 && item[i].n >= seen.fail_from)
			rc = -1;
	}
	if (item->n / BATCH_ITEMS % 2) /* so that the order of ends is not that of beginnings */
		nanosleep(&(struct timespec){0, 2000000}, NULL);
	atomic_fetch_sub(&seen.at[place], 1);
	return rc ? err_set(e, "item %lld failed", (long long)seen.fail_from) : 0;
}

static int take(void *arg, void *item, int done, struct err *e)
{
	const struct item *t = item;

	(void)arg;
	seen.here &= pthread_equal(pthread_self(), seen.caller) != 0;
	if (!done) {
		seen.dropped++;
		return 0;
	}
	seen.in_order &= t->n == seen.answered && t->square == t->n * t->n;
	seen.answered++;
	return t->n == seen.stop_at ? err_set(e, "enough") : 0;
}

static size_t items = BATCH_ITEMS; /* of a batch */
static int waiting = BATCH_WAITING, together = 1;

/* Puts n items, to the end or until one fails; finish 0: gives up instead. Returns how many went
 * in. */
static int64_t put(int threads, int64_t n, int finish, int64_t fail_from, int64_t stop_at,
		   struct err *e)
{
	struct batches *b = batches_new(sizeof(struct item), items, threads, waiting, together,
					work, take, NULL);
	int64_t i;
	int rc = 0;

	memset(&seen, 0, sizeof seen);
	seen.caller = pthread_self();
	seen.in_order = seen.here = 1;
	seen.fail_from = fail_from;
	seen.stop_at = stop_at;
	for (i = 0; i < n && rc == 0; i++) {
		struct item *slot = batches_slot(b);

		slot->n = i;
		rc = batches_put(b, e);
	}
	if (rc == 0 && finish && batches_finish(b, e) < 0)
		diag("%s", e->msg);
	batches_free(b);
	return i;
}

static void test_order(int threads)
{
	const int64_t sizes[] = {0, 1, BATCH_ITEMS, 9 * BATCH_ITEMS + 17};
	struct err e = ERR_INIT;
	int good = 1, places = 1;

	for (int i = 0; i < 4; i++) {
		put(threads, sizes[i], 1, -1, -1, &e);
		good &= seen.answered == sizes[i] && !seen.dropped && seen.in_order;
		places &= !seen.not_elsewhere && seen.here && !seen.shared;
	}
	ok(good, "%d threads: each item is answered once, in order", threads);
	ok(places, "worked on elsewhere, each batch at a place of its own, and taken here");
}

static void test_failure(int threads)
{
	const int64_t from = 3 * BATCH_ITEMS + 5, n = 40 * BATCH_ITEMS;
	struct err e = ERR_INIT;
	int64_t in = put(threads, n, 1, from, -1, &e);

	ok(in < n && !strcmp(e.msg, "item 6149 failed"), "work that fails is told: %s", e.msg);
	ok(seen.answered == 3 * BATCH_ITEMS && seen.answered + seen.dropped == in,
	   "what was before it is answered, and what came is let go");
	e = (struct err)ERR_INIT;
	in = put(threads, n, 1, -1, from, &e);
	ok(in < n && !strcmp(e.msg, "enough") && seen.answered == from + 1 &&
		   seen.answered + seen.dropped == in,
	   "who takes can end it, and what came is let go");
	in = put(threads, n + 3, 0, -1, -1, &e);
	ok(in == n + 3 && seen.answered + seen.dropped == in && seen.dropped > 0 && seen.in_order,
	   "given up in the middle: each item is let go");
}

/* Whose items are worth a thread each. */
static void test_ones(void)
{
	struct err e = ERR_INIT;
	int64_t in;

	items = 1;
	put(3, 20, 1, -1, -1, &e);
	ok(seen.answered == 20 && !seen.dropped && seen.in_order && !seen.shared && seen.here,
	   "batches of one: each item is answered once, in order");
	in = put(3, 40, 1, 7, -1, &e);
	ok(in < 40 && !strcmp(e.msg, "item 7 failed") && seen.answered == 7 &&
		   seen.answered + seen.dropped == in,
	   "and the first that fails is told");
	put(1, 5, 0, -1, -1, &e);
	ok(seen.answered == 1, "one that takes long lets four wait: %lld",
	   (long long)seen.answered);
	waiting = 1;
	put(1, 5, 0, -1, -1, &e);
	ok(seen.answered == 4, "or one, if no more are to be begun: %lld",
	   (long long)seen.answered);
	waiting = BATCH_WAITING;
	items = BATCH_ITEMS;
}

/* When answers are taken follows from the number of items alone. */
static void test_together(void)
{
	enum { BLOCK = 8 * 16 };
	struct err e = ERR_INIT;

	items = 16;
	together = 8;
	put(1, 2 * BLOCK - 1, 0, -1, -1, &e);
	ok(seen.answered == 0, "answers wait for the second block: %lld", (long long)seen.answered);
	put(1, 2 * BLOCK, 0, -1, -1, &e);
	ok(seen.answered == BLOCK, "and are taken of a whole one: %lld", (long long)seen.answered);
	put(1, 9 * BLOCK + 17, 1, -1, -1, &e);
	ok(seen.answered == 9 * BLOCK + 17 && !seen.dropped && seen.in_order,
	   "each item is answered once, in order");
	items = BATCH_ITEMS;
	together = 1;
}

int main(void)
{
	test_ones();
	test_together();
	for (int threads = 1; threads <= BATCH_THREADS; threads += BATCH_THREADS - 1) {
		test_order(threads);
		test_failure(threads);
	}
	return done_testing();
}
