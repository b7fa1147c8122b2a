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

void torch_conv(const struct torch_call *c, const char *onnx)
{
	const int in[] = {torch_tensor(c, "input"), torch_tensor(c, "weight"),
			  torch_tensor(c, "bias")};
	const int rank = build_shape(c->b, in[1])->rank - 2;
	const int is_transposed = torch_flag(c, "transposed", !strncmp(onnx, "ConvT", 5));
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (in[0] < 0 || rank < 1 || build_shape(c->b, in[0])->rank != rank + 2) {
		torch_own(c);
		return;
	}
	n = torch_node(c, is_transposed ? "ConvTranspose" : "Conv", in, in[2] < 0 ? 2 : 3);
	window(c, n, rank);
	build_int(c->b, n, "group", torch_int(c, "groups", 1));
	if (is_transposed && torch_ints(c, "output_padding", rank, v) == rank)
		build_ints(c->b, n, "output_padding", v, rank);
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
