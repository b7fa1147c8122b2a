/* Operators that only move elements: shapes and, for small tensors, the elements too. */
#include <string.h>

#include "lib/extract/graph/infer.h"

static void copy_kept(struct infer *x, const struct graph_node *n, const struct value *in)
{
	const struct value *v = node_out(x->g, n, 0);

	if (v && in->kept && shape_known(&v->shape) && shape_known(&in->shape) &&
	    shape_count(&v->shape) == shape_count(&in->shape))
		node_out(x->g, n, 0)->kept = in->kept;
}

static int set_and_copy(struct infer *x, const struct graph_node *n, const struct shape *s,
			const struct value *in, struct err *e)
{
	if (infer_set(x, n, 0, s, e))
		return -1;
	copy_kept(x, n, in);
	return 0;
}

/* Elements of a concatenation: for each outer index, the inner parts of all inputs. */
static void fold_concat(struct infer *x, const struct graph_node *n, int axis)
{
	struct value *v = node_out(x->g, n, 0);
	int64_t outer = 1, at = 0;
	union scalar *to;

	for (int i = 0; i < n->nin; i++)
		if (!node_in(x->g, n, i)->kept)
			return;
	if (!(to = infer_keep(x, n, 0)) || !shape_count(&v->shape))
		return;
	for (int d = 0; d < axis; d++)
		outer *= v->shape.dim[d];
	for (int64_t o = 0; o < outer; o++)
		for (int i = 0; i < n->nin; i++) {
			const struct value *in = node_in(x->g, n, i);
			int64_t part = shape_count(&in->shape) / outer;

			memcpy(to + at, in->kept + o * part, sizeof *to * (size_t)part);
			at += part;
		}
}

INFER(concat)
{
	int64_t along = 1;
	int axis;

	if (x->opset >= 4 && infer_required(x, n, "axis", &along, e))
		return -1;
	if (made->rank < 0)
		return 0;
	axis = infer_axis(node_int(n, "axis", along), made->rank);
	if (axis < 0)
		return infer_bad(x, n, e, "joins along a dimension that is not there");
	for (int i = 1; i < n->nin; i++) {
		const struct value *v = node_in(x->g, n, i);

		if (!v)
			return infer_lacks(x, n, e);
		if (v->shape.rank < 0)
			return 0;
		if (v->shape.rank != made->rank)
			return infer_bad(x, n, e, "joins tensors of different rank");
		for (int d = 0; d < made->rank; d++) {
			int64_t p = made->dim[d], q = v->shape.dim[d];

			if (d == axis)
				made->dim[d] = p < 0 || q < 0 ? DIM_UNKNOWN : p + q;
			else if (p >= 0 && q >= 0 && p != q)
				return infer_bad(x, n, e, "joins sizes %lld and %lld", (long long)p,
						 (long long)q);
			else
				made->dim[d] = p < 0 ? q : p;
		}
	}
	if (infer_set(x, n, 0, made, e))
		return -1;
	if (shape_known(made))
		fold_concat(x, n, axis);
	return 0;
}

INFER(split)
{
	int64_t stride[GRAPH_MAX_RANK], at = 0, parts = node_int(n, "num_outputs", 0);
	const int64_t *sizes;
	int axis, nsizes, given, known = 1;

	if (parts < n->nout)
		parts = n->nout;
	if (in->shape.rank < 0 || !n->nout)
		return 0;
	axis = infer_axis(node_int(n, "axis", 0), made->rank);
	if (axis < 0)
		return infer_bad(x, n, e, "splits a dimension that is not there");
	given = infer_list(x->g, n, "split", 1, &nsizes, &sizes);
	if (given == 1 && nsizes != parts)
		return infer_bad(x, n, e, "has %d sizes for %lld outputs", nsizes,
				 (long long)parts);
	infer_strides(&in->shape, stride);
	for (int i = 0; i < n->nout; i++) {
		int64_t all = in->shape.dim[axis], part = all > 0 ? (all - 1) / parts + 1 : 0;

		if (given == 1)
			made->dim[axis] = sizes[i] == INT_UNKNOWN ? DIM_UNKNOWN : sizes[i];
		else if (given < 0 || all < 0)
			made->dim[axis] = DIM_UNKNOWN;
		else /* equal parts, the last may be smaller */
			made->dim[axis] = all - at < part ? all - at : part;
		if (made->dim[axis] < DIM_UNKNOWN || (all >= 0 && made->dim[axis] > all - at))
			return infer_bad(x, n, e, "splits %lld into parts that do not fit",
					 (long long)all);
		if (infer_set(x, n, i, made, e))
			return -1;
		known &= shape_known(made); /* behind an unknown part, all places are unknown */
		if (known)
			infer_view(x, n, i, in, at * stride[axis], stride);
		at += made->dim[axis] > 0 ? made->dim[axis] : 0;
	}
	return 0;
}

