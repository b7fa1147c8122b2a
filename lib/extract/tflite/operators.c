/* Which operator of ONNX, or which several, an operator of TFLite is. */
#include <string.h>

#include "lib/extract/tflite/rewrite.h"

/* TFLite's name; how its nodes are made; the name in ONNX, for those that differ in nothing else;
 * where the options hold a fused activation, plus 1. */
struct row {
	const char *type;
	rewrite_fn *fn;
	const char *onnx;
	int activation;
};

static const struct row rows[] = {
	{"CONV_2D", rewrite_conv, "Conv", 4},
	{"DEPTHWISE_CONV_2D", rewrite_conv, "Conv", 5},
	{"CONV_3D", rewrite_conv, "Conv", 5},
	{"TRANSPOSE_CONV", rewrite_conv_transpose, "ConvTranspose", 4},
	{"CONV_3D_TRANSPOSE", rewrite_conv_transpose, "ConvTranspose", 5},
	{"Convolution2DTransposeBias", rewrite_custom_transpose, "ConvTranspose", 0},
	{"AVERAGE_POOL_2D", rewrite_pool, "AveragePool", 6},
	{"MAX_POOL_2D", rewrite_pool, "MaxPool", 6},
	{"L2_POOL_2D", rewrite_pool, "LpPool", 6},
	{"FULLY_CONNECTED", rewrite_fully_connected, "MatMul", 1},
	{"BATCH_MATMUL", rewrite_batch_matmul, "MatMul", 0},
	{"ADD", rewrite_same, "Add", 1},
	{"SUB", rewrite_same, "Sub", 1},
	{"MUL", rewrite_same, "Mul", 1},
	{"DIV", rewrite_same, "Div", 1},
	{"FLOOR_DIV", rewrite_same, "FloorDiv", 0},
	{"FLOOR_MOD", rewrite_same, "Mod", 0},
	{"POW", rewrite_same, "Pow", 0},
	{"MAXIMUM", rewrite_same, "Max", 0},
	{"MINIMUM", rewrite_same, "Min", 0},
	{"ADD_N", rewrite_same, "Sum", 0},
	{"SQUARE", rewrite_square, NULL, 0},
	{"SQUARED_DIFFERENCE", rewrite_square, NULL, 0},
	{"RSQRT", rewrite_rsqrt, NULL, 0},
	{"EQUAL", rewrite_same, "Equal", 0},
	{"NOT_EQUAL", rewrite_not_equal, NULL, 0},
	{"GREATER", rewrite_same, "Greater", 0},
	{"GREATER_EQUAL", rewrite_same, "GreaterOrEqual", 0},
	{"LESS", rewrite_same, "Less", 0},
	{"LESS_EQUAL", rewrite_same, "LessOrEqual", 0},
	{"LOGICAL_AND", rewrite_same, "And", 0},
	{"LOGICAL_OR", rewrite_same, "Or", 0},
	{"LOGICAL_NOT", rewrite_same, "Not", 0},
	{"SELECT", rewrite_same, "Where", 0},
	{"SELECT_V2", rewrite_same, "Where", 0},
	{"ABS", rewrite_same, "Abs", 0},
	{"NEG", rewrite_same, "Neg", 0},
	{"SIGN", rewrite_same, "Sign", 0},
	{"EXP", rewrite_same, "Exp", 0},
	{"LOG", rewrite_same, "Log", 0},
	{"SQRT", rewrite_same, "Sqrt", 0},
	{"SIN", rewrite_same, "Sin", 0},
	{"COS", rewrite_same, "Cos", 0},
	{"FLOOR", rewrite_same, "Floor", 0},
	{"CEIL", rewrite_same, "Ceil", 0},
	{"ROUND", rewrite_same, "Round", 0},
	{"CUMSUM", rewrite_same, "CumSum", 0},
	{"RELU", rewrite_same, "Relu", 0},
	{"RELU6", rewrite_clip, "0 6", 0},
	{"RELU_N1_TO_1", rewrite_clip, "-1 1", 0},
	{"RELU_0_TO_1", rewrite_clip, "0 1", 0},
	{"LOGISTIC", rewrite_same, "Sigmoid", 0},
	{"TANH", rewrite_same, "Tanh", 0},
	{"HARD_SWISH", rewrite_same, "HardSwish", 0},
	{"ELU", rewrite_same, "Elu", 0},
	{"PRELU", rewrite_same, "PRelu", 0},
	{"LEAKY_RELU", rewrite_leaky_relu, "LeakyRelu", 0},
	{"GELU", rewrite_gelu, "Gelu", 0},
	{"SOFTMAX", rewrite_same, "Softmax", 0},
	{"LOG_SOFTMAX", rewrite_same, "LogSoftmax", 0},
	{"L2_NORMALIZATION", rewrite_same, "LpNormalization", 1},
	{"LOCAL_RESPONSE_NORMALIZATION", rewrite_same, "LRN", 0},
	{"DENSIFY", rewrite_same, "Identity", 0},
	{"CAST", rewrite_cast, "Cast", 0},
	{"DEQUANTIZE", rewrite_dequantize, "DequantizeLinear", 0},
	{"QUANTIZE", rewrite_quantize, "QuantizeLinear", 0},
	{"MEAN", rewrite_reduce, "ReduceMean", 0},
	{"SUM", rewrite_reduce, "ReduceSum", 0},
	{"REDUCE_MAX", rewrite_reduce, "ReduceMax", 0},
	{"REDUCE_MIN", rewrite_reduce, "ReduceMin", 0},
	{"REDUCE_PROD", rewrite_reduce, "ReduceProd", 0},
	{"REDUCE_ANY", rewrite_reduce, "ReduceMax", 0},
	{"REDUCE_ALL", rewrite_reduce, "ReduceMin", 0},
	{"ARG_MAX", rewrite_arg, "ArgMax", 0},
	{"ARG_MIN", rewrite_arg, "ArgMin", 0},
	{"TOPK_V2", rewrite_same, "TopK", 0},
	{"ONE_HOT", rewrite_one_hot, "OneHot", 0},
	{"CONCATENATION", rewrite_concatenation, "Concat", 2},
	{"PACK", rewrite_pack, NULL, 0},
	{"UNPACK", rewrite_unpack, NULL, 0},
	{"SPLIT", rewrite_split, "Split", 0},
	{"SPLIT_V", rewrite_split_v, "Split", 0},
	{"RESHAPE", rewrite_reshape, "Reshape", 0},
	{"SQUEEZE", rewrite_squeeze, "Squeeze", 0},
	{"EXPAND_DIMS", rewrite_same, "Unsqueeze", 0},
	{"TRANSPOSE", rewrite_same, "Transpose", 0},
	{"REVERSE_V2", rewrite_same, "ReverseSequence", 0},
	{"REVERSE_SEQUENCE", rewrite_same, "ReverseSequence", 0},
	{"PAD", rewrite_pad, "constant", 0},
	{"PADV2", rewrite_pad, "constant", 0},
	{"MIRROR_PAD", rewrite_pad, "reflect", 0},
	{"RESIZE_BILINEAR", rewrite_resize, "Resize", 0},
	{"RESIZE_NEAREST_NEIGHBOR", rewrite_resize, "Resize", 0},
	{"DEPTH_TO_SPACE", rewrite_blocks, "DepthToSpace", 0},
	{"SPACE_TO_DEPTH", rewrite_blocks, "SpaceToDepth", 0},
	{"SPACE_TO_BATCH_ND", rewrite_same, "SpaceToBatch", 0},
	{"BATCH_TO_SPACE_ND", rewrite_same, "BatchToSpace", 0},
	{"SLICE", rewrite_slice, "Slice", 0},
	{"STRIDED_SLICE", rewrite_strided_slice, "Slice", 0},
	{"GATHER", rewrite_gather, "Gather", 0},
	{"GATHER_ND", rewrite_same, "GatherND", 0},
	{"EMBEDDING_LOOKUP", rewrite_embedding, "Gather", 0},
	{"TILE", rewrite_same, "Tile", 0},
	{"FILL", rewrite_fill, "Expand", 0},
	{"BROADCAST_TO", rewrite_same, "Expand", 0},
	{"RANGE", rewrite_same, "Range", 0},
	{"SHAPE", rewrite_same, "Shape", 0},
	{"RANK", rewrite_rank, NULL, 0},
	{"UNIDIRECTIONAL_SEQUENCE_LSTM", rewrite_recurrent, "LSTM", 0},
	{"BIDIRECTIONAL_SEQUENCE_LSTM", rewrite_weighing, NULL, 0},
	{"UNIDIRECTIONAL_SEQUENCE_RNN", rewrite_recurrent, "RNN", 0},
	{"BIDIRECTIONAL_SEQUENCE_RNN", rewrite_weighing, NULL, 0},
	{"LSTM", rewrite_weighing, NULL, 0},
	{"RNN", rewrite_weighing, NULL, 0},
	{"SVDF", rewrite_weighing, NULL, 0},
	/* Nothing is known of what happens inside. */
	{"IF", rewrite_weighing, NULL, 0},
	{"WHILE", rewrite_weighing, NULL, 0},
	{"CALL", rewrite_weighing, NULL, 0},
	{"STABLEHLO_CONVOLUTION", rewrite_weighing, NULL, 0},
	{"STABLEHLO_DOT_GENERAL", rewrite_weighing, NULL, 0},
	{"STABLEHLO_COMPOSITE", rewrite_weighing, NULL, 0},
	{"STABLEHLO_WHILE", rewrite_weighing, NULL, 0},
};

