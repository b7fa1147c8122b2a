/* Which operator of ONNX, or which several, an operator of OpenVINO is. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/extract/compose.h"
#include "lib/extract/openvino/openvino.h"

/* ---- attributes ---- */

int64_t ov_int(const struct ov_call *c, const char *name, int64_t otherwise)
{
	const char *text = ir_attr(c->layer, name);
	int64_t v;

	return text && !ir_number(text, &v) ? v : otherwise;
}

int ov_flag(const struct ov_call *c, const char *name, int otherwise)
{
	const char *text = ir_attr(c->layer, name);

	return text ? !strcasecmp(text, "true") || !strcmp(text, "1") : otherwise;
}

double ov_real(const struct ov_call *c, const char *name, double otherwise)
{
	const char *text = ir_attr(c->layer, name);
	char *end;
	double v = text ? strtod(text, &end) : otherwise;

	return text && end == text ? otherwise : v;
}

int ov_is(const struct ov_call *c, const char *name, const char *word)
{
	const char *text = ir_attr(c->layer, name);

	return text && !strcasecmp(text, word);
}

int ov_ints(const struct ov_call *c, const char *name, int64_t v[GRAPH_MAX_RANK])
{
	const char *s = ir_attr(c->layer, name);
	int n = 0;

	while (s && *s) {
		char *end;
		long long k = strtoll(s, &end, 10);

		end += strspn(end, " ");
		if (end == s || n == GRAPH_MAX_RANK || (*end && *end != ','))
			return 0;
		v[n++] = k;
		s = *end ? end + 1 : end;
	}
	return n;
}

/* ---- nodes ---- */

struct graph_node *ov_node(const struct ov_call *c, const char *type, const int *in, int nin)
{
	struct graph_node *n = build_node(c->b, type, in, nin, c->out, c->nout);

	n->is_told = 1;
	return n;
}

struct graph_node *ov_own(const struct ov_call *c)
{
	struct graph_node *n = ov_node(c, c->layer->type, c->in, c->nin);

	n->domain = OPENVINO_DOMAIN;
	return n;
}

static void same(const struct ov_call *c, const char *onnx)
{
	ov_node(c, onnx, c->in, c->nin);
}

static void unary(const struct ov_call *c, const char *onnx)
{
	ov_node(c, onnx, c->in, 1);
}

/* With the attribute "axis", which is 1 unless it is told. */
static void along(const struct ov_call *c, const char *onnx)
{
	build_int(c->b, ov_node(c, onnx, c->in, 1), "axis", ov_int(c, "axis", 1));
}

/* ---- element by element ---- */

static void clamp(const struct ov_call *c, const char *onnx)
{
	struct graph_node *n = ov_node(c, onnx, c->in, 1);

	build_float(c->b, n, "min", (float)ov_real(c, "min", -1e38));
	build_float(c->b, n, "max", (float)ov_real(c, "max", 1e38));
}

static void elu(const struct ov_call *c, const char *onnx)
{
	build_float(c->b, ov_node(c, onnx, c->in, 1), "alpha", (float)ov_real(c, "alpha", 1));
}

static void gelu(const struct ov_call *c, const char *onnx)
{
	struct graph_node *n = ov_node(c, onnx, c->in, 1);

	if (ov_is(c, "approximation_mode", "tanh"))
		build_str(c->b, n, "approximate", "tanh");
}

static void hard_sigmoid_of_hsigmoid(const struct ov_call *c, const char *onnx)
{
	struct graph_node *n = ov_node(c, onnx, c->in, 1);

	build_float(c->b, n, "alpha", 1.0f / 6);
	build_float(c->b, n, "beta", 0.5f);
}

/* The one number that a value holds. */
static int holds(const struct ov_call *c, int value, double *v)
{
	const struct value *x = value >= 0 ? c->b->g->value[value] : NULL;

	if (!x || !x->kept || !elem_is_real(x->elem) || shape_count(&x->shape) != 1)
		return 0;
	*v = x->kept[0].f;
	return 1;
}

