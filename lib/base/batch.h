/* Batches: work on many items as they come, in threads of its own while the next batch fills.
 *
 * Answers come in the order of the items and in the caller's thread, so that what follows from them
 * does not depend on who was faster. Stages can follow each other: what takes the answers of one
 * puts items into the next.
 */
#ifndef TL_BASE_BATCH_H
#define TL_BASE_BATCH_H

#include <stddef.h>

#include "lib/base/err.h"

enum { BATCH_ITEMS = 2048, BATCH_THREADS = 4 };

struct batches;

/* Works on n items, in another thread than the caller's. place: 0 to BATCH_THREADS, of which no two
 * are worked on at the same place at a time. -1: they have no answer, and the caller is told why.
 */
typedef int batch_work(void *arg, int place, void *items, size_t n, struct err *e);
/* Takes an item's answer. done 0: there is none, and none is wanted any more; what the item holds
 * is to be let go. -1: no further items make sense. */
typedef int batch_take(void *arg, void *item, int done, struct err *e);

/* Items have `size` bytes each, and `items` of them are a batch: BATCH_ITEMS, or 1, where each is
 * worth a thread. threads: at most so many batches are worked on at a time; no more than
 * BATCH_THREADS are. */
struct batches *batches_new(size_t size, size_t items, int threads, batch_work *work,
			    batch_take *take, void *arg);
/* Where the next item goes; what is there is left from others. */
void *batches_slot(struct batches *b);
/* The slot was filled. -1: the work on earlier ones failed. */
int batches_put(struct batches *b, struct err *e);
/* Waits for all answers. */
int batches_finish(struct batches *b, struct err *e);
/* What was not answered yet is taken as not done. NULL is nothing. */
void batches_free(struct batches *b);

#endif
