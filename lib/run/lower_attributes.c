/* Attributes that nothing reads would be ignored: they are refused by their names. */
#include <string.h>

#include "lib/run/lower.h"

/* What may be left: attributes of the result's shape and type, which inference has read, and those
 * that change nothing here. NULL: of any operator. */
static const struct {
	const char *type, *name;
} harmless[] = {
	{NULL, "ceil_mode"},
	{NULL, "consumed_inputs"}, /* a hint for allocators, before operator set 6 */
	{NULL, "keepdims"},
	{NULL, "stash_type"},		    /* all is computed in single precision */
	{"BatchNormalization", "momentum"}, /* of training */
	{"Cast", "round_mode"},		    /* of types that are refused */
	{"Cast", "saturate"},
	{"Cast", "to"},
	{"CenterCropPad", "axes"},
	{"Conv", "kernel_shape"}, /* the weights' */
	{"ConvTranspose", "kernel_shape"},
	{"Dropout", "ratio"}, /* of training */
	{"Dropout", "seed"},
	{"EyeLike", "dtype"},
	{"Flatten", "axis"},
	{"Gemm", "broadcast"},	      /* that C may be broadcast */
	{"MaxPool", "storage_order"}, /* of indices */
	{"Reshape", "allowzero"},
	{"Reshape", "shape"},
	{"Split", "num_outputs"},
	{"Split", "split"},
	{"Squeeze", "axes"},
	{"TopK", "k"},	    /* before operator set 10 */
	{"TopK", "sorted"}, /* they are in any case */
	{"Unsqueeze", "axes"},
};

static int is_harmless(const struct graph_node *n, const struct attr *a)
{
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (!strcmp(a->name, harmless[i].name) &&
		    (!harmless[i].type || node_is(n, harmless[i].type)))
			return 1;
	return 0;
}

/* Does it drop elements, or normalize by the statistics of its data? Before operator set 7 it did
 * so by default. */
static int is_training(const struct lowering *l, const struct graph_node *n)
{
	const int is_test = (int)node_int(n, "is_test", l->opset >= 7);
	double ratio = 0.5, trains = 0;

	if (node_is(n, "BatchNormalization"))
		return node_int(n, "training_mode", 0) || !is_test;
	if (!node_is(n, "Dropout"))
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
		if (node_is(n, "BatchNormalization") && !node_int(n, "spatial", 1))
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

		if (lower_is_done(l, n) || lower_is_empty(l, n) || node_is(n, "Constant") ||
		    node_is(n, "ConstantOfShape"))
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
