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

static int read_packed(struct lowering *l, const struct graph_node *n, struct dequantize_packed *p,
		       struct err *e)
{
	const struct value *zeros = node_in(l->g, n, 2);
	const int64_t bits = node_int(n, "bits", 4), block = node_int(n, "block_size", 0);

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
	return check_packed(l, n, p, e);
}

const struct dequantize_packed *lower_packed(struct lowering *l, const struct graph_node *n,
					     struct err *e)
{
	struct dequantize_packed *p = arena_new(l->p->a, struct dequantize_packed);

	return read_packed(l, n, p, e) ? NULL : p;
}

int lower_dequantize_packed(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct plain plain = {dequantize_packed_run, lower_packed(l, n, e), NULL};

	return plain.with ? lower_plain(l, n, &plain, 3, 0, e) : -1;
}

/* Rows up to which packed weights pay on a CPU that does not multiply bytes: 4096 x 4096 weights of
 * 4 bits made products of 1, 16, 64 and 256 rows 2.0, 0.95, 0.72 and 0.63 times as fast as floats.
 * On one that does (avx512), they were 6.2, 2.2, 1.2 and 0.98 times as fast. */
enum { FEW_ROWS = 16 };

static int pays(const struct lowering *l, const struct workload *w)
{
	return w->dim[MATMUL_M] <= FEW_ROWS || l->p->limits.dots >> DTYPE_U8 & 1;
}

/* The reader says the groups of the node alone that fit a workload. Where no algorithm of this
 * machine takes them, or they do not pay, the weights become floats. */
void lower_pack_task(struct lowering *l, struct task *t)
{
	const struct graph_node *n = &l->g->node[t->node];
	const struct value *weights = node_in(l->g, n, 1);
	const int from = weights ? weights->producer : -1;
	struct task packed = *t;
	struct err ignored = ERR_INIT;
	int64_t bits;

	if (t->why || !node_is(n, OP_MatMul) || from < 0 || weights->uses != 1 ||
	    weights->is_output || !node_is(&l->g->node[from], OP_DequantizePacked))
		return;
	bits = node_int(&l->g->node[from], "bits", 4);
	if (bits != 4 && bits != 8)
		return;
	packed.w.dtype.wei = bits == 4 ? DTYPE_U4 : DTYPE_U8;
	task_add_groups(l->g, &packed);
	if (packed.why || !pays(l, &packed.w) || !workload_group(&packed.w) ||
	    workload_finish(&packed.w, &ignored) || !lower_is_computed(l, &packed.w))
		return;
	*t = packed;
	l->absorbed[from] = 1;
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
