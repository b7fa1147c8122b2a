/* What works element by element, normalizes, reduces, or changes the type of elements. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/mxnet/operator.h"

int mx_same(const struct mx_op *o, const char *onnx)
{
	mx_node(o, onnx, o->in, o->nin);
	return 0;
}

int mx_first(const struct mx_op *o, const char *onnx)
{
	mx_node(o, onnx, o->in, 1);
	return 0;
}

/* onnx: two nodes, one behind the other. */
int mx_chain(const struct mx_op *o, const char *onnx)
{
	const char *space = strchr(onnx, ' ');
	int between = mx_part(o, "between");

	build_node(o->b, arena_printf(o->b->a, "%.*s", (int)(space - onnx), onnx), o->in, o->nin,
		   &between, 1);
	mx_node(o, space + 1, &between, 1);
	return 0;
}

/* The condition may be one for each row. */
int mx_where(const struct mx_op *o, const char *onnx)
{
	build_int(o->b, mx_node(o, onnx, o->in, o->nin), "rows", 1);
	return 0;
}

int mx_square(const struct mx_op *o, const char *onnx)
{
	(void)onnx;
	return compose_square(o->b, o->in[0], -1, o->out[0]);
}

/* ---- with a number ---- */

static int with(const struct mx_op *o, const char *onnx, double number, int is_left)
{
	const int n = build_number(o->b, number);
	const int in[] = {is_left ? n : o->in[0], is_left ? o->in[0] : n};

	mx_node(o, onnx, in, 2);
	return 0;
}

int mx_scalar(const struct mx_op *o, const char *onnx)
{
	return with(o, onnx, mx_real(o, "scalar", 0), 0);
}

/* The number comes first. */
int mx_scalar_left(const struct mx_op *o, const char *onnx)
{
	return with(o, onnx, mx_real(o, "scalar", 0), 1);
}

int mx_clip(const struct mx_op *o, const char *onnx)
{
	(void)onnx;
	compose_clip(o->b, o->in[0], o->out[0], (float)mx_real(o, "a_min", 0),
		     (float)mx_real(o, "a_max", 0));
	return 0;
}

/* ---- activations ---- */

struct word {
	const char *mxnet, *onnx;
};

static const char *find(const struct word *w, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(w[i].mxnet, text))
			return w[i].onnx;
	return NULL;
}

int mx_activation(const struct mx_op *o, const char *onnx)
{
	static const struct word known[] = {
		{"relu", "Relu"},	  {"sigmoid", "Sigmoid"},   {"tanh", "Tanh"},
		{"softrelu", "Softplus"}, {"softsign", "Softsign"}, {"mish", "Mish"},
	};

	onnx = find(known, sizeof known / sizeof *known, mx_text(o, "act_type", ""));
	return onnx ? mx_first(o, onnx) : -1;
}

int mx_leaky(const struct mx_op *o, const char *onnx)
{
	static const struct word known[] = {
		{"leaky", "LeakyRelu"}, {"rrelu", "LeakyRelu"}, {"prelu", "PRelu"},
		{"elu", "Elu"},		{"selu", "Selu"},	{"gelu", "Gelu"},
	};
	struct graph_node *n;

	onnx = find(known, sizeof known / sizeof *known, mx_text(o, "act_type", "leaky"));
	if (!onnx)
		return -1;
	n = mx_node(o, onnx, o->in, !strcmp(onnx, "PRelu") && o->nin > 1 ? 2 : 1);
	if (!strcmp(onnx, "LeakyRelu") || !strcmp(onnx, "Elu"))
		build_float(o->b, n, "alpha", (float)mx_real(o, "slope", 0.25));
	return 0;
}

int mx_hard_sigmoid(const struct mx_op *o, const char *onnx)
{
	struct graph_node *n = mx_node(o, onnx, o->in, 1);

	build_float(o->b, n, "alpha", (float)mx_real(o, "alpha", 0.2));
	build_float(o->b, n, "beta", (float)mx_real(o, "beta", 0.5));
	return 0;
}

int mx_softmax(const struct mx_op *o, const char *onnx)
{
	build_int(o->b, mx_node(o, onnx, o->in, 1), "axis", mx_int(o, "axis", -1));
	return 0;
}

/* SoftmaxOutput of the first MXNet goes over the channels, or over all but the batch, which mostly
 * is one dimension. */
int mx_softmax_output(const struct mx_op *o, const char *onnx)
{
	const int is_channel = mx_flag(o, "multi_output", 0) || mx_is(o, "mode", "channel");

	build_int(o->b, mx_node(o, onnx, o->in, 1), "axis", is_channel ? 1 : -1);
	return 0;
}

/* ---- normalization and reduction ---- */

int mx_batch_norm(const struct mx_op *o, const char *onnx)
{
	int64_t axis = mx_int(o, "axis", 1);
	int in[5] = {o->in[0]};

	/* Old files leave out the mean and variance. */
	for (int i = 1; i < 5; i++)
		in[i] = i < o->nin ? o->in[i] : build_parameter(o->b, "statistics", 0);
	mx_node(o, onnx, in, 5)->channels_last = axis != 1;
	return 0;
}

