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
	ov_node(c, onnx, c->in, c->nin ? 1 : 0);
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

	if (both[0] < 0 || c->nout != 1 ||
	    (ov_in(c, 1) >= 0 && (!holds(c, c->in[1], &beta) || beta != 1))) {
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
	if (in[1] < 0 || c->nout != 1 || levels > 256) {
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
	if (c->nin < 3 || c->nout != 1 || c->in[0] < 0 || c->in[1] < 0 || c->in[2] < 0)
		ov_own(c);
	else
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

	if (c->nout < 1) {
		ov_own(c);
		return;
	}
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
} rows[] = {
	{"Convolution", ov_conv, "Conv"},
	{"GroupConvolution", ov_conv, "Conv"},
	{"ConvolutionBackpropData", ov_conv_transpose, "ConvTranspose"},
	{"GroupConvolutionBackpropData", ov_conv_transpose, "ConvTranspose"},
	{"DeformableConvolution", ov_deformable, "DeformConv"},
	{"BinaryConvolution", weighing, NULL},
	{"MatMul", mat_mul, "MatMul"},
	{"Einsum", einsum, "Einsum"},
	{"ScaledDotProductAttention", attention, NULL},
	{"LSTMSequence", sequence, "LSTM"},
	{"GRUSequence", sequence, "GRU"},
	{"RNNSequence", sequence, "RNN"},
	{"LSTMCell", cell, "LSTM"},
	{"GRUCell", cell, "GRU"},
	{"RNNCell", cell, "RNN"},
	{"MaxPool", ov_pool, "MaxPool"},
	{"AvgPool", ov_pool, "AveragePool"},
	{"Pad", ov_pad, "Pad"},
	{"Interpolate", ov_resize, "Resize"},
	{"DepthToSpace", ov_blocks, "DepthToSpace"},
	{"SpaceToDepth", ov_blocks, "SpaceToDepth"},
	{"Add", same, "Add"},
	{"Subtract", scale, "Sub"},
	{"Multiply", scale, "Mul"},
	{"Divide", same, "Div"},
	{"Power", same, "Pow"},
	{"Maximum", same, "Max"},
	{"Minimum", same, "Min"},
	{"Mod", same, "Mod"},
	{"FloorMod", same, "Mod"},
	{"SquaredDifference", square, NULL},
	{"Equal", same, "Equal"},
	{"NotEqual", not_equal, NULL},
	{"Less", same, "Less"},
	{"LessEqual", same, "LessOrEqual"},
	{"Greater", same, "Greater"},
	{"GreaterEqual", same, "GreaterOrEqual"},
	{"LogicalAnd", same, "And"},
	{"LogicalOr", same, "Or"},
	{"LogicalXor", same, "Xor"},
	{"LogicalNot", unary, "Not"},
	{"Select", same, "Where"},
	{"Abs", unary, "Abs"},
	{"Ceiling", unary, "Ceil"},
	{"Cos", unary, "Cos"},
	{"Erf", unary, "Erf"},
	{"Exp", unary, "Exp"},
	{"Floor", unary, "Floor"},
	{"Log", unary, "Log"},
	{"Negative", unary, "Neg"},
	{"Round", unary, "Round"},
	{"Sign", unary, "Sign"},
	{"Sin", unary, "Sin"},
	{"Sqrt", unary, "Sqrt"},
	{"IsNaN", unary, "IsNaN"},
	{"IsInf", unary, "IsInf"},
	{"ReLU", unary, "Relu"},
	{"Relu", unary, "Relu"},
	{"Clamp", clamp, "Clip"},
	{"Sigmoid", unary, "Sigmoid"},
	{"Tanh", unary, "Tanh"},
	{"Swish", swish, "Mul"},
	{"HSwish", unary, "HardSwish"},
	{"HSigmoid", hard_sigmoid_of_hsigmoid, "HardSigmoid"},
	{"HardSigmoid", hard_sigmoid, "HardSigmoid"},
	{"Gelu", gelu, "Gelu"},
	{"Elu", elu, "Elu"},
	{"PReLU", same, "PRelu"},
	{"PRelu", same, "PRelu"},
	{"Selu", unary, "Selu"},
	{"Mish", unary, "Mish"},
	{"SoftPlus", unary, "Softplus"},
	{"SoftSign", unary, "Softsign"},
	{"SoftMax", along, "Softmax"},
	{"Softmax", along, "Softmax"},
	{"LogSoftmax", along, "LogSoftmax"},
	{"BatchNormInference", batch_norm, "BatchNormalization"},
	{"MVN", unary, "MeanVarianceNormalization"},
	{"NormalizeL2", unary, "LpNormalization"},
	{"GroupNormalization", same, "GroupNormalization"},
	{"LRN", unary, "LRN"},
	{"RMS", same, "RMSNormalization"},
	{"RMSNorm", same, "RMSNormalization"},
	{"CumSum", unary, "CumSum"},
	{"Convert", convert, "Cast"},
	{"ConvertLike", same, "CastLike"},
	{"FakeQuantize", fake_quantize, NULL},
	{"ReduceMean", reduce, "ReduceMean"},
	{"ReduceSum", reduce, "ReduceSum"},
	{"ReduceMax", reduce, "ReduceMax"},
	{"ReduceMin", reduce, "ReduceMin"},
	{"ReduceProd", reduce, "ReduceProd"},
	{"ReduceL1", reduce, "ReduceL1"},
	{"ReduceL2", reduce, "ReduceL2"},
	{"ReduceLogicalAnd", reduce, "ReduceMin"},
	{"ReduceLogicalOr", reduce, "ReduceMax"},
	{"TopK", ov_top_k, "TopK"},
	{"Reshape", ov_reshape, "Reshape"},
	{"Squeeze", same, "Squeeze"},
	{"Unsqueeze", same, "Unsqueeze"},
	{"Transpose", same, "Transpose"},
	{"Concat", ov_concat, "Concat"},
	{"Split", ov_split, "Split"},
	{"VariadicSplit", ov_variadic_split, "Split"},
	{"StridedSlice", ov_strided_slice, "Slice"},
	{"Slice", ov_slice, "Slice"},
	{"Gather", ov_gather, "Gather"},
	{"GatherElements", same, "GatherElements"},
	{"GatherND", same, "GatherND"},
	{"ScatterElementsUpdate", unary, "ScatterElements"},
	{"ScatterNDUpdate", unary, "ScatterND"},
	{"ScatterUpdate", unary, "Scatter"},
	{"ReverseSequence", unary, "ReverseSequence"},
	{"Broadcast", ov_broadcast, "Expand"},
	{"Tile", same, "Tile"},
	{"ShapeOf", unary, "Shape"},
	{"Range", same, "Range"},
	{"OneHot", ov_one_hot, "OneHot"},
	{"NonZero", unary, "NonZero"},
	{"ReadValue", read_value, "Identity"},
	{"Identity", unary, "Identity"},
};

void openvino_call(const struct ov_call *c)
{
	const int first = c->b->g->nnode;
	const struct row *row = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !row; i++)
		if (!strcmp(rows[i].type, c->layer->type))
			row = &rows[i];
	if (row && c->nout)
		row->fn(c, row->onnx);
	else
		ov_own(c);
	if (c->b->g->nnode > first)
		c->b->g->node[first].name = c->layer->name;
}
