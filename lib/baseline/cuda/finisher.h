/* A library that finishes what another one began: it computes the post-ops from a given one on,
 * from the middle (stage.h), or, without any, converts what is there to the result's type.
 */
#ifndef TL_BASELINE_CUDA_FINISHER_H
#define TL_BASELINE_CUDA_FINISHER_H

#include "lib/baseline/cuda/variant.h"

enum { FINISHER_RESTS = 2 * PROBLEMS };

struct finisher {
	/* Makes the call; run NULL: the library has none, or the device has no memory. */
	struct call (*make)(void *of, const struct problem *p, int post);
	void *of;
	struct rest {
		const struct problem *problem;
		int post;
		struct call call;
	} rest[FINISHER_RESTS]; /* those that were made */
	int n;
};

/* The call, which is made when it is first asked for. NULL: there is none. The problem must stay.
 */
const struct call *finisher_rest(struct finisher *f, const struct problem *p, int post);

#endif
