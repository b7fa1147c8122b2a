/* Batches: threads work on many items as they come, while the next batch fills.
 *
 * Answers come in the order of the items and in the caller's thread, so they do not depend on which
 * thread is faster. Stages can follow each other: the function that takes the answers of one stage
 * puts items into the next.
 *
 * Stages are batches. Nest, walk and features are computed in as many threads as the machine has,
 * each of the two predictions in one more thread, and the program's own thread reads on. Answers
 * come in the order of the candidates, so the output does not depend on which thread was faster.
 */
#ifndef TL_BASE_BATCH_H
#define TL_BASE_BATCH_H

#include <stddef.h>

#include "lib/base/err.h"

enum { BATCH_ITEMS = 2048, BATCH_THREADS = 4, BATCH_WAITING = 4 };

struct batches;

/* Works on n items, in another thread than the caller's. place: the thread's number, from 0 and
 * less than BATCH_THREADS. -1: the items have no answer, and the caller gets e. */
typedef int batch_work(void *arg, int place, void *items, size_t n, struct err *e);
/* Takes an item's answer. done 0: there is no answer; free what the item holds. -1: stop, no
 * further items make sense. */
typedef int batch_take(void *arg, void *item, int done, struct err *e);

/* Items have `size` bytes, and a batch has `items` of them: BATCH_ITEMS, or 1 if the work on each
 * is long. threads: how many batches are worked on at a time, at most; never more than
 * BATCH_THREADS.
 * waiting: so many batches a thread may wait, for work or for their answers to be taken. 1: no more
 * are begun than are worked on at once. BATCH_WAITING, at most: no thread stands still while the
 * caller takes the answers of another, or while one batch takes longer than those behind it.
 * together: the answers of so many batches are taken at a time, and when as many more are filled;
 * more than 1 for one thread alone, and at most 8. */
struct batches *batches_new(size_t size, size_t items, int threads, int waiting, int together,
			    batch_work *work, batch_take *take, void *arg);
/* Memory for the next item; it holds bytes of earlier items. */
void *batches_slot(struct batches *b);
/* Adds the item in the slot. -1: the work on earlier items failed. */
int batches_put(struct batches *b, struct err *e);
/* Waits until all answers are taken. */
int batches_finish(struct batches *b, struct err *e);
/* Items without an answer are taken with done 0. b may be NULL. */
void batches_free(struct batches *b);

#endif
