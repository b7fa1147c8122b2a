/* Which operator of ONNX, or which several, an operator of TensorFlow is. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/tensorflow/tensorflow.h"

#define TENSORFLOW_DOMAIN "tensorflow" /* of nodes that are none of ONNX's */

typedef void operator_fn(const struct tensorflow_node *n, const char *onnx);

/* ---- attributes ---- */

static int in(const struct tensorflow_node *n, int i)
{
	return i < n->nin ? n->in[i] : -1;
}

static int64_t integer(const struct tensorflow_node *n, const char *name, int64_t otherwise)
{
	const struct message_attr *a = message_attr(n->m, name);

	return a ? a->i : otherwise;
}

static float real(const struct tensorflow_node *n, const char *name, float otherwise)
{
	const struct message_attr *a = message_attr(n->m, name);

	return a ? a->f : otherwise;
}

static const char *text(const struct tensorflow_node *n, const char *name)
{
	const struct message_attr *a = message_attr(n->m, name);

	return a && a->s ? a->s : "";
}

/* ---- nodes ---- */

static struct graph_node *node(const struct tensorflow_node *n, const char *type, const int *from,
			       int count)
{
	return build_node(n->b, type, from, count, n->out, n->nout);
}

static struct graph_node *own(const struct tensorflow_node *n)
{
	struct graph_node *to = node(n, n->m->type, n->in, n->nin);

	to->domain = TENSORFLOW_DOMAIN;
	return to;
}

static void same(const struct tensorflow_node *n, const char *onnx)
{
	node(n, onnx, n->in, n->nin);
}

/* Of the first input alone. */
static void first(const struct tensorflow_node *n, const char *onnx)
{
	node(n, onnx, n->in, n->nin ? 1 : 0);
}

static void unless(int failed, const struct tensorflow_node *n)
{
	if (failed)
		own(n);
}

/* ---- element by element ---- */

static void square(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	unless(compose_square(n->b, in(n, 0), in(n, 1), n->out[0]), n);
}

static void rsqrt(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	unless(compose_chain(n->b, n->in, n->nin, n->out[0], "Sqrt", "Reciprocal"), n);
}

/* 1 - erf(x) */
static void error_function_complement(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {build_number(n->b, 1), build_between(n->b, n->out[0])};

	(void)onnx;
	build_node(n->b, "Erf", n->in, 1, &from[1], 1);
	node(n, "Sub", from, 2);
}

static void not_equal(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	unless(compose_chain(n->b, n->in, n->nin, n->out[0], "Equal", "Not"), n);
}

/* log(1 + x) */
static void log1p_of(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {in(n, 0), build_number(n->b, 1)};

	unless(compose_chain(n->b, from, 2, n->out[0], "Add", onnx), n);
}

/* exp(x) - 1 */
static void expm1_of(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {build_between(n->b, n->out[0]), build_number(n->b, 1)};

	build_node(n->b, onnx, n->in, n->nin ? 1 : 0, from, 1);
	node(n, "Sub", from, 2);
}

/* x - x, or of that the power of e. */
static void zeros_or_ones(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {in(n, 0), in(n, 0)};

	if (onnx)
		unless(compose_chain(n->b, from, 2, n->out[0], "Sub", onnx), n);
	else
		node(n, "Sub", from, 2);
}

/* x * sigmoid(x) */
static void swish(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {in(n, 0), build_between(n->b, n->out[0])};

	build_node(n->b, onnx, n->in, n->nin ? 1 : 0, &from[1], 1);
	node(n, "Mul", from, 2);
}

static void gelu(const struct tensorflow_node *n, const char *onnx)
{
	build_str(n->b, node(n, "Gelu", n->in, n->nin ? 1 : 0), "approximate", onnx);
}

static void relu6(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	compose_clip(n->b, in(n, 0), n->out[0], 0, 6);
}

static void leaky_relu(const struct tensorflow_node *n, const char *onnx)
{
	build_float(n->b, node(n, onnx, n->in, 1), "alpha",
		    real(n, "alpha", real(n, "leakyrelu_alpha", 0.2f)));
}

static void cast(const struct tensorflow_node *n, const char *onnx)
{
	build_int(n->b, node(n, onnx, n->in, 1), "to", integer(n, "DstT", VALUE_UNKNOWN));
}

