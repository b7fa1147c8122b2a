/* Which operator of ONNX, or which several, an operator of MXNet is. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/mxnet/mxnet.h"

#define MXNET_DOMAIN "mxnet" /* of nodes that are none of ONNX's */

typedef void operator_fn(const struct mxnet_node *n, const char *onnx);

/* ---- attributes ---- */

const char *mxnet_text(const struct mxnet_node *n, const char *key)
{
	const char *s;

	return json_str(json_get(n->doc, n->attrs, key), n->b->a, &s) ? "" : s;
}

int mxnet_numbers(const char *text, int64_t v[GRAPH_MAX_RANK])
{
	int n = 0;

	for (const char *p = text + strspn(text, "([ "); *p && *p != ')' && *p != ']';) {
		char *end;
		long long k = strtoll(p, &end, 10);

		if (end == p)
			return 0;
		if (n == GRAPH_MAX_RANK)
			return -1;
		v[n++] = k;
		p = end + strspn(end, ", L");
	}
	return n;
}

static int64_t integer(const struct mxnet_node *n, const char *key, int64_t otherwise)
{
	int64_t v[GRAPH_MAX_RANK];

	return mxnet_numbers(mxnet_text(n, key), v) == 1 ? v[0] : otherwise;
}

static double real(const struct mxnet_node *n, const char *key, double otherwise)
{
	const char *s = mxnet_text(n, key);
	char *end;
	double v = strtod(s, &end);

	return end == s ? otherwise : v;
}

static int flag(const struct mxnet_node *n, const char *key, int otherwise)
{
	const char *s = mxnet_text(n, key);

	return *s ? !strcmp(s, "True") || !strcmp(s, "1") || !strcmp(s, "true") : otherwise;
}

static int is(const struct mxnet_node *n, const char *key, const char *word)
{
	return !strcmp(mxnet_text(n, key), word);
}

/* ---- nodes ---- */

static struct graph_node *node(const struct mxnet_node *n, const char *type, const int *in, int nin)
{
	return build_node(n->b, type, in, nin, n->out, n->nout);
}

static void own(const struct mxnet_node *n, const char *onnx)
{
	(void)onnx;
	node(n, n->type, n->in, n->nin)->domain = MXNET_DOMAIN;
}

static void same(const struct mxnet_node *n, const char *onnx)
{
	node(n, onnx, n->in, n->nin);
}

static void first(const struct mxnet_node *n, const char *onnx)
{
	node(n, onnx, n->in, n->nin ? 1 : 0);
}

/* With a number, which is an attribute. */
static void with_number(const struct mxnet_node *n, const char *onnx)
{
	const int in[] = {n->in[0], build_number(n->b, real(n, "scalar", 0))};

	node(n, onnx, in, 2);
}

static void square(const struct mxnet_node *n, const char *onnx)
{
	(void)onnx;
	compose_square(n->b, n->in[0], -1, n->out[0]);
}

/* ---- activations ---- */

static void activation(const struct mxnet_node *n, const char *onnx)
{
	static const char *const types[][2] = {
		{"relu", "Relu"},	  {"sigmoid", "Sigmoid"},   {"tanh", "Tanh"},
		{"softrelu", "Softplus"}, {"elu", "Elu"},	    {"selu", "Selu"},
		{"gelu", "Gelu"},	  {"softsign", "Softsign"}, {"leaky", "LeakyRelu"}};
	const char *type = mxnet_text(n, "act_type");

	if (!*type)
		type = onnx; /* what it is by default */
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(type, types[i][0])) {
			build_float(n->b, node(n, types[i][1], n->in, 1), "alpha",
				    (float)real(n, "slope", 0.25));
			return;
		}
	if (!strcmp(type, "prelu"))
		node(n, "PRelu", n->in, n->nin);
	else
		own(n, NULL);
}

static void clip(const struct mxnet_node *n, const char *onnx)
{
	(void)onnx;
	compose_clip(n->b, n->in[0], n->out[0], (float)real(n, "a_min", 0),
		     (float)real(n, "a_max", 0));
}

static void softmax(const struct mxnet_node *n, const char *onnx)
{
	build_int(n->b, node(n, onnx, n->in, 1), "axis",
		  integer(n, "axis", is(n, "mode", "channel") ? 1 : -1));
}

/* ---- images ---- */