/* The slope and the offset are inputs, where ONNX has attributes. */
static void hard_sigmoid(const struct ov_call *c, const char *onnx)
{
	double alpha, beta;
	struct graph_node *n;

	if (!holds(c, ov_in(c, 1), &alpha) || !holds(c, ov_in(c, 2), &beta)) {
		ov_own(c);
		return;
	}
	n = ov_node(c, onnx, c->in, 1);
	build_float(c->b, n, "alpha", (float)alpha);
	build_float(c->b, n, "beta", (float)beta);
}

/* x * sigmoid(x), unless there is a factor inside that is not 1. */
static void swish(const struct ov_call *c, const char *onnx)
{
	int both[2] = {ov_in(c, 0), -1};
	double beta;

	if (c->nout != 1 || (ov_in(c, 1) >= 0 && (!holds(c, c->in[1], &beta) || beta != 1))) {
		ov_own(c);
		return;
	}
	both[1] = build_between(c->b, c->out[0]);
	build_node(c->b, "Sigmoid", both, 1, &both[1], 1)->is_told = 1;
	ov_node(c, onnx, both, 2);
}

static void square(const struct ov_call *c, const char *onnx)
{
	(void)onnx;
	if (c->nout != 1 || compose_square(c->b, ov_in(c, 0), ov_in(c, 1), c->out[0]))
		ov_own(c);
}

static void not_equal(const struct ov_call *c, const char *onnx)
{
	(void)onnx;
	if (c->nout != 1 || compose_chain(c->b, c->in, c->nin, c->out[0], "Equal", "Not"))
		ov_own(c);
}

/* ---- element types ---- */

static struct value *value(const struct ov_call *c, int i)
{
	return i < 0 ? NULL : c->b->g->value[i];
}

static int is_short(int elem)
{
	return elem == VALUE_I8 || elem == VALUE_U8 || elem == VALUE_I4 || elem == VALUE_U4;
}

/* Weights in 8 or 4 bits are widened, shifted and scaled by operators of their own: these have the
 * mark `quantized`, and the first of them stands for all. */
static int is_widened(const struct ov_call *c)
{
	const struct value *v = value(c, ov_in(c, 0));

	return v && v->quantized && c->nout == 1;
}

static void stay_widened(const struct ov_call *c)
{
	ov_node(c, "Identity", c->in, 1);
	value(c, c->out[0])->quantized = 1;
}

static void scale(const struct ov_call *c, const char *onnx)
{
	if (is_widened(c))
		stay_widened(c);
	else
		same(c, onnx);
}

/* What an f16 constant holds, its f32 form holds too. */
static void convert(const struct ov_call *c, const char *onnx)
{
	const struct value *from = value(c, ov_in(c, 0));
	struct value *to = c->nout == 1 ? value(c, c->out[0]) : NULL;

	if (is_widened(c)) {
		stay_widened(c);
		return;
	}
	if (from && to && from->is_const && is_short(from->elem) &&
	    elem_is_real(to->declared->elem)) {
		ov_node(c, "DequantizeLinear", c->in, 1);
		to->quantized = 1;
		return;
	}
	build_int(c->b, ov_node(c, onnx, c->in, c->nin), "to", to ? to->declared->elem : 0);
	if (from && to && from->is_const && from->kept && elem_is_real(from->elem) &&
	    elem_is_real(to->declared->elem)) {
		to->kept = from->kept;
		to->shape = from->shape;
	}
}

/* What follows is computed in 8 bits: with a sign where the least value, or the number of levels,
 * says so. */
