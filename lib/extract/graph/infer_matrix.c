/* Products, reductions and recurrent networks. */
#include <string.h>

#include "lib/extract/graph/infer.h"

INFER(gemm)
{
	const struct value *a = node_in(x->g, n, 0), *b = node_in(x->g, n, 1);
	int ta = node_int(n, "transA", 0) != 0, tb = node_int(n, "transB", 0) != 0;
	struct shape s = {2, {DIM_UNKNOWN, DIM_UNKNOWN}};

	if ((a->shape.rank >= 0 && a->shape.rank != 2) ||
	    (b->shape.rank >= 0 && b->shape.rank != 2))
		return infer_bad(x, n, e, "wants two matrices");
	if (a->shape.rank == 2)
		s.dim[0] = a->shape.dim[ta];
	if (b->shape.rank == 2)
		s.dim[1] = b->shape.dim[!tb];
	if (a->shape.rank == 2 && b->shape.rank == 2) {
		int64_t k = a->shape.dim[!ta], k2 = b->shape.dim[tb];

		if (k >= 0 && k2 >= 0 && k != k2)
			return infer_bad(x, n, e, "has inner dimensions %lld and %lld",
					 (long long)k, (long long)k2);
	}
	return infer_set(x, n, 0, &s, e);
}

/* The weights of MatMulNBits, which are packed in bytes, as a matrix. */
INFER(dequantize_packed)
{
	const struct shape s = {2, {node_int(n, "K", 0), node_int(n, "N", 0)}};

	if (s.dim[0] < 1 || s.dim[1] < 1 || s.dim[0] > MAX_ELEMENTS ||
	    s.dim[1] > MAX_ELEMENTS / s.dim[0])
		return infer_bad(x, n, e, "has a matrix of %lld rows and %lld columns",
				 (long long)s.dim[0], (long long)s.dim[1]);
	return infer_set(x, n, 0, &s, e);
}

/* A right or left side that is given transposed. */
static void turn(const struct graph_node *n, const char *attr, struct shape *s)
{
	int64_t d;

	if (!node_int(n, attr, 0) || s->rank < 2)
		return;
	d = s->dim[s->rank - 1];
	s->dim[s->rank - 1] = s->dim[s->rank - 2];
	s->dim[s->rank - 2] = d;
}

/* Rows that come before the batch go behind it. */
static void move_rows(const struct graph_node *n, const char *attr, struct shape *s)
{
	int64_t rows = s->dim[0];

	if (!node_int(n, attr, 0) || s->rank < 3)
		return;
	memmove(s->dim, s->dim + 1, sizeof *s->dim * (size_t)(s->rank - 2));
	s->dim[s->rank - 2] = rows;
}

void infer_operands(const struct graph_node *n, struct shape *a, struct shape *b)
{
	move_rows(n, "transBatchA", a);
	move_rows(n, "transBatchB", b);
	turn(n, "transA", a);
	turn(n, "transB", b);
}

/* A vector on the left is a row, on the right a column; the one added dimension is dropped again.
 */
INFER(matmul)
{
	const struct value *va = node_in(x->g, n, 0);
	const struct value *vb = node_in(x->g, n, node_is(n, OP_QLinearMatMul) ? 3 : 1);
	struct shape a, b, s;
	int row = 0, column = 0;

	if (!va || !vb)
		return infer_bad(x, n, e, "wants two inputs");
	if (va->shape.rank < 0 || vb->shape.rank < 0)
		return 0;
	a = va->shape;
	b = vb->shape;
	if (!a.rank || !b.rank)
		return infer_bad(x, n, e, "multiplies a scalar");
	infer_operands(n, &a, &b);
	if (a.rank == 1) {
		a = (struct shape){2, {1, a.dim[0]}};
		row = 1;
	}
	if (b.rank == 1) {
		b = (struct shape){2, {b.dim[0], 1}};
		column = 1;
	}
	if (a.dim[a.rank - 1] >= 0 && b.dim[b.rank - 2] >= 0 &&
	    a.dim[a.rank - 1] != b.dim[b.rank - 2])
		return infer_bad(x, n, e, "has inner dimensions %lld and %lld",
				 (long long)a.dim[a.rank - 1], (long long)b.dim[b.rank - 2]);
	s = a;
	s.rank -= 2;
	b.rank -= 2;
	if (infer_broadcast(x, n, &s, &b, e))
		return -1;
	if (!row)
		s.dim[s.rank++] = a.dim[a.rank - 2];
	if (!column)
		s.dim[s.rank++] = b.dim[b.rank + 1];
	return infer_set(x, n, 0, &s, e);
}

