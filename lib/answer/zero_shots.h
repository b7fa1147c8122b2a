/* Zero-shot predictions for many workloads.
 *
 * A thread predicts for a workload, and another one for the next, as many as the machine has
 * threads: they have nothing to wait for, where the threads of one search wait for each other four
 * times a generation. A workload that is asked for alone is searched by all threads. Answers come
 * in the order of the questions, in the caller's thread, and are the same either way.
 */
#ifndef TL_ANSWER_ZERO_SHOTS_H
#define TL_ANSWER_ZERO_SHOTS_H

#include "lib/answer/zero_shot.h"

struct zero_shots;

/* Takes an answer. NULL: no algorithm applies. -1: stop. */
typedef int zero_shots_take(void *arg, const struct zero_shot_answer *a, struct err *e);

/* z: the caller owns what it points to, which must live longer. */
struct zero_shots *zero_shots_new(const struct zero_shot *z, zero_shots_take *take, void *arg);
/* Asks for a workload. m is what zero_shot_find() wants; what lies in the arena a, which m needs,
 * is taken over, and a is empty afterwards. -1: an earlier prediction failed. */
int zero_shots_put(struct zero_shots *z, const struct workload *w, const struct match *m,
		   struct arena *a, struct err *e);
/* Waits until all answers are taken. */
int zero_shots_finish(struct zero_shots *z, struct err *e);
void zero_shots_free(struct zero_shots *z); /* NULL: nothing happens */

#endif