/* 0 copies the input's dimension (unless allowzero), -1 is what is left. */
static int reshape_dims(struct infer *x, const struct graph_node *n, const struct shape *in,
			int count, const int64_t *want, struct shape *s, struct err *e)
{
	int64_t known = 1, all = shape_known(in) ? shape_count(in) : -1;
	int rest = -1, open = 0;

	s->rank = count;
	for (int i = 0; i < count; i++) {
		int64_t d = want[i];

		if (d == 0 && !node_int(n, "allowzero", 0))
			d = in->rank < 0 ? INT_UNKNOWN : i < in->rank ? in->dim[i] : 0;
		else if (d == -1 && rest < 0)
			rest = i;
		else if (d < 0 && d != INT_UNKNOWN)
			return infer_bad(x, n, e, "makes an absurd dimension, %lld", (long long)d);
		s->dim[i] = d < 0 ? DIM_UNKNOWN : d;
		if (i == rest)
			continue;
		if (d < 0)
			open++;
		else if (__builtin_mul_overflow(known, d, &known) || known > MAX_ELEMENTS)
			return infer_bad(x, n, e, "makes a tensor of absurd size");
	}
	if (all < 0)
		return 0;
	if (open + (rest >= 0) == 1) { /* one size is open, and follows */
		for (int i = 0; i < count; i++)
			if (s->dim[i] < 0)
				rest = i;
		if (known ? all % known : all)
			return infer_bad(x, n, e,
					 "makes a shape that does not divide %lld elements",
					 (long long)all);
		s->dim[rest] = known ? all / known : 0;
	} else if (!open && known != all) {
		return infer_bad(x, n, e, "makes %lld elements of %lld", (long long)known,
				 (long long)all);
	}
	return 0;
}

/* The shape that the file declares of what the node makes, of which one size may be open. 0: none
 * that holds. */
static int declared_sizes(const struct infer *x, const struct graph_node *n,
			  int64_t want[GRAPH_MAX_RANK])
{
	const struct value *v = node_out(x->g, n, 0);

	if (!v || !v->declared || x->reshaped || v->declared->shape.rank < 1)
		return 0;
	for (int i = 0; i < v->declared->shape.rank; i++)
		want[i] = v->declared->shape.dim[i] > 0 ? v->declared->shape.dim[i] : INT_UNKNOWN;
	return v->declared->shape.rank;
}

/* The first dimensions become one, which other formats can ask for. */
static int join_first(struct infer *x, const struct graph_node *n, const struct shape *in,
		      int64_t joins, struct err *e)
{
	struct shape s = *in;

	if (s.rank < 0)
		return 0;
	if (joins > s.rank)
		return infer_bad(x, n, e, "makes a shape that does not fit its data");
	for (; joins > 1; joins--) {
		if (s.dim[0] < 0 || s.dim[1] < 0)
			s.dim[1] = DIM_UNKNOWN;
		else if (__builtin_mul_overflow(s.dim[0], s.dim[1], &s.dim[1]))
			return infer_bad(x, n, e, "makes a tensor of absurd size");
		shape_drop(&s, 0);
	}
	return infer_set(x, n, 0, &s, e);
}

INFER(reshape)
{
	const struct value *to = node_in(x->g, n, 1);
	int64_t declared[GRAPH_MAX_RANK];
	const int64_t *want;
	int count, given;
	struct shape s;

	if (node_int(n, "joins", 0) > 1)
		return join_first(x, n, &in->shape, node_int(n, "joins", 0), e);
	given = infer_list(x->g, n, "shape", 1, &count, &want);
	if (!given)
		return infer_lacks(x, n, e);
	if (given < 0) {
		count = declared_sizes(x, n, declared);
		if (!count || reshape_dims(x, n, &in->shape, count, declared, &s, NULL))
			infer_open(&s, to->shape.rank == 1 ? to->shape.dim[0] : -1);
		return infer_set(x, n, 0, &s, e);
	}
	if (count > GRAPH_MAX_RANK)
		return 0;
	if (reshape_dims(x, n, &in->shape, count, want, &s, e))
		return -1;
	return set_and_copy(x, n, &s, in, e);
}

INFER(flatten)
{
	struct shape s = {2, {1, 1}};
	int64_t axis = node_int(n, "axis", 1);

	if (axis < -in->shape.rank || axis > in->shape.rank)
		return infer_bad(x, n, e, "flattens at a dimension that is not there");
	if (axis < 0)
		axis += in->shape.rank;
	for (int i = 0; i < in->shape.rank; i++) {
		int64_t *d = &s.dim[i >= axis];

		*d = *d < 0 || in->shape.dim[i] < 0 ? DIM_UNKNOWN : *d * in->shape.dim[i];
	}
	return set_and_copy(x, n, &s, in, e);
}

INFER(transpose)
{
	const int64_t *perm;
	int count, given = infer_list(x->g, n, "perm", 1, &count, &perm);
	int64_t stride[GRAPH_MAX_RANK], moved[GRAPH_MAX_RANK];
	unsigned seen = 0;

	if (given < 0)
		return infer_open(made, made->rank);
	if (given && count != made->rank)
		return infer_bad(x, n, e, "permutes %d of %d dimensions", count, made->rank);
	infer_strides(&in->shape, stride);
	for (int i = 0; i < made->rank; i++) {
		int from = given ? infer_axis(perm[i], made->rank) : made->rank - 1 - i;

		if (from < 0 || seen >> from & 1)
			return infer_bad(x, n, e, "has a perm that is no permutation");
		seen |= 1u << from;
		made->dim[i] = in->shape.dim[from];
		moved[i] = stride[from];
	}
	if (infer_set(x, n, 0, made, e))
		return -1;
	infer_view(x, n, 0, in, 0, moved);
	return 0;
}

