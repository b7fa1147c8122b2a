/* What moves elements, picks some of them, or makes them of sizes. */
#include "lib/extract/compose.h"
#include "lib/extract/openvino/openvino.h"

void ov_reshape(const struct ov_call *c, const char *onnx)
{
	build_int(c->b, ov_node(c, onnx, c->in, c->nin), "allowzero",
		  !ov_flag(c, "special_zero", 0));
}

void ov_concat(const struct ov_call *c, const char *onnx)
{
	build_int(c->b, ov_node(c, onnx, c->in, c->nin), "axis", ov_int(c, "axis", 1));
}

/* The nodes that were made since tell no more than the file does. */
static void told(const struct ov_call *c, int first)
{
	for (int i = first; i < c->b->g->nnode; i++)
		c->b->g->node[i].is_told = 1;
}

static void split(const struct ov_call *c, int sizes)
{
	const int first = c->b->g->nnode;

	if (ov_in(c, 1) < 0 ||
	    compose_split(c->b, ov_in(c, 0), c->in[1], sizes, c->nout, c->out, c->nout))
		ov_own(c);
	told(c, first);
}

void ov_split(const struct ov_call *c, const char *onnx)
{
	(void)onnx;
	split(c, -1);
}

void ov_variadic_split(const struct ov_call *c, const char *onnx)
{
	(void)onnx;
	split(c, ov_in(c, 2));
}

static int64_t mask(const struct ov_call *c, const char *name)
{
	int64_t v[GRAPH_MAX_RANK], bits = 0;
	int count = ov_ints(c, name, v);

	for (int i = 0; i < count; i++)
		bits |= (int64_t)(v[i] != 0) << i;
	return bits;
}

void ov_strided_slice(const struct ov_call *c, const char *onnx)
{
	const int list[] = {ov_in(c, 1), ov_in(c, 2), ov_in(c, 3)};
	const struct compose_masks m = {mask(c, "begin_mask"), mask(c, "end_mask"),
					mask(c, "ellipsis_mask"), mask(c, "new_axis_mask"),
					mask(c, "shrink_axis_mask")};

	(void)onnx;
	if (c->nout != 1 || compose_strided_slice(c->b, ov_in(c, 0), list, c->out[0], &m))
		ov_own(c);
}

/* The steps come before the axes here. */
void ov_slice(const struct ov_call *c, const char *onnx)
{
	const int in[] = {ov_in(c, 0), ov_in(c, 1), ov_in(c, 2), ov_in(c, 4), ov_in(c, 3)};

	ov_node(c, onnx, in, 5);
}

void ov_gather(const struct ov_call *c, const char *onnx)
{
	int64_t axis;

	if (!compose_integer(c->b, c->in[2], &axis) || ov_int(c, "batch_dims", 0))
		ov_own(c);
	else
		build_int(c->b, ov_node(c, onnx, c->in, 2), "axis", axis);
}

void ov_broadcast(const struct ov_call *c, const char *onnx)
{
	if (ov_is(c, "mode", "explicit") || c->nin < 2)
		ov_own(c);
	else
		ov_node(c, onnx, c->in, 2);
}

void ov_one_hot(const struct ov_call *c, const char *onnx)
{
	build_int(c->b, ov_node(c, onnx, c->in, c->nin < 3 ? c->nin : 3), "axis",
		  ov_int(c, "axis", -1));
}

void ov_top_k(const struct ov_call *c, const char *onnx)
{
	build_int(c->b, ov_node(c, onnx, c->in, c->nin < 2 ? c->nin : 2), "axis",
		  ov_int(c, "axis", -1));
}
