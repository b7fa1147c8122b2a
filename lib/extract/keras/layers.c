/* Which operators of ONNX a layer of Keras is. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/keras/keras.h"

#define KERAS_DOMAIN "keras" /* of nodes that are none of ONNX's */

typedef int layer_fn(const struct keras_layer *l, const char *onnx);

/* ---- the configuration ---- */

static const struct json *get(const struct keras_layer *l, const char *key)
{
	return json_get(l->doc, l->config, key);
}

static int64_t integer(const struct keras_layer *l, const char *key, int64_t otherwise)
{
	int64_t v;

	return json_int(get(l, key), &v) ? otherwise : v;
}

static double real(const struct keras_layer *l, const char *key, double otherwise)
{
	double v;

	return json_num(get(l, key), &v) ? otherwise : v;
}

static int flag(const struct keras_layer *l, const char *key, int otherwise)
{
	int v;

	return json_bool(get(l, key), &v) ? otherwise : v;
}

static int is(const struct keras_layer *l, const char *key, const char *word)
{
	return json_is(get(l, key), word);
}

/* A list, or one number for all. Returns how many. */
static int integers(const struct keras_layer *l, const char *key, int count,
		    int64_t v[GRAPH_MAX_RANK])
{
	const struct json *list = get(l, key);
	int n = 0;

	if (list && list->type == JSON_ARR) {
		for (const struct json *i = json_first(l->doc, list); i;
		     i = json_next(l->doc, list, i))
			if (n == GRAPH_MAX_RANK || json_int(i, &v[n++]))
				return 0;
		return n;
	}
	if (json_int(list, v))
		return 0;
	for (n = 1; n < count; n++)
		v[n] = v[0];
	return n;
}

/* ---- nodes ---- */

static int fresh(const struct keras_layer *l)
{
	return build_value(l->b, l->name);
}

static struct graph_node *node(const struct keras_layer *l, const char *type, const int *in,
			       int nin, int out)
{
	return build_node(l->b, type, in, nin, &out, 1);
}

static int one(const struct keras_layer *l, const char *type, int in)
{
	int out = fresh(l);

	node(l, type, &in, 1, out);
	return out;
}

static int own(const struct keras_layer *l)
{
	int out = fresh(l);

	node(l, l->type, l->in, l->nin, out)->domain = KERAS_DOMAIN;
	return out;
}

static int reshape(const struct keras_layer *l, int in, const int64_t *shape, int rank)
{
	int out = fresh(l);

	build_ints(l->b, node(l, "Reshape", &in, 1, out), "shape", shape, rank);
	return out;
}

static int transpose(const struct keras_layer *l, int in, const int64_t *perm, int rank)
{
	int out = fresh(l);

	build_ints(l->b, node(l, "Transpose", &in, 1, out), "perm", perm, rank);
	return out;
}

static int parameter(const struct keras_layer *l, const char *what, int64_t size)
{
	return build_parameter(l->b, arena_printf(l->b->a, "%s/%s", l->name, what), size);
}

/* ---- activations ---- */

static int clip(const struct keras_layer *l, int in, double min, double max)
{
	int out = fresh(l);

	compose_clip(l->b, in, out, (float)min, (float)max);
	return out;
}

static int gated(const struct keras_layer *l, int in, const char *gate)
{
	const int both[] = {in, one(l, gate, in)};
	int out = fresh(l);

	node(l, "Mul", both, 2, out);
	return out;
}

static int hard_sigmoid(const struct keras_layer *l, int in)
{
	int out = fresh(l);
	struct graph_node *n = node(l, "HardSigmoid", &in, 1, out);

	build_float(l->b, n, "alpha", 1.0f / 6);
	build_float(l->b, n, "beta", 0.5f);
	return out;
}

static int softmax(const struct keras_layer *l, int in)
{
	int out = fresh(l);

	build_int(l->b, node(l, "Softmax", &in, 1, out), "axis", -1);
	return out;
}

