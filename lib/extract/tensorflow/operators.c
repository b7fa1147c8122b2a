/* Which operator of ONNX, or which several, an operator of TensorFlow is. */
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/call/compose.h"
#include "lib/extract/tensorflow/tensorflow.h"

/* ---- attributes ---- */

int convert_attribute(const struct call *c, const char *name, enum call_kind kind,
		      struct call_value *v)
{
	const struct message_attr *a = message_attr(c->at, name);

	if (!a)
		return 0;
	v->i = kind == CALL_FLAG ? a->i != 0 : a->i;
	v->f = (double)a->f;
	v->s = a->s;
	v->n = a->nints;
	if (kind != CALL_INTS || !v->n)
		return 1;
	if (v->n > GRAPH_MAX_RANK)
		return -1;
	memcpy(v->ints, a->ints, sizeof *v->ints * (size_t)v->n);
	return 1;
}

const char *convert_text(const struct call *c, const char *name)
{
	const char *s = call_text(c, name);

	return s ? s : "";
}

static int fused(const struct call *c, const struct call_row *row)
{
	tensorflow_fused(c, row->onnx);
	return 0;
}

/* ---- what moves elements, and what loops are made of ---- */

/* A node for each result, which reads the input in the same place. */
static int each(const struct call *c, const struct call_row *row)
{
	if (c->nout > c->nin)
		return -1;
	for (int i = 0; i < c->nout; i++)
		build_node(c->b, row->onnx, &c->in[i], 1, &c->out[i], 1);
	return 0;
}

/* Each output is the first input: of Switch, both; of Merge, what a loop begins with. */
static int pass(const struct call *c, const struct call_row *row)
{
	for (int i = 0; i < c->nout; i++)
		build_node(c->b, row->onnx, c->in, 1, &c->out[i], 1);
	return 0;
}

/* The axis comes last (ConcatV2) or first. */
static int concat(const struct call *c, const struct call_row *row)
{
	const int is_last = !strcmp(c->type, "ConcatV2");
	int64_t axis;

	if (c->nin < 2 || !compose_integer(c->b, c->in[is_last ? c->nin - 1 : 0], &axis))
		return -1;
	build_int(c->b, call_node(c, row->onnx, c->in + !is_last, c->nin - 1), "axis", axis);
	return 0;
}

/* A list of tensors is a tensor here, whose items are along its first dimension. Before an item is
 * set, the length is all that is known. */
static int list_reserve(const struct call *c, const struct call_row *row)
{
	(void)row;
	if (call_in(c, 1) < 0)
		return -1;
	call_make(c, "length = Reshape(1) shape=[1]; $0 = ConstantOfShape(length)");
	return 0;
}

/* ONNX has both values in a list. */
static int one_hot(const struct call *c, const struct call_row *row)
{
	const int values[] = {call_in(c, 3), call_in(c, 2)},
		  list = build_part(c->b, c->out[0], "values");

	(void)row;
	if (c->nin < 4 || compose_pack(c->b, values, 2, list, 0))
		return -1;
	call_make(c, "$0 = OneHot(0 1 @%d) axis=%lld", list, (long long)call_int(c, "axis", -1));
	return 0;
}

static int pad(const struct call *c, const struct call_row *row)
{
	const struct call_row symmetric = {NULL, "symmetric"};

	return call_pad(c, strcmp(convert_text(c, "mode"), "SYMMETRIC") ? row : &symmetric);
}

/* ---- the table ---- */

