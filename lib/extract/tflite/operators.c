/* Which operator of ONNX, or which several, an operator of TFLite is. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/tflite/rewrite.h"

/* ---- options ---- */

/* The number of a field behind its name. */
static int field(const char *name)
{
	return atoi(strchr(name, '#') + 1);
}

int rewrite_option(const struct call *c, const char *name, enum call_kind kind,
		   struct call_value *v)
{
	const struct options *o = c->at;
	const int i = kind == CALL_TEXT ? 0 : field(name);
	struct flat_list l;

	if (kind == CALL_TEXT || !o->at || !flat_field(o->flat, o->at, i))
		return 0;
	switch (kind) {
	case CALL_INT:
		v->i = flat_int(o->flat, o->at, i, 0);
		return 1;
	case CALL_REAL:
		v->f = (double)flat_float(o->flat, o->at, i, 0);
		return 1;
	case CALL_FLAG:
		v->i = flat_ubyte(o->flat, o->at, i, 0) != 0;
		return 1;
	default:
		l = flat_list(o->flat, o->at, i, 4);
		v->n = (int)l.n;
		for (uint32_t k = 0; k < l.n && k < GRAPH_MAX_RANK; k++)
			v->ints[k] = flat_list_int(o->flat, &l, k);
		return l.n > GRAPH_MAX_RANK ? -1 : 1;
	}
}

/* ---- functions ---- */

/* Weights in half precision are widened so, which says nothing of how the model computes. */
static int dequantize(const struct call *c, const struct call_row *row)
{
	if (elem_is_real(call_elem(c, call_in(c, 0))))
		build_int(c->b, call_node(c, "Cast", c->in, c->nin), "to",
			  call_elem(c, call_out(c, 0)));
	else
		call_node(c, row->onnx, c->in, c->nin);
	return 0;
}

/* The new shape is an input, or else an option. */
static int reshape(const struct call *c, const struct call_row *row)
{
	const int is_option = call_in(c, 1) < 0 && ((const struct options *)c->at)->at;
	int64_t shape[GRAPH_MAX_RANK];
	const int count = is_option ? call_ints(c, "new_shape#0", 0, shape) : 0;
	struct graph_node *n;

	if (count < 0)
		return -1;
	n = call_node(c, row->onnx, c->in, c->nin);
	build_int(c->b, n, "allowzero", 1);
	if (is_option)
		build_ints(c->b, n, "shape", shape, count);
	return 0;
}

static int squeeze(const struct call *c, const struct call_row *row)
{
	int64_t axes[GRAPH_MAX_RANK];

	if (call_ints(c, row->attrs->theirs, 0, axes) < 0)
		return -1;
	call_node_of(c, row, c->in, c->nin);
	return 0;
}

static int strided_slice(const struct call *c, const struct call_row *row)
{
	return call_flag(c, "offset#5", 0) ? -1 : call_strided_slice(c, row);
}

#define STRIDES                                                                                    \
	{                                                                                          \
		CALL_EACH, "strides", "stride_h#2 stride_w#1", 1                                   \
	}
#define STRIDES_3D                                                                                 \
	{                                                                                          \
		CALL_EACH, "strides", "stride_d#1 stride_h#3 stride_w#2", 1                        \
	}
#define POOL_2D                                                                                    \
	CALL_ATTRS(STRIDES, {CALL_EACH, "kernel_shape", "filter_height#4 filter_width#3", 1})

