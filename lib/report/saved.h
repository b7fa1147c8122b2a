/* Sentences of what tuning saved, for people. The figures are those of lib/store/cost.h; each is an
 * estimate from the runs' own records, and what cannot be founded is not said.
 */
#ifndef TL_REPORT_SAVED_H
#define TL_REPORT_SAVED_H

#include "lib/base/buf.h"
#include "lib/store/cost.h"

enum saved_sentence {
	SAVED_RACES,  /* races that were stopped early */
	SAVED_FILTER, /* candidates that were proposed and not tried */
	SAVED_CACHE,  /* kernels that were there already */
	SAVED_WAIT,   /* the wait for other runs */
	SAVED_STOP,   /* why the rounds ended */
	SAVED_SENTENCES
};

/* Appends the sentence. 0: there is nothing to say. */
int saved_sentence(const struct cost_sum *s, enum saved_sentence which, struct buf *out);

#endif
