/* Attributes that nothing reads would be ignored: they are refused by their names. */
#include <string.h>

#include "lib/run/lower.h"

/* What may be left: attributes of the result's shape and type, which inference has read, and those
 * that change nothing here. OP_NONE: of any operator. */
static const struct {
	enum node_op op;
	const char *name;
} harmless[] = {
	{OP_NONE, "ceil_mode"},
	{OP_NONE, "consumed_inputs"}, /* a hint for allocators, before operator set 6 */
	{OP_NONE, "keepdims"},
	{OP_NONE, "stash_type"},	     /* all is computed in single precision */
	{OP_Attention, "softmax_precision"}, /* likewise */
	{OP_BatchNormalization, "momentum"}, /* of training */
	{OP_Cast, "round_mode"},	     /* of types that are refused */
	{OP_Cast, "saturate"},
	{OP_Cast, "to"},
	{OP_CenterCropPad, "axes"},
	{OP_Conv, "kernel_shape"}, /* the weights' */
	{OP_ConvTranspose, "kernel_shape"},
	{OP_DequantizeLinear, "axis"},	       /* of a scale that is one number */
	{OP_DequantizeLinear, "output_dtype"}, /* of a real type */
	{OP_Dropout, "ratio"},		       /* of training */
	{OP_Dropout, "seed"},
	{OP_EyeLike, "dtype"},
	{OP_Flatten, "axis"},
	{OP_Gemm, "broadcast"},	   /* that C may be broadcast */
	{OP_MatMul, "block_size"}, /* of packed weights, which have it, too */
	{OP_MatMul, "zeros"},
	{OP_MaxPool, "storage_order"}, /* of indices */
	{OP_MaxRoiPool, "pooled_shape"},
	{OP_Optional, "type"},
	{OP_QLinearConv, "kernel_shape"},
	{OP_QuantizeLinear, "axis"},
	{OP_QuantizeLinear, "output_dtype"},
	{OP_QuantizeLinear, "precision"},
	{OP_QuantizeLinear, "saturate"},	 /* of types that are refused */
	{OP_ReduceMean, "noop_with_empty_axes"}, /* of one that a normalization took: it has axes */
	{OP_Reshape, "allowzero"},
	{OP_Reshape, "shape"},
	{OP_RoiAlign, "output_height"},
	{OP_RoiAlign, "output_width"},
	{OP_Split, "num_outputs"},
	{OP_Split, "split"},
	{OP_Squeeze, "axes"},
	{OP_TopK, "k"},	     /* before operator set 10 */
	{OP_TopK, "sorted"}, /* they are in any case */
	{OP_Unsqueeze, "axes"},
};

static int is_harmless(const struct graph_node *n, const struct attr *a)
{
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (!strcmp(a->name, harmless[i].name) &&
		    (!harmless[i].op || node_is(n, harmless[i].op)))
			return 1;
	return 0;
}

/* Is an output of the node but the first one read? */
static int makes_more(const struct lowering *l, const struct graph_node *n)
{
	for (int i = 1; i < n->nout; i++) {
		const struct value *v = node_out(l->g, n, i);

		if (value_is_read(v))
			return 1;
	}
	return 0;
}

/* Does it drop elements, or tell statistics? Before operator set 7 it did so by default. */
static int is_training(const struct lowering *l, const struct graph_node *n)
{
	const int is_test = (int)node_int(n, "is_test", l->opset >= 7);
	double ratio = 0.5, trains = 0;

	if (node_is(n, OP_BatchNormalization))
		return makes_more(l, n) || !is_test;
	if (!node_is(n, OP_Dropout))
		return 0;
	if (node_in(l->g, n, 1) && lower_number(l, n->in[1], &ratio) && ratio == 0)
		return 0;
	if (node_in(l->g, n, 2) && !lower_number(l, n->in[2], &trains))
		return 1;
	return trains != 0 || !is_test;
}

/* The second dimension of data stands where the first one of a bias does: "axis", which went with
 * "broadcast" before operator set 7. What is broadcast has its last dimension last else. */
static int is_beside(const struct lowering *l, const struct graph_node *n)
{
	const struct attr *axis = node_attr(n, "broadcast") ? node_attr(n, "axis") : NULL;
	const struct value *a = node_in(l->g, n, 0), *b = node_in(l->g, n, 1);

	return axis && a && b &&
	       (axis->i < 0 ? axis->i + a->shape.rank : axis->i) != a->shape.rank - b->shape.rank;
}

int lower_begin_attributes(struct lowering *l, struct err *e)
{
	for (int i = 0; i < l->g->nnode; i++) {
		const struct graph_node *n = &l->g->node[i];

		for (int k = 0; k < n->nattr; k++)
			n->attr[k].taken = 0;
		if (lower_is_done(l, n))
			continue;
		if (is_training(l, n))
			return lower_bad(l, n, e,
					 "is in training mode, which tl-run does not compute");
		if (node_is(n, OP_BatchNormalization) && !node_int(n, "spatial", 1))
			return lower_bad(l, n, e, "normalizes elements instead of channels");
		if (is_beside(l, n))
			return lower_bad(
				l, n, e,
				"broadcasts its second operand to the middle of the first");
	}
	return 0;
}

int lower_left_attributes(const struct lowering *l, struct err *e)
{
	for (int i = 0; i < l->g->nnode; i++) {
		const struct graph_node *n = &l->g->node[i];

		if (lower_is_done(l, n) || lower_is_empty(l, n) || node_is(n, OP_Constant) ||
		    node_is(n, OP_ConstantOfShape))
			continue;
		for (int k = 0; k < n->nattr; k++)
			if (!n->attr[k].taken && !is_harmless(n, &n->attr[k]))
				return lower_bad(
					l, n, e,
					"has the attribute '%s', which tl-run does not know",
					n->attr[k].name);
	}
	return 0;
}
