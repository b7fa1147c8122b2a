/* Asks a model about many candidates as they come: in batches (lib/base/batch.h), each in a thread
 * of its own, while the next one fills.
 */
#ifndef TL_MODEL_ASKER_H
#define TL_MODEL_ASKER_H

#include "lib/model/features.h"
#include "lib/model/model.h"

struct asker;

/* item: what asker_put() was given; x: its features, NULL if it was not answered; deviation: -1
 * where it was only glanced at. -1: no further questions make sense. */
typedef int asker_answer(void *item, const float *x, double value, double deviation, struct err *e);

/* Items have `size` bytes and are copied. The model is the caller's and must live longer. glance:
 * it is asked by model_glance(). */
struct asker *asker_new(const struct model *m, int glance, size_t size, asker_answer *answer);
/* x: FEATURES of them, copied. -1: the model could not answer an earlier question. */
int asker_put(struct asker *a, const void *item, const float *x, struct err *e);
/* Waits for all answers. */
int asker_finish(struct asker *a, struct err *e);
/* What was not answered yet gets -INFINITY, so that whoever holds an item can let go. */
void asker_free(struct asker *a);

#endif
