/* Which operator of ONNX, or which several, an operator of TensorFlow is. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/tensorflow/convert.h"

/* ---- attributes ---- */

static int integer(const struct call *c, const char *name, int64_t *v)
{
	const struct message_attr *a = message_attr(c->at, name);

	*v = a ? a->i : 0;
	return a ? 0 : -1;
}

static int flag(const struct call *c, const char *name, int *v)
{
	const struct message_attr *a = message_attr(c->at, name);

	*v = a && a->i;
	return a ? 0 : -1;
}

static int real(const struct call *c, const char *name, double *v)
{
	const struct message_attr *a = message_attr(c->at, name);

	*v = a ? (double)a->f : 0;
	return a ? 0 : -1;
}

static const char *text(const struct call *c, const char *name)
{
	const struct message_attr *a = message_attr(c->at, name);

	return a ? a->s : NULL;
}

static int ints(const struct call *c, const char *name, int64_t v[GRAPH_MAX_RANK])
{
	const struct message_attr *a = message_attr(c->at, name);

	if (!a || a->nints > GRAPH_MAX_RANK)
		return a ? -1 : 0;
	if (a->nints)
		memcpy(v, a->ints, sizeof *v * (size_t)a->nints);
	return a->nints;
}

const struct call_reader convert_reader = {integer, real, flag, ints, text, NULL};

const char *convert_text(const struct call *c, const char *name)
{
	const char *s = text(c, name);

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
	static const int64_t one = 1;
	const int count = call_in(c, 1), list = build_part(c->b, c->out[0], "length");

	if (count < 0)
		return -1;
	build_ints(c->b, build_node(c->b, "Reshape", &count, 1, &list, 1), "shape", &one, 1);
	call_node(c, row->onnx, &list, 1);
	return 0;
}

/* ONNX has both values in a list. */
static int one_hot(const struct call *c, const struct call_row *row)
{
	const int values[] = {call_in(c, 3), call_in(c, 2)},
		  list = build_part(c->b, c->out[0], "values");
	const int from[] = {call_in(c, 0), call_in(c, 1), list};

	if (c->nin < 4 || compose_pack(c->b, values, 2, list, 0))
		return -1;
	build_int(c->b, call_node(c, row->onnx, from, 3), "axis", call_int(c, "axis", -1));
	return 0;
}

/* Boxes of the images that they name, each resized; the channels are last. */
static int crop_and_resize(const struct call *c, const struct call_row *row)
{
	const int in[] = {call_in(c, 0), call_in(c, 2)};
	const int of = build_part(c->b, c->out[0], "of");

	(void)row;
	build_node(c->b, "Gather", in, 2, &of, 1);
	compose_resize(c->b, of, call_in(c, 3), c->out[0], 1);
	return 0;
}

