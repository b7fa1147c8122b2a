/* Which operators of ONNX a layer of Keras is: the table, and layers that belong to no other file.
 */
#include <string.h>

#include "lib/extract/keras/layer.h"

/* The dimension of the channels. It may be a list of one. */
static int64_t axis_of(const struct call *l)
{
	const struct json *axis = layer_get(l, "axis");
	int64_t at = -1;

	if (axis && axis->type == JSON_ARR)
		axis = json_first(l->doc, axis);
	json_int(axis, &at);
	return at;
}

static int is_last(const struct call *l)
{
	return axis_of(l) != 1;
}

static int batch_norm(const struct call *l, const struct call_row *row)
{
	const int in[] = {layer_parameter(l, "gamma", 0), layer_parameter(l, "beta", 0),
			  layer_parameter(l, "mean", 0), layer_parameter(l, "variance", 0)};
	const int out =
		call_make(l, "y = %s(0 @%d @%d @%d @%d)", row->onnx, in[0], in[1], in[2], in[3]);

	build_last(l->b)->channels_last = is_last(l);
	return layer_made(l, out);
}

/* -1: each channel is a group. Of another dimension than the first or the last nothing is asked. */
static int group_norm(const struct call *l, const struct call_row *row)
{
	const struct call_row each = {row->theirs, "InstanceNormalization"};

	l->out[0] = layer_fresh(l);
	if (call_int(l, "groups", 0) != -1 && (axis_of(l) == 1 || axis_of(l) == -1))
		call_node_of(l, row, l->in, 1)->channels_last = is_last(l);
	else
		call_node_of(l, &each, l->in, 1);
	return 0;
}

/* Makes a layer whose list of sizes, or of dimensions, lacks the batch, which stays. */
static int but_batch(const struct call *l, const struct call_row *row)
{
	int64_t all[GRAPH_MAX_RANK] = {0}, v[GRAPH_MAX_RANK];
	const int n = call_ints(l, row->attrs->theirs, 1, v);

	if (!n || n == GRAPH_MAX_RANK)
		return -1;
	memcpy(all + 1, v, sizeof *v * (size_t)n);
	layer_made(l, call_make(l, "y = %s(0)", row->onnx));
	build_ints(l->b, build_last(l->b), row->attrs->onnx, all, n + 1);
	return 0;
}

static int repeat_vector(const struct call *l, const struct call_row *row)
{
	const int64_t times = call_int(l, "n", 0);

	(void)row;
	return times < 1 ? -1
			 : layer_made(l, call_make(l,
						   "x = Reshape(0) shape=[0,1,-1]; "
						   "y = Tile(x) repeats=[1,%lld,1]",
						   (long long)times));
}

static int embedding(const struct call *l, const struct call_row *row)
{
	const int table = layer_parameter(l, "embeddings", 0);
	struct value *v = l->b->g->value[table];

	v->shape = (struct shape){2, {call_int(l, "input_dim", 0), call_int(l, "output_dim", 0)}};
	if (v->shape.dim[0] < 1 || v->shape.dim[1] < 1 || v->shape.dim[0] > 1 << 30 ||
	    v->shape.dim[1] > 1 << 24)
		return -1;
	return layer_made(l, call_make(l, "y = %s(@%d 0)", row->onnx, table));
}

static int all(const struct call *l, const struct call_row *row)
{
	l->out[0] = layer_fresh(l);
	call_node(l, row->onnx, l->in, l->nin);
	return 0;
}

static int stack(const struct call *l, const struct call_row *row)
{
	l->out[0] = layer_fresh(l);
	return call_pack(l, row);
}

/* An operation of keras.ops, or of TensorFlow, with a number. */
static int with_number(const struct call *l, const struct call_row *row)
{
	int number;

	if (l->nin > 1)
		return all(l, row);
	number = build_number(l->b, layer_of(l)->number);
	return layer_made(l, layer_of(l)->number_first
				     ? call_make(l, "y = %s(@%d 0)", row->onnx, number)
				     : call_make(l, "y = %s(0 @%d)", row->onnx, number));
}

/* ---- the table ---- */

#define AXES(onnx)                                                                                 \
	{                                                                                          \
		CALL_INTS, onnx, "axis"                                                            \
	}
