/* What moves elements, picks some, or makes them of sizes; and what loops are made of. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/tensorflow/convert.h"

enum { MOST_PARTS = 12000 }; /* of a tensor that is split */

void convert_reshape(const struct tensorflow_node *n, const char *onnx)
{
	build_int(n->b, convert_node(n, onnx, n->in, n->nin), "allowzero", 1);
}

void convert_squeeze(const struct tensorflow_node *n, const char *onnx)
{
	const struct message_attr *a = message_attr(n->m, "squeeze_dims");
	struct graph_node *to = convert_node(n, onnx, n->in, 1);

	if (a && a->nints && a->nints <= GRAPH_MAX_RANK)
		build_ints(n->b, to, "axes", a->ints, a->nints);
}

/* The axis comes last (ConcatV2) or first. */
void convert_concat(const struct tensorflow_node *n, const char *onnx)
{
	const int is_last = !strcmp(n->m->type, "ConcatV2");
	int64_t axis;

	if (n->nin < 2 || !compose_integer(n->b, n->in[is_last ? n->nin - 1 : 0], &axis))
		convert_own(n);
	else
		build_int(n->b, convert_node(n, onnx, n->in + !is_last, n->nin - 1), "axis", axis);
}

void convert_pack(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	convert_unless(compose_pack(n->b, n->in, n->nin, n->out[0], convert_int(n, "axis", 0)), n);
}

/* 0: the attribute does not tell. */
static int64_t count_parts(const struct tensorflow_node *n, const char *attr)
{
	int64_t count = convert_int(n, attr, 0);

	return count < n->nout || count > MOST_PARTS ? 0 : count;
}

void convert_unpack(const struct tensorflow_node *n, const char *onnx)
{
	const int64_t count = count_parts(n, "num");

	(void)onnx;
	if (count)
		compose_unpack(n->b, convert_in(n, 0), count, n->out, n->nout,
			       convert_int(n, "axis", 0));
	else
		convert_own(n);
}

void convert_split(const struct tensorflow_node *n, const char *onnx)
{
	const int has_sizes = !strcmp(n->m->type, "SplitV");
	const int64_t count = count_parts(n, "num_split");

	(void)onnx;
	convert_unless(!count || compose_split(n->b, convert_in(n, !has_sizes),
					       convert_in(n, has_sizes ? 2 : 0),
					       has_sizes ? convert_in(n, 1) : -1, count, n->out,
					       n->nout),
		       n);
}

void convert_slice(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	convert_unless(compose_slice(n->b, convert_in(n, 0), convert_in(n, 1), convert_in(n, 2),
				     n->out[0]),
		       n);
}

void convert_strided_slice(const struct tensorflow_node *n, const char *onnx)
{
	const int list[] = {convert_in(n, 1), convert_in(n, 2), convert_in(n, 3)};
	const struct compose_masks m = {
		convert_int(n, "begin_mask", 0), convert_int(n, "end_mask", 0),
		convert_int(n, "ellipsis_mask", 0), convert_int(n, "new_axis_mask", 0),
		convert_int(n, "shrink_axis_mask", 0)};

	(void)onnx;
	convert_unless(compose_strided_slice(n->b, convert_in(n, 0), list, n->out[0], &m), n);
}

/* Gather has axis 0, GatherV2 an input that says it; embeddings are gathered from variables. */
void convert_gather(const struct tensorflow_node *n, const char *onnx)
{
	int64_t axis = 0;

	if (convert_int(n, "batch_dims", 0) ||
	    (n->nin > 2 && !compose_integer(n->b, n->in[2], &axis)))
		convert_own(n);
	else
		build_int(n->b, convert_node(n, onnx, n->in, 2), "axis", axis);
}

void convert_fill(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {convert_in(n, 1), convert_in(n, 0)};

	convert_node(n, onnx, from, 2);
}

void convert_rank(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	convert_unless(compose_rank(n->b, convert_in(n, 0), n->out[0]), n);
}

/* ---- loops ---- */

/* A list of tensors is a tensor here, whose items are along its first dimension. Before an item is
 * set, the length is all that is known. */
void convert_list_reserve(const struct tensorflow_node *n, const char *onnx)
{
	static const int64_t one = 1;
	const int count = convert_in(n, 1), list = build_part(n->b, n->out[0], "length");

	if (count < 0) {
		convert_own(n);
		return;
	}
	build_ints(n->b, build_node(n->b, "Reshape", &count, 1, &list, 1), "shape", &one, 1);
	convert_node(n, onnx, &list, 1);
}

void convert_list_item(const struct tensorflow_node *n, const char *onnx)
{
	convert_node(n, onnx, n->in, n->nin < 2 ? n->nin : 2);
}

/* Each output is the first input: of Switch, both; of Merge, what a loop begins with. */
void convert_pass(const struct tensorflow_node *n, const char *onnx)
{
	for (int i = 0; i < n->nout; i++)
		build_node(n->b, onnx, n->in, 1, &n->out[i], 1);
}

/* ONNX has both values in a list. */
void convert_one_hot(const struct tensorflow_node *n, const char *onnx)
{
	const int values[] = {convert_in(n, 3), convert_in(n, 2)},
		  list = build_part(n->b, n->out[0], "values");
	const int from[] = {convert_in(n, 0), convert_in(n, 1), list};

	if (n->nin < 4 || compose_pack(n->b, values, 2, list, 0))
		convert_own(n);
	else
		build_int(n->b, convert_node(n, onnx, from, 3), "axis", convert_int(n, "axis", -1));
}
