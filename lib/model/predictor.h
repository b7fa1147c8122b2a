/* Predicts the values of many candidates with a cost model. Candidates are collected into batches
 * (lib/base/batch.h). Each batch is predicted in a thread of its own while the next one fills.
 */
#ifndef TL_MODEL_PREDICTOR_H
#define TL_MODEL_PREDICTOR_H

#include "lib/features/features.h"
#include "lib/model/model.h"

struct predictor;

/* Takes a prediction. item: the copy of what predictor_put() was given. x: its features; NULL if
 * nothing was predicted. deviation: -1 if first_only. Return -1 to get no further predictions. */
typedef int predictor_take(void *item, const float *x, double value, double deviation,
			   struct err *e);

/* Items have `size` bytes and are copied. The caller owns the model, which must live longer.
 * first_only: predict with model_predict_first(). */
struct predictor *predictor_new(const struct model *m, int first_only, size_t size,
				predictor_take *take);
/* x: the FEATURES features of item, which are copied. -1: an earlier prediction failed. */
int predictor_put(struct predictor *p, const void *item, const float *x, struct err *e);
/* Waits until all predictions are taken. */
int predictor_finish(struct predictor *p, struct err *e);
/* Items without a prediction so far are taken with x NULL and value -INFINITY, so that the caller
 * can free what they hold. */
void predictor_free(struct predictor *p);

#endif
