/* Operators that only move elements, or pick some, or make constants. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/mxnet/operator.h"

enum { MOST_PARTS = 1 << 12 };

/* ---- shapes ---- */

int mx_reshape_codes(const struct call *o, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK];
	const char *old = mx_text(o, "target_shape", NULL); /* of MXNet before 0.9; 0: the rest */
	int n = call_ints(o, "shape", 0, v);

	(void)row;
	if (n < 1 && old) {
		n = mx_list(old, v);
		for (int i = 0; i < n; i++)
			v[i] = v[i] ? v[i] : -1;
		if (n > 0 && call_flag(o, "keep_highest", 0))
			v[0] = 0;
	}
	if (n < 1)
		return -1;
	mx_reshape_to(o, o->in[0], v, n, call_flag(o, "reverse", 0), o->out[0]);
	return 0;
}

/* The sizes begin:end of a value. */
static int sizes(const struct call *o, int of, int64_t begin, int64_t end)
{
	struct graph_node *n;
	int all, some;

	mx_step(o, "Shape", of, &all);
	if (begin == 0 && end == INT64_MAX)
		return all;
	n = mx_step(o, "Slice", all, &some);
	build_ints(o->b, n, "starts", &begin, 1);
	build_ints(o->b, n, "ends", &end, 1);
	return some;
}

/* Dimensions lhs_begin:lhs_end become those of the second input. */
int mx_reshape_like(const struct call *o, const struct call_row *row)
{
	const int64_t first = call_int(o, "lhs_begin", 0), end = call_int(o, "lhs_end", INT64_MAX);
	int part[3], n = 0, in[2];

	if (o->nin < 2)
		return -1;
	if (first != 0)
		part[n++] = sizes(o, o->in[0], 0, first);
	part[n++] =
		sizes(o, o->in[1], call_int(o, "rhs_begin", 0), call_int(o, "rhs_end", INT64_MAX));
	if (end != INT64_MAX)
		part[n++] = sizes(o, o->in[0], end, INT64_MAX);
	in[0] = o->in[0];
	in[1] = part[0];
	if (n > 1) {
		in[1] = mx_part(o, "sizes");
		build_int(o->b, build_node(o->b, "Concat", part, n, &in[1], 1), "axis", 0);
	}
	call_node(o, row->onnx, in, 2);
	return 0;
}

/* ---- joining and splitting ---- */

/* n parts, of which the last may not be read by any node. */
static int split(const struct call *o, int n, int axis)
{
	const int read = mx_made(o) < n ? mx_made(o) : n;
	struct graph_node *node;

	if (call_flag(o, "squeeze_axis", 0)) {
		compose_unpack(o->b, o->in[0], n, o->out, read, axis);
		return 0;
	}
	node = build_node(o->b, "Split", o->in, 1, o->out, read);
	build_int(o->b, node, "axis", axis);
	build_int(o->b, node, "num_outputs", n);
	return 0;
}

int mx_split(const struct call *o, const struct call_row *row)
{
	const int64_t n = call_int(o, "num_outputs", 0), axis = call_int(o, "axis", 1);

	(void)row;
	if (n < 1 || n > MOST_PARTS || axis < -GRAPH_MAX_RANK || axis >= GRAPH_MAX_RANK)
		return -1;
	return split(o, (int)n, (int)axis);
}

/* At the places that are told, the first of which is 0; the last part has what is left. */
int mx_split_at(const struct call *o, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK], axis = call_int(o, "axis", 1), end;
	const int n = call_ints(o, "indices", 0, v);
	struct graph_node *node;

	(void)row;
	if (axis < -GRAPH_MAX_RANK || axis >= GRAPH_MAX_RANK)
		return -1;
	if (call_int(o, "sections", 0) > 0 && call_int(o, "sections", 0) <= MOST_PARTS)
		return split(o, (int)call_int(o, "sections", 0), (int)axis);
	if (n < 1 || call_flag(o, "squeeze_axis", 0))
		return -1;
	for (int i = 0; i < n && i < mx_made(o); i++) {
		end = i + 1 < n ? v[i + 1] : INT64_MAX;
		node = build_node(o->b, "Slice", o->in, 1, &o->out[i], 1);
		build_ints(o->b, node, "starts", &v[i], 1);
		build_ints(o->b, node, "ends", &end, 1);
		build_ints(o->b, node, "axes", &axis, 1);
	}
	return 0;
}

/* ---- parts ---- */

