#include "lib/features/candidate_features.h"

#include "lib/draft/static.h"

/* The roles of operands that are in no cache when a kernel starts. Weights are constants of a
 * network, or else the layer before has just computed them. */
static unsigned cold_roles(const struct data_env *env, const struct workload *w)
{
	if (env->caches == CACHES_COLD)
		return ~0U;
	return env->caches == CACHES_WEIGHTS_COLD && w->rhs_const
		       ? 1U << TENSOR_WEIGHTS | 1U << TENSOR_BIAS
		       : 0;
}

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
	draft_predict(&nest, &env->limits, registers, cold_roles(env, &c->w), &draft);
	if (f)
		features_of(&draft, &env->rates, (double)c->w.flops, f);
	*draft_s = draft.seconds;
	return 0;
}