static void softmax(const struct tensorflow_node *n, const char *onnx)
{
	build_int(n->b, node(n, onnx, n->in, 1), "axis", -1);
}

/* ---- images ---- */

/* The channels come last, unless data_format says NCHW or NCDHW. */
static int channels_last(const struct tensorflow_node *n)
{
	const char *format = text(n, "data_format");

	return !(format[0] == 'N' && format[1] == 'C');
}

/* Of a list with an entry for each dimension, those of space. */
static int of_space(const struct tensorflow_node *n, const char *name, int64_t v[3])
{
	const struct message_attr *a = message_attr(n->m, name);
	const int rank = a ? a->nints - 2 : 0;

	if (rank < 1 || rank > 3)
		return 0;
	memcpy(v, a->ints + (channels_last(n) ? 1 : 2), sizeof *v * (size_t)rank);
	return rank;
}

static void add_of_space(const struct tensorflow_node *n, struct graph_node *to, const char *name,
			 const char *onnx)
{
	int64_t v[3];
	int rank = of_space(n, name, v);

	if (rank)
		build_ints(n->b, to, onnx, v, rank);
}

/* Pairs for each dimension, as ONNX has them: all that come before, then all behind. */
static void add_paddings(const struct tensorflow_node *n, struct graph_node *to)
{
	const struct message_attr *a = message_attr(n->m, "explicit_paddings");
	const int rank = a ? a->nints / 2 - 2 : 0, from = channels_last(n) ? 1 : 2;
	int64_t pads[6];

	if (rank < 1 || rank > 3)
		return;
	for (int i = 0; i < rank; i++) {
		pads[i] = a->ints[2 * (i + from)];
		pads[i + rank] = a->ints[2 * (i + from) + 1];
	}
	build_ints(n->b, to, "pads", pads, 2 * rank);
}

static void add_window(const struct tensorflow_node *n, struct graph_node *to)
{
	const char *padding = text(n, "padding");

	add_of_space(n, to, "strides", "strides");
	add_of_space(n, to, "dilations", "dilations");
	if (!strcmp(padding, "EXPLICIT"))
		add_paddings(n, to);
	else
		build_str(n->b, to, "auto_pad", !strcmp(padding, "SAME") ? "SAME_UPPER" : "VALID");
	to->channels_last = channels_last(n);
}

/* Groups follow from the channels of the data and of the filter. */
static void conv(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = node(n, onnx, n->in, 2);

	add_window(n, to);
	to->filter = strstr(n->m->type, "3D") ? "dhwio" : "hwio";
	build_int(n->b, to, "group", 0);
}

/* The filter is height x width x channels x filters of each. */
static void depthwise(const struct tensorflow_node *n, const char *onnx)
{
	static const int64_t one_channel[] = {0, 0, 1, -1};
	const int filter = build_part(n->b, in(n, 1) < 0 ? n->out[0] : in(n, 1), "filter");
	const int from[] = {in(n, 0), filter};
	struct graph_node *to;

	build_ints(n->b, build_node(n->b, "Reshape", &n->in[n->nin > 1], 1, &filter, 1), "shape",
		   one_channel, 4);
	to = node(n, onnx, from, 2);
	add_window(n, to);
	to->filter = "hwio";
	build_int(n->b, to, "group", 0);
}

static void conv_transpose(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {in(n, 2), in(n, 1), -1, in(n, 0)};
	struct graph_node *to = node(n, onnx, from, 4);

	add_window(n, to);
	to->filter = strstr(n->m->type, "3D") ? "dhwoi" : "hwoi";
}

static void pool(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = node(n, onnx, n->in, 1);

	add_window(n, to);
	add_of_space(n, to, "ksize", "kernel_shape");
}

/* Along the channels, wherever these are. */
static void bias_add(const struct tensorflow_node *n, const char *onnx)
{
	static const int64_t behind[] = {1, 2};
	int from[] = {in(n, 0), in(n, 1)};

	if (!channels_last(n) && from[1] >= 0) {
		int wide = build_part(n->b, from[1], "along");

		build_ints(n->b, build_node(n->b, "Unsqueeze", &from[1], 1, &wide, 1), "axes",
			   behind, 2);
		from[1] = wide;
	}
	node(n, onnx, from, 2);
}

