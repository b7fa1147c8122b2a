/* Operators that make tensors of their own: constants, sizes, ranges. */
#include <math.h>
#include <stdlib.h>

#include "lib/extract/graph/infer.h"

INFER(shape)
{
	int64_t start = node_int(n, "start", 0), end = node_int(n, "end", INT64_MAX), first;
	struct shape s = {1, {DIM_UNKNOWN}};
	union scalar *to;

	if (in->shape.rank < 0)
		return infer_set(x, n, 0, &s, e);
	infer_slice_range(in->shape.rank, start, end, 1, &first, &s.dim[0]);
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (!(to = infer_keep(x, n, 0)))
		return 0;
	for (int64_t i = 0; i < s.dim[0]; i++) {
		int64_t d = in->shape.dim[first + i];

		to[i].i = d < 0 ? INT_UNKNOWN : d;
	}
	return 0;
}

INFER(size)
{
	struct shape s = {0};
	union scalar *to;

	if (infer_set(x, n, 0, &s, e))
		return -1;
	if ((to = infer_keep(x, n, 0)))
		to[0].i = shape_known(&in->shape) ? shape_count(&in->shape) : INT_UNKNOWN;
	return 0;
}

static void constant_list(struct infer *x, const struct graph_node *node, const struct attr *a,
			  int is_int, int is_list)
{
	struct value *v = node_out(x->g, node, 0);
	union scalar *to;
	int n = !is_list ? 1 : is_int ? a->nints : a->nfloats;

	v->elem = is_int ? VALUE_I64 : VALUE_F32;
	v->shape = (struct shape){is_list, {n}};
	if (n > (is_int ? KEEP_INTS : KEEP_REALS))
		return;
	if (!(to = infer_keep(x, node, 0)))
		return;
	for (int i = 0; i < n; i++) {
		if (is_int)
			to[i].i = is_list ? a->ints[i] : a->i;
		else
			to[i].f = (double)(is_list ? a->floats[i] : a->f);
	}
}

INFER(constant)
{
	struct value *v = node_out(x->g, n, 0);
	const struct attr *a;

	if (!v)
		return 0;
	if ((a = node_attr(n, "value")) && a->tensor) {
		v->shape = a->tensor->shape;
		v->elem = a->tensor->elem;
		v->kept = a->tensor->kept;
	} else if ((a = node_attr(n, "value_int"))) {
		constant_list(x, n, a, 1, 0);
	} else if ((a = node_attr(n, "value_ints"))) {
		constant_list(x, n, a, 1, 1);
	} else if ((a = node_attr(n, "value_float"))) {
		constant_list(x, n, a, 0, 0);
	} else if ((a = node_attr(n, "value_floats"))) {
		constant_list(x, n, a, 0, 1);
	} else if (!node_attr(n, "value_string") && !node_attr(n, "value_strings") &&
		   !node_attr(n, "sparse_value")) {
		return infer_bad(x, n, e, "has no value");
	}
	return 0;
}

INFER(constant_of_shape)
{
	const struct attr *a = node_attr(n, "value");
	struct value *v = node_out(x->g, n, 0);
	const struct value *to = node_in(x->g, n, 0);
	union scalar fill = {.i = 0}, *kept;
	const int64_t *want;
	struct shape s;
	int count;

	if (!v)
		return 0;
	v->elem = a && a->tensor ? a->tensor->elem : VALUE_F32;
	if (infer_list(x->g, n, NULL, 0, &count, &want) < 0 || count > GRAPH_MAX_RANK) {
		infer_open(&s, to->shape.rank == 1 ? to->shape.dim[0] : -1);
		return infer_set(x, n, 0, &s, e);
	}
	s.rank = count;
	for (int i = 0; i < count; i++) {
		if (want[i] < 0 && want[i] != INT_UNKNOWN)
			return infer_bad(x, n, e, "makes an absurd dimension, %lld",
					 (long long)want[i]);
		s.dim[i] = want[i] < 0 ? DIM_UNKNOWN : want[i];
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (a && a->tensor) {
		if (!a->tensor->kept || shape_count(&a->tensor->shape) < 1)
			return 0;
		fill = a->tensor->kept[0];
	}
	if (!shape_known(&s) || shape_count(&s) > KEEP_INTS || !(kept = infer_keep(x, n, 0)))
		return 0;
	for (int64_t i = 0; i < shape_count(&s); i++)
		kept[i] = fill;
	return 0;
}

static int real_range(struct infer *x, const struct graph_node *n, struct err *e)
{
	double start = NAN, limit = NAN, step = NAN, count;
	struct shape s = {1, {DIM_UNKNOWN}};
	union scalar *to;

	if (value_real(node_in(x->g, n, 0), &start) && value_real(node_in(x->g, n, 1), &limit))
		value_real(node_in(x->g, n, 2), &step);
	count = ceil((limit - start) / step);
	if (count <= (double)MAX_ELEMENTS)
		s.dim[0] = count > 0 ? (int64_t)count : 0;
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (s.dim[0] >= 0 && (to = infer_keep(x, n, 0)))
		for (int64_t i = 0; i < s.dim[0]; i++)
			to[i].f = start + (double)i * step;
	return 0;
}

INFER(range)
{
	struct shape s = {1, {DIM_UNKNOWN}};
	int64_t start = 0, limit, step = 0, span;
	union scalar *to;

	if (in && elem_is_real(in->elem))
		return real_range(x, n, e);
	if (value_whole(in, &start) && value_whole(node_in(x->g, n, 1), &limit) &&
	    value_whole(node_in(x->g, n, 2), &step)) {
		if (!step || __builtin_sub_overflow(limit, start, &span) || span == INT64_MIN)
			return infer_bad(x, n, e, "counts in steps that make no sense");
		if (step < 0)
			span = -span;
		s.dim[0] = span > 0 ? (span - 1) / llabs(step) + 1 : 0;
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (!shape_known(&s) || !(to = infer_keep(x, n, 0)))
		return 0;
	for (int64_t i = 0; i < s.dim[0]; i++)
		to[i].i = start + i * step;
	return 0;
}

INFER(one_hot)
{
	const struct value *values = node_in(x->g, n, 2);
	int64_t depth = DIM_UNKNOWN;
	int axis;

	infer_elem(x, n, 0, values->elem);
	if (in->shape.rank < 0 || in->shape.rank == GRAPH_MAX_RANK)
		return 0;
	axis = infer_axis(node_int(n, "axis", -1), in->shape.rank + 1);
	if (axis < 0)
		return infer_bad(x, n, e, "adds a dimension out of range");
	(void)value_whole(node_in(x->g, n, 1), &depth);
	shape_insert(made, axis, depth);
	return 1;
}
