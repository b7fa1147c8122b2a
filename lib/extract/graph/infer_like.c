/* Operators that keep the shape of an input, or broadcast several; and a few with a shape of their
 * own. */
#include "lib/extract/graph/infer.h"

INFER(unary)
{
	struct value *v = node_out(x->g, n, 0);

	if (v)
		v->sequence = in->sequence;
	if (infer_set(x, n, 0, &in->shape, e))
		return -1;
	fold_elementwise(x, n);
	return 0;
}

/* The mask is of the data's type before operator set 10. */
INFER(dropout)
{
	struct value *mask = node_out(x->g, n, 1);

	if (infer_unary(x, n, in, made, e))
		return -1;
	if (mask && x->opset >= 10)
		mask->elem = VALUE_BOOL;
	if (mask)
		mask->quantized = 0;
	return infer_set(x, n, 1, &node_in(x->g, n, 0)->shape, e);
}

/* Whatever else is read: the slope of a PRelu is broadcast onto the data, never the other way. */
INFER(like_first)
{
	return infer_set(x, n, 0, &node_in(x->g, n, 0)->shape, e);
}

/* Means and deviations, of a type that is told, of what is normalized from an axis on. */
INFER(layer_norm)
{
	int axis;

	if (infer_like_first(x, n, in, made, e))
		return -1;
	if (in->shape.rank < 0)
		return 0;
	axis = infer_axis(node_int(n, "axis", -1), in->shape.rank);
	if (axis < 0)
		return infer_bad(x, n, e, "normalizes a dimension that is not there");
	for (int i = axis; i < made->rank; i++)
		made->dim[i] = 1;
	for (int i = 1; i < n->nout; i++) {
		infer_elem(x, n, i, (int)node_int(n, "stash_type", VALUE_F32));
		if (infer_set(x, n, i, made, e))
			return -1;
	}
	return 0;
}

INFER(group_norm)
{
	int64_t channels, groups;

	if (infer_required(x, n, "num_groups", &groups, e) || infer_like_first(x, n, in, made, e))
		return -1;
	if (in->shape.rank < 2)
		return 0;
	channels = in->shape.dim[node_channel(n, in->shape.rank)];
	return groups < 1 || (channels >= 0 && channels % groups)
		       ? infer_bad(x, n, e, "divides %lld channels into %lld groups",
				   (long long)channels, (long long)groups)
		       : 0;
}

/* In training, means and variances are made, too. */
INFER(batch_norm)
{
	const struct value *scale = node_in(x->g, n, 1), *mean = node_in(x->g, n, 3);

	if (infer_like_first(x, n, in, made, e))
		return -1;
	for (int i = 1; scale && i < n->nout; i++) {
		if (mean)
			infer_elem(x, n, i, mean->elem);
		if (infer_set(x, n, i, &scale->shape, e))
			return -1;
	}
	return 0;
}

/* One without an input is empty. */
INFER(optional)
{
	return in ? infer_unary(x, n, in, made, e) : 0;
}

/* Has it an element? A tensor always has; -1: that is not known. */
static int has_element(const struct graph *g, const struct value *v)
{
	const struct graph_node *from = v && v->producer >= 0 ? &g->node[v->producer] : NULL;

	if (!v)
		return 0;
	if (from && node_is(from, OP_Optional))
		return node_in(g, from, 0) != NULL;
	return !from && !v->is_captured && v->elem != VALUE_UNKNOWN ? 1 : -1;
}

INFER(has_element)
{
	const int has = has_element(x->g, in);
	union scalar *to;

	*made = (struct shape){0};
	if (infer_set(x, n, 0, made, e))
		return -1;
	if ((to = infer_keep(x, n, 0)))
		to[0].i = has < 0 ? INT_UNKNOWN : has;
	return 0;
}

/* Data in which some elements are replaced. */
INFER(scatter)
{
	if (infer_like_first(x, n, in, made, e))
		return -1;
	if (node_is(n, OP_ScatterND))
		fold_tuples(x, n);
	else
		fold_elements(x, n);
	return 0;
}