static void fake_quantize(const struct ov_call *c, const char *onnx)
{
	const int in[] = {ov_in(c, 0), ov_in(c, 1)};
	const struct value *data = value(c, in[0]);
	const int64_t levels = ov_int(c, "levels", 256);
	int between[] = {-1, ov_in(c, 1)}, is_signed;
	double low;

	(void)onnx;
	if (c->nout != 1 || levels > 256) {
		ov_own(c);
		return;
	}
	is_signed = holds(c, in[1], &low) ? low < 0 : levels < 256 || data->is_const;
	between[0] = build_part(c->b, c->out[0], "levels");
	build_int(c->b, build_node(c->b, "QuantizeLinear", in, 2, between, 1), "output_dtype",
		  is_signed ? VALUE_I8 : VALUE_U8);
	ov_node(c, "DequantizeLinear", between, 2);
}

/* ---- normalization ---- */

/* Since operator set 5 the data come first. */
static void batch_norm(const struct ov_call *c, const char *onnx)
{
	const int is_old = !strcmp(c->layer->version, "opset1");
	const int in[] = {ov_in(c, is_old ? 2 : 0), ov_in(c, is_old ? 0 : 1),
			  ov_in(c, is_old ? 1 : 2), ov_in(c, 3), ov_in(c, 4)};

	ov_node(c, onnx, in, 5);
}

/* ---- products ---- */

static void mat_mul(const struct ov_call *c, const char *onnx)
{
	struct graph_node *n = ov_node(c, onnx, c->in, c->nin);

	build_int(c->b, n, "transA", ov_flag(c, "transpose_a", 0));
	build_int(c->b, n, "transB", ov_flag(c, "transpose_b", 0));
}

static void einsum(const struct ov_call *c, const char *onnx)
{
	const char *equation = ir_attr(c->layer, "equation");

	build_str(c->b, ov_node(c, onnx, c->in, c->nin), "equation", equation ? equation : "");
}

static void attention(const struct ov_call *c, const char *onnx)
{
	(void)onnx;
	compose_attention(c->b, c->in[0], c->in[1], c->in[2], c->out[0]);
}

/* A cell: each row of the data reads the weights once. */
static void cell(const struct ov_call *c, const char *onnx)
{
	const int first = !strcmp(onnx, "LSTM") ? 3 : 2; /* behind the states */
	const int in[] = {ov_in(c, 0), ov_in(c, first), ov_in(c, first + 1)};
	struct graph_node *n = ov_node(c, c->layer->type, in, 3);

	n->domain = OPENVINO_DOMAIN;
	n->weighs = 1;
}

/* A sequence of cells: batch x sequence x input; it makes batch x directions x sequence x hidden,
 * where ONNX has the directions third. */
static void sequence(const struct ov_call *c, const char *onnx)
{
	static const int64_t perm[] = {0, 2, 1, 3};
	const int first = !strcmp(onnx, "LSTM") ? 4 : 3; /* behind states and lengths */
	const int in[] = {ov_in(c, 0), ov_in(c, first), ov_in(c, first + 1)};
	int *out = arena_array(c->b->a, int, c->nout + 1);
	struct graph_node *n;

	memcpy(out, c->out, sizeof *out * (size_t)c->nout);
	out[0] = build_part(c->b, c->out[0], "rows");
	n = build_node(c->b, onnx, in, 3, out, c->nout);
	build_int(c->b, n, "layout", 1);
	n = build_node(c->b, "Transpose", &out[0], 1, c->out, 1);
	n->is_told = 1;
	build_ints(c->b, n, "perm", perm, 4);
}

static void weighing(const struct ov_call *c, const char *onnx)
{
	(void)onnx;
	ov_own(c)->weighs = 1;
}

static void reduce(const struct ov_call *c, const char *onnx)
{
	struct graph_node *n = ov_node(c, onnx, c->in, c->nin);

	build_int(c->b, n, "keepdims", ov_flag(c, "keep_dims", 0));
	build_int(c->b, n, "noop_with_empty_axes", 1);
}

/* What is read from a variable is at first what the variable begins with. */
static void read_value(const struct ov_call *c, const char *onnx)
{
	if (c->nin)
		unary(c, onnx);
	else
		ov_own(c);
}

