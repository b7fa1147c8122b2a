/* What operators of several formats become. */
#include <string.h>

#include "lib/extract/call.h"
#include "lib/extract/compose.h"

/* ---- element by element ---- */

int call_gated(const struct call *c, const struct call_row *row)
{
	const int both[] = {call_in(c, 0), build_between(c->b, c->out[0])};

	call_between(c, row->onnx, both, c->nin ? 1 : 0, both[1]);
	call_node(c, "Mul", both, 2);
	return 0;
}

int call_square(const struct call *c, const struct call_row *row)
{
	(void)row;
	return compose_square(c->b, call_in(c, 0), call_in(c, 1), call_out(c, 0));
}

int call_chain(const struct call *c, const struct call_row *row)
{
	const size_t first = strcspn(row->onnx, " ");

	return compose_chain(c->b, c->in, c->nin, call_out(c, 0),
			     arena_printf(c->b->a, "%.*s", (int)first, row->onnx),
			     row->onnx + first + 1);
}

/* ---- products and reductions ---- */

int call_weighs(const struct call *c, const struct call_row *row)
{
	(void)row;
	call_own(c)->weighs = 1;
	return 0;
}

int call_einsum(const struct call *c, const struct call_row *row)
{
	if (!call_text(c, row->attrs->theirs))
		return -1;
	call_node_of(c, row, c->in, c->nin);
	return 0;
}

int call_arg(const struct call *c, const struct call_row *row)
{
	struct graph_node *n;
	int64_t axis;

	if (!compose_integer(c->b, call_in(c, 1), &axis))
		return -1;
	n = call_node(c, row->onnx, c->in, 1);
	build_int(c->b, n, "axis", axis);
	build_int(c->b, n, "keepdims", 0);
	return 0;
}

/* ---- joining and splitting ---- */

enum { MOST_PARTS = 12000 }; /* of a tensor that is split */

/* 0: the attribute tells no number that can be. */
static int64_t parts_of(const struct call *c, const struct call_row *row)
{
	const int64_t parts = row->attrs ? call_param(c, row, "parts", c->nout) : c->nout;

	return parts < c->nout || parts > MOST_PARTS ? 0 : parts;
}

int call_pack(const struct call *c, const struct call_row *row)
{
	return call_out(c, 0) < 0 ? -1
				  : compose_pack(c->b, c->in, c->nin, c->out[0],
						 call_param(c, row, "axis", 0));
}

int call_unpack(const struct call *c, const struct call_row *row)
{
	const int64_t parts = parts_of(c, row);

	if (!parts)
		return -1;
	compose_unpack(c->b, call_in(c, 0), parts, c->out, c->nout, call_param(c, row, "axis", 0));
	return 0;
}

int call_split(const struct call *c, const struct call_row *row)
{
	const int first = c->b->g->nnode, has_sizes = strlen(row->operands) > 2;
	const int64_t parts = parts_of(c, row);
	const int *in;

	call_operands(c, row, &in);
	if (!parts || (has_sizes && in[2] < 0) ||
	    compose_split(c->b, in[0], in[1], in[2], parts, c->out, c->nout))
		return -1;
	c->b->g->node[first].is_told = c->is_told;
	return 0;
}

/* ---- parts ---- */

int call_slice(const struct call *c, const struct call_row *row)
{
	(void)row;
	return compose_slice(c->b, call_in(c, 0), call_in(c, 1), call_in(c, 2), call_out(c, 0));
}

int call_strided_slice(const struct call *c, const struct call_row *row)
{
	const int list[] = {call_in(c, 1), call_in(c, 2), call_in(c, 3)};
	const struct compose_masks m = {
		call_param(c, row, "begin", 0), call_param(c, row, "end", 0),
		call_param(c, row, "ellipsis", 0), call_param(c, row, "new_axis", 0),
		call_param(c, row, "shrink", 0)};

	return compose_strided_slice(c->b, call_in(c, 0), list, call_out(c, 0), &m);
}

int call_gather(const struct call *c, const struct call_row *row)
{
	int64_t axis = call_param(c, row, "axis", 0);

	if (call_param(c, row, "batch_dims", 0) ||
	    (c->nin > 2 && !compose_integer(c->b, c->in[2], &axis)))
		return -1;
	build_int(c->b, call_node(c, row->onnx, c->in, c->nin < 2 ? c->nin : 2), "axis", axis);
	return 0;
}

/* ---- images and sizes ---- */

int call_pad(const struct call *c, const struct call_row *row)
{
	return compose_pad(c->b, call_in(c, 0), call_in(c, 1), call_in(c, 2), call_out(c, 0),
			   row->onnx);
}

int call_resize(const struct call *c, const struct call_row *row)
{
	(void)row;
	compose_resize(c->b, call_in(c, 0), call_in(c, 1), call_out(c, 0), 1);
	return 0;
}

int call_rank(const struct call *c, const struct call_row *row)
{
	(void)row;
	return compose_rank(c->b, call_in(c, 0), call_out(c, 0));
}