static void batch_norm(const struct tensorflow_node *n, const char *onnx)
{
	/* Only the first output is that of ONNX's; the others are of training. */
	struct graph_node *to = build_node(n->b, onnx, n->in, n->nin < 5 ? n->nin : 5, n->out, 1);

	build_float(n->b, to, "epsilon", real(n, "epsilon", 1e-3f));
	to->channels_last = channels_last(n);
	if (n->nout > 1)
		build_node(n->b, "BatchNormStatistics", n->in, n->nin, n->out + 1, n->nout - 1)
			->domain = TENSORFLOW_DOMAIN;
}

static void pad(const struct tensorflow_node *n, const char *onnx)
{
	if (!strcmp(text(n, "mode"), "SYMMETRIC"))
		onnx = "symmetric";
	unless(compose_pad(n->b, in(n, 0), in(n, 1), in(n, 2), n->out[0], onnx), n);
}

static void resize(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	compose_resize(n->b, in(n, 0), in(n, 1), n->out[0], 1);
}

static void blocks(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = node(n, onnx, n->in, 1);

	build_int(n->b, to, "blocksize", integer(n, "block_size", 1));
	to->channels_last = channels_last(n);
}

/* ---- products and reductions ---- */

static void matmul(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = node(n, onnx, n->in, 2);

	build_int(n->b, to, "transA", integer(n, "transpose_a", 0) || integer(n, "adj_x", 0));
	build_int(n->b, to, "transB", integer(n, "transpose_b", 0) || integer(n, "adj_y", 0));
}

static void einsum(const struct tensorflow_node *n, const char *onnx)
{
	build_str(n->b, node(n, onnx, n->in, n->nin), "equation", text(n, "equation"));
}

static void reduce(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = node(n, onnx, n->in, n->nin);

	build_int(n->b, to, "keepdims", integer(n, "keep_dims", 0));
	build_int(n->b, to, "noop_with_empty_axes", 1);
}

static void arg(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to;
	int64_t axis;

	if (!compose_integer(n->b, in(n, 1), &axis)) {
		own(n);
		return;
	}
	to = node(n, onnx, n->in, 1);
	build_int(n->b, to, "axis", axis);
	build_int(n->b, to, "keepdims", 0);
}

static void weighing(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	own(n)->weighs = 1;
}

/* ---- what moves elements ---- */

static void reshape(const struct tensorflow_node *n, const char *onnx)
{
	build_int(n->b, node(n, onnx, n->in, n->nin), "allowzero", 1);
}

static void squeeze(const struct tensorflow_node *n, const char *onnx)
{
	const struct message_attr *a = message_attr(n->m, "squeeze_dims");
	struct graph_node *to = node(n, onnx, n->in, 1);

	if (a && a->nints && a->nints <= GRAPH_MAX_RANK)
		build_ints(n->b, to, "axes", a->ints, a->nints);
}

/* The axis comes last (ConcatV2) or first. */
static void concat(const struct tensorflow_node *n, const char *onnx)
{
	const int is_last = !strcmp(n->m->type, "ConcatV2");
	int64_t axis;

	if (n->nin < 2 || !compose_integer(n->b, n->in[is_last ? n->nin - 1 : 0], &axis))
		own(n);
	else
		build_int(n->b, node(n, onnx, n->in + !is_last, n->nin - 1), "axis", axis);
}

static void pack(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	unless(compose_pack(n->b, n->in, n->nin, n->out[0], integer(n, "axis", 0)), n);
}

/* All parts have values, also those that nothing reads. */
static int *parts(const struct tensorflow_node *n, int64_t count)
{
	int *out = arena_array(n->b->a, int, count);

	for (int i = 0; i < count; i++)
		out[i] = i < n->nout ? n->out[i] : build_part(n->b, n->out[0], "unread");
	return out;
}

static int64_t count_parts(const struct tensorflow_node *n, const char *attr)
{
	int64_t count = integer(n, attr, 0);

	return count < n->nout || count > GRAPH_MAX_RANK * 1000 ? 0 : count;
}

static void unpack(const struct tensorflow_node *n, const char *onnx)
{
	const int64_t count = count_parts(n, "num");

	(void)onnx;
	if (count)
		compose_unpack(n->b, in(n, 0), parts(n, count), (int)count, integer(n, "axis", 0));
	else
		own(n);
}

