/* Which operator of ONNX an operator of PyTorch is. Shapes are those of the file. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/torch/torch.h"

#define TORCH_DOMAIN "torch" /* of nodes that are none of ONNX's */

typedef void call_fn(const struct torch_call *c, const char *onnx);

static int out(const struct torch_call *c)
{
	return c->out[0];
}

/* A node of these inputs that makes what the call makes. */
static struct graph_node *node(const struct torch_call *c, const char *type, const int *in, int nin)
{
	struct graph_node *n = build_node(c->b, type, in, nin, c->out, c->nout);

	n->is_told = 1;
	return n;
}

static struct graph_node *own(const struct torch_call *c)
{
	struct graph_node *n = node(c, c->target, c->in, c->nin);

	n->domain = TORCH_DOMAIN;
	return n;
}

/* ---- element by element, and what moves elements ---- */

static void same(const struct torch_call *c, const char *onnx)
{
	node(c, onnx, c->in, c->nin);
}

/* Of the first tensor alone: the others are sizes and the like. */
static void unary(const struct torch_call *c, const char *onnx)
{
	node(c, onnx, c->in, c->nin ? 1 : 0);
}

/* Two operands, of which the second may be a number. */
static void binary(const struct torch_call *c, const char *onnx)
{
	int in[2] = {torch_tensor(c, "self"), torch_tensor(c, "other")};

	if (in[0] < 0 || torch_real(c, "alpha", 1) != 1) {
		own(c);
		return;
	}
	if (in[1] < 0)
		in[1] = build_number(c->b, torch_real(c, "other", 0));
	node(c, onnx, in, 2);
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
		own(c);
		return;
	}
	n = node(c, onnx, c->in, 1);
	build_float(c->b, n, "min", (float)min);
	build_float(c->b, n, "max", (float)max);
}

static void leaky_relu(const struct torch_call *c, const char *onnx)
{
	build_float(c->b, node(c, onnx, c->in, 1), "alpha",
		    (float)torch_real(c, "negative_slope", 0.01));
}

static void elu(const struct torch_call *c, const char *onnx)
{
	build_float(c->b, node(c, onnx, c->in, 1), "alpha", (float)torch_real(c, "alpha", 1));
}

static void gelu(const struct torch_call *c, const char *onnx)
{
	const char *how = torch_text(c, "approximate");
	struct graph_node *n = node(c, onnx, c->in, 1);

	if (how)
		build_str(c->b, n, "approximate", how);
}

/* x * sigmoid(x) is two nodes in ONNX of its time. */
static void silu(const struct torch_call *c, const char *onnx)
{
	int both[2] = {c->in[0], build_between(c->b, out(c))};

	build_node(c->b, "Sigmoid", both, 1, &both[1], 1)->is_told = 1;
	node(c, onnx, both, 2);
}

static void hard_sigmoid(const struct torch_call *c, const char *onnx)
{
	struct graph_node *n = node(c, onnx, c->in, 1);

	build_float(c->b, n, "alpha", 1.0f / 6);
	build_float(c->b, n, "beta", 0.5f);
}

static void softmax(const struct torch_call *c, const char *onnx)
{
	build_int(c->b, node(c, onnx, c->in, 1), "axis", torch_int(c, "dim", -1));
}

static void permute(const struct torch_call *c, const char *onnx)
{
	struct graph_node *n = node(c, onnx, c->in, 1);
	const int rank = build_shape(c->b, out(c))->rank;
	int64_t v[GRAPH_MAX_RANK];
	int count = torch_ints(c, "dims", 0, v);

	for (int i = 0; i < count; i++)
		v[i] += v[i] < 0 ? rank : 0;
	build_ints(c->b, n, "perm", v, count);
}

/* Two dimensions change places; t() has no arguments. */
static void transpose(const struct torch_call *c, const char *onnx)
{
	struct graph_node *n = node(c, onnx, c->in, 1);
	const int rank = build_shape(c->b, out(c))->rank;
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

	build_int(c->b, node(c, onnx, c->in, c->nin), "axis",
		  axis < 0 ? axis + build_shape(c->b, out(c))->rank : axis);
}

/* Pairs of the last dimension first; ONNX has all that come before, then all behind. */
static void pad(const struct torch_call *c, const char *onnx)
{
	const int rank = build_shape(c->b, out(c))->rank;
	int64_t v[GRAPH_MAX_RANK], pads[2 * GRAPH_MAX_RANK] = {0};
	int count = torch_ints(c, "pad", 0, v);
	const char *mode = torch_text(c, "mode");
	struct graph_node *n = node(c, onnx, c->in, 1);

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
			own(c);
			return;
		}
	build_float(c->b, node(c, onnx, in, 5), "epsilon", (float)torch_real(c, "eps", 1e-5));
}

