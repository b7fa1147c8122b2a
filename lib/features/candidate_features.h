/* What the draft and the features say of a candidate on a machine. */
#ifndef TL_FEATURES_CANDIDATE_FEATURES_H
#define TL_FEATURES_CANDIDATE_FEATURES_H

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"
#include "lib/features/features.h"

struct data_env {
	const char *id;
	struct limits limits;
	struct rates rates;
	int known; /* a record described the env; until then the limits are this machine's */
};

/* Features of a candidate (f NULL: the draft alone); -1 with the reason if no program can be made
 * of it on such a machine. */
int candidate_features(const struct candidate *c, const struct data_env *env, struct arena *scratch,
		       double *draft_s, float f[FEATURES], struct err *why);

#endif
