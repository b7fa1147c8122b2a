/* Drafts and features of many candidates as they come: in batches (lib/base/batch.h), as many at a
 * time as the machine has threads, while the next one fills.
 */
#ifndef TL_MODEL_DRAFTER_H
#define TL_MODEL_DRAFTER_H

#include "lib/model/dataset.h"

struct drafter;

struct drafted {
	const struct candidate *candidate;
	const char *why; /* no program can be made of it; NULL: one can */
	double draft_s;	 /* the draft's seconds */
	const float *x;	 /* FEATURES of them, if they were wanted */
};

/* item: what drafter_put() was given; d: NULL if it was not answered. What d points to is gone
 * when the next one is. -1: no further candidates make sense. */
typedef int drafter_answer(void *item, const struct drafted *d, struct err *e);

/* Items have `size` bytes and are copied. features: they are wanted, not the draft alone. The env
 * is the caller's and must live longer. */
struct drafter *drafter_new(const struct data_env *env, int features, size_t size,
			    drafter_answer *answer);
int drafter_put(struct drafter *d, const struct candidate *c, const void *item, struct err *e);
/* Waits for all answers. */
int drafter_finish(struct drafter *d, struct err *e);
/* Items that were not answered yet are given back without an answer. */
void drafter_free(struct drafter *d);

#endif
