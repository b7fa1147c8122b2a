/* Computes the time that the draft expects of a candidate on a machine, and its features there. */
#ifndef TL_FEATURES_CANDIDATE_FEATURES_H
#define TL_FEATURES_CANDIDATE_FEATURES_H

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"
#include "lib/features/features.h"
#include "lib/target/caches.h"

struct data_env {
	const char *id;
	struct limits limits;
	struct rates rates;
	enum caches caches; /* what is in them when a kernel starts */
	int known; /* a record described the env; until then the limits are this machine's */
};

/* Sets the draft's seconds and the features (f NULL: the draft alone). Returns 0; -1 with the
 * reason if no program can be made of the candidate on such a machine. */
int candidate_features(const struct candidate *c, const struct data_env *env, struct arena *scratch,
		       double *draft_s, float f[FEATURES], struct err *why);

#endif