/* Zeros of that shape, some of which become others. */
static int scatter(const struct call *c, const struct call_row *row)
{
	const int shape = call_in(c, 2), zeros = build_part(c->b, c->out[0], "zeros");
	const int in[] = {zeros, call_in(c, 0), call_in(c, 1)};

	build_node(c->b, "ConstantOfShape", &shape, 1, &zeros, 1);
	call_node(c, row->onnx, in, 3);
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
	{"AddN", "Sum"},
	{"Sub", "Sub"},
	{"Mul MulNoNan", "Mul"},
	{"Div RealDiv DivNoNan", "Div"},
	{"FloorDiv", "FloorDiv"},
	{"FloorMod", "Mod"},
	{"Pow", "Pow"},
	{"Maximum", "Max"},
	{"Minimum", "Min"},
	{"Square SquaredDifference", NULL, .fn = call_square},
	{"Rsqrt", "Sqrt Reciprocal", .fn = call_chain},
	{"Erfc", "Erf 1:Sub", .fn = call_chain},
	{"Log1p", "Add:1 Log", .fn = call_chain},
	{"Expm1", "Exp Sub:1", .fn = call_chain},
	{"Round Rint", "Round"},
	{"ClipByValue", "Clip"},
	{"ZerosLike", "Sub", "00"},
	{"OnesLike", "Sub Exp", "00", NULL, call_chain},
	{"Reciprocal Inv", "Reciprocal"},
	{"Relu6", "Clip", "0", CALL_CLIP(0, 6)},
	{"LeakyRelu", "LeakyRelu", "0",
	 CALL_ATTRS({CALL_REAL, "alpha", "alpha leakyrelu_alpha", 0.2})},
	{"Elu", "Elu"},
	{"_MklSwish", "Sigmoid", .fn = call_gated},
	{"GeluExact", "Gelu", "0", CALL_ATTRS({CALL_WORD, "approximate", .word = "none"})},
	{"GeluApproximate", "Gelu", "0", CALL_ATTRS({CALL_WORD, "approximate", .word = "tanh"})},
	{"LRN", "LRN", "0"},
	{"Softmax", "Softmax", "0", CALL_ATTRS({CALL_INT, "axis", NULL, -1})},
	{"LogSoftmax", "LogSoftmax", "0", CALL_ATTRS({CALL_INT, "axis", NULL, -1})},
	{"NotEqual", "Equal Not", .fn = call_chain},
	{"GreaterEqual", "GreaterOrEqual"},
	{"LessEqual", "LessOrEqual"},
	{"LogicalAnd", "And"},
	{"LogicalOr", "Or"},
	{"LogicalNot", "Not"},
	{"LogicalXor", "Xor"},
	{"Select SelectV2", "Where"},
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
	{"ArgMax", "ArgMax", .fn = call_arg},
	{"ArgMin", "ArgMin", .fn = call_arg},
	{"TopKV2", "TopK"},
	{"Reshape", "Reshape", NULL, CALL_ATTRS({CALL_INT, "allowzero", NULL, 1})},
	{"Squeeze", "Squeeze", "0", CALL_ATTRS({CALL_INTS, "axes", "squeeze_dims"})},
	{"ExpandDims", "Unsqueeze"},
	{"Transpose", "Transpose"},
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
	{"GatherNd", "GatherND"},
	{"ScatterNd", "ScatterND", .fn = scatter},
	{"TensorScatterUpdate", "ScatterND"},
	{"TensorScatterAdd", "ScatterND", NULL,
	 CALL_ATTRS({CALL_WORD, "reduction", .word = "add"})},
	{"MatrixBandPart BatchMatrixBandPart", "Trilu", "0"},
	{"Where", "NonZero Transpose", "0", NULL, call_chain},
	{"RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt",
	 "ConstantOfShape RandomUniformLike", "0", NULL, call_chain},
	{"Tile", "Tile"},
	{"Reverse ReverseV2 ReverseSequence", "ReverseSequence", "0"},
	{"OneHot", "OneHot", .fn = one_hot},
	{"Cumsum", "CumSum"},
	{"Cumprod", "CumProd"},
	{"Fill", "Expand", "10"},
	{"BroadcastTo", "Expand"},
	{"Range", "Range"},
	{"Shape", "Shape", "0"},
	{"Rank", NULL, .fn = call_rank},
	{"Size", "Size", "0"},
	{"Pad PadV2", "constant", .fn = pad},
	{"MirrorPad", "reflect", .fn = pad},
	{"ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea ScaleAndTranslate", NULL,
	 .fn = call_resize},
	{"CropAndResize", NULL, .fn = crop_and_resize},
	{"DepthToSpace", "DepthToSpace", NULL, CALL_ATTRS({CALL_INT, "blocksize", "block_size", 1}),
	 convert_blocks},
	{"SpaceToDepth", "SpaceToDepth", NULL, CALL_ATTRS({CALL_INT, "blocksize", "block_size", 1}),
	 convert_blocks},
	{"SpaceToBatchND", "SpaceToBatch"},
	{"BatchToSpaceND", "BatchToSpace"},
};

void tensorflow_operator(const struct call *c)
{
	call_convert(c, call_find(rows, sizeof rows / sizeof *rows, c->type));
}

int tensorflow_output(const char *type, const char *name)
{
	static const struct {
		const char *type, *output[6];
	} rows_of_results[] = {
		{"FusedBatchNorm", {"y", "batch_mean", "batch_variance"}},
		{"TopKV2", {"values", "indices"}},
		{"Switch", {"output_false", "output_true"}},
		{"RefSwitch", {"output_false", "output_true"}},
		{"Merge", {"output", "value_index"}},
		{"Unique", {"y", "idx"}},
		{"MaxPoolWithArgmax", {"output", "argmax"}},
		{"BlockLSTM", {"i", "cs", "f", "o", "ci", "co"}},
		{"CudnnRNN", {"output", "output_h", "output_c"}},
	};

	for (size_t i = 0; i < sizeof rows_of_results / sizeof *rows_of_results; i++)
		if (!strncmp(type, rows_of_results[i].type, strlen(rows_of_results[i].type)))
			for (int k = 0; k < 6 && rows_of_results[i].output[k]; k++)
				if (!strcmp(name, rows_of_results[i].output[k]))
					return k;
	return 0;
}