static int activate(const struct keras_layer *l, int in, const char *what)
{
	static const struct {
		const char *keras, *onnx;
	} same[] = {
		{"relu", "Relu"},
		{"sigmoid", "Sigmoid"},
		{"tanh", "Tanh"},
		{"elu", "Elu"},
		{"selu", "Selu"},
		{"softplus", "Softplus"},
		{"mish", "Mish"},
		{"exponential", "Exp"},
		{"softsign", "Softsign"},
		{"gelu", "Gelu"},
		{"leaky_relu", "LeakyRelu"},
	};

	if (!what[0] || !strcmp(what, "linear"))
		return in;
	if (!strcmp(what, "relu6"))
		return clip(l, in, 0, 6);
	if (!strcmp(what, "swish") || !strcmp(what, "silu"))
		return gated(l, in, "Sigmoid");
	if (!strcmp(what, "hard_sigmoid"))
		return hard_sigmoid(l, in);
	if (!strcmp(what, "hard_swish") || !strcmp(what, "hard_silu"))
		return one(l, "HardSwish", in);
	if (!strcmp(what, "softmax"))
		return softmax(l, in);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (!strcmp(same[i].keras, what))
			return one(l, same[i].onnx, in);
	return one(l, "Activation", in);
}

/* The name of an activation; as an object, of its class. */
static const char *activation(const struct keras_layer *l)
{
	const char *v;

	if (!json_str(get(l, "activation"), l->b->a, &v))
		return v;
	return json_str(json_get(l->doc, get(l, "activation"), "class_name"), l->b->a, &v) ? "" : v;
}

static int activation_layer(const struct keras_layer *l, const char *onnx)
{
	int out = activate(l, l->in[0], activation(l));

	(void)onnx;
	return out == l->in[0] ? one(l, "Identity", out) : out;
}

static int relu(const struct keras_layer *l, const char *onnx)
{
	double most;

	if (real(l, "negative_slope", 0) != 0 || real(l, "threshold", 0) != 0)
		return own(l);
	return json_num(get(l, "max_value"), &most) ? one(l, onnx, l->in[0])
						    : clip(l, l->in[0], 0, most);
}

static int softmax_layer(const struct keras_layer *l, const char *onnx)
{
	(void)onnx;
	return softmax(l, l->in[0]);
}

/* ---- convolutions ---- */

static int channels_last(const struct keras_layer *l)
{
	return !is(l, "data_format", "channels_first");
}

/* The rank of the images, by the layer's name: Conv2D, MaxPooling1D. */
static int rank_of(const struct keras_layer *l)
{
	const char *d = strrchr(l->type, 'D');
	const int rank = d && d > l->type ? d[-1] - '0' : 0;

	return rank >= 1 && rank <= 3 ? rank : 0;
}

static void window(const struct keras_layer *l, struct graph_node *n, const char *size)
{
	const int rank = rank_of(l);
	int64_t v[GRAPH_MAX_RANK], pads[6] = {0};

	if (integers(l, size, rank, v) == rank)
		build_ints(l->b, n, "kernel_shape", v, rank);
	if (is(l, "padding", "causal") && rank == 1) {
		int64_t dilation[GRAPH_MAX_RANK];

		if (integers(l, "dilation_rate", rank, dilation) == rank)
			pads[0] = (v[0] - 1) * dilation[0];
		if (pads[0] >= 0 && pads[0] < 1 << 20)
			build_ints(l->b, n, "pads", pads, 2);
	} else {
		build_str(l->b, n, "auto_pad", is(l, "padding", "same") ? "SAME_UPPER" : "VALID");
	}
	if (integers(l, "strides", rank, v) == rank)
		build_ints(l->b, n, "strides", v, rank);
	n->channels_last = channels_last(l);
}

/* A convolution of `filters` filters; group 0: as many for each channel. */
static int convolve(const struct keras_layer *l, const char *onnx, int in, int64_t filters,
		    int64_t group, int is_pointwise, int has_bias)
{
	const int from[] = {in, parameter(l, "kernel", 0), has_bias ? parameter(l, "bias", 0) : -1};
	const int rank = rank_of(l), out = fresh(l);
	struct graph_node *n = node(l, onnx, from, has_bias ? 3 : 2, out);
	const int64_t ones[] = {1, 1, 1};
	int64_t v[GRAPH_MAX_RANK];

	if (is_pointwise) {
		build_ints(l->b, n, "kernel_shape", ones, rank);
		n->channels_last = channels_last(l);
	} else {
		window(l, n, "kernel_size");
		if (integers(l, "dilation_rate", rank, v) == rank)
			build_ints(l->b, n, "dilations", v, rank);
	}
	build_int(l->b, n, "filters", filters);
	build_int(l->b, n, "group", group);
	return out;
}