static void split(const struct tensorflow_node *n, const char *onnx)
{
	const int has_sizes = !strcmp(n->m->type, "SplitV");
	const int64_t count = count_parts(n, "num_split");

	(void)onnx;
	unless(!count || compose_split(n->b, in(n, !has_sizes), in(n, has_sizes ? 2 : 0),
				       has_sizes ? in(n, 1) : -1, parts(n, count), (int)count),
	       n);
}

static void slice(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	unless(compose_slice(n->b, in(n, 0), in(n, 1), in(n, 2), n->out[0]), n);
}

static void strided_slice(const struct tensorflow_node *n, const char *onnx)
{
	const int list[] = {in(n, 1), in(n, 2), in(n, 3)};
	const struct compose_masks m = {integer(n, "begin_mask", 0), integer(n, "end_mask", 0),
					integer(n, "ellipsis_mask", 0),
					integer(n, "new_axis_mask", 0),
					integer(n, "shrink_axis_mask", 0)};

	(void)onnx;
	unless(compose_strided_slice(n->b, in(n, 0), list, n->out[0], &m), n);
}

/* Gather has axis 0, GatherV2 an input that says it; embeddings are gathered from variables. */
static void gather(const struct tensorflow_node *n, const char *onnx)
{
	int64_t axis = 0;

	if (integer(n, "batch_dims", 0) || (n->nin > 2 && !compose_integer(n->b, n->in[2], &axis)))
		own(n);
	else
		build_int(n->b, node(n, onnx, n->in, 2), "axis", axis);
}

static void fill(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {in(n, 1), in(n, 0)};

	node(n, onnx, from, 2);
}

static void rank(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	unless(compose_rank(n->b, in(n, 0), n->out[0]), n);
}

/* ---- loops ---- */

/* An item of a list, or all of them one behind the other. Input `shape` holds the
 * shape of an item. */
static void list_items(const struct tensorflow_node *n, int shape, int is_all)
{
	struct declared *d = arena_new(n->b->a, struct declared);
	int64_t count, items = integer(n, "num_elements", -1);
	const union scalar *size = build_elements(n->b, in(n, shape), &count);

	own(n);
	if (!size || count + is_all > GRAPH_MAX_RANK)
		return;
	if (is_all)
		d->shape.dim[d->shape.rank++] = items > 0 ? items : 0;
	for (int64_t i = 0; i < count; i++)
		d->shape.dim[d->shape.rank++] = size[i].i > 0 ? size[i].i : 0;
	d->elem = (int)integer(n, "element_dtype", VALUE_F32);
	n->b->g->value[n->out[0]]->declared = d;
}

static void list_item(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	list_items(n, 2, 0);
}

static void list_stack(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	list_items(n, 1, 1);
}

/* Each output is the first input: of Switch, both; of Merge, what a loop begins with. */
static void pass(const struct tensorflow_node *n, const char *onnx)
{
	for (int i = 0; i < n->nout; i++)
		build_node(n->b, onnx, n->in, 1, &n->out[i], 1);
}

/* Of a convolution or a product with what is behind it. */
static void fused(const struct tensorflow_node *n, const char *type)
{
	tensorflow_fused(n, type);
}

/* ONNX has both values in a list. */
static void one_hot(const struct tensorflow_node *n, const char *onnx)
{
	const int values[] = {in(n, 3), in(n, 2)}, list = build_part(n->b, n->out[0], "values");
	const int from[] = {in(n, 0), in(n, 1), list};

	if (n->nin < 4 || compose_pack(n->b, values, 2, list, 0))
		own(n);
	else
		build_int(n->b, node(n, onnx, from, 3), "axis", integer(n, "axis", -1));
}

/* ---- the table ---- */

