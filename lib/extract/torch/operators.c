/* Which operator of ONNX an operator of PyTorch is. Shapes are those of the file. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/torch/torch.h"

struct graph_node *torch_node(const struct torch_call *c, const char *type, const int *in, int nin)
{
	struct graph_node *n = build_node(c->b, type, in, nin, c->out, c->nout);

	n->is_told = 1;
	return n;
}

struct graph_node *torch_own(const struct torch_call *c)
{
	struct graph_node *n = torch_node(c, c->target, c->in, c->nin);

	n->domain = TORCH_DOMAIN;
	return n;
}

/* ---- element by element, and what moves elements ---- */

static void same(const struct torch_call *c, const char *onnx)
{
	torch_node(c, onnx, c->in, c->nin);
}

/* The first tensor alone counts: the others are sizes and the like. */
static void unary(const struct torch_call *c, const char *onnx)
{
	torch_node(c, onnx, c->in, c->nin ? 1 : 0);
}

/* Two operands, of which the second may be a number. */
static void binary(const struct torch_call *c, const char *onnx)
{
	int in[2] = {torch_tensor(c, "self"), torch_tensor(c, "other")};

	if (in[0] < 0 || torch_real(c, "alpha", 1) != 1) {
		torch_own(c);
		return;
	}
	if (in[1] < 0)
		in[1] = build_number(c->b, torch_real(c, "other", 0));
	torch_node(c, onnx, in, 2);
}

static void power(const struct torch_call *c, const char *onnx)
{
	int in[2] = {torch_tensor(c, "self"), torch_tensor(c, "exponent")};

	if (in[1] < 0)
		in[1] = build_number(c->b, torch_real(c, "exponent", 1));
	if (in[0] < 0)
		torch_own(c);
	else
		torch_node(c, onnx, in, 2);
}

static void clip(const struct torch_call *c, const char *onnx)
{
	const int is_relu6 = !strcmp(c->target, "relu6");
	const int is_hardtanh = !strcmp(c->target, "hardtanh");
	double min = torch_real(c, is_hardtanh ? "min_val" : "min", is_hardtanh ? -1 : 0);
	double max = torch_real(c, is_hardtanh ? "max_val" : "max", is_hardtanh ? 1 : 6);
	struct graph_node *n;

	if (!is_relu6 && !is_hardtanh &&
	    (torch_real(c, "min", -1e30) == -1e30 || torch_real(c, "max", 1e30) == 1e30)) {
		torch_own(c);
		return;
	}
	n = torch_node(c, onnx, c->in, 1);
	build_float(c->b, n, "min", (float)min);
	build_float(c->b, n, "max", (float)max);
}

static void leaky_relu(const struct torch_call *c, const char *onnx)
{
	build_float(c->b, torch_node(c, onnx, c->in, 1), "alpha",
		    (float)torch_real(c, "negative_slope", 0.01));
}

static void elu(const struct torch_call *c, const char *onnx)
{
	build_float(c->b, torch_node(c, onnx, c->in, 1), "alpha", (float)torch_real(c, "alpha", 1));
}

static void gelu(const struct torch_call *c, const char *onnx)
{
	const char *how = torch_text(c, "approximate");
	struct graph_node *n = torch_node(c, onnx, c->in, 1);

	if (how)
		build_str(c->b, n, "approximate", how);
}

/* x * sigmoid(x) is two nodes in ONNX of its time. */
static void silu(const struct torch_call *c, const char *onnx)
{
	int both[2] = {c->in[0], build_between(c->b, c->out[0])};

	build_node(c->b, "Sigmoid", both, 1, &both[1], 1)->is_told = 1;
	torch_node(c, onnx, both, 2);
}

static void hard_sigmoid(const struct torch_call *c, const char *onnx)
{
	struct graph_node *n = torch_node(c, onnx, c->in, 1);

	build_float(c->b, n, "alpha", 1.0f / 6);
	build_float(c->b, n, "beta", 0.5f);
}

