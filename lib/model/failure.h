/* Failure: how likely it is that a candidate does not make it: does not build, crashes, finds no
 * end, takes too much memory, or is wrong.
 *
 * A logistic regression of trees over the same features as the cost model. It is learned only where
 * candidates have failed and others have not, 20 of each at least: of a machine on which nothing
 * ever failed there is nothing to say.
 */
#ifndef TL_MODEL_FAILURE_H
#define TL_MODEL_FAILURE_H

#include "lib/base/buf.h"
#include "lib/model/boost.h"
#include "lib/model/dataset.h"

/* Learns from the groups with use[i] != 0: *out, or NULL where there is too little. Appends its
 * field of the report card, a comma before it: how many failed, and how well those are told from
 * the others in families that were held out (the area under the ROC curve: 0.5 is chance). */
int failure_train(const struct dataset *d, const char *use, uint64_t seed, struct boost **out,
		  struct buf *card, struct err *e);

/* By how much the logarithm (base 2) of a candidate's expected speed falls if it fails with
 * probability p: what fails has none. At most 10. */
double failure_penalty(double p);

#endif
