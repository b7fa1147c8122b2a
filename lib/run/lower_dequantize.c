/* Whole numbers in groups that have scales of their own (dequantize.h). Weights are constants, so
 * that they are made reals once, before the first run. */
#include "lib/run/dequantize.h"
#include "lib/run/lower.h"

/* A group has whole bytes; a larger one than that is no group. K times N has its limit already
 * (infer_dequantize_packed()), so the number of bytes can be told. */
enum { BLOCK_MOST = 1 << 20 };

static int64_t count_of(const struct lowering *l, const struct graph_node *n, int i)
{
	return shape_count(&node_in(l->g, n, i)->shape);
}

/* Are the sizes of the inputs those that the attributes say? */
static int check_packed(const struct lowering *l, const struct graph_node *n,
			const struct dequantize_packed *p, struct err *e)
{
	const int64_t each = p->columns * p->groups;
	const int64_t zeros = p->are_zeros_packed ? p->columns * dequantize_zero_bytes(p) : each;

	if (node_in(l->g, n, 0)->elem != VALUE_U8)
		return lower_bad(l, n, e, "has packed weights of %s instead of bytes",
				 elem_name(node_in(l->g, n, 0)->elem));
	if (count_of(l, n, 0) != each * dequantize_group_bytes(p))
		return lower_bad(l, n, e,
				 "has %lld bytes of packed weights, which are not what K, N, bits "
				 "and block_size say",
				 (long long)count_of(l, n, 0));
	if (count_of(l, n, 1) != each || (node_in(l->g, n, 2) && count_of(l, n, 2) != zeros))
		return lower_bad(l, n, e,
				 "has scales or zero points that are not those of its groups");
	return 0;
}

int lower_dequantize_packed(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct dequantize_packed *p = arena_new(l->p->a, struct dequantize_packed);
	const struct value *zeros = node_in(l->g, n, 2);
	const int64_t bits = node_int(n, "bits", 4), block = node_int(n, "block_size", 0);
	const struct plain plain = {dequantize_packed_run, p, NULL};

	if (node_in(l->g, n, 3))
		return lower_bad(
			l, n, e,
			"has g_idx of MatMulNBits, by which rows choose their groups, and tl-run "
			"does not compute that");
	if (node_int(n, "weight_prepacked", 0))
		return lower_bad(l, n, e, "has weights in another order, of weight_prepacked");
	if (bits != 2 && bits != 4 && bits != 8)
		return lower_bad(l, n, e, "has weights of %lld bits, which are not computed here",
				 (long long)bits);
	if (block < 1 || block > BLOCK_MOST)
		return lower_bad(l, n, e, "has a block_size of %lld", (long long)block);
	*p = (struct dequantize_packed){.rows = node_int(n, "K", 0),
					.columns = node_int(n, "N", 0),
					.block = block,
					.bits = (int)bits,
					.are_zeros_packed = zeros && elem_is_int(zeros->elem)};
	p->groups = (p->rows + block - 1) / block;
	return check_packed(l, n, p, e) ? -1 : lower_plain(l, n, &plain, 3, 0, e);
}

int lower_dequantize_blocks(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct dequantize_blocks *d = arena_new(l->p->a, struct dequantize_blocks);
	const struct shape *in = &node_in(l->g, n, 0)->shape, *scale = &node_in(l->g, n, 1)->shape;
	const struct value *zero = node_in(l->g, n, 2);
	const int axis = infer_axis(node_int(n, "axis", 1), in->rank);
	const struct plain plain = {dequantize_blocks_run, d, NULL};

	*d = (struct dequantize_blocks){
		.outer = 1, .inner = 1, .block = node_int(n, "block_size", 0)};
	if (axis < 0 || d->block < 1)
		return lower_bad(l, n, e,
				 axis < 0 ? "has an axis that is none"
					  : "has a block_size below 0");
	for (int i = 0; i < in->rank; i++) {
		if (i != axis)
			*(i < axis ? &d->outer : &d->inner) *= in->dim[i];
		if (scale->rank != in->rank || (i != axis && scale->dim[i] != in->dim[i]))
			return lower_bad(l, n, e, "has scales that are not those of its blocks");
	}
	d->extent = in->dim[axis];
	d->blocks = scale->dim[axis];
	if (d->blocks != (d->extent + d->block - 1) / d->block ||
	    (zero && !shape_equal(&zero->shape, scale)))
		return lower_bad(l, n, e,
				 "has scales or zero points that are not those of its blocks");
	return lower_plain(l, n, &plain, 3, 0, e);
}