int mx_layer_norm(const struct mx_op *o, const char *onnx)
{
	build_int(o->b, mx_node(o, onnx, o->in, 1), "axis", mx_int(o, "axis", -1));
	return 0;
}

int mx_reduce(const struct mx_op *o, const char *onnx)
{
	int64_t v[GRAPH_MAX_RANK];
	const int n = mx_ints(o, "axis", v);
	struct graph_node *node = mx_node(o, onnx, o->in, 1);

	if (n > 0)
		build_ints(o->b, node, "axes", v, n);
	build_int(o->b, node, "keepdims", mx_flag(o, "keepdims", 0));
	build_int(o->b, node, "exclude", n > 0 && mx_flag(o, "exclude", 0));
	return 0;
}

int mx_norm(const struct mx_op *o, const char *onnx)
{
	(void)onnx;
	return mx_reduce(o, mx_int(o, "ord", 2) == 1 ? "ReduceL1" : "ReduceL2");
}

int mx_arg(const struct mx_op *o, const char *onnx)
{
	const int64_t none = INT64_MAX, axis = mx_int(o, "axis", none);
	struct graph_node *n;

	if (axis == none)
		return -1;
	n = mx_node(o, onnx, o->in, 1);
	build_int(o->b, n, "axis", axis);
	build_int(o->b, n, "keepdims", mx_flag(o, "keepdims", 0));
	return 0;
}

/* ---- element types ---- */

int mx_cast(const struct mx_op *o, const char *onnx)
{
	const int elem = mx_elem(mx_text(o, "dtype", ""), VALUE_UNKNOWN);

	if (elem == VALUE_UNKNOWN)
		return -1;
	build_int(o->b, mx_node(o, onnx, o->in, 1), "to", elem);
	return 0;
}

/* To the widest type among the inputs, which stay as many. */
int mx_cast_all(const struct mx_op *o, const char *onnx)
{
	for (int i = 0; i < o->nout && i < o->nin; i++)
		build_node(o->b, onnx, &o->in[i], 1, &o->out[i], 1);
	return o->nout > o->nin ? -1 : 0;
}

/* Where the type follows from the numbers it is signed, unless none of them is negative. */
int mx_quantize(const struct mx_op *o, const char *onnx)
{
	const char *type = mx_text(o, "out_type", "int8");
	const int is_unsigned = !strcmp(type, "uint8") ||
				(!strcmp(type, "auto") && mx_real(o, "min_calib_range", -1) >= 0);

	build_int(o->b, mx_node(o, onnx, o->in, 1), "output_dtype",
		  is_unsigned ? VALUE_U8 : VALUE_I8);
	return 0;
}

/* ---- by the name alone ---- */

/* Functions of one element, by the same name but for the first letter. */
static const struct word unary[] = {
	{"abs", "Abs"},	     {"ceil", "Ceil"},	       {"cos", "Cos"},	  {"exp", "Exp"},
	{"fix", "Floor"},    {"floor", "Floor"},       {"log", "Log"},	  {"log10", "Log"},
	{"log1p", "Log"},    {"log2", "Log"},	       {"expm1", "Exp"},  {"logical_not", "Not"},
	{"negative", "Neg"}, {"_np_copy", "Identity"}, {"rint", "Round"}, {"round", "Round"},
	{"sign", "Sign"},    {"sin", "Sin"},	       {"sqrt", "Sqrt"},  {"trunc", "Floor"},
};

/* Functions of two, behind "broadcast_", "elemwise_" or "_". */
static const struct word binary[] = {
	{"add", "Add"},		{"plus", "Add"},
	{"Plus", "Add"},	{"sub", "Sub"},
	{"minus", "Sub"},	{"Minus", "Sub"},
	{"mul", "Mul"},		{"Mul", "Mul"},
	{"div", "Div"},		{"Div", "Div"},
	{"mod", "Mod"},		{"power", "Pow"},
	{"Power", "Pow"},	{"maximum", "Max"},
	{"Maximum", "Max"},	{"minimum", "Min"},
	{"Minimum", "Min"},	{"equal", "Equal"},
	{"greater", "Greater"}, {"greater_equal", "GreaterOrEqual"},
	{"lesser", "Less"},	{"lesser_equal", "LessOrEqual"},
	{"grad_add", "Add"},	{"logical_and", "And"},
	{"logical_or", "Or"},
};

int mx_element_wise(const struct mx_op *o)
{
	static const char *const prefix[] = {"broadcast_", "elemwise_", "_"};
	const char *onnx = find(unary, sizeof unary / sizeof *unary, o->type);
	struct graph_node *n;

	if (onnx)
		return mx_first(o, onnx);
	for (int i = 0; i < 3 && o->nin == 2; i++) {
		const size_t k = strlen(prefix[i]);

		if (strncmp(o->type, prefix[i], k) != 0)
			continue;
		onnx = find(binary, sizeof binary / sizeof *binary, o->type + k);
		if (!onnx)
			continue;
		n = mx_node(o, onnx, o->in, 2);
		if (i > 0)
			build_int(o->b, n, "alike", 1);
		return 0;
	}
	return -1;
}