static void add_list(const struct mxnet_node *n, struct graph_node *to, const char *key,
		     const char *onnx)
{
	int64_t v[GRAPH_MAX_RANK];
	int count = mxnet_numbers(mxnet_text(n, key), v);

	if (count > 0)
		build_ints(n->b, to, onnx, v, count);
}

/* The same padding before and behind. */
static void add_window(const struct mxnet_node *n, struct graph_node *to)
{
	int64_t v[GRAPH_MAX_RANK], pads[2 * GRAPH_MAX_RANK];
	int count = mxnet_numbers(mxnet_text(n, "pad"), v);

	add_list(n, to, "kernel", "kernel_shape");
	add_list(n, to, "stride", "strides");
	add_list(n, to, "dilate", "dilations");
	if (count < 1)
		return;
	memcpy(pads, v, sizeof *v * (size_t)count);
	memcpy(pads + count, v, sizeof *v * (size_t)count);
	build_ints(n->b, to, "pads", pads, 2 * count);
}

static void conv(const struct mxnet_node *n, const char *onnx)
{
	struct graph_node *to;

	if (n->nin < 2) {
		own(n, NULL);
		return;
	}
	to = node(n, onnx, n->in, flag(n, "no_bias", !strcmp(onnx, "ConvTranspose")) ? 2 : n->nin);
	add_window(n, to);
	add_list(n, to, "adj", "output_padding");
	build_int(n->b, to, "group", integer(n, "num_group", 1));
	build_int(n->b, to, "filters", integer(n, "num_filter", 0));
}

static void pool(const struct mxnet_node *n, const char *onnx)
{
	const int is_max = !is(n, "pool_type", "avg");
	struct graph_node *to;

	(void)onnx;
	if (flag(n, "global_pool", 0)) {
		node(n, is_max ? "GlobalMaxPool" : "GlobalAveragePool", n->in, 1);
		return;
	}
	to = node(n, is_max ? "MaxPool" : "AveragePool", n->in, 1);
	add_window(n, to);
	build_int(n->b, to, "ceil_mode", is(n, "pooling_convention", "full"));
}

static void batch_norm(const struct mxnet_node *n, const char *onnx)
{
	/* Further outputs are of training. */
	struct graph_node *to = build_node(n->b, onnx, n->in, n->nin < 5 ? n->nin : 5, n->out, 1);

	build_float(n->b, to, "epsilon", (float)real(n, "eps", 1e-3));
	if (n->nout > 1)
		build_node(n->b, "BatchNormStatistics", n->in, n->nin, n->out + 1, n->nout - 1)
			->domain = MXNET_DOMAIN;
}

static void upsample(const struct mxnet_node *n, const char *onnx)
{
	const double by = (double)integer(n, "scale", 1), scale[] = {1, 1, by, by};
	const int in[] = {n->in[0], -1, build_numbers(n->b, scale, 4)};

	node(n, onnx, in, 3);
}

/* Pairs for each dimension; ONNX has all that come before first. */
static void pad(const struct mxnet_node *n, const char *onnx)
{
	int64_t v[GRAPH_MAX_RANK], pads[GRAPH_MAX_RANK];
	const int count = mxnet_numbers(mxnet_text(n, "pad_width"), v);
	struct graph_node *to;

	if (count < 2 || count % 2) {
		own(n, NULL);
		return;
	}
	for (int i = 0; i < count / 2; i++) {
		pads[i] = v[2 * i];
		pads[i + count / 2] = v[2 * i + 1];
	}
	to = node(n, onnx, n->in, 1);
	build_ints(n->b, to, "pads", pads, count);
	build_str(n->b, to, "mode",
		  is(n, "mode", "reflect") ? "reflect"
		  : is(n, "mode", "edge")  ? "edge"
					   : "constant");
}

/* ---- products ---- */

static void fully_connected(const struct mxnet_node *n, const char *onnx)
{
	const int64_t units = integer(n, "num_hidden", 0);
	int in[2] = {n->in[0], n->nin > 1 ? n->in[1] : -1}, sum[2] = {n->out[0], -1};
	struct graph_node *to;

	if (in[1] < 0 || units < 1) {
		own(n, NULL);
		return;
	}
	if (flag(n, "flatten", 1)) {
		in[0] = build_part(n->b, n->out[0], "rows");
		build_node(n->b, "Flatten", n->in, 1, in, 1);
	}
	if (!flag(n, "no_bias", 0) && n->nin > 2) {
		sum[0] = build_part(n->b, n->out[0], "product");
		sum[1] = n->in[2];
		n->b->g->value[sum[1]]->shape = (struct shape){1, {units}};
	}
	to = build_node(n->b, onnx, in, 2, sum, 1);
	build_int(n->b, to, "transB", 1);
	build_int(n->b, to, "units", units);
	if (sum[1] >= 0)
		build_node(n->b, "Add", sum, 2, n->out, 1);
}