#define REDUCE CALL_ATTRS(AXES("axes"), {CALL_FLAG, "keepdims", "keepdims"})

static const struct call_row rows[] = {
	{"Conv1D Conv2D Conv3D", "Conv", .fn = layer_conv},
	{"Conv1DTranspose Conv2DTranspose Conv3DTranspose", "ConvTranspose", .fn = layer_conv},
	{"DepthwiseConv1D DepthwiseConv2D", "Conv", .fn = layer_depthwise},
	{"SeparableConv1D SeparableConv2D", "Conv", .fn = layer_separable},
	{"Dense", NULL, .fn = layer_dense},
	{"MultiHeadAttention GroupQueryAttention", NULL, .fn = layer_attention},
	{"Attention", NULL, .fn = layer_dot_attention},
	{"Matmul", "MatMul"},
	{"Einsum", "Einsum", NULL, CALL_ATTRS({CALL_TEXT, "equation", "subscripts"})},
	{"EinsumDense", "Einsum", .fn = layer_einsum_dense},
	{"Dot", "Einsum", .fn = layer_dot},
	{"AdditiveAttention", NULL, .fn = layer_additive_attention},
	{"RNN ConvLSTM1D ConvLSTM2D ConvLSTM3D Tensordot", NULL, .fn = layer_weighs},
	{"Embedding", "Gather", .fn = embedding},
	{"LSTM", "LSTM", .fn = layer_recurrent},
	{"GRU", "GRU", .fn = layer_recurrent},
	{"SimpleRNN", "RNN", .fn = layer_recurrent},
	{"Bidirectional", NULL, .fn = layer_bidirectional},
	{"TimeDistributed", NULL, .fn = layer_time_distributed},
	{"SpectralNormalization", NULL, .fn = layer_scaled},
	{"BatchNormalization", "BatchNormalization", .fn = batch_norm},
	{"LayerNormalization", "LayerNormalization", "0"},
	{"RMSNormalization", "RMSNormalization", "0"},
	{"UnitNormalization", "LpNormalization", "0"},
	{"GroupNormalization", "GroupNormalization", "0",
	 CALL_ATTRS({CALL_INT, "num_groups", "groups", 32},
		    {CALL_REAL, "epsilon", "epsilon", 1e-3}),
	 group_norm},
	{"Activation", NULL, .fn = layer_activation_layer},
	{"ReLU", "Relu", .fn = layer_relu},
	/* Keras 2 calls the slope alpha. */
	{"LeakyReLU LeakyRelu", "LeakyRelu", "0",
	 CALL_ATTRS({CALL_REAL, "alpha", "negative_slope alpha", 0.3})},
	{"PReLU", "PRelu", "0"}, /* its slopes are learned */
	{"ELU Elu", "Elu", "0"},
	{"Softmax", "Softmax", "0", CALL_ATTRS({CALL_INT, "axis", NULL, -1})},
	{"MaxPooling1D MaxPooling2D MaxPooling3D", "MaxPool", .fn = layer_pool},
	{"AveragePooling1D AveragePooling2D AveragePooling3D", "AveragePool", .fn = layer_pool},
	{"GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D", "ReduceMax",
	 .fn = layer_global_pool},
	{"GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D", "ReduceMean",
	 .fn = layer_global_pool},
	{"ZeroPadding1D ZeroPadding2D ZeroPadding3D", "Pad", .fn = layer_pad},
	{"Cropping1D Cropping2D Cropping3D", "Slice", .fn = layer_crop},
	{"CenterCrop", "CenterCropPad", .fn = layer_resize},
	{"UpSampling1D UpSampling2D UpSampling3D", "Resize", .fn = layer_upsample},
	{"Resizing", "Resize", .fn = layer_resize},
	{"Reshape", "Reshape", NULL, CALL_ATTRS({CALL_INTS, "shape", "target_shape"}), but_batch},
	{"RepeatVector", NULL, .fn = repeat_vector},
	{"Flatten", "$0 = Reshape(0) shape=[0,-1]"},
	{"Permute", "Transpose", NULL, CALL_ATTRS({CALL_INTS, "perm", "dims"}), but_batch},
	{"Add", "Add", .fn = with_number},
	{"Subtract", "Sub", .fn = with_number},
	{"Multiply Rescaling", "Mul", .fn = with_number},
	{"TrueDivide", "Div", .fn = with_number},
	{"Average", "Mean"},
	{"Maximum", "Max"},
	{"Minimum", "Min"},
	{"Concatenate", "Concat", NULL, CALL_ATTRS({CALL_INT, "axis", "axis", -1})},
	/* of keras.ops */
	{"Relu6", "Clip", "0", CALL_CLIP(0, 6)},
	{"Clip", "Clip", "0", CALL_ATTRS({CALL_REAL, "min", "x_min"}, {CALL_REAL, "max", "x_max"})},
	{"Silu", CALL_GATED},
	{"HardSilu", "HardSwish", "0"},
	{"HardSigmoid", "HardSigmoid", "0", CALL_HARD_SIGMOID},
	{"Gelu", "Gelu", "0",
	 CALL_ATTRS({CALL_WHEN, "approximate", "approximate", .word = "tanh"})},
	{"LogSoftmax", "LogSoftmax", "0", CALL_ATTRS({CALL_INT, "axis", "axis", -1})},
	{"Square", CALL_SQUARE},
	{"Rsqrt", CALL_RSQRT},
	{"Flip", "ReverseSequence", "0"},
	{"Mean", "ReduceMean", "0", REDUCE},
	{"Sum", "ReduceSum", "0", REDUCE},
	{"Prod", "ReduceProd", "0", REDUCE},
	{"Max", "ReduceMax", "0", REDUCE},
	{"Min", "ReduceMin", "0", REDUCE},
	{"ExpandDims", "Unsqueeze", "0", CALL_ATTRS(AXES("axes"))},
	{"Squeeze", "Squeeze", "0", CALL_ATTRS(AXES("axes"))},
	{"Transpose", "Transpose", "0", CALL_ATTRS({CALL_INTS, "perm", "axes"})},
	{"Stack", NULL, NULL, CALL_ATTRS({CALL_INT, "axis", "axis"}), stack},
	{"Identity Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D AlphaDropout",
	 "Identity", "0"},
	{"GaussianNoise GaussianDropout ActivityRegularization Masking Normalization", "Identity",
	 "0"},
	{"RandomFlip RandomRotation RandomZoom RandomContrast RandomTranslation LayerScale",
	 "Identity", "0"},
	{"StochasticDepth", "Identity", "0"},
};

