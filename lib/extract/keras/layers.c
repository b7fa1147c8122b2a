/* Which operators of ONNX a layer of Keras is: the table, and layers that belong to no other file.
 */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/keras/layer.h"

static int same(const struct keras_layer *l, const char *onnx)
{
	int out = layer_fresh(l);

	layer_node(l, onnx, l->in, l->nin, out);
	return out;
}

static int first(const struct keras_layer *l, const char *onnx)
{
	return layer_one(l, onnx, l->in[0]);
}

static int batch_norm(const struct keras_layer *l, const char *onnx)
{
	const int in[] = {l->in[0], layer_parameter(l, "gamma", 0), layer_parameter(l, "beta", 0),
			  layer_parameter(l, "mean", 0), layer_parameter(l, "variance", 0)};
	const struct json *axis = layer_get(l, "axis");
	int64_t at = -1;
	int out = layer_fresh(l);
	struct graph_node *n = layer_node(l, onnx, in, 5, out);

	if (axis && axis->type == JSON_ARR)
		axis = json_first(l->doc, axis);
	json_int(axis, &at);
	n->channels_last = at != 1;
	return out;
}

static int concat(const struct keras_layer *l, const char *onnx)
{
	int out = layer_fresh(l);

	build_int(l->b, layer_node(l, onnx, l->in, l->nin, out), "axis", layer_int(l, "axis", -1));
	return out;
}

/* The batch stays. */
static int reshape_layer(const struct keras_layer *l, const char *onnx)
{
	int64_t shape[GRAPH_MAX_RANK], v[GRAPH_MAX_RANK];
	int n = layer_ints(l, "target_shape", 1, v);

	(void)onnx;
	if (!n || n == GRAPH_MAX_RANK)
		return layer_own(l);
	shape[0] = 0;
	memcpy(shape + 1, v, sizeof *v * (size_t)n);
	return layer_reshape(l, l->in[0], shape, n + 1);
}

static int flatten(const struct keras_layer *l, const char *onnx)
{
	(void)onnx;
	return layer_reshape(l, l->in[0], (const int64_t[]){0, -1}, 2);
}

static int repeat_vector(const struct keras_layer *l, const char *onnx)
{
	const int64_t times = layer_int(l, "n", 0);
	struct graph_node *n;
	int in, out;

	if (times < 1)
		return layer_own(l);
	in = layer_reshape(l, l->in[0], (const int64_t[]){0, 1, -1}, 3);
	out = layer_fresh(l);
	n = layer_node(l, onnx, &in, 1, out);
	build_int(l->b, n, "axis", 1);
	build_int(l->b, n, "times", times);
	return out;
}

static int permute(const struct keras_layer *l, const char *onnx)
{
	int64_t perm[GRAPH_MAX_RANK], v[GRAPH_MAX_RANK];
	int n = layer_ints(l, "dims", 1, v);

	(void)onnx;
	if (!n || n == GRAPH_MAX_RANK)
		return layer_own(l);
	perm[0] = 0;
	memcpy(perm + 1, v, sizeof *v * (size_t)n);
	return layer_transpose(l, l->in[0], perm, n + 1);
}

static int embedding(const struct keras_layer *l, const char *onnx)
{
	const int in[] = {layer_parameter(l, "embeddings", 0), l->in[0]};
	struct value *v = l->b->g->value[in[0]];
	int out = layer_fresh(l);

	v->shape = (struct shape){2, {layer_int(l, "input_dim", 0), layer_int(l, "output_dim", 0)}};
	if (v->shape.dim[0] < 1 || v->shape.dim[1] < 1 || v->shape.dim[0] > 1 << 30 ||
	    v->shape.dim[1] > 1 << 24)
		return layer_own(l);
	layer_node(l, onnx, in, 2, out);
	return out;
}

/* An operation of keras.ops, or of TensorFlow, with a number. */
static int with_number(const struct keras_layer *l, const char *onnx)
{
	int number;

	if (l->nin > 1)
		return same(l, onnx);
	number = build_number(l->b, l->number);
	return l->number_first ? layer_pair(l, onnx, number, l->in[0], 0)
			       : layer_pair(l, onnx, l->in[0], number, 0);
}

/* ---- the table ---- */