static void dot(const struct mxnet_node *n, const char *onnx)
{
	struct graph_node *to = node(n, onnx, n->in, n->nin);

	build_int(n->b, to, "transA", flag(n, "transpose_a", 0));
	build_int(n->b, to, "transB", flag(n, "transpose_b", 0));
}

static void embedding(const struct mxnet_node *n, const char *onnx)
{
	const int64_t words = integer(n, "input_dim", 0), width = integer(n, "output_dim", 0);
	const int in[] = {n->nin > 1 ? n->in[1] : -1, n->in[0]};

	if (in[0] < 0 || words < 1 || width < 1 || words > 1 << 30 || width > 1 << 24) {
		own(n, NULL);
		return;
	}
	n->b->g->value[in[0]]->shape = (struct shape){2, {words, width}};
	node(n, onnx, in, 2);
}

/* ---- what moves elements ---- */

static void reduce(const struct mxnet_node *n, const char *onnx)
{
	struct graph_node *to = node(n, onnx, n->in, 1);

	add_list(n, to, "axis", "axes");
	build_int(n->b, to, "keepdims", flag(n, "keepdims", 0));
}

static void concat(const struct mxnet_node *n, const char *onnx)
{
	build_int(n->b, node(n, onnx, n->in, n->nin), "axis", integer(n, "dim", 1));
}

/* 0 and -1 are as in ONNX; -2 to -4 are not there. */
static void reshape(const struct mxnet_node *n, const char *onnx)
{
	int64_t v[GRAPH_MAX_RANK];
	const int count = mxnet_numbers(mxnet_text(n, "shape"), v);
	int is_plain = count > 0 && !flag(n, "reverse", 0);

	for (int i = 0; i < count; i++)
		is_plain = is_plain && v[i] >= -1;
	if (is_plain)
		build_ints(n->b, node(n, onnx, n->in, 1), "shape", v, count);
	else
		own(n, NULL);
}

static void transpose(const struct mxnet_node *n, const char *onnx)
{
	add_list(n, node(n, onnx, n->in, 1), "axes", "perm");
}

static void with_axis(const struct mxnet_node *n, const char *onnx)
{
	add_list(n, node(n, onnx, n->in, 1), "axis", "axes");
}

static void split(const struct mxnet_node *n, const char *onnx)
{
	const int64_t count = integer(n, "num_outputs", 0), axis = integer(n, "axis", 1);
	int *out;

	if (count < n->nout || count > 1 << 12) {
		own(n, NULL);
		return;
	}
	out = arena_array(n->b->a, int, count);
	for (int i = 0; i < count; i++)
		out[i] = i < n->nout ? n->out[i] : build_part(n->b, n->out[0], "unread");
	if (flag(n, "squeeze_axis", 0))
		compose_unpack(n->b, n->in[0], out, (int)count, axis);
	else
		build_int(n->b, build_node(n->b, onnx, n->in, 1, out, (int)count), "axis", axis);
}

static void slice_axis(const struct mxnet_node *n, const char *onnx)
{
	const int64_t axis = integer(n, "axis", 0), begin = integer(n, "begin", 0),
		      end = integer(n, "end", INT64_MAX);
	struct graph_node *to = node(n, onnx, n->in, 1);

	build_ints(n->b, to, "axes", &axis, 1);
	build_ints(n->b, to, "starts", &begin, 1);
	build_ints(n->b, to, "ends", &end, 1);
}

/* ---- the table ---- */