/* A function of TensorFlow that is called with tensors of Keras 2: the layer that does the same, or
 * the function. */
static const char *function(const struct call *l)
{
	static const struct {
		const char *tensorflow, *layer;
	} names[] = {
		{"__operators__.add", "Add"},
		{"math.add", "Add"},
		{"math.subtract", "Subtract"},
		{"math.multiply", "Multiply"},
		{"math.truediv", "TrueDivide"},
		{"math.divide", "TrueDivide"},
		{"math.maximum", "Maximum"},
		{"math.minimum", "Minimum"},
		{"nn.relu", "ReLU"},
		{"identity", "Identity"},
	};
	const char *name;

	if (json_str(layer_get(l, "function"), l->b->a, &name))
		return l->type;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].tensorflow, name))
			return names[i].layer;
	return name;
}

struct call keras_call(struct build *b, const struct keras_layer *l, const char *type,
		       const char *name)
{
	return (struct call){.b = b,
			     .type = type,
			     .name = name,
			     .domain = "keras",
			     .nout = 1,
			     .read = call_json,
			     .json = layer_get,
			     .doc = l->doc,
			     .at = l,
			     .between = layer_fresh};
}

int keras_layer(const struct call *l)
{
	/* The class may have the name of its package before it. */
	const char *colon = strrchr(l->type, '>');
	const int first_node = l->b->g->nnode;
	const struct call_row *row;
	struct call plain = *l;
	int out = -1;

	plain.out = &out;
	plain.type = colon ? colon + 1 : l->type;
	if (!strcmp(plain.type, "TFOpLambda"))
		plain.type = function(l);
	row = call_find(rows, sizeof rows / sizeof *rows, plain.type);
	if (!row || !row->fn || row->fn(&plain, row)) {
		out = layer_fresh(l);
		call_convert(&plain, row && !row->fn ? row : NULL);
	}
	if (l->b->g->nnode > first_node && !l->b->g->node[first_node].name[0])
		l->b->g->node[first_node].name = l->name;
	return out;
}
