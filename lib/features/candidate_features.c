#include "lib/features/candidate_features.h"

#include "lib/draft/static.h"

int candidate_features(const struct candidate *c, const struct data_env *env, struct arena *scratch,
		       double *draft_s, float f[FEATURES], struct err *why)
{
	static _Thread_local struct nest nest; /* they are large */
	static _Thread_local struct draft draft;
	int64_t registers;

	nest_init(&nest, scratch, "kernel");
	if (candidate_build(c, &nest, why) < 0 ||
	    static_check(&nest, &env->limits, &registers, why) < 0)
		return -1;
	draft_predict(&nest, &env->limits, registers, &draft);
	if (f)
		features_of(&draft, &env->rates, (double)c->w.flops, f);
	*draft_s = draft.seconds;
	return 0;
}
