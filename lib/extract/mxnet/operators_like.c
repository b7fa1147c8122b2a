/* What works element by element, normalizes, reduces, or changes the type of elements. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/mxnet/operator.h"

/* onnx: two nodes, one behind the other. */
int mx_chain(const struct call *o, const struct call_row *row)
{
	const char *space = strchr(row->onnx, ' ');
	int between = mx_part(o, "between");

	build_node(o->b, arena_printf(o->b->a, "%.*s", (int)(space - row->onnx), row->onnx), o->in,
		   o->nin, &between, 1);
	call_node(o, space + 1, &between, 1);
	return 0;
}

/* ---- with a number ---- */

static int with(const struct call *o, const char *onnx, double number, int is_left)
{
	const int n = build_number(o->b, number);
	const int in[] = {is_left ? n : o->in[0], is_left ? o->in[0] : n};

	call_node(o, onnx, in, 2);
	return 0;
}

int mx_scalar(const struct call *o, const struct call_row *row)
{
	return with(o, row->onnx, call_real(o, "scalar", 0), 0);
}

/* The number comes first. */
int mx_scalar_left(const struct call *o, const struct call_row *row)
{
	return with(o, row->onnx, call_real(o, "scalar", 0), 1);
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

int mx_activation(const struct call *o, const struct call_row *row)
{
	static const struct word known[] = {
		{"relu", "Relu"},	  {"sigmoid", "Sigmoid"},   {"tanh", "Tanh"},
		{"softrelu", "Softplus"}, {"softsign", "Softsign"}, {"mish", "Mish"},
	};
	const char *onnx = find(known, sizeof known / sizeof *known, mx_text(o, "act_type", ""));

	(void)row;
	if (!onnx)
		return -1;
	call_node(o, onnx, o->in, 1);
	return 0;
}

int mx_leaky(const struct call *o, const struct call_row *row)
{
	static const struct word known[] = {
		{"leaky", "LeakyRelu"}, {"rrelu", "LeakyRelu"}, {"prelu", "PRelu"},
		{"elu", "Elu"},		{"selu", "Selu"},	{"gelu", "Gelu"},
	};
	const char *onnx =
		find(known, sizeof known / sizeof *known, mx_text(o, "act_type", "leaky"));
	struct graph_node *n;

	(void)row;
	if (!onnx)
		return -1;
	n = call_node(o, onnx, o->in, !strcmp(onnx, "PRelu") && o->nin > 1 ? 2 : 1);
	if (!strcmp(onnx, "LeakyRelu") || !strcmp(onnx, "Elu"))
		build_float(o->b, n, "alpha", (float)call_real(o, "slope", 0.25));
	return 0;
}

/* SoftmaxOutput of the first MXNet goes over the channels, or over all but the batch, which mostly
 * is one dimension. */
int mx_softmax_output(const struct call *o, const struct call_row *row)
{
	const int is_channel = call_flag(o, "multi_output", 0) || call_is(o, "mode", "channel");

	build_int(o->b, call_node(o, row->onnx, o->in, 1), "axis", is_channel ? 1 : -1);
	return 0;
}

/* ---- normalization and reduction ---- */

int mx_batch_norm(const struct call *o, const struct call_row *row)
{
	int64_t axis = call_int(o, "axis", 1);
	int in[5] = {o->in[0]};

	/* Old files leave out the mean and variance. */
	for (int i = 1; i < 5; i++)
		in[i] = i < o->nin ? o->in[i] : build_parameter(o->b, "statistics", 0);
	call_node(o, row->onnx, in, 5)->channels_last = axis != 1;
	return 0;
}

int mx_reduce(const struct call *o, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK];
	const int n = call_ints(o, "axis", 0, v);
	struct graph_node *node = call_node(o, row->onnx, o->in, 1);

	if (n > 0)
		build_ints(o->b, node, "axes", v, n);
	build_int(o->b, node, "keepdims", call_flag(o, "keepdims", 0));
	build_int(o->b, node, "exclude", n > 0 && call_flag(o, "exclude", 0));
	return 0;
}

int mx_norm(const struct call *o, const struct call_row *row)
{
	const struct call_row one = {NULL, "ReduceL1"};

	return mx_reduce(o, call_int(o, "ord", 2) == 1 ? &one : row);
}

int mx_arg(const struct call *o, const struct call_row *row)
{
	const int64_t none = INT64_MAX, axis = call_int(o, "axis", none);
	struct graph_node *n;

	if (axis == none)
		return -1;
	n = call_node(o, row->onnx, o->in, 1);
	build_int(o->b, n, "axis", axis);
	build_int(o->b, n, "keepdims", call_flag(o, "keepdims", 0));
	return 0;
}

/* ---- element types ---- */

int mx_cast(const struct call *o, const struct call_row *row)
{
	const int elem = mx_elem(mx_text(o, "dtype", ""), VALUE_UNKNOWN);

	if (elem == VALUE_UNKNOWN)
		return -1;
	build_int(o->b, call_node(o, row->onnx, o->in, 1), "to", elem);
	return 0;
}

/* To the widest type among the inputs, which stay as many. */
int mx_cast_all(const struct call *o, const struct call_row *row)
{
	for (int i = 0; i < mx_made(o) && i < o->nin; i++)
		build_node(o->b, row->onnx, &o->in[i], 1, &o->out[i], 1);
	return mx_made(o) > o->nin ? -1 : 0;
}

/* Where the type follows from the numbers it is signed, unless none of them is negative. */
int mx_quantize(const struct call *o, const struct call_row *row)
{
	const char *type = mx_text(o, "out_type", "int8");
	const int is_unsigned = !strcmp(type, "uint8") ||
				(!strcmp(type, "auto") && call_real(o, "min_calib_range", -1) >= 0);

	build_int(o->b, call_node(o, row->onnx, o->in, 1), "output_dtype",
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

int mx_element_wise(const struct call *o)
{
	static const char *const prefix[] = {"broadcast_", "elemwise_", "_"};
	const char *onnx = find(unary, sizeof unary / sizeof *unary, o->type);
	struct graph_node *n;

	if (onnx) {
		call_node(o, onnx, o->in, 1);
		return 0;
	}
	for (int i = 0; i < 3 && o->nin == 2; i++) {
		const size_t k = strlen(prefix[i]);

		if (strncmp(o->type, prefix[i], k) != 0)
			continue;
		onnx = find(binary, sizeof binary / sizeof *binary, o->type + k);
		if (!onnx)
			continue;
		n = call_node(o, onnx, o->in, 2);
		if (i > 0)
			build_int(o->b, n, "alike", 1);
		return 0;
	}
	return -1;
}