/* Over the last dimensions, which the second argument lists. */
static void row_norm(const struct torch_call *c, const char *onnx)
{
	int64_t v[GRAPH_MAX_RANK];
	const int count = torch_ints(c, "normalized_shape", 0, v);
	const int in[] = {torch_tensor(c, "input"), torch_tensor(c, "weight"),
			  torch_tensor(c, "bias")};
	const int nin = in[2] >= 0 ? 3 : in[1] >= 0 ? 2 : 1;

	if (in[0] < 0 || count < 1)
		torch_own(c);
	else
		build_int(c->b, torch_node(c, onnx, in, nin), "axis", -count);
}

static void softmax(const struct torch_call *c, const char *onnx)
{
	build_int(c->b, torch_node(c, onnx, c->in, 1), "axis", torch_int(c, "dim", -1));
}

static void permute(const struct torch_call *c, const char *onnx)
{
	struct graph_node *n = torch_node(c, onnx, c->in, 1);
	const int rank = build_shape(c->b, c->out[0])->rank;
	int64_t v[GRAPH_MAX_RANK];
	int count = torch_ints(c, "dims", 0, v);

	for (int i = 0; i < count; i++)
		v[i] += v[i] < 0 ? rank : 0;
	build_ints(c->b, n, "perm", v, count);
}

/* Two dimensions change places; t() has no arguments. */
static void transpose(const struct torch_call *c, const char *onnx)
{
	struct graph_node *n = torch_node(c, onnx, c->in, 1);
	const int rank = build_shape(c->b, c->out[0])->rank;
	int64_t v[GRAPH_MAX_RANK], a = torch_int(c, "dim0", 0), b = torch_int(c, "dim1", 1);

	a += a < 0 ? rank : 0;
	b += b < 0 ? rank : 0;
	if (rank < 2 || a < 0 || b < 0 || a >= rank || b >= rank)
		return;
	for (int i = 0; i < rank; i++)
		v[i] = i == a ? b : i == b ? a : i;
	build_ints(c->b, n, "perm", v, rank);
}

static void concat(const struct torch_call *c, const char *onnx)
{
	int64_t axis = torch_int(c, "dim", 0);

	build_int(c->b, torch_node(c, onnx, c->in, c->nin), "axis",
		  axis < 0 ? axis + build_shape(c->b, c->out[0])->rank : axis);
}

/* Pairs of the last dimension first; ONNX has all that come before, then all behind. */
static void pad(const struct torch_call *c, const char *onnx)
{
	const int rank = build_shape(c->b, c->out[0])->rank;
	int64_t v[GRAPH_MAX_RANK], pads[2 * GRAPH_MAX_RANK] = {0};
	int count = torch_ints(c, "pad", 0, v);
	const char *mode = torch_text(c, "mode");
	struct graph_node *n = torch_node(c, onnx, c->in, 1);

	if (rank < 1 || count % 2 || count / 2 > rank || torch_real(c, "value", 0) != 0 ||
	    (mode && strcmp(mode, "constant") != 0)) {
		n->domain = TORCH_DOMAIN;
		return;
	}
	for (int i = 0; i < count / 2; i++) {
		pads[rank - 1 - i] = v[2 * i];
		pads[2 * rank - 1 - i] = v[2 * i + 1];
	}
	build_ints(c->b, n, "pads", pads, 2 * rank);
}

/* ---- normalization ---- */

static void batch_norm(const struct torch_call *c, const char *onnx)
{
	const int in[] = {c->in[0], torch_tensor(c, "weight"), torch_tensor(c, "bias"),
			  torch_tensor(c, "running_mean"), torch_tensor(c, "running_var")};

	for (int i = 1; i < 5; i++)
		if (in[i] < 0) {
			torch_own(c);
			return;
		}
	build_float(c->b, torch_node(c, onnx, in, 5), "epsilon", (float)torch_real(c, "eps", 1e-5));
}

/* ---- the table ---- */