int mx_slice(const struct call *o, const struct call_row *row)
{
	int64_t start[GRAPH_MAX_RANK], end[GRAPH_MAX_RANK], step[GRAPH_MAX_RANK];
	const int n = call_ints(o, "begin", 0, start), steps = call_ints(o, "step", 0, step);
	struct graph_node *node;

	if (n < 1 || call_ints(o, "end", 0, end) != n || (steps > 0 && steps != n))
		return -1;
	for (int i = 0; i < n; i++) {
		if (steps <= 0 || step[i] == INT_UNKNOWN)
			step[i] = 1;
		if (start[i] == INT_UNKNOWN)
			start[i] = step[i] < 0 ? INT64_MAX : 0;
		if (end[i] == INT_UNKNOWN)
			end[i] = step[i] < 0 ? -INT64_MAX : INT64_MAX;
	}
	node = call_node(o, row->onnx, o->in, 1);
	build_ints(o->b, node, "starts", start, n);
	build_ints(o->b, node, "ends", end, n);
	build_ints(o->b, node, "steps", step, n);
	return 0;
}

int mx_slice_axis(const struct call *o, const struct call_row *row)
{
	const int64_t axis = call_int(o, "axis", 0), begin = call_int(o, "begin", 0),
		      end = call_int(o, "end", INT64_MAX);
	struct graph_node *n = call_node(o, row->onnx, o->in, 1);

	build_ints(o->b, n, "starts", &begin, 1);
	build_ints(o->b, n, "ends", &end, 1);
	build_ints(o->b, n, "axes", &axis, 1);
	return 0;
}

/* To the size of the second input, in all dimensions or in some. */
int mx_slice_like(const struct call *o, const struct call_row *row)
{
	static const int64_t space[] = {2, 3};
	int64_t axes[GRAPH_MAX_RANK];
	const int is_crop = !strcmp(o->type, "Crop"),
		  n = is_crop ? 2 : call_ints(o, "axes", 0, axes);
	int in[] = {o->in[0], -1, -1, -1}, pick[2], same[2];

	(void)row;
	if (o->nin < 2)
		return -1;
	in[2] = sizes(o, o->in[1], 0, INT64_MAX);
	if (n > 0) {
		in[3] = build_integers(o->b, is_crop ? space : axes, n);
		pick[0] = in[2];
		pick[1] = in[3];
		in[2] = mx_part(o, "ends");
		build_node(o->b, "Gather", pick, 2, &in[2], 1);
	}
	same[0] = same[1] = in[2];
	in[1] = mx_part(o, "zeros");
	build_node(o->b, "Sub", same, 2, &in[1], 1);
	call_node(o, "Slice", in, n > 0 ? 4 : 3);
	return 0;
}

int mx_take(const struct call *o, const struct call_row *row)
{
	if (o->nin < 2)
		return -1;
	build_int(o->b, call_node(o, row->onnx, o->in, 2), "axis", call_int(o, "axis", 0));
	return 0;
}

int mx_gather_nd(const struct call *o, const struct call_row *row)
{
	if (o->nin < 2)
		return -1;
	build_int(o->b, call_node(o, row->onnx, o->in, 2), "tuples_first", 1);
	return 0;
}

int mx_one_hot(const struct call *o, const struct call_row *row)
{
	const int64_t depth = call_int(o, "depth", 0);
	const double values[] = {0, 1};
	int in[] = {o->in[0], -1, -1};

	if (depth < 1)
		return -1;
	in[1] = build_integers(o->b, &depth, 1);
	in[2] = build_numbers(o->b, values, 2);
	call_node(o, row->onnx, in, 3);
	return 0;
}

int mx_top(const struct call *o, const struct call_row *row)
{
	const int is_both = call_is(o, "ret_typ", "both"),
		  is_value = call_is(o, "ret_typ", "value");
	const int made[] = {is_both || is_value ? o->out[0] : -1,
			    is_value  ? -1
			    : is_both ? mx_made(o) > 1 ? o->out[1] : -1
				      : o->out[0]};
	const int64_t axis = call_int(o, "axis", -1), k = call_int(o, "k", 1);
	struct graph_node *n;

	if (call_is(o, "ret_typ", "mask") || call_is(o, "axis", "None") || k < 1)
		return -1;
	n = build_node(o->b, row->onnx, o->in, 1, made, 2);
	build_int(o->b, n, "axis", axis);
	build_int(o->b, n, "k", k);
	return 0;
}

/* ---- repeating ---- */

