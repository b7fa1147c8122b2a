#include "lib/trial/tensors.h"

#include <math.h>

#include "lib/base/rng.h"
#include "lib/nest/elem.h"

static const char *const tensor_name[TENSOR_ROLES] = {"the input",    "the weights", "the bias",
						      "the residual", "the factor",  "the output"};

/* Values lie around the middle, at most so far from it. */
struct spread {
	double middle, scale;
};

/* Values that elements of this type have. */
static void fill(struct fence *f, struct spread s, enum elem elem, struct rng *rng)
{
	float *to = f->data;

	for (int64_t j = 0; j < f->n; j++) {
		double x = s.middle + s.scale * (int32_t)(uint32_t)rng_u64(rng) * 0x1p-31;

		to[j] = (float)elem_round(elem, x);
	}
	fence_arm(f);
	fence_freeze(f);
}

/* Whole numbers of 8 bits are over their whole range. What is added to their sums is as large as a
 * few products; factors are small. All is exact in the session's arrays. */
static struct spread spread_of_wholes(const struct workload *w, enum tensor_role role)
{
	switch (role == TENSOR_MUL ? DTYPE_F32 : workload_dtype(w, role)) {
	case DTYPE_S8:
		return (struct spread){0, 128};
	case DTYPE_U8:
		return (struct spread){127.5, 128};
	default:
		return (struct spread){0, role == TENSOR_MUL ? 4 : 16384};
	}
}

/* Weights of reals are scaled so that a sum of products is about as large as one input, whatever
 * the number of products: else relu6 would make the same of most outputs. */
static struct spread spread_of(const struct workload *w, enum tensor_role role)
{
	const double outputs = (double)workload_size(w, TENSOR_DST);

	if (dtype_is_int(w->dtype.src))
		return spread_of_wholes(w, role);
	return (struct spread){0, role == TENSOR_WEIGHTS ? 1 / sqrt((double)w->flops / 2 / outputs)
							 : 1};
}

void tensors_open(const struct workload *w, uint64_t seed, struct fence tensor[TENSOR_ROLES],
		  struct fence fresh[TENSOR_ROLES])
{
	struct tensor t[OP_MAX_TENSORS];
	const int n = w->op->tensors(w, t);
	struct rng rng;

	rng_seed(&rng, seed, w->id.s);
	for (int i = 0; i < n; i++) {
		enum tensor_role role = t[i].role;

		fence_open(&tensor[role], tensor_name[role], t[i].size, sizeof(float));
		if (role != TENSOR_DST)
			fill(&tensor[role], spread_of(w, role), elem_of(workload_dtype(w, role)),
			     &rng);
	}
	for (int i = 0; i < n; i++)
		if (t[i].role == TENSOR_SRC || t[i].role == TENSOR_ADD || t[i].role == TENSOR_MUL) {
			fence_open(&fresh[t[i].role], "fresh data", t[i].size, sizeof(float));
			fill(&fresh[t[i].role], spread_of(w, t[i].role),
			     elem_of(workload_dtype(w, t[i].role)), &rng);
		}
}