static int conv(const struct keras_layer *l, const char *onnx)
{
	int out = convolve(l, onnx, l->in[0], integer(l, "filters", 0), integer(l, "groups", 1), 0,
			   flag(l, "use_bias", 1));

	return activate(l, out, activation(l));
}

static int depthwise(const struct keras_layer *l, const char *onnx)
{
	int out = convolve(l, onnx, l->in[0], integer(l, "depth_multiplier", 1), 0, 0,
			   flag(l, "use_bias", 1));

	return activate(l, out, activation(l));
}

static int separable(const struct keras_layer *l, const char *onnx)
{
	int out = convolve(l, onnx, l->in[0], integer(l, "depth_multiplier", 1), 0, 0, 0);

	out = convolve(l, onnx, out, integer(l, "filters", 0), 1, 1, flag(l, "use_bias", 1));
	return activate(l, out, activation(l));
}

/* ---- pools and sizes of images ---- */

static int pool(const struct keras_layer *l, const char *onnx)
{
	int out = fresh(l);

	window(l, node(l, onnx, l->in, 1, out), "pool_size");
	return out;
}

static int global_pool(const struct keras_layer *l, const char *onnx)
{
	const int rank = rank_of(l), out = fresh(l);
	const int64_t first = channels_last(l) ? 1 : 2, axes[] = {first, first + 1, first + 2};
	struct graph_node *n = node(l, onnx, l->in, 1, out);

	build_ints(l->b, n, "axes", axes, rank);
	build_int(l->b, n, "keepdims", flag(l, "keepdims", 0));
	return out;
}

/* Pairs of before and behind for each dimension of space: [[1, 2], [1, 2]], [1, 1], or 1. */
static int pairs(const struct keras_layer *l, const char *key, int64_t before[3], int64_t after[3])
{
	const struct json *v = get(l, key), *first = json_first(l->doc, v);
	const int rank = rank_of(l);
	int i = 0;

	if (json_int(v, &before[0]) == 0) {
		for (i = 0; i < rank; i++)
			before[i] = after[i] = before[0];
		return rank;
	}
	if (first && first->type != JSON_ARR && rank == 1)
		return json_int(first, &before[0]) ||
				       json_int(json_next(l->doc, v, first), &after[0])
			       ? 0
			       : 1;
	for (const struct json *p = first; p && i < rank; p = json_next(l->doc, v, p), i++) {
		const struct json *a = json_first(l->doc, p),
				  *b = a ? json_next(l->doc, p, a) : NULL;

		if (p->type != JSON_ARR ? json_int(p, &before[i]) || json_int(p, &after[i])
					: !b || json_int(a, &before[i]) || json_int(b, &after[i]))
			return 0;
	}
	return i;
}

static int pad(const struct keras_layer *l, const char *onnx)
{
	int64_t before[3], after[3], pads[2 * GRAPH_MAX_RANK] = {0};
	const int rank = pairs(l, "padding", before, after), first = channels_last(l) ? 1 : 2;
	int out;

	if (rank != rank_of(l))
		return own(l);
	for (int i = 0; i < rank; i++) {
		pads[first + i] = before[i];
		pads[rank + 2 + first + i] = after[i];
	}
	out = fresh(l);
	build_ints(l->b, node(l, onnx, l->in, 1, out), "pads", pads, 2 * (rank + 2));
	return out;
}

static int crop(const struct keras_layer *l, const char *onnx)
{
	int64_t before[3], after[3], ends[3], axes[3];
	const int rank = pairs(l, "cropping", before, after), first = channels_last(l) ? 1 : 2;
	struct graph_node *n;
	int out;

	if (rank != rank_of(l))
		return own(l);
	out = fresh(l);
	n = node(l, onnx, l->in, 1, out);
	for (int i = 0; i < rank; i++) {
		ends[i] = after[i] ? -after[i] : INT64_MAX;
		axes[i] = first + i;
	}
	build_ints(l->b, n, "starts", before, rank);
	build_ints(l->b, n, "ends", ends, rank);
	build_ints(l->b, n, "axes", axes, rank);
	return out;
}