INFER(squeeze)
{
	const int64_t *axes;
	struct shape s = {0};
	unsigned drop = 0;
	int given, count;

	given = infer_list(x->g, n, "axes", 1, &count, &axes);
	if (in->shape.rank < 0 || given < 0)
		return 0;
	if (!given && !shape_known(&in->shape))
		return 0; /* which are 1 is not known */
	for (int i = 0; i < count; i++) {
		int axis = infer_axis(axes[i], in->shape.rank);

		if (axis < 0 || in->shape.dim[axis] > 1)
			return infer_bad(x, n, e, "squeezes a dimension that is not 1");
		drop |= 1u << axis;
	}
	for (int i = 0; i < in->shape.rank; i++)
		if (given ? !(drop >> i & 1) : in->shape.dim[i] != 1)
			s.dim[s.rank++] = in->shape.dim[i];
	return set_and_copy(x, n, &s, in, e);
}

INFER(unsqueeze)
{
	const int64_t *axes;
	struct shape s = {0};
	unsigned add = 0;
	int given, count, from = 0;

	given = infer_list(x->g, n, "axes", 1, &count, &axes);
	if (in->shape.rank < 0 || given < 0 || in->shape.rank + count > GRAPH_MAX_RANK)
		return 0;
	s.rank = in->shape.rank + count;
	for (int i = 0; i < count; i++) {
		int axis = infer_axis(axes[i], s.rank);

		if (axis < 0 || add >> axis & 1)
			return infer_bad(x, n, e, "adds a dimension out of range");
		add |= 1u << axis;
	}
	for (int i = 0; i < s.rank; i++)
		s.dim[i] = add >> i & 1 ? 1 : in->shape.dim[from++];
	return set_and_copy(x, n, &s, in, e);
}

INFER(expand)
{
	int64_t stride[GRAPH_MAX_RANK];
	const int64_t *want;
	int count;
	struct shape s;

	if (infer_list(x->g, n, NULL, 1, &count, &want) < 0 || count > GRAPH_MAX_RANK)
		return 0;
	s.rank = count;
	for (int i = 0; i < count; i++) {
		if (want[i] < 0 && want[i] != INT_UNKNOWN && want[i] != -1)
			return infer_bad(x, n, e, "makes an absurd dimension, %lld",
					 (long long)want[i]);
		s.dim[i] = want[i] == -1 ? 1 : want[i] < 0 ? DIM_UNKNOWN : want[i];
	}
	if (infer_broadcast(x, n, &s, &in->shape, e) || infer_set(x, n, 0, &s, e))
		return -1;
	if (!infer_wide_strides(&in->shape, &s, stride))
		infer_view(x, n, 0, in, 0, stride);
	return 0;
}

INFER(tile)
{
	const int64_t *times;
	int count, given;

	given = infer_list(x->g, n, "repeats", 1, &count, &times);
	if (!given)
		return infer_lacks(x, n, e);
	if (made->rank < 0)
		return 0;
	if (given < 0)
		return infer_open(made, made->rank);
	if (count != made->rank)
		return infer_bad(x, n, e, "repeats %d of %d dimensions", count, made->rank);
	for (int i = 0; i < made->rank; i++) {
		if (times[i] == INT_UNKNOWN || made->dim[i] < 0)
			made->dim[i] = DIM_UNKNOWN;
		else if (times[i] < 0 ||
			 __builtin_mul_overflow(made->dim[i], times[i], &made->dim[i]))
			return infer_bad(x, n, e, "makes a tensor of absurd size");
	}
	if (infer_set(x, n, 0, made, e))
		return -1;
	fold_tile(x, n);
	return 0;
}

/* Batch x heads x steps x elements, with as many heads as input 1 has. */
INFER(repeat_heads)
{
	const struct value *like = node_in(x->g, n, 1);

	if (in->shape.rank != 4 || like->shape.rank != 4)
		return 0;
	if (made->dim[1] > 0 && like->shape.dim[1] > 0 && like->shape.dim[1] % made->dim[1])
		return infer_bad(x, n, e, "has %lld heads for %lld", (long long)made->dim[1],
				 (long long)like->shape.dim[1]);
	made->dim[1] = like->shape.dim[1];
	return 1;
}

/* Channels rounded up to whole blocks. */
INFER(block_channels)
{
	int64_t block = node_int(n, "block", 0);

	if (block < 1 || block > 64)
		return infer_bad(x, n, e, "wants the size of a block");
	if (made->rank > 1 && made->dim[1] > 0)
		made->dim[1] = (made->dim[1] + block - 1) / block * block;
	return 1;
}