/* more: where the options hold a fused activation, plus 1. */
static const struct call_row rows[] = {
	{"CONV_2D", "Conv", NULL,
	 CALL_ATTRS(STRIDES, {CALL_EACH, "dilations", "dilation_h#5 dilation_w#4", 1}),
	 rewrite_conv, 4},
	{"DEPTHWISE_CONV_2D", "Conv", NULL,
	 CALL_ATTRS(STRIDES, {CALL_EACH, "dilations", "dilation_h#6 dilation_w#5", 1}),
	 rewrite_conv, 5},
	{"CONV_3D", "Conv", NULL,
	 CALL_ATTRS(STRIDES_3D,
		    {CALL_EACH, "dilations", "dilation_d#5 dilation_h#7 dilation_w#6", 1}),
	 rewrite_conv, 5},
	{"TRANSPOSE_CONV", "ConvTranspose", NULL, CALL_ATTRS(STRIDES), rewrite_conv_transpose, 4},
	{"CONV_3D_TRANSPOSE", "ConvTranspose", NULL, CALL_ATTRS(STRIDES_3D), rewrite_conv_transpose,
	 5},
	{"Convolution2DTransposeBias", "ConvTranspose", .fn = rewrite_custom_transpose},
	{"AVERAGE_POOL_2D", "AveragePool", NULL, POOL_2D, rewrite_pool, 6},
	{"MAX_POOL_2D", "MaxPool", NULL, POOL_2D, rewrite_pool, 6},
	{"L2_POOL_2D", "LpPool", NULL, POOL_2D, rewrite_pool, 6},
	{"FULLY_CONNECTED", NULL, .fn = rewrite_fully_connected, .more = 1},
	{"BATCH_MATMUL", "MatMul", NULL,
	 CALL_ATTRS({CALL_FLAG, "transA", "adj_x#0"}, {CALL_FLAG, "transB", "adj_y#1"})},
	{"ADD", "Add", .more = 1},
	{"SUB", "Sub", .more = 1},
	{"MUL", "Mul", .more = 1},
	{"DIV", "Div", .more = 1},
	{"RELU_N1_TO_1", "Clip", "0", CALL_CLIP(-1, 1)},
	{"RELU_0_TO_1", "Clip", "0", CALL_CLIP(0, 1)},
	{"LOGISTIC", "Sigmoid"},
	{"PRELU", "PRelu"},
	{"LEAKY_RELU", "LeakyRelu", NULL, CALL_ATTRS({CALL_REAL, "alpha", "alpha#0"})},
	{"GELU", "Gelu", NULL,
	 CALL_ATTRS({CALL_WHEN, "approximate", "approximate#0", .word = "tanh"})},
	{"SOFTMAX", "Softmax"},
	{"LOG_SOFTMAX", "LogSoftmax"},
	{"L2_NORMALIZATION", "LpNormalization", .more = 1},
	{"LOCAL_RESPONSE_NORMALIZATION", "LRN"},
	{"DENSIFY", "Identity"},
	{"CAST", "Cast", NULL, CALL_ATTRS({CALL_ELEM, "to"})},
	{"DEQUANTIZE", "DequantizeLinear", .fn = dequantize},
	{"QUANTIZE", "QuantizeLinear", NULL, CALL_ATTRS({CALL_ELEM, "output_dtype"})},
	{"MEAN", "ReduceMean", NULL, CALL_REDUCE("keep_dims#0")},
	{"SUM", "ReduceSum", NULL, CALL_REDUCE("keep_dims#0")},
	{"REDUCE_MAX REDUCE_ANY", "ReduceMax", NULL, CALL_REDUCE("keep_dims#0")},
	{"REDUCE_MIN REDUCE_ALL", "ReduceMin", NULL, CALL_REDUCE("keep_dims#0")},
	{"REDUCE_PROD", "ReduceProd", NULL, CALL_REDUCE("keep_dims#0")},
	{"ONE_HOT", "OneHot", "012", CALL_ATTRS({CALL_INT, "axis", "axis#0", -1})},
	{"CONCATENATION", "Concat", NULL, CALL_ATTRS({CALL_INT, "axis", "axis#0"}), .more = 2},
	{"PACK", NULL, NULL, CALL_ATTRS({CALL_INT, "axis", "axis#1"}), call_pack},
	{"UNPACK", NULL, NULL, CALL_ATTRS({CALL_INT, "axis", "axis#1"}), call_unpack},
	{"SPLIT", "Split", "10", NULL, call_split},
	{"SPLIT_V", "Split", "021", NULL, call_split},
	{"RESHAPE", "Reshape", .fn = reshape},
	{"SQUEEZE", "Squeeze", NULL, CALL_ATTRS({CALL_INTS, "axes", "squeeze_dims#0"}), squeeze},
	{"REVERSE_V2 REVERSE_SEQUENCE", "ReverseSequence"},
	{"PAD PADV2", "constant", .fn = call_pad},
	{"MIRROR_PAD", "reflect", .fn = call_pad},
	{"RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR", CALL_RESIZE},
	{"DEPTH_TO_SPACE", "DepthToSpace", NULL,
	 CALL_ATTRS({CALL_INT, "blocksize", "block_size#0"}), rewrite_blocks},
	{"SPACE_TO_DEPTH", "SpaceToDepth", NULL,
	 CALL_ATTRS({CALL_INT, "blocksize", "block_size#0"}), rewrite_blocks},
	{"SLICE", "Slice", .fn = call_slice},
	{"STRIDED_SLICE", NULL, NULL,
	 CALL_ATTRS({CALL_INT, "begin", "begin_mask#0"}, {CALL_INT, "end", "end_mask#1"},
		    {CALL_INT, "ellipsis", "ellipsis_mask#2"},
		    {CALL_INT, "new_axis", "new_axis_mask#3"},
		    {CALL_INT, "shrink", "shrink_axis_mask#4"}),
	 strided_slice},
	{"GATHER", "Gather", NULL,
	 CALL_ATTRS({CALL_INT, "axis", "axis#0"}, {CALL_INT, "batch_dims", "batch_dims#1"}),
	 call_gather},
	{"EMBEDDING_LOOKUP", "Gather", "10"},
	{"SHAPE", "Shape"},
	{"UNIDIRECTIONAL_SEQUENCE_LSTM", "LSTM", .fn = rewrite_recurrent},
	{"BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN LSTM RNN SVDF", NULL,
	 .fn = call_weighs},
	{"UNIDIRECTIONAL_SEQUENCE_RNN", "RNN", .fn = rewrite_recurrent},
	/* Nothing is known of what happens inside. */
	{"IF WHILE CALL STABLEHLO_CONVOLUTION STABLEHLO_DOT_GENERAL STABLEHLO_COMPOSITE", NULL,
	 .fn = call_weighs},
	{"STABLEHLO_WHILE", NULL, .fn = call_weighs},
};

