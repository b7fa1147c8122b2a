/* Elements of small tensors that are reduced, repeated, looked up or overwritten. */
#include <math.h>
#include <string.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/graph/infer.h"

static int folds(const struct value *v)
{
	return v && v->kept && shape_known(&v->shape) &&
	       (elem_is_int(v->elem) || elem_is_real(v->elem));
}

static int64_t int_join(const struct graph_node *n, int64_t a, int64_t b)
{
	int64_t r = INT_UNKNOWN;

	if (a == INT_UNKNOWN || b == INT_UNKNOWN)
		return INT_UNKNOWN;
	if (node_is(n, OP_ReduceMax))
		return a > b ? a : b;
	if (node_is(n, OP_ReduceMin))
		return a < b ? a : b;
	if (node_is(n, OP_ReduceProd) ? __builtin_mul_overflow(a, b, &r)
				      : __builtin_add_overflow(a, b, &r))
		return INT_UNKNOWN;
	return r;
}

static double real_join(const struct graph_node *n, double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (node_is(n, OP_ReduceMax))
		return fmax(a, b);
	if (node_is(n, OP_ReduceMin))
		return fmin(a, b);
	return node_is(n, OP_ReduceProd) ? a * b : a + b;
}

/* How exporters compute sizes: products, sums, means and extremes of lists. reduced: dimensions. */
void fold_reduce(struct infer *x, const struct graph_node *n, const char *reduced)
{
	const struct value *in = node_in(x->g, n, 0), *v = node_out(x->g, n, 0);
	int64_t stride[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK] = {0}, size = 1, all, made;
	int mean = node_is(n, OP_ReduceMean), real;
	union scalar *to;

	if (!folds(in) || !v || !shape_known(&v->shape) || !(all = shape_count(&in->shape)) ||
	    (!mean && !node_is(n, OP_ReduceProd) && !node_is(n, OP_ReduceSum) &&
	     !node_is(n, OP_ReduceMax) && !node_is(n, OP_ReduceMin)) ||
	    !(to = infer_keep(x, n, 0)))
		return;
	real = elem_is_real(in->elem);
	for (int i = in->shape.rank; i-- > 0;) {
		stride[i] = reduced[i] ? 0 : size;
		size *= reduced[i] ? 1 : in->shape.dim[i];
	}
	made = shape_count(&v->shape);
	for (int64_t k = 0; k < all; k++) {
		int64_t p = 0;
		int first = 1;

		for (int d = 0; d < in->shape.rank; d++) {
			p += at[d] * stride[d];
			first &= !reduced[d] || !at[d];
		}
		if (first)
			to[p] = in->kept[k];
		else if (real)
			to[p].f = real_join(n, to[p].f, in->kept[k].f);
		else
			to[p].i = int_join(n, to[p].i, in->kept[k].i);
		for (int d = in->shape.rank; d-- > 0 && ++at[d] == in->shape.dim[d];)
			at[d] = 0;
	}
	for (int64_t k = 0; k < made; k++) {
		if (mean && real)
			to[k].f /= (double)(all / made);
		to[k] = element_fit(in->elem, to[k]);
		if (mean && !real && to[k].i != INT_UNKNOWN)
			to[k].i /= all / made;
	}
}

void fold_tile(struct infer *x, const struct graph_node *n)
{
	const struct value *in = node_in(x->g, n, 0), *v = node_out(x->g, n, 0);
	int64_t stride[GRAPH_MAX_RANK], at[GRAPH_MAX_RANK] = {0};
	union scalar *to;

	if (!folds(in) || !v || !shape_known(&v->shape) || !shape_count(&v->shape) ||
	    !(to = infer_keep(x, n, 0)))
		return;
	infer_strides(&in->shape, stride);
	for (int64_t k = 0; k < shape_count(&v->shape); k++) {
		int64_t p = 0;

		for (int d = 0; d < v->shape.rank; d++)
			p += at[d] % in->shape.dim[d] * stride[d];
		to[k] = in->kept[p];
		for (int d = v->shape.rank; d-- > 0 && ++at[d] == v->shape.dim[d];)
			at[d] = 0;
	}
}