static int upsample(const struct keras_layer *l, const char *onnx)
{
	const int rank = rank_of(l), first = channels_last(l) ? 1 : 2;
	double scale[5] = {1, 1, 1, 1, 1};
	int64_t v[GRAPH_MAX_RANK];
	int in[] = {l->in[0], -1, -1}, out;

	if (integers(l, "size", rank, v) != rank)
		return own(l);
	for (int i = 0; i < rank; i++)
		scale[first + i] = (double)v[i];
	in[2] = build_numbers(l->b, scale, rank + 2);
	out = fresh(l);
	node(l, onnx, in, 3, out);
	return out;
}

/* ---- products ---- */

/* in * weights of so many units (0: as many as the value `like` has) + bias. */
static int product(const struct keras_layer *l, int in, const char *what, int64_t units, int like,
		   int has_bias)
{
	const int from[] = {in, parameter(l, what, 0)};
	int sum[] = {fresh(l), -1}, out;
	struct graph_node *n = node(l, "MatMul", from, 2, sum[0]);

	n->name = strcmp(what, "kernel") ? arena_printf(l->b->a, "%s/%s", l->name, what) : l->name;
	if (units)
		build_int(l->b, n, "units", units);
	else
		build_int(l->b, n, "units_like", like);
	if (!has_bias || !units)
		return sum[0];
	sum[1] = parameter(l, "bias", units);
	out = fresh(l);
	node(l, "Add", sum, 2, out);
	return out;
}

static int dense(const struct keras_layer *l, const char *onnx)
{
	int64_t units = integer(l, "units", 0);

	(void)onnx;
	if (units < 1)
		return own(l);
	return activate(l, product(l, l->in[0], "kernel", units, -1, flag(l, "use_bias", 1)),
			activation(l));
}

/* batch x steps x (heads * size) as batch x heads x steps x size. */
static int heads(const struct keras_layer *l, int in, int64_t count, int64_t size)
{
	static const int64_t perm[] = {0, 2, 1, 3};

	return transpose(l, reshape(l, in, (const int64_t[]){0, 0, count, size}, 4), perm, 4);
}

static int pair(const struct keras_layer *l, const char *type, int a, int b, int is_transposed)
{
	const int from[] = {a, b};
	int out = fresh(l);
	struct graph_node *n = node(l, type, from, 2, out);

	if (is_transposed)
		build_int(l->b, n, "transB", 1);
	return out;
}

/* Inputs are the query, the value and, where it is another one, the key. */
static int attention(const struct keras_layer *l, const char *onnx)
{
	static const int64_t back[] = {0, 2, 1, 3};
	const int64_t count = integer(l, "num_heads", 0), size = integer(l, "key_dim", 0);
	const int64_t width = integer(l, "value_dim", size);
	const int query = l->in[0], value = l->in[l->nin > 1],
		  key = l->in[l->nin > 2 ? 2 : l->nin > 1];
	const int bias = flag(l, "use_bias", 1);
	int64_t out_shape[GRAPH_MAX_RANK];
	int q, k, v;

	(void)onnx;
	if (count < 1 || size < 1 || width < 1 || count > 1 << 12 || size > 1 << 16 ||
	    width > 1 << 16)
		return own(l);
	q = heads(l, product(l, query, "query", count * size, -1, bias), count, size);
	k = heads(l, product(l, key, "key", count * size, -1, bias), count, size);
	v = heads(l, product(l, value, "value", count * width, -1, bias), count, width);
	q = softmax(l, pair(l, "MatMul", q, k, 1));
	v = transpose(l, pair(l, "MatMul", q, v, 0), back, 4);
	v = reshape(l, v, (const int64_t[]){0, 0, -1}, 3);
	if (integers(l, "output_shape", 1, out_shape) == 1)
		return product(l, v, "output", out_shape[0], -1, bias);
	return product(l, v, "output", 0, query, bias);
}

/* ---- recurrent networks ---- */

