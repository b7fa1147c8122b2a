/* Products, reductions and recurrent networks. */
#include "lib/extract/compose.h"
#include "lib/extract/tensorflow/convert.h"

void convert_matmul(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = convert_node(n, onnx, n->in, 2);

	build_int(n->b, to, "transA",
		  convert_int(n, "transpose_a", 0) || convert_int(n, "adj_x", 0));
	build_int(n->b, to, "transB",
		  convert_int(n, "transpose_b", 0) || convert_int(n, "adj_y", 0));
}

void convert_einsum(const struct tensorflow_node *n, const char *onnx)
{
	build_str(n->b, convert_node(n, onnx, n->in, n->nin), "equation",
		  convert_text(n, "equation"));
}

void convert_reduce(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = convert_node(n, onnx, n->in, n->nin);

	build_int(n->b, to, "keepdims", convert_int(n, "keep_dims", 0));
	build_int(n->b, to, "noop_with_empty_axes", 1);
}

void convert_arg(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to;
	int64_t axis;

	if (!compose_integer(n->b, convert_in(n, 1), &axis)) {
		convert_own(n);
		return;
	}
	to = convert_node(n, onnx, n->in, 1);
	build_int(n->b, to, "axis", axis);
	build_int(n->b, to, "keepdims", 0);
}

void convert_weighing(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	convert_own(n)->weighs = 1;
}

/* Converts a convolution or a product with what is behind it. */
void convert_fused(const struct tensorflow_node *n, const char *type)
{
	tensorflow_fused(n, type);
}