static const struct row {
	const char *target;
	torch_fn *fn;
	const char *onnx;
} rows[] = {
	{"conv1d", torch_conv, "Conv"},
	{"conv2d", torch_conv, "Conv"},
	{"conv3d", torch_conv, "Conv"},
	{"convolution", torch_conv, "Conv"},
	{"_convolution", torch_conv, "Conv"},
	{"conv_transpose1d", torch_conv, "ConvTranspose"},
	{"conv_transpose2d", torch_conv, "ConvTranspose"},
	{"conv_transpose3d", torch_conv, "ConvTranspose"},
	{"linear", torch_linear, NULL},
	{"addmm", torch_addmm, NULL},
	{"baddbmm", torch_baddbmm, NULL},
	{"mm", torch_mm, "mat2"},
	{"bmm", torch_mm, "mat2"},
	{"matmul", torch_mm, "other"},
	{"einsum", torch_einsum, "Einsum"},
	{"scaled_dot_product_attention", torch_attention, NULL},
	{"_scaled_dot_product_flash_attention", torch_attention, NULL},
	{"_scaled_dot_product_flash_attention_for_cpu", torch_attention, NULL},
	{"_scaled_dot_product_efficient_attention", torch_attention, NULL},
	{"_scaled_dot_product_cudnn_attention", torch_attention, NULL},
	{"lstm", torch_recurrent, "LSTM"},
	{"gru", torch_recurrent, "GRU"},
	{"rnn_tanh", torch_recurrent, "RNN"},
	{"rnn_relu", torch_recurrent, "RNN"},
	{"lstm_cell", torch_cell, "LSTMCell"},
	{"gru_cell", torch_cell, "GRUCell"},
	{"rnn_tanh_cell", torch_cell, "RNNCell"},
	{"rnn_relu_cell", torch_cell, "RNNCell"},
	/* v * (g / |v|) of constants is a constant */
	{"_weight_norm", same, "Mul"},
	{"_weight_norm_interface", same, "Mul"},
	{"linalg_vector_norm", unary, "ReduceL2"},
	{"batch_norm", batch_norm, "BatchNormalization"},
	{"native_batch_norm", batch_norm, "BatchNormalization"},
	{"_native_batch_norm_legit_no_training", batch_norm, "BatchNormalization"},
	{"layer_norm", row_norm, "LayerNormalization"},
	{"native_layer_norm", row_norm, "LayerNormalization"},
	{"rms_norm", row_norm, "RMSNormalization"},
	{"group_norm", same, "GroupNormalization"},
	{"native_group_norm", same, "GroupNormalization"},
	{"instance_norm", same, "InstanceNormalization"},
	{"add", binary, "Add"},
	{"sub", binary, "Sub"},
	{"mul", binary, "Mul"},
	{"div", binary, "Div"},
	{"pow", power, "Pow"},
	{"relu", unary, "Relu"},
	{"relu6", clip, "Clip"},
	{"hardtanh", clip, "Clip"},
	{"clamp", clip, "Clip"},
	{"sigmoid", unary, "Sigmoid"},
	{"tanh", unary, "Tanh"},
	{"silu", silu, "Mul"},
	{"gelu", gelu, "Gelu"},
	{"hardswish", unary, "HardSwish"},
	{"hardsigmoid", hard_sigmoid, "HardSigmoid"},
	{"leaky_relu", leaky_relu, "LeakyRelu"},
	{"elu", elu, "Elu"},
	{"prelu", same, "PRelu"},
	{"mish", unary, "Mish"},
	{"softplus", unary, "Softplus"},
	{"exp", unary, "Exp"},
	{"log", unary, "Log"},
	{"sqrt", unary, "Sqrt"},
	{"neg", unary, "Neg"},
	{"abs", unary, "Abs"},
	{"erf", unary, "Erf"},
	{"softmax", softmax, "Softmax"},
	{"_softmax", softmax, "Softmax"},
	{"log_softmax", softmax, "LogSoftmax"},
	{"_log_softmax", softmax, "LogSoftmax"},
	{"max_pool1d", torch_pool, "MaxPool"},
	{"max_pool2d", torch_pool, "MaxPool"},
	{"max_pool3d", torch_pool, "MaxPool"},
	{"max_pool2d_with_indices", torch_pool, "MaxPool"},
	{"max_pool3d_with_indices", torch_pool, "MaxPool"},
	{"avg_pool1d", torch_pool, "AveragePool"},
	{"avg_pool2d", torch_pool, "AveragePool"},
	{"avg_pool3d", torch_pool, "AveragePool"},
	{"adaptive_avg_pool1d", torch_adaptive_pool, "AveragePool"},
	{"adaptive_avg_pool2d", torch_adaptive_pool, "AveragePool"},
	{"_adaptive_avg_pool2d", torch_adaptive_pool, "AveragePool"},
	{"adaptive_avg_pool3d", torch_adaptive_pool, "AveragePool"},
	{"_adaptive_avg_pool3d", torch_adaptive_pool, "AveragePool"},
	{"adaptive_max_pool1d", torch_adaptive_pool, "MaxPool"},
	{"adaptive_max_pool2d", torch_adaptive_pool, "MaxPool"},
	{"adaptive_max_pool3d", torch_adaptive_pool, "MaxPool"},
	{"mean", unary, "ReduceMean"},
	{"sum", unary, "ReduceSum"},
	{"amax", unary, "ReduceMax"},
	{"view", unary, "Reshape"},
	{"_unsafe_view", unary, "Reshape"},
	{"reshape", unary, "Reshape"},
	{"view_as", unary, "Reshape"},
	{"reshape_as", unary, "Reshape"},
	{"flatten", unary, "Reshape"},
	{"unflatten", unary, "Reshape"},
	{"unsqueeze", unary, "Unsqueeze"},
	{"squeeze", unary, "Squeeze"},
	{"permute", permute, "Transpose"},
	{"transpose", transpose, "Transpose"},
	{"t", transpose, "Transpose"},
	{"expand", unary, "Expand"},
	{"expand_as", unary, "Expand"},
	{"repeat", unary, "Tile"},
	{"slice", unary, "Slice"},
	{"narrow", unary, "Slice"},
	{"select", unary, "Slice"},
	{"split", unary, "Split"},
	{"split_with_sizes", unary, "Split"},
	{"chunk", unary, "Split"},
	{"unbind", unary, "Split"},
	{"cat", concat, "Concat"},
	{"stack", same, "Stack"},
	{"pad", pad, "Pad"},
	{"constant_pad_nd", pad, "Pad"},
	{"embedding", same, "Gather"},
	{"upsample_nearest2d", unary, "Resize"},
	{"upsample_bilinear2d", unary, "Resize"},
	{"dropout", unary, "Identity"},
	{"contiguous", unary, "Identity"},
	{"clone", unary, "Identity"},
	{"alias", unary, "Identity"},
	{"detach", unary, "Identity"},
	{"lift_fresh_copy", unary, "Identity"},
	{"to", unary, "Cast"},
	{"_to_copy", unary, "Cast"},
	{"type_as", unary, "Cast"},
};

/* The first node has the name of the call. Others are called as what they make is; where that is
 * the same name, the type is added, because names tell workloads of the same sizes apart. */
static void name_nodes(const struct torch_call *c, int first)
{
	struct graph *g = c->b->g;

	for (int i = first; i < g->nnode; i++)
		if (i == first)
			g->node[i].name = c->name;
		else if (!strcmp(node_label(g, &g->node[i]), c->name))
			g->node[i].name = arena_printf(c->b->a, "%s/%s", c->name, g->node[i].type);
}

void torch_call(const struct torch_call *c)
{
	const int first = c->b->g->nnode;
	const struct row *row = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !row; i++)
		if (!strcmp(rows[i].target, c->target))
			row = &rows[i];
	if (row && c->nin)
		row->fn(c, row->onnx);
	else
		torch_own(c);
	name_nodes(c, first);
}