static int recur(const struct keras_layer *l, const char *onnx, int is_both)
{
	const int from[] = {l->in[0], parameter(l, "kernel", 0), parameter(l, "recurrent", 0)};
	const int out[] = {fresh(l), fresh(l)};
	const int64_t all[] = {0, 0, -1}, last[] = {0, -1};
	struct graph_node *n = build_node(l->b, onnx, from, 3, out, 2);

	build_int(l->b, n, "hidden_size", integer(l, "units", 0));
	build_int(l->b, n, "layout", 1);
	if (is_both)
		build_str(l->b, n, "direction", "bidirectional");
	return flag(l, "return_sequences", 0) ? reshape(l, out[0], all, 3)
					      : reshape(l, out[1], last, 2);
}

static int recurrent(const struct keras_layer *l, const char *onnx)
{
	return recur(l, onnx, 0);
}

/* The layer in a wrapper. */
static struct keras_layer inside(const struct keras_layer *l)
{
	struct keras_layer in = *l;
	const struct json *layer = get(l, "layer");

	in.config = json_get(l->doc, layer, "config");
	if (json_str(json_get(l->doc, layer, "class_name"), l->b->a, &in.type))
		in.type = "";
	return in;
}

static int bidirectional(const struct keras_layer *l, const char *onnx)
{
	static const char *const types[][2] = {
		{"LSTM", "LSTM"}, {"GRU", "GRU"}, {"SimpleRNN", "RNN"}};
	struct keras_layer in = inside(l);

	(void)onnx;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(in.type, types[i][0]))
			return recur(&in, types[i][1], 1);
	return own(l);
}

/* A dense layer does the same with or without. */
static int time_distributed(const struct keras_layer *l, const char *onnx)
{
	struct keras_layer in = inside(l);

	return strcmp(in.type, "Dense") ? own(l) : dense(&in, onnx);
}

/* ---- the rest ---- */

static int same(const struct keras_layer *l, const char *onnx)
{
	int out = fresh(l);

	node(l, onnx, l->in, l->nin, out);
	return out;
}

static int first(const struct keras_layer *l, const char *onnx)
{
	return one(l, onnx, l->in[0]);
}

static int batch_norm(const struct keras_layer *l, const char *onnx)
{
	const int in[] = {l->in[0], parameter(l, "gamma", 0), parameter(l, "beta", 0),
			  parameter(l, "mean", 0), parameter(l, "variance", 0)};
	const struct json *axis = get(l, "axis");
	int64_t at = -1;
	int out = fresh(l);
	struct graph_node *n = node(l, onnx, in, 5, out);

	if (axis && axis->type == JSON_ARR)
		axis = json_first(l->doc, axis);
	json_int(axis, &at);
	n->channels_last = at != 1;
	return out;
}

static int concat(const struct keras_layer *l, const char *onnx)
{
	int out = fresh(l);

	build_int(l->b, node(l, onnx, l->in, l->nin, out), "axis", integer(l, "axis", -1));
	return out;
}

/* The batch stays. */
static int reshape_layer(const struct keras_layer *l, const char *onnx)
{
	int64_t shape[GRAPH_MAX_RANK], v[GRAPH_MAX_RANK];
	int n = integers(l, "target_shape", 1, v);

	(void)onnx;
	if (!n || n == GRAPH_MAX_RANK)
		return own(l);
	shape[0] = 0;
	memcpy(shape + 1, v, sizeof *v * (size_t)n);
	return reshape(l, l->in[0], shape, n + 1);
}

static int flatten(const struct keras_layer *l, const char *onnx)
{
	(void)onnx;
	return reshape(l, l->in[0], (const int64_t[]){0, -1}, 2);
}

static int permute(const struct keras_layer *l, const char *onnx)
{
	int64_t perm[GRAPH_MAX_RANK], v[GRAPH_MAX_RANK];
	int n = integers(l, "dims", 1, v);

	(void)onnx;
	if (!n || n == GRAPH_MAX_RANK)
		return own(l);
	perm[0] = 0;
	memcpy(perm + 1, v, sizeof *v * (size_t)n);
	return transpose(l, l->in[0], perm, n + 1);
}

static int embedding(const struct keras_layer *l, const char *onnx)
{
	const int in[] = {parameter(l, "embeddings", 0), l->in[0]};
	struct value *v = l->b->g->value[in[0]];
	int out = fresh(l);

	v->shape = (struct shape){2, {integer(l, "input_dim", 0), integer(l, "output_dim", 0)}};
	if (v->shape.dim[0] < 1 || v->shape.dim[1] < 1 || v->shape.dim[0] > 1 << 30 ||
	    v->shape.dim[1] > 1 << 24)
		return own(l);
	node(l, onnx, in, 2, out);
	return out;
}

