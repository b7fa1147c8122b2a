/* Operators with windows: convolutions and pools. */
#include <string.h>

#include "lib/extract/torch/torch.h"

static void window(const struct call *c, struct graph_node *n, int rank)
{
	const char *word = call_text(c, "padding");

	call_sizes(c, n, "stride", "strides", rank);
	call_sizes(c, n, "dilation", "dilations", rank);
	if (word)
		build_str(c->b, n, "auto_pad", !strcmp(word, "same") ? "SAME_UPPER" : "VALID");
	else if (!call_pads(c, n, "padding", rank))
		build_ints(c->b, n, "pads", (const int64_t[2 * GRAPH_MAX_RANK]){0}, 2 * rank);
}

/* A value like this one with a batch of 1. */
static int with_batch(const struct call *c, int like)
{
	struct shape s = *build_shape(c->b, like);

	shape_insert(&s, 0, 1);
	return build_like(c->b, like, "batch", like, &s);
}

/* Adds the first dimension, or takes it away. */
static void change_batch(const struct call *c, const char *onnx, int from, int to)
{
	const int64_t first = 0;

	build_ints(c->b, call_between(c, onnx, &from, 1, to), "axes", &first, 1);
}

/* An image may come without a batch: then it is a batch of one. */
int torch_conv(const struct call *c, const struct call_row *row)
{
	const int given = call_input(c, "input");
	int in[] = {given, call_input(c, "weight"), call_input(c, "bias")}, out = c->out[0];
	const int rank = build_shape(c->b, in[1])->rank - 2;
	const int has_batch = build_shape(c->b, given)->rank == rank + 2;
	const int is_transposed = call_flag(c, "transposed", !strcmp(row->onnx, "ConvTranspose"));
	struct graph_node *n;

	if (given < 0 || rank < 1 ||
	    (!has_batch && (build_shape(c->b, given)->rank != rank + 1 ||
			    build_shape(c->b, out)->rank != rank + 1)))
		return call_weighs(c, row);
	if (!has_batch) {
		in[0] = with_batch(c, given);
		out = with_batch(c, out);
	}
	n = call_between(c, is_transposed ? "ConvTranspose" : "Conv", in, in[2] < 0 ? 2 : 3, out);
	window(c, n, rank);
	build_int(c->b, n, "group", call_int(c, "groups", 1));
	if (is_transposed)
		call_sizes(c, n, "output_padding", "output_padding", rank);
	if (!has_batch) { /* behind it, for the first node has the name of the call */
		change_batch(c, "Unsqueeze", given, in[0]);
		change_batch(c, "Squeeze", out, c->out[0]);
	}
	return 0;
}

int torch_pool(const struct call *c, const struct call_row *row)
{
	const int in = call_input(c, "self");
	const int rank = build_shape(c->b, in)->rank - 2;
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (in < 0 || rank < 1 || call_ints(c, "kernel_size", rank, v) != rank)
		return -1;
	n = call_node(c, row->onnx, &in, 1);
	window(c, n, rank);
	if (!node_attr(n, "strides")) /* windows that lie side by side */
		build_ints(c->b, n, "strides", v, rank);
	build_ints(c->b, n, "kernel_shape", v, rank);
	build_int(c->b, n, "ceil_mode", call_flag(c, "ceil_mode", 0));
	build_int(c->b, n, "count_include_pad", call_flag(c, "count_include_pad", 1));
	return 0;
}
