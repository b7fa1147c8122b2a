/* These functions make nodes of calls that several formats have. */
#include <string.h>

#include "lib/extract/call/call.h"
#include "lib/extract/call/compose.h"

/* ---- products and reductions ---- */

int call_weighs(const struct call *c, const struct call_row *row)
{
	(void)row;
	call_own(c)->weighs = 1;
	return 0;
}

int call_arg(const struct call *c, const struct call_row *row)
{
	int64_t axis;

	if (!compose_integer(c->b, call_in(c, 1), &axis))
		return -1;
	call_make(c, "$0 = %s(0) axis=%lld keepdims=0", row->onnx, (long long)axis);
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
	int64_t nbegin, nsize, start[GRAPH_MAX_RANK], end[GRAPH_MAX_RANK];
	const union scalar *from = build_elements(c->b, call_in(c, 1), &nbegin);
	const union scalar *sizes = build_elements(c->b, call_in(c, 2), &nsize);
	struct graph_node *n;

	if (!from || !sizes || nbegin != nsize || nbegin > GRAPH_MAX_RANK)
		return -1;
	for (int64_t i = 0; i < nbegin; i++) {
		start[i] = from[i].i;
		end[i] = INT64_MAX; /* a size of -1 goes to the end */
		if (sizes[i].i >= 0 && __builtin_add_overflow(start[i], sizes[i].i, &end[i]))
			end[i] = INT64_MAX;
	}
	n = call_node(c, row->onnx, c->in, 1);
	build_ints(c->b, n, "starts", start, (int)nbegin);
	build_ints(c->b, n, "ends", end, (int)nbegin);
	return 0;
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

int call_sizes(const struct call *c, struct graph_node *n, const char *theirs, const char *onnx,
	       int rank)
{
	int64_t v[GRAPH_MAX_RANK];

	if (call_ints(c, theirs, rank, v) != rank)
		return 0;
	build_ints(c->b, n, onnx, v, rank);
	return 1;
}

int call_pads(const struct call *c, struct graph_node *n, const char *theirs, int rank)
{
	int64_t pads[2 * GRAPH_MAX_RANK];

	if (call_ints(c, theirs, rank, pads) != rank)
		return 0;
	memcpy(pads + rank, pads, sizeof *pads * (size_t)rank);
	build_ints(c->b, n, "pads", pads, 2 * rank);
	return 1;
}

/* Paddings are pairs, a row a dimension; ONNX has all that come before first. */
int call_pad(const struct call *c, const struct call_row *row)
{
	if (call_in(c, 1) < 0)
		return -1;
	call_make(c, "turned = Transpose(1) perm=[1,0]; $0 = Pad(0 turned 2) mode=%s", row->onnx);
	return 0;
}

int call_adaptive_pool(const struct call *c, const struct call_row *row)
{
	const int *in, nin = call_operands(c, row, &in);
	const struct shape *s = build_shape(c->b, in[0]), *to = build_shape(c->b, call_out(c, 0));
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (s->rank < 3 || to->rank != s->rank)
		return -1;
	for (int i = 2; i < s->rank; i++) {
		if (to->dim[i] < 1 || s->dim[i] < 1 || s->dim[i] % to->dim[i])
			return -1;
		v[i - 2] = s->dim[i] / to->dim[i];
	}
	n = call_node(c, row->onnx, in, nin);
	build_ints(c->b, n, "strides", v, s->rank - 2);
	build_ints(c->b, n, "kernel_shape", v, s->rank - 2);
	return 0;
}