/* An operation of keras.ops, or of TensorFlow, with a number. */
static int with_number(const struct keras_layer *l, const char *onnx)
{
	return l->nin > 1 ? same(l, onnx) : pair(l, onnx, l->in[0], build_number(l->b, 1), 0);
}

static const struct row {
	const char *type;
	layer_fn *fn;
	const char *onnx;
} rows[] = {
	{"Conv1D", conv, "Conv"},
	{"Conv2D", conv, "Conv"},
	{"Conv3D", conv, "Conv"},
	{"Conv1DTranspose", conv, "ConvTranspose"},
	{"Conv2DTranspose", conv, "ConvTranspose"},
	{"Conv3DTranspose", conv, "ConvTranspose"},
	{"DepthwiseConv1D", depthwise, "Conv"},
	{"DepthwiseConv2D", depthwise, "Conv"},
	{"SeparableConv1D", separable, "Conv"},
	{"SeparableConv2D", separable, "Conv"},
	{"Dense", dense, NULL},
	{"MultiHeadAttention", attention, NULL},
	{"Embedding", embedding, "Gather"},
	{"LSTM", recurrent, "LSTM"},
	{"GRU", recurrent, "GRU"},
	{"SimpleRNN", recurrent, "RNN"},
	{"Bidirectional", bidirectional, NULL},
	{"TimeDistributed", time_distributed, NULL},
	{"BatchNormalization", batch_norm, "BatchNormalization"},
	{"LayerNormalization", first, "LayerNormalization"},
	{"GroupNormalization", first, "GroupNormalization"},
	{"Activation", activation_layer, NULL},
	{"ReLU", relu, "Relu"},
	{"LeakyReLU", first, "LeakyRelu"},
	{"PReLU", first, "LeakyRelu"},
	{"ELU", first, "Elu"},
	{"Softmax", softmax_layer, NULL},
	{"MaxPooling1D", pool, "MaxPool"},
	{"MaxPooling2D", pool, "MaxPool"},
	{"MaxPooling3D", pool, "MaxPool"},
	{"AveragePooling1D", pool, "AveragePool"},
	{"AveragePooling2D", pool, "AveragePool"},
	{"AveragePooling3D", pool, "AveragePool"},
	{"GlobalMaxPooling1D", global_pool, "ReduceMax"},
	{"GlobalMaxPooling2D", global_pool, "ReduceMax"},
	{"GlobalMaxPooling3D", global_pool, "ReduceMax"},
	{"GlobalAveragePooling1D", global_pool, "ReduceMean"},
	{"GlobalAveragePooling2D", global_pool, "ReduceMean"},
	{"GlobalAveragePooling3D", global_pool, "ReduceMean"},
	{"ZeroPadding1D", pad, "Pad"},
	{"ZeroPadding2D", pad, "Pad"},
	{"ZeroPadding3D", pad, "Pad"},
	{"Cropping1D", crop, "Slice"},
	{"Cropping2D", crop, "Slice"},
	{"Cropping3D", crop, "Slice"},
	{"UpSampling1D", upsample, "Resize"},
	{"UpSampling2D", upsample, "Resize"},
	{"UpSampling3D", upsample, "Resize"},
	{"Reshape", reshape_layer, NULL},
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
	{"Dropout", first, "Identity"},
	{"SpatialDropout1D", first, "Identity"},
	{"SpatialDropout2D", first, "Identity"},
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

int keras_layer(const struct keras_layer *l)
{
	/* The class may have the name of its package before it. */
	const char *colon = strrchr(l->type, '>');
	struct keras_layer plain = *l;
	const int first_node = l->b->g->nnode;
	const struct row *row = NULL;
	int out;

	plain.type = colon ? colon + 1 : l->type;
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !row; i++)
		if (!strcmp(rows[i].type, plain.type))
			row = &rows[i];
	out = row ? row->fn(&plain, row->onnx) : own(&plain);
	if (l->b->g->nnode > first_node && !l->b->g->node[first_node].name[0])
		l->b->g->node[first_node].name = l->name;
	return out;
}
