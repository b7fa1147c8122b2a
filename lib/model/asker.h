/* Asks a model about many candidates as they come: in batches, each in a thread of its own, while
 * the next one fills. Answers come in the order of the questions, in the caller's thread.
 */
#ifndef TL_MODEL_ASKER_H
#define TL_MODEL_ASKER_H

#include "lib/model/features.h"
#include "lib/model/model.h"

struct asker;

/* item: what asker_put() was given. */
typedef void asker_answer(void *item, double value, double deviation);

/* Items have `size` bytes and are copied. The model is the caller's and must live longer. */
struct asker *asker_new(const struct model *m, size_t size, asker_answer *answer);
/* Where the features of the next question go, FEATURES of them. */
float *asker_row(struct asker *a);
/* The question whose features were filled in. -1: the model could not answer an earlier one. */
int asker_put(struct asker *a, const void *item, struct err *e);
/* Waits for all answers. */
int asker_finish(struct asker *a, struct err *e);
/* What was not answered yet is answered with -INFINITY, so that whoever holds an item can let go.
 */
void asker_free(struct asker *a);

#endif
