/* Operators with windows: convolutions and pools. */
#include <string.h>

#include "lib/extract/torch/torch.h"

static void window(const struct torch_call *c, struct graph_node *n, int rank)
{
	int64_t v[GRAPH_MAX_RANK], pads[2 * GRAPH_MAX_RANK] = {0};
	const char *word = torch_text(c, "padding");

	if (torch_ints(c, "stride", rank, v) == rank)
		build_ints(c->b, n, "strides", v, rank);
	if (torch_ints(c, "dilation", rank, v) == rank)
		build_ints(c->b, n, "dilations", v, rank);
	if (word) {
		build_str(c->b, n, "auto_pad", !strcmp(word, "same") ? "SAME_UPPER" : "VALID");
		return;
	}
	if (torch_ints(c, "padding", rank, v) == rank) {
		memcpy(pads, v, sizeof *v * (size_t)rank);
		memcpy(pads + rank, v, sizeof *v * (size_t)rank);
	}
	build_ints(c->b, n, "pads", pads, 2 * rank);
}

/* A value like this one with a batch of 1. */
static int with_batch(const struct torch_call *c, int like)
{
	const int v = build_part(c->b, like, "batch");
	struct declared *d = arena_new(c->b->a, struct declared);
	struct shape *s = &d->shape;

	*d = *c->b->g->value[like]->declared;
	memmove(s->dim + 1, s->dim, sizeof *s->dim * (size_t)s->rank++);
	s->dim[0] = 1;
	c->b->g->value[v]->declared = d;
	return v;
}

/* Adds the first dimension, or takes it away. */
static void change_batch(const struct torch_call *c, const char *onnx, int from, int to)
{
	const int64_t first = 0;
	struct graph_node *n = build_node(c->b, onnx, &from, 1, &to, 1);

	build_ints(c->b, n, "axes", &first, 1);
	n->is_told = 1;
}

/* An image may come without a batch: then it is a batch of one. */
void torch_conv(const struct torch_call *c, const char *onnx)
{
	const int given = torch_tensor(c, "input");
	int in[] = {given, torch_tensor(c, "weight"), torch_tensor(c, "bias")}, out = c->out[0];
	const int rank = build_shape(c->b, in[1])->rank - 2;
	const int has_batch = build_shape(c->b, given)->rank == rank + 2;
	const int is_transposed = torch_flag(c, "transposed", !strncmp(onnx, "ConvT", 5));
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (given < 0 || rank < 1 ||
	    (!has_batch && (build_shape(c->b, given)->rank != rank + 1 ||
			    build_shape(c->b, out)->rank != rank + 1))) {
		torch_own(c)->weighs = 1;
		return;
	}
	if (!has_batch) {
		in[0] = with_batch(c, given);
		out = with_batch(c, out);
	}
	n = build_node(c->b, is_transposed ? "ConvTranspose" : "Conv", in, in[2] < 0 ? 2 : 3, &out,
		       1);
	n->is_told = 1;
	window(c, n, rank);
	build_int(c->b, n, "group", torch_int(c, "groups", 1));
	if (is_transposed && torch_ints(c, "output_padding", rank, v) == rank)
		build_ints(c->b, n, "output_padding", v, rank);
	if (!has_batch) { /* behind it, for the first node has the name of the call */
		change_batch(c, "Unsqueeze", given, in[0]);
		change_batch(c, "Squeeze", out, c->out[0]);
	}
}

void torch_pool(const struct torch_call *c, const char *onnx)
{
	const int in = torch_tensor(c, "self");
	const int rank = build_shape(c->b, in)->rank - 2;
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (in < 0 || rank < 1 || torch_ints(c, "kernel_size", rank, v) != rank) {
		torch_own(c);
		return;
	}
	n = torch_node(c, onnx, &in, 1);
	window(c, n, rank);
	if (!node_attr(n, "strides")) /* windows that lie side by side */
		build_ints(c->b, n, "strides", v, rank);
	build_ints(c->b, n, "kernel_shape", v, rank);
	build_int(c->b, n, "ceil_mode", torch_flag(c, "ceil_mode", 0));
	build_int(c->b, n, "count_include_pad", torch_flag(c, "count_include_pad", 1));
}

/* Windows that lie side by side, if the image can be divided so. */
void torch_adaptive_pool(const struct torch_call *c, const char *onnx)
{
	const int in = torch_tensor(c, "self");
	const struct shape *s = build_shape(c->b, in), *to = build_shape(c->b, c->out[0]);
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (s->rank < 3 || to->rank != s->rank) {
		torch_own(c);
		return;
	}
	for (int i = 2; i < s->rank; i++) {
		if (to->dim[i] < 1 || s->dim[i] < 1 || s->dim[i] % to->dim[i]) {
			torch_own(c);
			return;
		}
		v[i - 2] = s->dim[i] / to->dim[i];
	}
	n = torch_node(c, onnx, &in, 1);
	build_ints(c->b, n, "strides", v, s->rank - 2);
	build_ints(c->b, n, "kernel_shape", v, s->rank - 2);
}