/* 0 keeps a size. */
int mx_broadcast_to(const struct call *o, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK];
	const int n = call_ints(o, "shape", 0, v);
	int in[2];

	if (n < 1)
		return -1;
	for (int i = 0; i < n; i++)
		v[i] = v[i] ? v[i] : 1;
	in[0] = o->in[0];
	in[1] = build_integers(o->b, v, n);
	call_node(o, row->onnx, in, 2);
	return 0;
}

/* Dimensions of 1 become so large. */
int mx_broadcast_axis(const struct call *o, const struct call_row *row)
{
	int64_t axis[GRAPH_MAX_RANK], size[GRAPH_MAX_RANK];
	const int n = call_ints(o, "axis", 0, axis);
	int at = o->in[0];

	if (n < 1 || call_ints(o, "size", 0, size) != n)
		return -1;
	for (int i = 0; i < n; i++) {
		int in = at, out = i + 1 < n ? mx_part(o, "wider") : o->out[0];
		struct graph_node *node = build_node(o->b, row->onnx, &in, 1, &out, 1);

		build_int(o->b, node, "axis", axis[i]);
		build_int(o->b, node, "times", size[i]);
		at = out;
	}
	return 0;
}

int mx_broadcast_like(const struct call *o, const struct call_row *row)
{
	int in[2];

	if (o->nin < 2 || mx_text(o, "lhs_axes", NULL))
		return -1;
	in[0] = o->in[0];
	in[1] = sizes(o, o->in[1], 0, INT64_MAX);
	call_node(o, row->onnx, in, 2);
	return 0;
}

int mx_tile(const struct call *o, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK];
	const int n = call_ints(o, "reps", 0, v);

	if (n < 1)
		return -1;
	build_ints(o->b, call_node(o, row->onnx, o->in, 1), "repeats", v, n);
	return 0;
}

/* Along an axis, or of all elements in a row. */
int mx_repeat(const struct call *o, const struct call_row *row)
{
	static const int64_t flat = -1;
	const int64_t none = INT64_MAX, axis = call_int(o, "axis", none);
	int in = axis == none ? mx_reshape(o, o->in[0], &flat, 1) : o->in[0];
	struct graph_node *n = call_node(o, row->onnx, &in, 1);

	build_int(o->b, n, "axis", axis == none ? 0 : axis);
	build_int(o->b, n, "times", call_int(o, "repeats", 1));
	return 0;
}

/* ---- constants ---- */

int mx_range(const struct call *o, const struct call_row *row)
{
	double start = call_real(o, "start", 0), stop = call_real(o, "stop", start);
	int in[3];

	if (call_flag(o, "infer_range", 0) || call_int(o, "repeat", 1) != 1)
		return -1;
	if (!mx_text(o, "stop", NULL) || call_is(o, "stop", "None"))
		start = 0;
	in[0] = build_number(o->b, start);
	in[1] = build_number(o->b, stop);
	in[2] = build_number(o->b, call_real(o, "step", 1));
	call_node(o, row->onnx, in, 3);
	return 0;
}

/* The numbers of what is along an axis, or of all elements, in their shape. */
int mx_range_like(const struct call *o, const struct call_row *row)
{
	static const int64_t zero = 0, one = 1;
	const int64_t none = INT64_MAX, axis = call_int(o, "axis", none);
	int pick[2], in[3];

	if (axis == none) {
		call_node(o, "Identity", o->in, 1);
		return 0;
	}
	pick[0] = sizes(o, o->in[0], 0, INT64_MAX);
	pick[1] = build_integers(o->b, &axis, 1);
	in[0] = build_integers(o->b, &zero, 1);
	in[1] = mx_part(o, "size");
	in[2] = build_integers(o->b, &one, 1);
	build_node(o->b, "Gather", pick, 2, &in[1], 1);
	call_node(o, row->onnx, in, 3);
	return 0;
}

/* All of one number: a value that no node makes. A size of 0 is open. */
int mx_filled(const struct call *o, const struct call_row *row)
{
	struct value *v = o->b->g->value[o->out[0]];
	int64_t size[GRAPH_MAX_RANK];
	const int n = call_ints(o, "shape", 0, size);

	(void)row;
	if (n < 1)
		return -1;
	for (int i = 0; i < n; i++) {
		if (size[i] < 0 || size[i] > 1 << 24)
			return -1;
		size[i] = size[i] ? size[i] : DIM_UNKNOWN;
	}
	v->shape.rank = n;
	memcpy(v->shape.dim, size, sizeof *size * (size_t)n);
	v->elem = mx_elem(mx_text(o, "dtype", ""), VALUE_F32);
	v->is_const = 1;
	if (infer_absurd(&v->shape))
		v->shape.rank = RANK_UNKNOWN;
	return 0;
}
