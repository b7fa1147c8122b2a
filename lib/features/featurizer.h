/* Computes the analytic draft and the features of many candidates, and checks that a program can be
 * made of each. Candidates are collected into batches of `items` (lib/base/batch.h). As many
 * batches as the machine has threads are worked on at a time while the next one fills.
 */
#ifndef TL_FEATURES_FEATURIZER_H
#define TL_FEATURES_FEATURIZER_H

#include "lib/features/candidate_features.h"

struct featurizer;

struct featurized {
	const struct candidate *candidate;
	const char *why; /* no program can be made of it; NULL: one can */
	double draft_s;	 /* seconds that the analytic draft predicts */
	const float *x;	 /* FEATURES of them; NULL if only the draft is wanted */
};

/* Takes the features of a candidate. item: the copy of what featurizer_put() was given. d: NULL if
 * nothing was computed; it is valid only during the call. Return -1 to get no further ones. */
typedef int featurizer_take(void *item, const struct featurized *d, struct err *e);

/* Items have `size` bytes and are copied. features 0: compute the draft alone. The caller owns the
 * env, which must live longer. */
struct featurizer *featurizer_new(const struct data_env *env, int features, size_t size,
				  size_t items, featurizer_take *take);
int featurizer_put(struct featurizer *f, const struct candidate *c, const void *item,
		   struct err *e);
/* Waits until all candidates are taken. */
int featurizer_finish(struct featurizer *f, struct err *e);
/* Items that were not worked on so far are taken with d NULL. */
void featurizer_free(struct featurizer *f);

#endif
