/* Which operator of ONNX, or which several, an operator of OpenVINO is. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/openvino/openvino.h"

/* ---- attributes ---- */

static const struct ir_layer *layer(const struct call *c)
{
	return c->at;
}

static int list(const char *s, int64_t v[GRAPH_MAX_RANK])
{
	int n = 0;

	while (*s) {
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

int openvino_attribute(const struct call *c, const char *name, enum call_kind kind,
		       struct call_value *v)
{
	const char *s = ir_attr(c->at, name);
	char *end;

	if (!s)
		return 0;
	switch (kind) {
	case CALL_INT:
		return !ir_number(s, &v->i);
	case CALL_REAL:
		v->f = strtod(s, &end);
		return end != s;
	case CALL_FLAG:
		v->i = !strcasecmp(s, "true") || !strcmp(s, "1");
		return 1;
	case CALL_INTS:
		v->n = list(s, v->ints);
		return 1;
	default:
		v->s = s;
		return 1;
	}
}

static struct value *value(const struct call *c, int i)
{
	return i < 0 ? NULL : c->b->g->value[i];
}

/* The slope and the offset are inputs, where ONNX has attributes. */
static int hard_sigmoid(const struct call *c, const struct call_row *row)
{
	double alpha, beta;
	struct graph_node *n;

	if (!value_real(value(c, call_in(c, 1)), &alpha) ||
	    !value_real(value(c, call_in(c, 2)), &beta))
		return -1;
	n = call_node(c, row->onnx, c->in, 1);
	build_float(c->b, n, "alpha", (float)alpha);
	build_float(c->b, n, "beta", (float)beta);
	return 0;
}

/* There may be a factor inside, which is not 1. */
static int swish(const struct call *c, const struct call_row *row)
{
	double beta;

	if (c->nout != 1 ||
	    (call_in(c, 1) >= 0 && (!value_real(value(c, c->in[1]), &beta) || beta != 1)))
		return -1;
	call_make(c, "%s", row->onnx);
	return 0;
}

/* ---- element types ---- */

static int is_short(int elem)
{
	return elem == VALUE_I8 || elem == VALUE_U8 || elem == VALUE_I4 || elem == VALUE_U4;
}

/* Weights in 8 or 4 bits are widened, shifted and scaled by operators of their own: these have the
 * mark `quantized`, and the first of them stands for all. */
static int is_widened(const struct call *c)
{
	const struct value *v = value(c, call_in(c, 0));

	return v && v->quantized && c->nout == 1;
}

static void stay_widened(const struct call *c)
{
	call_node(c, "Identity", c->in, 1);
	value(c, c->out[0])->quantized = 1;
}

static int scale(const struct call *c, const struct call_row *row)
{
	if (is_widened(c))
		stay_widened(c);
	else
		call_node(c, row->onnx, c->in, c->nin);
	return 0;
}

/* What an f16 constant holds, its f32 form holds too. */
static int convert(const struct call *c, const struct call_row *row)
{
	const struct value *from = value(c, call_in(c, 0));
	struct value *to = c->nout == 1 ? value(c, c->out[0]) : NULL;

	if (is_widened(c)) {
		stay_widened(c);
		return 0;
	}
	if (from && to && from->is_const && is_short(from->elem) &&
	    elem_is_real(to->declared->elem)) {
		call_node(c, "DequantizeLinear", c->in, 1);
		to->quantized = 1;
		return 0;
	}
	build_int(c->b, call_node(c, row->onnx, c->in, c->nin), "to", to ? to->declared->elem : 0);
	if (from && to && from->is_const && from->kept && elem_is_real(from->elem) &&
	    elem_is_real(to->declared->elem)) {
		to->kept = from->kept;
		to->shape = from->shape;
	}
	return 0;
}

/* What follows is computed in 8 bits: with a sign where the least value, or the number of levels,
 * says so. The bounds are no scales, which these nodes have none of. */
static int fake_quantize(const struct call *c, const struct call_row *row)
{
	const struct value *data = value(c, call_in(c, 0));
	const int64_t levels = call_int(c, "levels", 256);
	int is_signed;
	double low;

	(void)row;
	if (c->nout != 1 || levels > 256)
		return -1;
	is_signed = value_real(value(c, call_in(c, 1)), &low) ? low < 0
							      : levels < 256 || data->is_const;
	call_make(c, "levels = QuantizeLinear(0) output_dtype=%d; $0 = DequantizeLinear(levels)",
		  is_signed ? VALUE_I8 : VALUE_U8);
	return 0;
}

/* ---- normalization ---- */

/* Since operator set 5 the data come first. */
static int batch_norm(const struct call *c, const struct call_row *row)
{
	const int is_old = !strcmp(layer(c)->version, "opset1");

	call_make(c, "$0 = %s(%s 3 4)", row->onnx, is_old ? "2 0 1" : "0 1 2");
	return 0;
}

/* ---- products ---- */

/* A cell: each row of the data reads the weights once. */
static int cell(const struct call *c, const struct call_row *row)
{
	const int first = !strcmp(row->onnx, "LSTM") ? 3 : 2; /* behind the states */
	const int in[] = {call_in(c, 0), call_in(c, first), call_in(c, first + 1)};
	struct graph_node *n = call_node(c, c->type, in, 3);

	n->domain = c->domain;
	n->weighs = 1;
	return 0;
}

/* A sequence of cells: batch x sequence x input; it makes batch x directions x sequence x hidden,
 * where ONNX has the directions third. */
static int sequence(const struct call *c, const struct call_row *row)
{
	static const int64_t perm[] = {0, 2, 1, 3};
	const int first = !strcmp(row->onnx, "LSTM") ? 4 : 3; /* behind states and lengths */
	const int in[] = {call_in(c, 0), call_in(c, first), call_in(c, first + 1)};
	int *out = arena_array(c->b->a, int, c->nout + 1);
	struct graph_node *n;

	memcpy(out, c->out, sizeof *out * (size_t)c->nout);
	out[0] = build_part(c->b, c->out[0], "rows");
	n = build_node(c->b, row->onnx, in, 3, out, c->nout);
	build_int(c->b, n, "layout", 1);
	build_ints(c->b, call_between(c, "Transpose", &out[0], 1, c->out[0]), "perm", perm, 4);
	return 0;
}

/* ---- what moves elements ---- */

/* A size of 0 keeps the size. */
static int reshape(const struct call *c, const struct call_row *row)
{
	build_int(c->b, call_node(c, row->onnx, c->in, c->nin), "allowzero",
		  !call_flag(c, "special_zero", 0));
	return 0;
}

static int broadcast(const struct call *c, const struct call_row *row)
{
	if (call_is(c, "mode", "explicit") || c->nin < 2)
		return -1;
	call_node(c, row->onnx, c->in, 2);
	return 0;
}

/* ---- the table ---- */

#define STEPS                                                                                      \
	{CALL_INTS, "strides", "strides"},                                                         \
	{                                                                                          \
		CALL_INTS, "dilations", "dilations"                                                \
	}

/* more: inputs, beside the first, without which it is not this operator. */
static const struct call_row rows[] = {
	{"Convolution GroupConvolution", "Conv", "01", CALL_ATTRS(STEPS), ov_conv, 1},
	/* the sizes to make may be told by an input */
	{"ConvolutionBackpropData GroupConvolutionBackpropData", "ConvTranspose", "01-2",
	 CALL_ATTRS(STEPS, {CALL_INTS, "output_padding", "output_padding"}), ov_conv, 1},
	{"DeformableConvolution", "DeformConv", "021",
	 CALL_ATTRS(STEPS, {CALL_INT, "group", "group", 1}), ov_conv, 2},
	{"BinaryConvolution", NULL, .fn = call_weighs},
	{"MatMul", "MatMul", NULL,
	 CALL_ATTRS({CALL_FLAG, "transA", "transpose_a"}, {CALL_FLAG, "transB", "transpose_b"}),
	 .more = 1},
	{"Einsum", "Einsum", NULL, CALL_ATTRS({CALL_TEXT, "equation", "equation"})},
	/* as its two products; a mask and a scale are left out */
	{"ScaledDotProductAttention",
	 "scores = MatMul(0 1) transB=1; weights = Softmax(scores) axis=-1; $0 = MatMul(weights 2)",
	 .more = 2},
	{"LSTMSequence", "LSTM", .fn = sequence, .more = 5},
	{"GRUSequence", "GRU", .fn = sequence, .more = 4},
	{"RNNSequence", "RNN", .fn = sequence, .more = 4},
	{"LSTMCell", "LSTM", .fn = cell, .more = 4},
	{"GRUCell", "GRU", .fn = cell, .more = 3},
	{"RNNCell", "RNN", .fn = cell, .more = 3},
	{"MaxPool", "MaxPool", NULL, CALL_ATTRS(STEPS, {CALL_INTS, "kernel_shape", "kernel"}),
	 ov_pool},
	{"AvgPool", "AveragePool", NULL, CALL_ATTRS(STEPS, {CALL_INTS, "kernel_shape", "kernel"}),
	 ov_pool},
	{"AdaptiveAvgPool", "AveragePool", "0", NULL, call_adaptive_pool},
	{"AdaptiveMaxPool", "MaxPool", "0", NULL, call_adaptive_pool},
	{"ROIAlign ROIAlignRotated", "RoiAlign", "012",
	 CALL_ATTRS({CALL_INT, "output_height", "pooled_h", 1},
		    {CALL_INT, "output_width", "pooled_w", 1}),
	 .more = 1},
	{"ROIPooling", "MaxRoiPool", "01",
	 CALL_ATTRS({CALL_EACH, "pooled_shape", "pooled_h pooled_w", 1}), .more = 1},
	{"GridSample", "GridSample", .more = 1},
	{"Pad", "Pad", .fn = ov_pad},
	{"Interpolate", "Resize", .fn = ov_resize},
	{"DepthToSpace", "DepthToSpace", "0", CALL_ATTRS({CALL_INT, "blocksize", "block_size", 1})},
	{"SpaceToDepth", "SpaceToDepth", "0", CALL_ATTRS({CALL_INT, "blocksize", "block_size", 1})},
	{"Add", "Add"},
	{"Subtract", "Sub", .fn = scale},
	{"Multiply", "Mul", .fn = scale},
	{"Divide", "Div"},
	{"Power", "Pow"},
	{"Mod FloorMod", "Mod"},
	{"Ceiling", "Ceil", "0"},
	{"Negative", "Neg", "0"},
	{"ReLU Relu", "Relu", "0"},
	{"Clamp", "Clip", "0",
	 CALL_ATTRS({CALL_REAL, "min", "min", -1e38}, {CALL_REAL, "max", "max", 1e38})},
	{"Swish", CALL_GATED, .fn = swish},
	{"HSwish", "HardSwish", "0"},
	{"HSigmoid", "HardSigmoid", "0", CALL_HARD_SIGMOID},
	{"HardSigmoid", "HardSigmoid", .fn = hard_sigmoid},
	{"Gelu", "Gelu", "0",
	 CALL_ATTRS({CALL_WHEN, "approximate", "approximation_mode", .word = "tanh"})},
	{"Elu", "Elu", "0", CALL_ATTRS({CALL_REAL, "alpha", "alpha", 1})},
	{"PReLU PRelu", "PRelu"},
	{"SoftMax Softmax", "Softmax", "0", CALL_ATTRS({CALL_INT, "axis", "axis", 1})},
	{"LogSoftmax", "LogSoftmax", "0", CALL_ATTRS({CALL_INT, "axis", "axis", 1})},
	{"BatchNormInference", "BatchNormalization", .fn = batch_norm, .more = 4},
	{"MVN", "MeanVarianceNormalization", "0"},
	{"NormalizeL2 GRN", "LpNormalization", "0"},
	{"GroupNormalization", "GroupNormalization", "012",
	 CALL_ATTRS({CALL_INT, "num_groups", "num_groups"},
		    {CALL_REAL, "epsilon", "epsilon", 1e-5}),
	 .more = 2},
	{"LRN", "LRN", "0"},
	{"RMS RMSNorm", "RMSNormalization"},
	{"CumSum", "CumSum", "0"},
	{"Convert", "Cast", .fn = convert},
	{"ConvertLike", "CastLike"},
	{"FakeQuantize", NULL, .fn = fake_quantize, .more = 1},
	{"ReduceMean", "ReduceMean", NULL, CALL_REDUCE("keep_dims")},
	{"ReduceSum", "ReduceSum", NULL, CALL_REDUCE("keep_dims")},
	{"ReduceMax ReduceLogicalOr", "ReduceMax", NULL, CALL_REDUCE("keep_dims")},
	{"ReduceMin ReduceLogicalAnd", "ReduceMin", NULL, CALL_REDUCE("keep_dims")},
	{"ReduceProd", "ReduceProd", NULL, CALL_REDUCE("keep_dims")},
	{"ReduceL1", "ReduceL1", NULL, CALL_REDUCE("keep_dims")},
	{"ReduceL2", "ReduceL2", NULL, CALL_REDUCE("keep_dims")},
	{"TopK", "TopK", "01", CALL_ATTRS({CALL_INT, "axis", "axis", -1})},
	{"Reshape", "Reshape", .fn = reshape},
	{"Squeeze", "Squeeze"},
	{"Unsqueeze", "Unsqueeze"},
	{"Concat", "Concat", NULL, CALL_ATTRS({CALL_INT, "axis", "axis", 1})},
	{"Split", "Split", "01", NULL, call_split},
	{"VariadicSplit", "Split", "012", NULL, call_split},
	{"StridedSlice", NULL, NULL,
	 CALL_ATTRS({CALL_INTS, "begin", "begin_mask"}, {CALL_INTS, "end", "end_mask"},
		    {CALL_INTS, "ellipsis", "ellipsis_mask"},
		    {CALL_INTS, "new_axis", "new_axis_mask"},
		    {CALL_INTS, "shrink", "shrink_axis_mask"}),
	 call_strided_slice},
	{"Slice", "Slice", "01243"},
	{"Gather", "Gather", NULL, CALL_ATTRS({CALL_INT, "batch_dims", "batch_dims"}), call_gather,
	 2},
	{"GatherElements", "GatherElements"},
	{"ScatterElementsUpdate", "ScatterElements", "0"},
	{"ScatterNDUpdate", "ScatterND", "0"},
	{"ScatterUpdate", "Scatter", "0"},
	{"ReverseSequence", "ReverseSequence", "0"},
	{"Broadcast", "Expand", .fn = broadcast},
	{"ShapeOf", "Shape", "0"},
	{"OneHot", "OneHot", "012", CALL_ATTRS({CALL_INT, "axis", "axis", -1})},
	{"NonZero", "NonZero", "0"},
	{"ReadValue Identity", "Identity", "0"},
};

static int has_all(const struct call *c, int least)
{
	for (int i = 0; i < c->nin; i++)
		if (c->in[i] < 0)
			return 0;
	return c->nin >= least && c->nout;
}

void openvino_call(const struct call *c)
{
	const struct call_row *row = call_find_shared(rows, sizeof rows / sizeof *rows, c->type);
	const int first = c->b->g->nnode;

	call_convert(c, row && has_all(c, 1 + row->more) ? row : NULL);
	if (c->b->g->nnode > first)
		c->b->g->node[first].name = c->name;
}