INFER(cumsum)
{
	if (infer_like_first(x, n, in, made, e))
		return -1;
	fold_cumsum(x, n);
	return 0;
}

/* What a node makes row by row, out of the rows of its first input. */
static int is_by_row(const struct infer *x, const struct graph_node *n)
{
	const struct value *in = node_in(x->g, n, 0), *out = node_out(x->g, n, 0);

	if (node_is(n, OP_Flatten))
		return in != NULL;
	if (!in || !out || in->shape.rank != out->shape.rank)
		return 0;
	return node_is(n, OP_MatMul) || node_is(n, OP_Add) ||
	       (node_is(n, OP_Split) && node_int(n, "axis", 0) > 0);
}

/* A value has so many rows, and what it was made of, too. */
static void settle_rows(struct infer *x, int value, int64_t rows)
{
	for (int depth = 0; depth < 8 && value >= 0; depth++) {
		struct value *v = x->g->value[value];
		const struct graph_node *n = v->producer < 0 ? NULL : &x->g->node[v->producer];

		if (v->shape.rank < 1 || v->shape.dim[0] != DIM_UNKNOWN)
			return;
		v->shape.dim[0] = rows;
		if (infer_absurd(&v->shape)) {
			v->shape.dim[0] = DIM_UNKNOWN;
			return;
		}
		value = n && is_by_row(x, n) ? n->in[0] : -1;
	}
}

/* Not of ONNX: both operands have one shape. So the states that a recurrent network begins with get
 * their batch, which their makers leave open, from what they are added to. */
static void share_rows(struct infer *x, const struct graph_node *n, struct shape *s)
{
	for (int i = 0; i < 2 && n->nin == 2; i++) {
		const struct value *known = node_in(x->g, n, i), *open = node_in(x->g, n, !i);

		if (!known || !open || known->shape.rank < 1 || s->rank != known->shape.rank ||
		    open->shape.rank != s->rank || known->shape.dim[0] < 0)
			continue;
		s->dim[0] = known->shape.dim[0];
		settle_rows(x, n->in[!i], s->dim[0]);
	}
}

INFER(nary)
{
	if (!node_attr(n, "broadcast")) /* before opset 7, input 1 took the shape of input 0 */
		for (int i = 1; i < n->nin; i++)
			if ((in = node_in(x->g, n, i)) &&
			    infer_broadcast(x, n, made, &in->shape, e))
				return -1;
	if (node_int(n, "alike", 0))
		share_rows(x, n, made);
	if (infer_set(x, n, 0, made, e))
		return -1;
	fold_elementwise(x, n);
	return 0;
}

INFER(where)
{
	infer_elem(x, n, 0, node_in(x->g, n, 1)->elem);
	return infer_nary(x, n, in, made, e);
}

INFER(non_zero)
{
	struct shape s = {2, {DIM_UNKNOWN, DIM_UNKNOWN}};

	int folded = fold_non_zero(x, n, e);

	if (folded)
		return folded < 0 ? -1 : 0;
	if (in && in->shape.rank >= 0)
		s.dim[0] = in->shape.rank;
	s.dim[1] = infer_told(x, n);
	return infer_set(x, n, 0, &s, e);
}

INFER(quantize_dynamic)
{
	static const int elem[] = {VALUE_U8, VALUE_F32, VALUE_U8};
	const struct shape scalar = {0};

	for (int i = 0; i < 3; i++)
		infer_elem(x, n, i, elem[i]);
	if (infer_set(x, n, 1, &scalar, e) || infer_set(x, n, 2, &scalar, e))
		return -1;
	return infer_like_first(x, n, in, made, e);
}

INFER(boxes)
{
	*made = (struct shape){2, {infer_told(x, n), 3}};
	return 1;
}

/* N x C x the size of the grid, which is N x size x rank. */
INFER(grid_sample)
{
	const struct value *grid = node_in(x->g, n, 1);

	if (in->shape.rank < 3 || grid->shape.rank != in->shape.rank)
		return 0;
	for (int i = 2; i < made->rank; i++)
		made->dim[i] = grid->shape.dim[i - 1];
	return 1;
}
