/* Which operator of ONNX an operator of PyTorch is. Shapes are those of the file. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/torch/torch.h"

/* Two operands, of which the second may be a number. */
static int binary(const struct call *c, const struct call_row *row)
{
	struct call_value number;
	const int *given;
	int in[2];

	call_operands(c, row, &given);
	memcpy(in, given, sizeof in);
	if (in[0] < 0 || call_real(c, "alpha", 1) != 1)
		return -1;
	if (in[1] < 0) {
		if (!call_get(c, strchr(row->operands, ' ') + 1, CALL_REAL, &number))
			return -1;
		in[1] = build_number(c->b, number.f);
	}
	call_node(c, row->onnx, in, 2);
	return 0;
}

/* A bound that is left out would be none. */
static int clamp(const struct call *c, const struct call_row *row)
{
	struct call_value bound;

	if (!call_get(c, "min", CALL_REAL, &bound) || !call_get(c, "max", CALL_REAL, &bound))
		return -1;
	call_node_of(c, row, c->in, 1);
	return 0;
}

/* Over the last dimensions, which the second argument lists. */
static int row_norm(const struct call *c, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK];
	const int count = call_ints(c, "normalized_shape", 0, v);
	const int *in;
	const int nin = call_operands(c, row, &in);

	if (in[0] < 0 || count < 1)
		return -1;
	build_int(c->b, call_node(c, row->onnx, in, nin), "axis", -count);
	return 0;
}

static int permute(const struct call *c, const struct call_row *row)
{
	struct graph_node *n = call_node(c, row->onnx, c->in, 1);
	const int rank = build_shape(c->b, c->out[0])->rank;
	int64_t v[GRAPH_MAX_RANK];
	int count = call_ints(c, "dims", 0, v);

	for (int i = 0; i < count; i++)
		v[i] += v[i] < 0 ? rank : 0;
	build_ints(c->b, n, "perm", v, count);
	return 0;
}

/* Two dimensions change places; t() has no arguments. */
static int transpose(const struct call *c, const struct call_row *row)
{
	struct graph_node *n = call_node(c, row->onnx, c->in, 1);
	const int rank = build_shape(c->b, c->out[0])->rank;
	int64_t v[GRAPH_MAX_RANK], a = call_int(c, "dim0", 0), b = call_int(c, "dim1", 1);

	a += a < 0 ? rank : 0;
	b += b < 0 ? rank : 0;
	if (rank < 2 || a < 0 || b < 0 || a >= rank || b >= rank)
		return 0;
	for (int i = 0; i < rank; i++)
		v[i] = i == a ? b : i == b ? a : i;
	build_ints(c->b, n, "perm", v, rank);
	return 0;
}

/* Pairs of the last dimension first; ONNX has all that come before, then all behind. */
static int pad(const struct call *c, const struct call_row *row)
{
	const int rank = build_shape(c->b, c->out[0])->rank;
	int64_t v[GRAPH_MAX_RANK], pads[2 * GRAPH_MAX_RANK] = {0};
	int count = call_ints(c, "pad", 0, v);
	const char *mode = call_text(c, "mode");
	struct graph_node *n = call_node(c, row->onnx, c->in, 1);

	if (rank < 1 || count % 2 || count / 2 > rank || call_real(c, "value", 0) != 0 ||
	    (mode && strcmp(mode, "constant") != 0)) {
		n->domain = c->domain;
		return 0;
	}
	for (int i = 0; i < count / 2; i++) {
		pads[rank - 1 - i] = v[2 * i];
		pads[2 * rank - 1 - i] = v[2 * i + 1];
	}
	build_ints(c->b, n, "pads", pads, 2 * rank);
	return 0;
}

static int batch_norm(const struct call *c, const struct call_row *row)
{
	const int *in;

	call_operands(c, row, &in);
	for (int i = 1; i < 5; i++)
		if (in[i] < 0)
			return -1;
	call_node_of(c, row, in, 5);
	return 0;
}