static const struct row {
	const char *type;
	layer_fn *fn;
	const char *onnx;
} rows[] = {
	{"Conv1D", layer_conv, "Conv"},
	{"Conv2D", layer_conv, "Conv"},
	{"Conv3D", layer_conv, "Conv"},
	{"Conv1DTranspose", layer_conv, "ConvTranspose"},
	{"Conv2DTranspose", layer_conv, "ConvTranspose"},
	{"Conv3DTranspose", layer_conv, "ConvTranspose"},
	{"DepthwiseConv1D", layer_depthwise, "Conv"},
	{"DepthwiseConv2D", layer_depthwise, "Conv"},
	{"SeparableConv1D", layer_separable, "Conv"},
	{"SeparableConv2D", layer_separable, "Conv"},
	{"Dense", layer_dense, NULL},
	{"MultiHeadAttention", layer_attention, NULL},
	{"Attention", layer_dot_attention, NULL},
	{"Matmul", same, "MatMul"},
	{"EinsumDense", layer_weighing, NULL},
	{"Embedding", embedding, "Gather"},
	{"LSTM", layer_recurrent, "LSTM"},
	{"GRU", layer_recurrent, "GRU"},
	{"SimpleRNN", layer_recurrent, "RNN"},
	{"Bidirectional", layer_bidirectional, NULL},
	{"TimeDistributed", layer_time_distributed, NULL},
	{"RNN", layer_weighing, NULL},
	{"ConvLSTM1D", layer_weighing, NULL},
	{"ConvLSTM2D", layer_weighing, NULL},
	{"ConvLSTM3D", layer_weighing, NULL},
	{"BatchNormalization", batch_norm, "BatchNormalization"},
	{"LayerNormalization", first, "LayerNormalization"},
	{"GroupNormalization", first, "GroupNormalization"},
	{"Activation", layer_activation_layer, NULL},
	{"ReLU", layer_relu, "Relu"},
	{"LeakyReLU", layer_leaky_relu_layer, NULL},
	{"PReLU", first, "PRelu"}, /* its slopes are learned */
	{"ELU", first, "Elu"},
	{"Softmax", layer_softmax_layer, NULL},
	{"MaxPooling1D", layer_pool, "MaxPool"},
	{"MaxPooling2D", layer_pool, "MaxPool"},
	{"MaxPooling3D", layer_pool, "MaxPool"},
	{"AveragePooling1D", layer_pool, "AveragePool"},
	{"AveragePooling2D", layer_pool, "AveragePool"},
	{"AveragePooling3D", layer_pool, "AveragePool"},
	{"GlobalMaxPooling1D", layer_global_pool, "ReduceMax"},
	{"GlobalMaxPooling2D", layer_global_pool, "ReduceMax"},
	{"GlobalMaxPooling3D", layer_global_pool, "ReduceMax"},
	{"GlobalAveragePooling1D", layer_global_pool, "ReduceMean"},
	{"GlobalAveragePooling2D", layer_global_pool, "ReduceMean"},
	{"GlobalAveragePooling3D", layer_global_pool, "ReduceMean"},
	{"ZeroPadding1D", layer_pad, "Pad"},
	{"ZeroPadding2D", layer_pad, "Pad"},
	{"ZeroPadding3D", layer_pad, "Pad"},
	{"Cropping1D", layer_crop, "Slice"},
	{"Cropping2D", layer_crop, "Slice"},
	{"Cropping3D", layer_crop, "Slice"},
	{"CenterCrop", layer_center_crop, "CenterCropPad"},
	{"UpSampling1D", layer_upsample, "Resize"},
	{"UpSampling2D", layer_upsample, "Resize"},
	{"UpSampling3D", layer_upsample, "Resize"},
	{"Resizing", layer_resize, NULL},
	{"Reshape", reshape_layer, NULL},
	{"RepeatVector", repeat_vector, "Repeat"},
	{"Flatten", flatten, NULL},
	{"Permute", permute, NULL},
	{"Add", with_number, "Add"},
	{"Subtract", with_number, "Sub"},
	{"Multiply", with_number, "Mul"},
	{"TrueDivide", with_number, "Div"},
	{"Average", same, "Mean"},
	{"Maximum", same, "Max"},
	{"Minimum", same, "Min"},
	{"Concatenate", concat, "Concat"},
	{"Identity", first, "Identity"},
	{"Dropout", first, "Identity"},
	{"SpatialDropout1D", first, "Identity"},
	{"SpatialDropout2D", first, "Identity"},
	{"SpatialDropout3D", first, "Identity"},
	{"AlphaDropout", first, "Identity"},
	{"GaussianNoise", first, "Identity"},
	{"GaussianDropout", first, "Identity"},
	{"ActivityRegularization", first, "Identity"},
	{"Masking", first, "Identity"},
	{"Normalization", first, "Identity"},
	{"Rescaling", with_number, "Mul"},
	{"RandomFlip", first, "Identity"},
	{"RandomRotation", first, "Identity"},
	{"RandomZoom", first, "Identity"},
	{"RandomContrast", first, "Identity"},
	{"RandomTranslation", first, "Identity"},
	{"LayerScale", first, "Identity"},
	{"StochasticDepth", first, "Identity"},
};

/* A function of TensorFlow that is called with tensors of Keras 2: the layer that does the same, or
 * the function. */
static const char *function(const struct keras_layer *l)
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

int keras_layer(const struct keras_layer *l)
{
	/* The class may have the name of its package before it. */
	const char *colon = strrchr(l->type, '>');
	struct keras_layer plain = *l;
	const int first_node = l->b->g->nnode;
	const struct row *row = NULL;
	int out;

	plain.type = colon ? colon + 1 : l->type;
	if (!strcmp(plain.type, "TFOpLambda"))
		plain.type = function(l);
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !row; i++)
		if (!strcmp(rows[i].type, plain.type))
			row = &rows[i];
	out = row ? row->fn(&plain, row->onnx) : layer_own(&plain);
	if (l->b->g->nnode > first_node && !l->b->g->node[first_node].name[0])
		l->b->g->node[first_node].name = l->name;
	return out;
}