static void mark_axes(const struct shape *s, int given, int naxes, const int64_t *axes,
		      int none_is_all, char *reduced)
{
	memset(reduced, given && naxes ? 0 : none_is_all, GRAPH_MAX_RANK);
	for (int i = 0; i < naxes; i++) {
		int axis = infer_axis(axes[i], s->rank);

		if (axis >= 0)
			reduced[axis] = 1;
	}
}

INFER(reduce)
{
	int keep = node_int(n, "keepdims", 1) != 0, given, naxes;
	char reduced[GRAPH_MAX_RANK];
	const int64_t *axes;
	struct shape s = {0};

	given = infer_list(x->g, n, "axes", 1, &naxes, &axes);
	if (in->shape.rank < 0 || (given < 0 && !keep))
		return 0;
	for (int i = 0; i < naxes; i++)
		if (infer_axis(axes[i], in->shape.rank) < 0)
			return infer_bad(x, n, e, "reduces a dimension that is not there");
	mark_axes(&in->shape, given, naxes, axes, !node_int(n, "noop_with_empty_axes", 0), reduced);
	for (int i = 0; node_int(n, "exclude", 0) && i < in->shape.rank; i++)
		reduced[i] = !reduced[i]; /* not of ONNX: all axes but these */
	for (int i = 0; i < in->shape.rank; i++) {
		if (given < 0)
			s.dim[s.rank++] = DIM_UNKNOWN;
		else if (!reduced[i])
			s.dim[s.rank++] = in->shape.dim[i];
		else if (keep)
			s.dim[s.rank++] = 1;
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (given >= 0)
		fold_reduce(x, n, reduced);
	return 0;
}

INFER(arg)
{
	const int axis = infer_axis(node_int(n, "axis", 0), made->rank);

	if (axis < 0)
		return infer_bad(x, n, e, "reduces a dimension that is not there");
	if (node_int(n, "keepdims", 1))
		made->dim[axis] = 1;
	else
		shape_drop(made, axis);
	return 1;
}

INFER(topk)
{
	const struct attr *fixed = node_attr(n, "k");
	int64_t wanted = INT_UNKNOWN;
	int axis;

	axis = infer_axis(node_int(n, "axis", -1), made->rank);
	if (axis < 0)
		return infer_bad(x, n, e, "sorts along a dimension that is not there");
	if (fixed)
		wanted = fixed->i;
	else
		(void)value_whole(node_in(x->g, n, 1), &wanted);
	if (wanted != INT_UNKNOWN && (wanted < 0 || wanted > MAX_ELEMENTS))
		return infer_bad(x, n, e, "wants an absurd number of elements, %lld",
				 (long long)wanted);
	made->dim[axis] = wanted == INT_UNKNOWN ? DIM_UNKNOWN : wanted;
	infer_elem(x, n, 1, VALUE_I64);
	return infer_set(x, n, 0, made, e) || infer_set(x, n, 1, made, e) ? -1 : 0;
}

/* X: sequence x batch x input (layout 0). Y: sequence x directions x batch x hidden; then the last
 * states. */
INFER(rnn)
{
	const struct value *r = node_in(x->g, n, 2);
	int64_t hidden, dirs;
	struct shape y, h;

	if (in->shape.rank != 3 || r->shape.rank != 3)
		return in->shape.rank < 0 || r->shape.rank < 0
			       ? 0
			       : infer_bad(x, n, e, "wants three-dimensional inputs");
	hidden = r->shape.dim[2];
	dirs = r->shape.dim[0];
	if (node_int(n, "layout", 0)) {
		y = (struct shape){4, {in->shape.dim[0], in->shape.dim[1], dirs, hidden}};
		h = (struct shape){3, {in->shape.dim[0], dirs, hidden}};
	} else {
		y = (struct shape){4, {in->shape.dim[0], dirs, in->shape.dim[1], hidden}};
		h = (struct shape){3, {dirs, in->shape.dim[1], hidden}};
	}
	return infer_set(x, n, 0, &y, e) || infer_set(x, n, 1, &h, e) || infer_set(x, n, 2, &h, e)
		       ? -1
		       : 0;
}

/* Queries, keys and values: batch x steps x heads and their elements. The state is a matrix for
 * each head of the values. */
INFER(linear_attention)
{
	const struct value *q = node_in(x->g, n, 0), *v = node_in(x->g, n, 2);
	int64_t heads = node_int(n, "q_num_heads", 0), own = node_int(n, "kv_num_heads", heads);
	struct shape out, state;

	if (heads < 1 || own < 1 || heads > 1 << 20 || own > 1 << 20)
		return infer_bad(x, n, e, "wants numbers of heads");
	if (q->shape.rank != 3 || v->shape.rank != 3)
		return 0;
	out = q->shape;
	out.dim[2] = v->shape.dim[2] < 0 ? DIM_UNKNOWN : v->shape.dim[2] / own * heads;
	state = (struct shape){4, {q->shape.dim[0], own, q->shape.dim[2], v->shape.dim[2]}};
	if (state.dim[2] > 0)
		state.dim[2] /= heads;
	if (state.dim[3] > 0)
		state.dim[3] /= own;
	return infer_set(x, n, 0, &out, e) || infer_set(x, n, 1, &state, e) ? -1 : 0;
}

/* The shape of input i as batch x heads x rows x size; of three dimensions the last has the heads.
 * 0: it is not known. */
static int by_heads(const struct infer *x, const struct graph_node *n, int i, const char *heads,
		    struct shape *s)
{
	const struct value *v = node_in(x->g, n, i);
	const int64_t count = node_int(n, heads, 0);

	if (!v || !shape_known(&v->shape) || v->shape.rank < 3 || v->shape.rank > 4)
		return 0;
	*s = v->shape;
	if (s->rank == 4)
		return 1;
	if (count < 1 || s->dim[2] % count)
		return 0;
	*s = (struct shape){4, {s->dim[0], count, s->dim[1], s->dim[2] / count}};
	return 1;
}

/* Before it is rewritten as products: the output, keys and values with those before them, and the
 * product. */
INFER(attention)
{
	const struct value *past = node_in(x->g, n, 4);
	struct shape q, k, v, out;

	if (!by_heads(x, n, 0, "q_num_heads", &q) || !by_heads(x, n, 1, "kv_num_heads", &k) ||
	    !by_heads(x, n, 2, "kv_num_heads", &v) || (past && past->shape.rank != 4))
		return 0;
	if (past) {
		k.dim[2] += past->shape.dim[2];
		v.dim[2] += past->shape.dim[2];
	}
	out = (struct shape){4, {q.dim[0], q.dim[1], q.dim[2], v.dim[3]}};
	if (node_in(x->g, n, 0)->shape.rank == 3)
		out = (struct shape){3, {q.dim[0], q.dim[2], q.dim[1] * v.dim[3]}};
	q.dim[3] = k.dim[2];
	return infer_set(x, n, 0, &out, e) || infer_set(x, n, 1, &k, e) ||
			       infer_set(x, n, 2, &v, e) || infer_set(x, n, 3, &q, e)
		       ? -1
		       : 0;
}