static const struct row {
	const char *type;
	operator_fn *fn;
	const char *onnx;
	int parameters; /* from which input on there are parameters; 0: none */
} rows[] = {
	{"Convolution", conv, "Conv", 1},
	{"Deconvolution", conv, "ConvTranspose", 1},
	{"FullyConnected", fully_connected, "MatMul", 1},
	{"Embedding", embedding, "Gather", 1},
	{"dot", dot, "MatMul", 0},
	{"batch_dot", dot, "MatMul", 0},
	{"_linalg_gemm2", dot, "MatMul", 0},
	{"RNN", own, NULL, 1},
	{"BatchNorm", batch_norm, "BatchNormalization", 1},
	{"LayerNorm", first, "LayerNormalization", 1},
	{"InstanceNorm", first, "InstanceNormalization", 1},
	{"L2Normalization", first, "LpNormalization", 0},
	{"LRN", first, "LRN", 0},
	{"Activation", activation, "relu", 0},
	{"LeakyReLU", activation, "leaky", 1},
	{"relu", first, "Relu", 0},
	{"sigmoid", first, "Sigmoid", 0},
	{"tanh", first, "Tanh", 0},
	{"exp", first, "Exp", 0},
	{"log", first, "Log", 0},
	{"sqrt", first, "Sqrt", 0},
	{"erf", first, "Erf", 0},
	{"abs", first, "Abs", 0},
	{"negative", first, "Neg", 0},
	{"square", square, NULL, 0},
	{"clip", clip, NULL, 0},
	{"softmax", softmax, "Softmax", 0},
	{"log_softmax", softmax, "LogSoftmax", 0},
	{"SoftmaxActivation", softmax, "Softmax", 0},
	{"SoftmaxOutput", softmax, "Softmax", 0},
	{"Softmax", softmax, "Softmax", 0},
	{"LinearRegressionOutput", first, "Identity", 0},
	{"LogisticRegressionOutput", first, "Sigmoid", 0},
	{"Pooling", pool, NULL, 0},
	{"UpSampling", upsample, "Resize", 0},
	{"Pad", pad, "Pad", 0},
	{"pad", pad, "Pad", 0},
	{"elemwise_add", same, "Add", 0},
	{"_Plus", same, "Add", 0},
	{"_plus", same, "Add", 0},
	{"broadcast_add", same, "Add", 0},
	{"broadcast_plus", same, "Add", 0},
	{"ElementWiseSum", same, "Sum", 0},
	{"add_n", same, "Sum", 0},
	{"elemwise_sub", same, "Sub", 0},
	{"broadcast_sub", same, "Sub", 0},
	{"elemwise_mul", same, "Mul", 0},
	{"_Mul", same, "Mul", 0},
	{"_mul", same, "Mul", 0},
	{"broadcast_mul", same, "Mul", 0},
	{"elemwise_div", same, "Div", 0},
	{"broadcast_div", same, "Div", 0},
	{"_plus_scalar", with_number, "Add", 0},
	{"_PlusScalar", with_number, "Add", 0},
	{"_minus_scalar", with_number, "Sub", 0},
	{"_mul_scalar", with_number, "Mul", 0},
	{"_MulScalar", with_number, "Mul", 0},
	{"_div_scalar", with_number, "Div", 0},
	{"Concat", concat, "Concat", 0},
	{"concat", concat, "Concat", 0},
	{"Flatten", first, "Flatten", 0},
	{"flatten", first, "Flatten", 0},
	{"Reshape", reshape, "Reshape", 0},
	{"reshape", reshape, "Reshape", 0},
	{"transpose", transpose, "Transpose", 0},
	{"expand_dims", with_axis, "Unsqueeze", 0},
	{"squeeze", with_axis, "Squeeze", 0},
	{"SliceChannel", split, "Split", 0},
	{"split", split, "Split", 0},
	{"slice_axis", slice_axis, "Slice", 0},
	{"mean", reduce, "ReduceMean", 0},
	{"sum", reduce, "ReduceSum", 0},
	{"max", reduce, "ReduceMax", 0},
	{"Dropout", first, "Identity", 0},
	{"identity", first, "Identity", 0},
	{"_copy", first, "Identity", 0},
	{"BlockGrad", first, "Identity", 0},
	{"Cast", first, "Identity", 0},
	{"cast", first, "Identity", 0},
};

static const struct row *find(const char *type)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].type, type))
			return &rows[i];
	return NULL;
}

int mxnet_is_parameter(const char *type, int i)
{
	const struct row *row = find(type);

	return row && row->parameters && i >= row->parameters;
}

void mxnet_operator(const struct mxnet_node *n)
{
	const struct row *row = find(n->type);

	if (row && n->nin)
		row->fn(n, row->onnx);
	else
		own(n, NULL);
}