/* The scale and the zero point are tensors, or numbers. */
static int quantize(const struct call *c, const struct call_row *row)
{
	int in[] = {call_input(c, "input"), call_input(c, "scale"), call_input(c, "zero_point")};
	struct call_value v;

	if (in[1] < 0)
		in[1] = call_input(c, "scales");
	if (in[2] < 0)
		in[2] = call_input(c, "zero_points");
	if (in[1] < 0 && call_get(c, "scale", CALL_REAL, &v))
		in[1] = build_number(c->b, v.f);
	if (in[2] < 0 && call_get(c, "zero_point", CALL_INT, &v))
		in[2] = build_integers(c->b, &v.i, 1);
	if (in[0] < 0 || in[1] < 0)
		return -1;
	call_node_of(c, row, in, in[2] < 0 ? 2 : 3);
	return 0;
}

#define REDUCE CALL_ATTRS({CALL_INTS, "axes", "dim"}, {CALL_FLAG, "keepdims", "keepdim"})

static const struct call_row rows[] = {
	{"conv1d conv2d conv3d convolution _convolution", "Conv", .fn = torch_conv},
	{"conv_transpose1d conv_transpose2d conv_transpose3d", "ConvTranspose", .fn = torch_conv},
	{"deform_conv2d", "DeformConv", "input weight offset bias mask",
	 CALL_ATTRS({CALL_EACH, "strides", "stride_h stride_w", 1},
		    {CALL_EACH, "pads", "pad_h pad_w pad_h pad_w"},
		    {CALL_EACH, "dilations", "dilation_h dilation_w", 1},
		    {CALL_INT, "group", "groups", 1})},
	{"linear", NULL, "input weight bias", NULL, torch_linear},
	{"addmm", NULL, "mat1 mat2 self", NULL, torch_product},
	{"baddbmm", NULL, "batch1 batch2 self", NULL, torch_product},
	{"addmv", NULL, "mat vec self", NULL, torch_product},
	{"mm bmm", NULL, "self mat2", NULL, torch_product},
	{"_int_mm", "MatMulInteger", "self mat2"},
	{"matmul", NULL, "self other", NULL, torch_product},
	{"mv", NULL, "self vec", NULL, torch_product},
	{"dot", NULL, "self tensor", NULL, torch_product},
	{"vdot", NULL, "self other", NULL, torch_product},
	{"_weight_int8pack_mm", NULL, "self mat2", NULL, torch_linear},
	{"einsum", "Einsum", NULL, CALL_ATTRS({CALL_TEXT, "equation", "equation"})},
	{"scaled_dot_product_attention _scaled_dot_product_flash_attention", NULL,
	 .fn = torch_attention},
	{"_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention",
	 NULL, .fn = torch_attention},
	{"_scaled_dot_product_cudnn_attention", NULL, .fn = torch_attention},
	{"lstm", "LSTM", .fn = torch_recurrent},
	{"gru", "GRU", .fn = torch_recurrent},
	{"rnn_tanh rnn_relu", "RNN", .fn = torch_recurrent},
	{"lstm_cell", "LSTMCell", .fn = torch_cell},
	{"gru_cell", "GRUCell", .fn = torch_cell},
	{"rnn_tanh_cell rnn_relu_cell", "RNNCell", .fn = torch_cell},
	/* v * (g / |v|) of constants is a constant */
	{"_weight_norm _weight_norm_interface", "Mul"},
	{"linalg_vector_norm", "ReduceL2", "0"},
	{"batch_norm native_batch_norm _native_batch_norm_legit_no_training", "BatchNormalization",
	 "0 weight bias running_mean running_var", CALL_ATTRS({CALL_REAL, "epsilon", "eps", 1e-5}),
	 batch_norm},
	{"layer_norm native_layer_norm", "LayerNormalization", "input weight bias", NULL, row_norm},
	{"rms_norm", "RMSNormalization", "input weight bias", NULL, row_norm},
	{"group_norm", "GroupNormalization", "input weight bias",
	 CALL_ATTRS({CALL_INT, "num_groups", "num_groups"}, {CALL_REAL, "epsilon", "eps", 1e-5})},
	{"native_group_norm", "GroupNormalization", "input weight bias",
	 CALL_ATTRS({CALL_INT, "num_groups", "group"}, {CALL_REAL, "epsilon", "eps", 1e-5})},
	{"instance_norm", "InstanceNormalization"},
	{"add", "Add", "self other", NULL, binary},
	{"sub", "Sub", "self other", NULL, binary},
	{"mul", "Mul", "self other", NULL, binary},
	{"div", "Div", "self other", NULL, binary},
	{"pow", "Pow", "self exponent", NULL, binary},
	{"relu6", "Clip", "0", CALL_CLIP(0, 6)},
	{"hardtanh", "Clip", "0",
	 CALL_ATTRS({CALL_REAL, "min", "min_val", -1}, {CALL_REAL, "max", "max_val", 1})},
	{"clamp", "Clip", NULL,
	 CALL_ATTRS({CALL_REAL, "min", "min", 0}, {CALL_REAL, "max", "max", 6}), clamp},
	{"silu", CALL_GATED},
	{"gelu", "Gelu", "0", CALL_ATTRS({CALL_TEXT, "approximate", "approximate"})},
	{"hardsigmoid", "HardSigmoid", "0", CALL_HARD_SIGMOID},
	{"leaky_relu", "LeakyRelu", "0", CALL_ATTRS({CALL_REAL, "alpha", "negative_slope", 0.01})},
	{"elu", "Elu", "0", CALL_ATTRS({CALL_REAL, "alpha", "alpha", 1})},
	{"prelu", "PRelu"},
	{"softmax _softmax", "Softmax", "0", CALL_ATTRS({CALL_INT, "axis", "dim", -1})},
	{"log_softmax _log_softmax", "LogSoftmax", "0", CALL_ATTRS({CALL_INT, "axis", "dim", -1})},
	{"max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices",
	 "MaxPool", .fn = torch_pool},
	{"avg_pool1d avg_pool2d avg_pool3d", "AveragePool", .fn = torch_pool},
	{"adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d adaptive_avg_pool3d",
	 "AveragePool", "0", NULL, call_adaptive_pool},
	{"_adaptive_avg_pool3d", "AveragePool", "0", NULL, call_adaptive_pool},
	{"adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", "MaxPool", "0", NULL,
	 call_adaptive_pool},
	{"mean", "ReduceMean", "0", REDUCE},
	{"sum", "ReduceSum", "0", REDUCE},
	{"amax", "ReduceMax", "0", REDUCE},
	{"rsqrt", CALL_RSQRT},
	{"view _unsafe_view reshape view_as reshape_as flatten unflatten", "Reshape", "0"},
	{"unsqueeze", "Unsqueeze", "0"},
	{"squeeze", "Squeeze", "0"},
	{"permute", "Transpose", .fn = permute},
	{"transpose t", "Transpose", .fn = transpose},
	{"expand expand_as", "Expand", "0"},
	{"repeat", "Tile", "0"},
	{"slice narrow select", "Slice", "0"},
	{"split split_with_sizes chunk unbind", "Split", "0"},
	{"cat", "Concat", NULL, CALL_ATTRS({CALL_INT, "axis", "dim"})},
	{"stack", "Stack"},
	{"pad constant_pad_nd", "Pad", .fn = pad},
	{"embedding", "Gather"},
	{"upsample_nearest2d upsample_bilinear2d", "Resize", "0"},
	{"quantize_per_tensor quantize_per_channel quantize_affine", "QuantizeLinear", NULL,
	 CALL_ATTRS({CALL_ELEM, "output_dtype"}, {CALL_INT, "axis", "axis"}), quantize},
	{"dequantize_per_tensor dequantize_per_channel dequantize_affine", "DequantizeLinear", NULL,
	 CALL_ATTRS({CALL_INT, "axis", "axis"}), quantize},
	{"dropout contiguous clone alias detach lift_fresh_copy", "Identity", "0"},
	{"to _to_copy type_as", "Cast", "0"},
};

/* The first node has the name of the call. Others are called as what they make is; where that is
 * the same name, the type is added, because names tell workloads of the same sizes apart. */
static void name_nodes(const struct call *c, int first)
{
	struct graph *g = c->b->g;

	for (int i = first; i < g->nnode; i++)
		if (i == first)
			g->node[i].name = c->name;
		else if (!strcmp(node_label(g, &g->node[i]), c->name))
			g->node[i].name = arena_printf(c->b->a, "%s/%s", c->name, g->node[i].type);
}

void torch_convert(const struct call *c)
{
	const int first = c->b->g->nnode;

	call_convert(c, c->nin ? call_find(rows, sizeof rows / sizeof *rows, c->type) : NULL);
	name_nodes(c, first);
}