/* ---- convolutions ---- */

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

static void conv(const struct torch_call *c, const char *onnx)
{
	const int in[] = {torch_tensor(c, "input"), torch_tensor(c, "weight"),
			  torch_tensor(c, "bias")};
	const int rank = build_shape(c->b, in[1])->rank - 2;
	const int is_transposed = torch_flag(c, "transposed", !strncmp(onnx, "ConvT", 5));
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (in[0] < 0 || rank < 1 || build_shape(c->b, in[0])->rank != rank + 2) {
		own(c);
		return;
	}
	n = node(c, is_transposed ? "ConvTranspose" : "Conv", in, in[2] < 0 ? 2 : 3);
	window(c, n, rank);
	build_int(c->b, n, "group", torch_int(c, "groups", 1));
	if (is_transposed && torch_ints(c, "output_padding", rank, v) == rank)
		build_ints(c->b, n, "output_padding", v, rank);
}

/* ---- products ---- */

static void linear(const struct torch_call *c, const char *onnx)
{
	int bias = torch_tensor(c, "bias");

	(void)onnx;
	compose_linear(c->b, torch_tensor(c, "input"), torch_tensor(c, "weight"), bias, out(c), 1);
}

/* A product, to which something may be added. */
static void product(const struct torch_call *c, const char *a, const char *b, int added)
{
	const int x = torch_tensor(c, a), y = torch_tensor(c, b);

	if (x < 0 || y < 0 || torch_real(c, "alpha", 1) != 1 || torch_real(c, "beta", 1) != 1)
		own(c);
	else
		compose_linear(c->b, x, y, added, out(c), 0);
}

static void addmm(const struct torch_call *c, const char *onnx)
{
	(void)onnx;
	product(c, "mat1", "mat2", torch_tensor(c, "self"));
}

static void baddbmm(const struct torch_call *c, const char *onnx)
{
	(void)onnx;
	product(c, "batch1", "batch2", torch_tensor(c, "self"));
}

static void mm(const struct torch_call *c, const char *onnx)
{
	product(c, "self", onnx, -1);
}

static void einsum(const struct torch_call *c, const char *onnx)
{
	const char *equation = torch_text(c, "equation");

	if (equation)
		build_str(c->b, node(c, onnx, c->in, c->nin), "equation", equation);
	else
		own(c);
}

/* A value between the nodes of a call, whose shape is that of q but for the last dimension. */
static int scores(const struct torch_call *c, int q, int64_t columns)
{
	struct declared *d = arena_new(c->b->a, struct declared);
	int v = build_part(c->b, out(c), "scores");

	*d = *c->b->g->value[q]->declared;
	d->shape.dim[d->shape.rank - 1] = columns;
	c->b->g->value[v]->declared = d;
	return v;
}

/* Keys or values whose heads each serve several of the queries': once for each of these. */
static int for_each_head(const struct torch_call *c, int of, const struct shape *q)
{
	const struct shape *s = build_shape(c->b, of);
	struct declared *d;
	int wide;

	if (s->rank != q->rank || q->rank < 3 || s->dim[q->rank - 3] == q->dim[q->rank - 3])
		return of;
	wide = build_part(c->b, of, "heads");
	d = arena_new(c->b->a, struct declared);
	*d = *c->b->g->value[of]->declared;
	d->shape.dim[q->rank - 3] = q->dim[q->rank - 3];
	c->b->g->value[wide]->declared = d;
	build_node(c->b, "Expand", &of, 1, &wide, 1)->is_told = 1;
	return wide;
}

/* softmax(q k') v, as its two products. */
static void attention(const struct torch_call *c, const char *onnx)
{
	int in[] = {torch_tensor(c, "query"), torch_tensor(c, "key"), torch_tensor(c, "value")};
	const struct shape *q = build_shape(c->b, in[0]), *k = build_shape(c->b, in[1]);
	int between[2];

	(void)onnx;
	if (in[2] < 0 || q->rank < 2 || k->rank != q->rank) {
		own(c);
		return;
	}
	for (int i = 1; i < 3; i++)
		in[i] = for_each_head(c, in[i], q);
	between[0] = scores(c, in[0], k->dim[q->rank - 2]);
	between[1] = scores(c, in[0], k->dim[q->rank - 2]);
	compose_linear(c->b, in[0], in[1], -1, between[0], 1);
	build_node(c->b, "Softmax", &between[0], 1, &between[1], 1);
	in[1] = between[1];
	node(c, "MatMul", in + 1, 2);
}

