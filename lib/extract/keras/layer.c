/* What layers have in common: their configuration, nodes, activations. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/keras/layer.h"

/* ---- the configuration ---- */

const struct json *layer_get(const struct call *l, const char *key)
{
	return json_get(layer_of(l)->doc, layer_of(l)->config, key);
}

static int integer(const struct call *l, const char *key, int64_t *v)
{
	return json_int(layer_get(l, key), v);
}

static int real(const struct call *l, const char *key, double *v)
{
	return json_num(layer_get(l, key), v);
}

static int flag(const struct call *l, const char *key, int *v)
{
	return json_bool(layer_get(l, key), v);
}

static const char *text(const struct call *l, const char *key)
{
	const char *s;

	return json_str(layer_get(l, key), l->b->a, &s) ? NULL : s;
}

int layer_sizes(const struct call *l, const char *key, int has_open, int64_t v[GRAPH_MAX_RANK])
{
	const struct json *list = layer_get(l, key);
	int n = 0;

	if (!list || list->type != JSON_ARR)
		return !json_int(list, v);
	for (const struct json *i = json_first(layer_of(l)->doc, list); i;
	     i = json_next(layer_of(l)->doc, list, i)) {
		if (n == GRAPH_MAX_RANK)
			return 0;
		v[n] = 0;
		if (json_int(i, &v[n++]) && !has_open)
			return 0;
	}
	return n;
}

static int ints(const struct call *l, const char *key, int64_t v[GRAPH_MAX_RANK])
{
	return layer_sizes(l, key, 0, v);
}

const struct call_reader layer_reader = {integer, real, flag, ints, text, NULL};

/* ---- nodes ---- */

int layer_fresh(const struct call *l)
{
	return build_value(l->b, l->name);
}

struct graph_node *layer_node(const struct call *l, const char *type, const int *in, int nin,
			      int out)
{
	return build_node(l->b, type, in, nin, &out, 1);
}

static int one(const struct call *l, const char *type, int in)
{
	int out = layer_fresh(l);

	layer_node(l, type, &in, 1, out);
	return out;
}

int layer_reshape(const struct call *l, int in, const int64_t *shape, int rank)
{
	int out = layer_fresh(l);

	build_ints(l->b, layer_node(l, "Reshape", &in, 1, out), "shape", shape, rank);
	return out;
}

int layer_transpose(const struct call *l, int in, const int64_t *perm, int rank)
{
	int out = layer_fresh(l);

	build_ints(l->b, layer_node(l, "Transpose", &in, 1, out), "perm", perm, rank);
	return out;
}

void layer_more(const struct call *l, int value)
{
	if (layer_of(l)->more->n < KERAS_MORE)
		layer_of(l)->more->at[layer_of(l)->more->n++] = value;
}

int layer_parameter(const struct call *l, const char *what, int64_t size)
{
	return build_parameter(l->b, arena_printf(l->b->a, "%s/%s", l->name, what), size);
}

/* ---- activations ---- */

/* x * onnx(x), whose values have the layer's name. */
static int gated(const struct call *l, const struct call_row *row)
{
	const int both[] = {l->in[0], one(l, row->onnx, l->in[0])};

	layer_node(l, "Mul", both, 2, l->out[0]);
	return 0;
}

static const struct call_row activations[] = {
	{"relu6", "Clip", "0", CALL_CLIP(0, 6)},
	{"swish silu", "Sigmoid", .fn = gated},
	{"hard_sigmoid", "HardSigmoid", "0", CALL_HARD_SIGMOID},
	{"hard_swish hard_silu", "HardSwish", "0"},
	{"leaky_relu", "LeakyRelu", "0", CALL_ATTRS({CALL_REAL, "alpha", NULL, 0.2})},
	{"softmax", "Softmax", "0", CALL_ATTRS({CALL_INT, "axis", NULL, -1})},
	{"elu", "Elu", "0"},
	{"gelu", "Gelu", "0"},
	{"exponential", "Exp", "0"},
};

int layer_activate(const struct call *l, int in, const char *what)
{
	struct call c = *l;
	int out;

	if (!what[0] || !strcmp(what, "linear"))
		return in;
	out = layer_fresh(l);
	c.type = "Activation";
	c.in = &in;
	c.nin = 1;
	c.out = &out;
	call_convert(&c, call_find(activations, sizeof activations / sizeof *activations, what));
	return out;
}

int layer_softmax(const struct call *l, int in)
{
	return layer_activate(l, in, "softmax");
}

/* The name of an activation; as an object, of its class. */
const char *layer_activation(const struct call *l)
{
	const char *v = call_text(l, "activation");

	if (!v && json_str(json_get(layer_of(l)->doc, layer_get(l, "activation"), "class_name"),
			   l->b->a, &v))
		return "";
	return v;
}

int layer_activation_layer(const struct call *l, const struct call_row *row)
{
	int out = layer_activate(l, l->in[0], layer_activation(l));

	(void)row;
	return layer_made(l, out == l->in[0] ? one(l, "Identity", out) : out);
}

/* A ReLU that has a slope, or a largest value, is one of these. */
static const struct call_row leaky = {NULL, "LeakyRelu", "0",
				      CALL_ATTRS({CALL_REAL, "alpha", "negative_slope"})};
static const struct call_row bounded = {
	NULL, "Clip", "0",
	CALL_ATTRS({CALL_REAL, "min", NULL, 0}, {CALL_REAL, "max", "max_value"})};

int layer_relu(const struct call *l, const struct call_row *row)
{
	const int is_leaky = call_real(l, "negative_slope", 0) != 0;
	double most;
	const int is_bounded = !json_num(layer_get(l, "max_value"), &most);

	if (call_real(l, "threshold", 0) != 0 || (is_leaky && is_bounded))
		return -1;
	layer_made(l, layer_fresh(l));
	call_node_of(l, is_leaky ? &leaky : is_bounded ? &bounded : row, l->in, 1);
	return 0;
}