static const struct call_row rows[] = {
	{"Conv2D Conv3D", "Conv", .fn = convert_conv},
	{"DepthwiseConv2dNative", "Conv", .fn = convert_depthwise},
	{"Conv2DBackpropInput Conv3DBackpropInputV2", "ConvTranspose",
	 .fn = convert_conv_transpose},
	{"MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3", "MatMul", "01",
	 CALL_ATTRS({CALL_FLAG, "transA", "transpose_a adj_x"},
		    {CALL_FLAG, "transB", "transpose_b adj_y"})},
	{"Einsum XlaEinsum", "Einsum", NULL, CALL_ATTRS({CALL_TEXT, "equation", "equation"})},
	{"CudnnRNN CudnnRNNV2 CudnnRNNV3 BlockLSTM BlockLSTMV2 LSTMBlockCell GRUBlockCell", NULL,
	 .fn = call_weighs},
	{"_FusedConv2D", "Conv2D", .fn = fused},
	{"_FusedDepthwiseConv2dNative", "DepthwiseConv2dNative", .fn = fused},
	{"_FusedMatMul", "MatMul", .fn = fused},
	{"_FusedBatchMatMulV2", "BatchMatMulV2", .fn = fused},
	{"BiasAdd", "Add", .fn = convert_bias_add},
	{"BiasAddV1 Add AddV2", "Add"},
	{"FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3", "BatchNormalization",
	 .fn = convert_batch_norm},
	{"AvgPool AvgPool3D", "AveragePool", .fn = convert_pool},
	{"MaxPool MaxPool3D", "MaxPool", .fn = convert_pool},
	{"Sub", "Sub"},
	{"Mul MulNoNan", "Mul"},
	{"Div RealDiv DivNoNan", "Div"},
	{"Erfc", "sum = Erf(0); $0 = Sub(#1 sum)"},
	{"Log1p", "sum = Add(0 #1); $0 = Log(sum)"},
	{"Expm1", "sum = Exp(0); $0 = Sub(sum #1)"},
	{"Round Rint", "Round"},
	{"ClipByValue", "Clip"},
	{"ZerosLike", "Sub", "00"},
	{"OnesLike", "sum = Sub(0 0); $0 = Exp(sum)"},
	{"Reciprocal Inv", "Reciprocal"},
	{"LeakyRelu", "LeakyRelu", "0",
	 CALL_ATTRS({CALL_REAL, "alpha", "alpha leakyrelu_alpha", 0.2})},
	{"_MklSwish", CALL_GATED},
	{"GeluExact", "Gelu", "0", CALL_ATTRS({CALL_WORD, "approximate", .word = "none"})},
	{"GeluApproximate", "Gelu", "0", CALL_ATTRS({CALL_WORD, "approximate", .word = "tanh"})},
	{"LRN", "LRN", "0"},
	{"Softmax", "Softmax", "0", CALL_ATTRS({CALL_INT, "axis", NULL, -1})},
	{"LogSoftmax", "LogSoftmax", "0", CALL_ATTRS({CALL_INT, "axis", NULL, -1})},
	{"Cast", "Cast", "0", CALL_ATTRS({CALL_INT, "to", "DstT", VALUE_UNKNOWN})},
	{"Identity QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 Snapshot ReadVariableOp",
	 "Identity", "0"},
	{"IdentityN", "Identity", .fn = each},
	{"StopGradient PreventGradient CheckNumerics EnsureShape FakeQuantWithMinMaxArgs",
	 "Identity", "0"},
	{"FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantizeV2",
	 "Identity", "0"},
	{"PlaceholderWithDefault TensorListFromTensor", "Identity", "0"},
	{"Switch Merge Enter Exit NextIteration LoopCond", "Identity", .fn = pass},
	{"TensorListReserve", "ConstantOfShape", .fn = list_reserve},
	{"TensorListGetItem TensorListGather", "Gather", "01"},
	{"TensorListSetItem", "SetItem"},
	{"TensorListStack", "ListItems"},
	{"Mean", "ReduceMean", NULL, CALL_REDUCE("keep_dims")},
	{"Sum", "ReduceSum", NULL, CALL_REDUCE("keep_dims")},
	{"Max Any", "ReduceMax", NULL, CALL_REDUCE("keep_dims")},
	{"Min All", "ReduceMin", NULL, CALL_REDUCE("keep_dims")},
	{"Prod", "ReduceProd", NULL, CALL_REDUCE("keep_dims")},
	{"Reshape", "Reshape", NULL, CALL_ATTRS({CALL_INT, "allowzero", NULL, 1})},
	{"Squeeze", "Squeeze", "0", CALL_ATTRS({CALL_INTS, "axes", "squeeze_dims"})},
	{"ConcatV2 Concat", "Concat", .fn = concat},
	{"Pack", NULL, NULL, CALL_ATTRS({CALL_INT, "axis", "axis"}), call_pack},
	{"Unpack", NULL, NULL, CALL_ATTRS({CALL_INT, "axis", "axis"}, {CALL_INT, "parts", "num"}),
	 call_unpack},
	{"Split", NULL, "10", CALL_ATTRS({CALL_INT, "parts", "num_split"}), call_split},
	{"SplitV", NULL, "021", CALL_ATTRS({CALL_INT, "parts", "num_split"}), call_split},
	{"Slice", "Slice", .fn = call_slice},
	{"StridedSlice", NULL, NULL,
	 CALL_ATTRS({CALL_INT, "begin", "begin_mask"}, {CALL_INT, "end", "end_mask"},
		    {CALL_INT, "ellipsis", "ellipsis_mask"},
		    {CALL_INT, "new_axis", "new_axis_mask"},
		    {CALL_INT, "shrink", "shrink_axis_mask"}),
	 call_strided_slice},
	{"Gather GatherV2 ResourceGather", "Gather", NULL,
	 CALL_ATTRS({CALL_INT, "batch_dims", "batch_dims"}), call_gather},
	{"ScatterNd", "zeros = ConstantOfShape(2); $0 = ScatterND(zeros 0 1)"},
	{"TensorScatterUpdate", "ScatterND"},
	{"TensorScatterAdd", "ScatterND", NULL,
	 CALL_ATTRS({CALL_WORD, "reduction", .word = "add"})},
	{"MatrixBandPart BatchMatrixBandPart", "Trilu", "0"},
	{"Where", "sum = NonZero(0); $0 = Transpose(sum)"},
	{"RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt",
	 "sum = ConstantOfShape(0); $0 = RandomUniformLike(sum)"},
	{"Reverse ReverseV2 ReverseSequence", "ReverseSequence", "0"},
	{"OneHot", "OneHot", .fn = one_hot},
	{"Cumprod", "CumProd"},
	{"Shape", "Shape", "0"},
	{"Size", "Size", "0"},
	{"Pad PadV2", "constant", .fn = pad},
	{"MirrorPad", "reflect", .fn = pad},
	{"ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea ScaleAndTranslate",
	 CALL_RESIZE},
	/* Boxes of the images that they name, each resized; the channels are last. */
	{"CropAndResize", "of = Gather(0 2); $0 = Resize(of - - 3) axes=[1,2]"},
	{"DepthToSpace", "DepthToSpace", NULL, CALL_ATTRS({CALL_INT, "blocksize", "block_size", 1}),
	 convert_blocks},
	{"SpaceToDepth", "SpaceToDepth", NULL, CALL_ATTRS({CALL_INT, "blocksize", "block_size", 1}),
	 convert_blocks},
};

void tensorflow_operator(const struct call *c)
{
	call_convert(c, call_find_shared(rows, sizeof rows / sizeof *rows, c->type));
}

int tensorflow_output(const char *type, const char *name, size_t n)
{
	static const struct {
		const char *types, *output[6];
	} results[] = {
		{"FusedBatchNorm", {"y", "batch_mean", "batch_variance"}},
		{"TopKV2", {"values", "indices"}},
		{"Switch RefSwitch", {"output_false", "output_true"}},
		{"Merge", {"output", "value_index"}},
		{"Unique", {"y", "idx"}},
		{"MaxPoolWithArgmax", {"output", "argmax"}},
		{"BlockLSTM", {"i", "cs", "f", "o", "ci", "co"}},
		{"CudnnRNN", {"output", "output_h", "output_c"}},
	};

	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		for (int k = 0; k < 6 && results[i].output[k]; k++)
			if (words_begin(results[i].types, type) &&
			    words_have(results[i].output[k], name, n))
				return k;
	return 0;
}