static void recurrent(const struct torch_call *c, const char *onnx)
{
	if (torch_recurrent(c, onnx))
		own(c)->weighs = 1;
}

static void cell(const struct torch_call *c, const char *onnx)
{
	if (torch_cell(c, onnx))
		own(c)->weighs = 1;
}

/* ---- the table ---- */

static const struct row {
	const char *target;
	call_fn *fn;
	const char *onnx;
} rows[] = {
	{"conv1d", conv, "Conv"},
	{"conv2d", conv, "Conv"},
	{"conv3d", conv, "Conv"},
	{"convolution", conv, "Conv"},
	{"_convolution", conv, "Conv"},
	{"conv_transpose1d", conv, "ConvTranspose"},
	{"conv_transpose2d", conv, "ConvTranspose"},
	{"conv_transpose3d", conv, "ConvTranspose"},
	{"linear", linear, NULL},
	{"addmm", addmm, NULL},
	{"baddbmm", baddbmm, NULL},
	{"mm", mm, "mat2"},
	{"bmm", mm, "mat2"},
	{"matmul", mm, "other"},
	{"einsum", einsum, "Einsum"},
	{"scaled_dot_product_attention", attention, NULL},
	{"_scaled_dot_product_flash_attention", attention, NULL},
	{"_scaled_dot_product_flash_attention_for_cpu", attention, NULL},
	{"_scaled_dot_product_efficient_attention", attention, NULL},
	{"lstm", recurrent, "LSTM"},
	{"gru", recurrent, "GRU"},
	{"rnn_tanh", recurrent, "RNN"},
	{"rnn_relu", recurrent, "RNN"},
	{"lstm_cell", cell, "LSTMCell"},
	{"gru_cell", cell, "GRUCell"},
	{"rnn_tanh_cell", cell, "RNNCell"},
	{"rnn_relu_cell", cell, "RNNCell"},
	/* v * (g / |v|) of constants is a constant */
	{"_weight_norm", same, "Mul"},
	{"_weight_norm_interface", same, "Mul"},
	{"linalg_vector_norm", unary, "ReduceL2"},
	{"batch_norm", batch_norm, "BatchNormalization"},
	{"native_batch_norm", batch_norm, "BatchNormalization"},
	{"_native_batch_norm_legit_no_training", batch_norm, "BatchNormalization"},
	{"layer_norm", same, "LayerNormalization"},
	{"native_layer_norm", same, "LayerNormalization"},
	{"group_norm", same, "GroupNormalization"},
	{"native_group_norm", same, "GroupNormalization"},
	{"instance_norm", same, "InstanceNormalization"},
	{"add", binary, "Add"},
	{"sub", binary, "Sub"},
	{"mul", binary, "Mul"},
	{"div", binary, "Div"},
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
	{"max_pool1d", unary, "MaxPool"},
	{"max_pool2d", unary, "MaxPool"},
	{"max_pool3d", unary, "MaxPool"},
	{"max_pool2d_with_indices", unary, "MaxPool"},
	{"max_pool3d_with_indices", unary, "MaxPool"},
	{"avg_pool1d", unary, "AveragePool"},
	{"avg_pool2d", unary, "AveragePool"},
	{"avg_pool3d", unary, "AveragePool"},
	{"adaptive_avg_pool1d", unary, "AveragePool"},
	{"adaptive_avg_pool2d", unary, "AveragePool"},
	{"_adaptive_avg_pool2d", unary, "AveragePool"},
	{"adaptive_avg_pool3d", unary, "AveragePool"},
	{"mean", unary, "ReduceMean"},
	{"sum", unary, "ReduceSum"},
	{"amax", unary, "ReduceMax"},
	{"view", unary, "Reshape"},
	{"_unsafe_view", unary, "Reshape"},
	{"reshape", unary, "Reshape"},
	{"flatten", unary, "Reshape"},
	{"unflatten", unary, "Reshape"},
	{"unsqueeze", unary, "Unsqueeze"},
	{"squeeze", unary, "Squeeze"},
	{"permute", permute, "Transpose"},
	{"transpose", transpose, "Transpose"},
	{"t", transpose, "Transpose"},
	{"expand", unary, "Expand"},
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
		own(c);
	if (c->b->g->nnode > first)
		c->b->g->node[first].name = c->name;
}