/* ---- the table ---- */

static const struct row {
	const char *type;
	ov_fn *fn;
	const char *onnx;
	int least; /* inputs without which it is not this operator */
} rows[] = {
	{"Convolution", ov_conv, "Conv", 2},
	{"GroupConvolution", ov_conv, "Conv", 2},
	{"ConvolutionBackpropData", ov_conv_transpose, "ConvTranspose", 2},
	{"GroupConvolutionBackpropData", ov_conv_transpose, "ConvTranspose", 2},
	{"DeformableConvolution", ov_deformable, "DeformConv", 3},
	{"BinaryConvolution", weighing, NULL, 1},
	{"MatMul", mat_mul, "MatMul", 2},
	{"Einsum", einsum, "Einsum", 1},
	{"ScaledDotProductAttention", attention, NULL, 3},
	{"LSTMSequence", sequence, "LSTM", 6},
	{"GRUSequence", sequence, "GRU", 5},
	{"RNNSequence", sequence, "RNN", 5},
	{"LSTMCell", cell, "LSTM", 5},
	{"GRUCell", cell, "GRU", 4},
	{"RNNCell", cell, "RNN", 4},
	{"MaxPool", ov_pool, "MaxPool", 1},
	{"AvgPool", ov_pool, "AveragePool", 1},
	{"Pad", ov_pad, "Pad", 1},
	{"Interpolate", ov_resize, "Resize", 1},
	{"DepthToSpace", ov_blocks, "DepthToSpace", 1},
	{"SpaceToDepth", ov_blocks, "SpaceToDepth", 1},
	{"Add", same, "Add", 1},
	{"Subtract", scale, "Sub", 1},
	{"Multiply", scale, "Mul", 1},
	{"Divide", same, "Div", 1},
	{"Power", same, "Pow", 1},
	{"Maximum", same, "Max", 1},
	{"Minimum", same, "Min", 1},
	{"Mod", same, "Mod", 1},
	{"FloorMod", same, "Mod", 1},
	{"SquaredDifference", square, NULL, 1},
	{"Equal", same, "Equal", 1},
	{"NotEqual", not_equal, NULL, 1},
	{"Less", same, "Less", 1},
	{"LessEqual", same, "LessOrEqual", 1},
	{"Greater", same, "Greater", 1},
	{"GreaterEqual", same, "GreaterOrEqual", 1},
	{"LogicalAnd", same, "And", 1},
	{"LogicalOr", same, "Or", 1},
	{"LogicalXor", same, "Xor", 1},
	{"LogicalNot", unary, "Not", 1},
	{"Select", same, "Where", 1},
	{"Abs", unary, "Abs", 1},
	{"Ceiling", unary, "Ceil", 1},
	{"Cos", unary, "Cos", 1},
	{"Erf", unary, "Erf", 1},
	{"Exp", unary, "Exp", 1},
	{"Floor", unary, "Floor", 1},
	{"Log", unary, "Log", 1},
	{"Negative", unary, "Neg", 1},
	{"Round", unary, "Round", 1},
	{"Sign", unary, "Sign", 1},
	{"Sin", unary, "Sin", 1},
	{"Sqrt", unary, "Sqrt", 1},
	{"IsNaN", unary, "IsNaN", 1},
	{"IsInf", unary, "IsInf", 1},
	{"ReLU", unary, "Relu", 1},
	{"Relu", unary, "Relu", 1},
	{"Clamp", clamp, "Clip", 1},
	{"Sigmoid", unary, "Sigmoid", 1},
	{"Tanh", unary, "Tanh", 1},
	{"Swish", swish, "Mul", 1},
	{"HSwish", unary, "HardSwish", 1},
	{"HSigmoid", hard_sigmoid_of_hsigmoid, "HardSigmoid", 1},
	{"HardSigmoid", hard_sigmoid, "HardSigmoid", 1},
	{"Gelu", gelu, "Gelu", 1},
	{"Elu", elu, "Elu", 1},
	{"PReLU", same, "PRelu", 1},
	{"PRelu", same, "PRelu", 1},
	{"Selu", unary, "Selu", 1},
	{"Mish", unary, "Mish", 1},
	{"SoftPlus", unary, "Softplus", 1},
	{"SoftSign", unary, "Softsign", 1},
	{"SoftMax", along, "Softmax", 1},
	{"Softmax", along, "Softmax", 1},
	{"LogSoftmax", along, "LogSoftmax", 1},
	{"BatchNormInference", batch_norm, "BatchNormalization", 5},
	{"MVN", unary, "MeanVarianceNormalization", 1},
	{"NormalizeL2", unary, "LpNormalization", 1},
	{"GroupNormalization", same, "GroupNormalization", 1},
	{"LRN", unary, "LRN", 1},
	{"RMS", same, "RMSNormalization", 1},
	{"RMSNorm", same, "RMSNormalization", 1},
	{"CumSum", unary, "CumSum", 1},
	{"Convert", convert, "Cast", 1},
	{"ConvertLike", same, "CastLike", 1},
	{"FakeQuantize", fake_quantize, NULL, 2},
	{"ReduceMean", reduce, "ReduceMean", 1},
	{"ReduceSum", reduce, "ReduceSum", 1},
	{"ReduceMax", reduce, "ReduceMax", 1},
	{"ReduceMin", reduce, "ReduceMin", 1},
	{"ReduceProd", reduce, "ReduceProd", 1},
	{"ReduceL1", reduce, "ReduceL1", 1},
	{"ReduceL2", reduce, "ReduceL2", 1},
	{"ReduceLogicalAnd", reduce, "ReduceMin", 1},
	{"ReduceLogicalOr", reduce, "ReduceMax", 1},
	{"TopK", ov_top_k, "TopK", 1},
	{"Reshape", ov_reshape, "Reshape", 1},
	{"Squeeze", same, "Squeeze", 1},
	{"Unsqueeze", same, "Unsqueeze", 1},
	{"Transpose", same, "Transpose", 1},
	{"Concat", ov_concat, "Concat", 1},
	{"Split", ov_split, "Split", 1},
	{"VariadicSplit", ov_variadic_split, "Split", 1},
	{"StridedSlice", ov_strided_slice, "Slice", 1},
	{"Slice", ov_slice, "Slice", 1},
	{"Gather", ov_gather, "Gather", 3},
	{"GatherElements", same, "GatherElements", 1},
	{"GatherND", same, "GatherND", 1},
	{"ScatterElementsUpdate", unary, "ScatterElements", 1},
	{"ScatterNDUpdate", unary, "ScatterND", 1},
	{"ScatterUpdate", unary, "Scatter", 1},
	{"ReverseSequence", unary, "ReverseSequence", 1},
	{"Broadcast", ov_broadcast, "Expand", 1},
	{"Tile", same, "Tile", 1},
	{"ShapeOf", unary, "Shape", 1},
	{"Range", same, "Range", 1},
	{"OneHot", ov_one_hot, "OneHot", 1},
	{"NonZero", unary, "NonZero", 1},
	{"ReadValue", read_value, "Identity", 0},
	{"Identity", unary, "Identity", 1},
};

static int has_all(const struct ov_call *c, int least)
{
	for (int i = 0; i < c->nin; i++)
		if (c->in[i] < 0)
			return 0;
	return c->nin >= least && c->nout;
}

void openvino_call(const struct ov_call *c)
{
	const int first = c->b->g->nnode;
	const struct row *row = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !row; i++)
		if (!strcmp(rows[i].type, c->layer->type))
			row = &rows[i];
	if (row && has_all(c, row->least))
		row->fn(c, row->onnx);
	else
		ov_own(c);
	if (c->b->g->nnode > first)
		c->b->g->node[first].name = c->layer->name;
}
