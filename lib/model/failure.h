/* Predicts how likely a candidate is to fail: it does not build, crashes, does not end, takes too
 * much memory, or gives wrong results.
 *
 * The predictor is a logistic regression of trees over the same features as the cost model. It is
 * trained only if at least 20 candidates have failed and at least 20 have not.
 */
#ifndef TL_MODEL_FAILURE_H
#define TL_MODEL_FAILURE_H

#include "lib/base/buf.h"
#include "lib/model/dataset.h"
#include "lib/model/trees.h"

/* Trains on the groups with use[i] != 0. *out is NULL if there are too few. Appends its field of
 * the report card: how many candidates failed, and the area under the ROC
 * curve in families that were held out (0.5 is chance). */
int failure_train(const struct dataset *d, const char *use, uint64_t seed, struct trees **out,
		  struct buf *card, struct err *e);

/* Returns how much the logarithm (base 2) of a candidate's expected speed falls, 10 at most, if the
 * logarithm (base e) of its odds to fail is this. A candidate that fails has speed 0. */
double failure_penalty(double log_odds);

#endif