/* Activations that are an option of the operators before them, by their numbers. */
static const char *const fused[] = {NULL, "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN"};
enum { FUSED = sizeof fused / sizeof *fused };

void rewrite_operation(const struct call *c)
{
	const struct call_row *row = call_find_shared(rows, sizeof rows / sizeof *rows, c->type);
	const struct options *o = c->at;
	struct call own = *c;
	int first = c->b->g->nnode, kind = 0, out = call_out(c, 0), between;

	if (!row) {
		call_own(c);
		return;
	}
	if (row->more && o->at && out >= 0)
		kind = (int)flat_byte(o->flat, o->at, row->more - 1, 0);
	if (kind > 0 && kind < FUSED) {
		between = build_between(c->b, out);
		own.out = &between;
		own.nout = 1;
	}
	call_convert(&own, row);
	/* The first node is the one that counts, or leads to it; the file names no operators, so it
	 * has the name of what the operator makes. */
	if (c->b->g->nnode > first && out >= 0)
		c->b->g->node[first].name = c->b->g->value[out]->name;
	if (own.out != &between)
		return;
	own = (struct call){
		.b = c->b, .type = fused[kind], .in = &between, .nin = 1, .out = &out, .nout = 1};
	call_convert(&own, call_find_shared(rows, sizeof rows / sizeof *rows, own.type));
}