/* Rows of coordinates of what is not 0; the shape follows. 1: it is known. */
int fold_non_zero(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape s = {2, {in ? in->shape.rank : 0, 0}};
	int64_t count, at[GRAPH_MAX_RANK] = {0}, row = 0;
	union scalar *to;

	if (!folds(in) || !elem_is_int(in->elem))
		return 0;
	count = shape_count(&in->shape);
	for (int64_t k = 0; k < count; k++) {
		if (in->kept[k].i == INT_UNKNOWN)
			return 0;
		s.dim[1] += in->kept[k].i != 0;
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (!(to = infer_keep(x, n, 0)))
		return 1;
	for (int64_t k = 0; k < count; k++) {
		for (int d = 0; d < in->shape.rank && in->kept[k].i; d++)
			to[d * s.dim[1] + row].i = at[d];
		row += in->kept[k].i != 0;
		for (int d = in->shape.rank; d-- > 0 && ++at[d] == in->shape.dim[d];)
			at[d] = 0;
	}
	return 1;
}

/* Index k of a list along a dimension of that size, or -1: unknown, or not there. */
static int64_t index_at(const union scalar *list, int64_t k, int64_t dim)
{
	int64_t i = list[k].i;

	if (i == INT_UNKNOWN || i < -dim || i >= dim)
		return -1;
	return i < 0 ? i + dim : i;
}

/* Where tuple k of indices points to in s, of which it names the first dimensions. -1: nowhere. */
static int64_t tuple_at(const union scalar *list, int64_t k, int64_t depth, const struct shape *s,
			const int64_t *stride)
{
	int64_t p = 0;

	for (int64_t d = 0; d < depth; d++) {
		int64_t i = index_at(list, k * depth + d, s->dim[d]);

		if (i < 0)
			return -1;
		p += i * stride[d];
	}
	return p;
}

/* GatherND (without batches) and ScatterND: tuples of indices, each with a slice. */
void fold_tuples(struct infer *x, const struct graph_node *n)
{
	const struct value *in = node_in(x->g, n, 0), *index = node_in(x->g, n, 1);
	const struct value *updates = node_in(x->g, n, 2), *v = node_out(x->g, n, 0);
	int64_t stride[GRAPH_MAX_RANK], depth, tuples, slice;
	int scatter = node_is(n, OP_ScatterND);
	union scalar *to;

	if (!folds(in) || !folds(index) || !elem_is_int(index->elem) || index->shape.rank < 1 ||
	    !v || !shape_known(&v->shape) || node_int(n, "batch_dims", 0) ||
	    node_int(n, "tuples_first", 0) ||
	    (scatter && (!folds(updates) || strcmp(node_str(n, "reduction", "none"), "none") != 0)))
		return;
	depth = index->shape.dim[index->shape.rank - 1];
	if (depth < 1 || depth > in->shape.rank)
		return;
	infer_strides(&in->shape, stride);
	tuples = shape_count(&index->shape) / depth;
	slice = stride[depth - 1];
	if (shape_count(scatter ? &updates->shape : &v->shape) != tuples * slice ||
	    !(to = infer_keep(x, n, 0)))
		return;
	if (scatter)
		memcpy(to, in->kept, sizeof *to * (size_t)shape_count(&in->shape));
	for (int64_t k = 0; k < tuples; k++) {
		int64_t p = tuple_at(index->kept, k, depth, &in->shape, stride);

		if (p < 0) {
			node_out(x->g, n, 0)->kept = NULL;
			return;
		}
		if (scatter)
			memcpy(to + p, updates->kept + k * slice, sizeof *to * (size_t)slice);
		else
			memcpy(to + k * slice, in->kept + p, sizeof *to * (size_t)slice);
	}
}

/* GatherElements and ScatterElements of lists. */
void fold_elements(struct infer *x, const struct graph_node *n)
{
	const struct value *in = node_in(x->g, n, 0), *index = node_in(x->g, n, 1);
	const struct value *updates = node_in(x->g, n, 2);
	int scatter = !node_is(n, OP_GatherElements);
	union scalar *to;

	if (!folds(in) || !folds(index) || !elem_is_int(index->elem) || in->shape.rank != 1 ||
	    index->shape.rank != 1 ||
	    (scatter && (!folds(updates) || !shape_equal(&updates->shape, &index->shape) ||
			 strcmp(node_str(n, "reduction", "none"), "none") != 0)) ||
	    !(to = infer_keep(x, n, 0)))
		return;
	if (scatter)
		memcpy(to, in->kept, sizeof *to * (size_t)shape_count(&in->shape));
	for (int64_t k = 0; k < index->shape.dim[0]; k++) {
		int64_t p = index_at(index->kept, k, in->shape.dim[0]);

		if (p < 0) {
			node_out(x->g, n, 0)->kept = NULL;
			return;
		}
		to[scatter ? p : k] = scatter ? updates->kept[k] : in->kept[p];
	}
}

/* Running sums of a list. */
void fold_cumsum(struct infer *x, const struct graph_node *n)
{
	const struct value *in = node_in(x->g, n, 0);
	int64_t sum = 0, size;
	union scalar *to;

	if (!folds(in) || !elem_is_int(in->elem) || in->shape.rank != 1 ||
	    node_int(n, "reverse", 0) || node_int(n, "exclusive", 0) || !(to = infer_keep(x, n, 0)))
		return;
	size = in->shape.dim[0];
	for (int64_t k = 0; k < size; k++) {
		if (sum == INT_UNKNOWN || in->kept[k].i == INT_UNKNOWN ||
		    __builtin_add_overflow(sum, in->kept[k].i, &sum))
			sum = INT_UNKNOWN;
		to[k] = element_fit(in->elem, (union scalar){.i = sum});
	}
}