static const struct row {
	const char *type;
	operator_fn *fn;
	const char *onnx;
} rows[] = {
	{"Conv2D", conv, "Conv"},
	{"Conv3D", conv, "Conv"},
	{"DepthwiseConv2dNative", depthwise, "Conv"},
	{"Conv2DBackpropInput", conv_transpose, "ConvTranspose"},
	{"Conv3DBackpropInputV2", conv_transpose, "ConvTranspose"},
	{"MatMul", matmul, "MatMul"},
	{"BatchMatMul", matmul, "MatMul"},
	{"BatchMatMulV2", matmul, "MatMul"},
	{"BatchMatMulV3", matmul, "MatMul"},
	{"Einsum", einsum, "Einsum"},
	{"XlaEinsum", einsum, "Einsum"},
	{"CudnnRNN", weighing, NULL},
	{"CudnnRNNV2", weighing, NULL},
	{"CudnnRNNV3", weighing, NULL},
	{"BlockLSTM", weighing, NULL},
	{"BlockLSTMV2", weighing, NULL},
	{"LSTMBlockCell", weighing, NULL},
	{"GRUBlockCell", weighing, NULL},
	{"_FusedConv2D", fused, "Conv2D"},
	{"_FusedDepthwiseConv2dNative", fused, "DepthwiseConv2dNative"},
	{"_FusedMatMul", fused, "MatMul"},
	{"_FusedBatchMatMulV2", fused, "BatchMatMulV2"},
	{"BiasAdd", bias_add, "Add"},
	{"BiasAddV1", same, "Add"},
	{"FusedBatchNorm", batch_norm, "BatchNormalization"},
	{"FusedBatchNormV2", batch_norm, "BatchNormalization"},
	{"FusedBatchNormV3", batch_norm, "BatchNormalization"},
	{"AvgPool", pool, "AveragePool"},
	{"MaxPool", pool, "MaxPool"},
	{"AvgPool3D", pool, "AveragePool"},
	{"MaxPool3D", pool, "MaxPool"},
	{"Add", same, "Add"},
	{"AddV2", same, "Add"},
	{"AddN", same, "Sum"},
	{"Sub", same, "Sub"},
	{"Mul", same, "Mul"},
	{"Div", same, "Div"},
	{"RealDiv", same, "Div"},
	{"FloorDiv", same, "Div"},
	{"FloorMod", same, "Mod"},
	{"Pow", same, "Pow"},
	{"Maximum", same, "Max"},
	{"Minimum", same, "Min"},
	{"Square", square, NULL},
	{"SquaredDifference", square, NULL},
	{"Sqrt", same, "Sqrt"},
	{"Rsqrt", rsqrt, NULL},
	{"Exp", same, "Exp"},
	{"Log", same, "Log"},
	{"Neg", same, "Neg"},
	{"Abs", same, "Abs"},
	{"Erf", same, "Erf"},
	{"Erfc", error_function_complement, NULL},
	{"Log1p", log1p_of, "Log"},
	{"Expm1", expm1_of, "Exp"},
	{"Sign", same, "Sign"},
	{"Round", same, "Round"},
	{"Rint", same, "Round"},
	{"Floor", same, "Floor"},
	{"Ceil", same, "Ceil"},
	{"Sin", same, "Sin"},
	{"Cos", same, "Cos"},
	{"Tan", same, "Tan"},
	{"Sinh", same, "Sinh"},
	{"Cosh", same, "Cosh"},
	{"Asin", same, "Asin"},
	{"Acos", same, "Acos"},
	{"Atan", same, "Atan"},
	{"IsNan", same, "IsNaN"},
	{"IsInf", same, "IsInf"},
	{"DivNoNan", same, "Div"},
	{"MulNoNan", same, "Mul"},
	{"ClipByValue", same, "Clip"},
	{"ZerosLike", zeros_or_ones, NULL},
	{"OnesLike", zeros_or_ones, "Exp"},
	{"Reciprocal", same, "Reciprocal"},
	{"Inv", same, "Reciprocal"},
	{"Relu", same, "Relu"},
	{"Relu6", relu6, NULL},
	{"LeakyRelu", leaky_relu, "LeakyRelu"},
	{"Elu", same, "Elu"},
	{"Selu", same, "Selu"},
	{"Sigmoid", same, "Sigmoid"},
	{"Tanh", same, "Tanh"},
	{"Softsign", same, "Softsign"},
	{"_MklSwish", swish, "Sigmoid"},
	{"GeluExact", gelu, "none"},
	{"GeluApproximate", gelu, "tanh"},
	{"LRN", first, "LRN"},
	{"Softplus", same, "Softplus"},
	{"Softmax", softmax, "Softmax"},
	{"LogSoftmax", softmax, "LogSoftmax"},
	{"Equal", same, "Equal"},
	{"NotEqual", not_equal, NULL},
	{"Greater", same, "Greater"},
	{"GreaterEqual", same, "GreaterOrEqual"},
	{"Less", same, "Less"},
	{"LessEqual", same, "LessOrEqual"},
	{"LogicalAnd", same, "And"},
	{"LogicalOr", same, "Or"},
	{"LogicalNot", same, "Not"},
	{"Select", same, "Where"},
	{"SelectV2", same, "Where"},
	{"Cast", cast, "Cast"},
	{"Identity", first, "Identity"},
	{"IdentityN", same, "Identity"},
	{"StopGradient", first, "Identity"},
	{"PreventGradient", first, "Identity"},
	{"CheckNumerics", first, "Identity"},
	{"EnsureShape", first, "Identity"},
	{"FakeQuantWithMinMaxArgs", first, "Identity"},
	{"FakeQuantWithMinMaxVars", first, "Identity"},
	{"FakeQuantWithMinMaxVarsPerChannel", first, "Identity"},
	{"QuantizeAndDequantizeV2", first, "Identity"},
	{"QuantizeAndDequantizeV3", first, "Identity"},
	{"QuantizeAndDequantizeV4", first, "Identity"},
	{"Snapshot", first, "Identity"},
	{"ReadVariableOp", first, "Identity"},
	{"PlaceholderWithDefault", first, "Identity"},
	{"Switch", pass, "Identity"},
	{"Merge", pass, "Identity"},
	{"Enter", pass, "Identity"},
	{"Exit", pass, "Identity"},
	{"NextIteration", pass, "Identity"},
	{"LoopCond", pass, "Identity"},
	{"TensorListGetItem", list_item, NULL},
	{"TensorListStack", list_stack, NULL},
	{"Mean", reduce, "ReduceMean"},
	{"Sum", reduce, "ReduceSum"},
	{"Max", reduce, "ReduceMax"},
	{"Min", reduce, "ReduceMin"},
	{"Prod", reduce, "ReduceProd"},
	{"Any", reduce, "ReduceMax"},
	{"All", reduce, "ReduceMin"},
	{"ArgMax", arg, "ArgMax"},
	{"ArgMin", arg, "ArgMin"},
	{"TopKV2", same, "TopK"},
	{"Reshape", reshape, "Reshape"},
	{"Squeeze", squeeze, "Squeeze"},
	{"ExpandDims", same, "Unsqueeze"},
	{"Transpose", same, "Transpose"},
	{"ConcatV2", concat, "Concat"},
	{"Concat", concat, "Concat"},
	{"Pack", pack, NULL},
	{"Unpack", unpack, NULL},
	{"Split", split, NULL},
	{"SplitV", split, NULL},
	{"Slice", slice, NULL},
	{"StridedSlice", strided_slice, NULL},
	{"Gather", gather, "Gather"},
	{"GatherV2", gather, "Gather"},
	{"ResourceGather", gather, "Gather"},
	{"GatherNd", same, "GatherND"},
	{"Tile", same, "Tile"},
	{"OneHot", one_hot, "OneHot"},
	{"Cumsum", same, "CumSum"},
	{"Fill", fill, "Expand"},
	{"BroadcastTo", same, "Expand"},
	{"Range", same, "Range"},
	{"Shape", first, "Shape"},
	{"Rank", rank, NULL},
	{"Size", first, "Size"},
	{"Pad", pad, "constant"},
	{"PadV2", pad, "constant"},
	{"MirrorPad", pad, "reflect"},
	{"ResizeBilinear", resize, NULL},
	{"ResizeNearestNeighbor", resize, NULL},
	{"ResizeBicubic", resize, NULL},
	{"DepthToSpace", blocks, "DepthToSpace"},
	{"SpaceToDepth", blocks, "SpaceToDepth"},
	{"SpaceToBatchND", same, "SpaceToBatch"},
	{"BatchToSpaceND", same, "BatchToSpace"},
};

void tensorflow_operator(const struct tensorflow_node *n)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].type, n->m->type)) {
			rows[i].fn(n, rows[i].onnx);
			return;
		}
	own(n);
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