enum { FUSED_NONE, FUSED_RELU, FUSED_RELU_N1_TO_1, FUSED_RELU6, FUSED_TANH, FUSED_SIGN };

static void activate(struct build *b, int kind, const int *in, const int *out)
{
	const char *type = kind == FUSED_RELU	? "Relu"
			   : kind == FUSED_TANH ? "Tanh"
			   : kind == FUSED_SIGN ? "Sign"
						: "Clip";
	struct graph_node *n = build_node(b, type, in, 1, out, 1);

	if (kind == FUSED_RELU6 || kind == FUSED_RELU_N1_TO_1) {
		build_float(b, n, "min", kind == FUSED_RELU6 ? 0 : -1);
		build_float(b, n, "max", kind == FUSED_RELU6 ? 6 : 1);
	}
}

/* An operator that is none of ONNX's, under its own name. */
struct graph_node *rewrite_own(struct build *b, const struct operation *o)
{
	struct graph_node *n = build_node(b, o->type, o->in, o->nin, o->out, o->nout);

	n->domain = TFLITE_DOMAIN;
	return n;
}

static const struct row *find(const char *type)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].type, type))
			return &rows[i];
	return NULL;
}

void rewrite_operation(struct build *b, const struct operation *o)
{
	const struct row *row = find(o->type);
	struct operation own = *o;
	int first = b->g->nnode, kind = 0, out = o->nout ? o->out[0] : -1, between;

	if (!row) {
		rewrite_own(b, o);
		return;
	}
	if (row->activation && o->options && out >= 0)
		kind = (int)flat_byte(o->flat, o->options, row->activation - 1, 0);
	if (kind >= FUSED_RELU && kind <= FUSED_SIGN) {
		between = build_between(b, out);
		own.out = &between;
		own.nout = 1;
	}
	row->fn(b, &own, row->onnx);
	/* The first node is the one that counts, or leads to it; the file names no operators, so it
	 * has the name of what the operator makes. */
	if (b->g->nnode > first && out >= 0)
		b->g->node[first].name = b->g->value[out]->name;
	if (own.out == &between)
		activate(b, kind, &between, &out);
}
