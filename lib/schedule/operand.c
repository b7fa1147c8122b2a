#include "lib/schedule/operand.h"

#include <stddef.h>

struct affine window_at(const struct window *w, struct affine i)
{
	return af_add(af_scale(af_sub(i, w->first), w->stride), w->rest);
}

const struct affine *operand_left(struct nest *n, int extent, int64_t nr, struct affine at)
{
	return n->var[extent].value % nr ? nest_keep(n, af_sub(af_var(extent), at)) : NULL;
}

int operand_bias(struct nest *n, const struct workload *w, int rank, const struct extent *dim)
{
	struct packing p = {0};

	if (!workload_has_post(w, POST_BIAS))
		return -1;
	for (int i = 0; i < rank; i++)
		packing_dim(&p, dim[i].is);
	for (int i = 0; i < rank; i++)
		packing_axis(&p, i, dim[i].padded, 1);
	return nest_packed(n, "bias", TENSOR_BIAS, &p);
}

void operand_out(struct nest *n, const struct workload *w, int bias, int64_t size,
		 struct brgemm_out *o)
{
	o->bias = bias;
	o->adds = workload_has_post(w, POST_ADD);
	o->c = nest_arg(n, "dst", TENSOR_DST, size, 1);
	o->npost = w->npost;
	o->post = w->post;
}
