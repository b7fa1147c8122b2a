/* What layers have in common: their configuration, nodes, activations. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/keras/layer.h"

/* ---- the configuration ---- */

const struct json *layer_get(const struct call *l, const char *key)
{
	return json_get(l->doc, layer_of(l)->config, key);
}

/* ---- nodes ---- */

int layer_fresh(const struct call *l)
{
	return build_value(l->b, l->name);
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

static const struct call_row activations[] = {
	{"relu6", "Clip", "0", CALL_CLIP(0, 6)},
	{"swish silu", "y = Sigmoid(0); $0 = Mul(0 y)"},
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

	if (!v && json_str(json_get(l->doc, layer_get(l, "activation"), "class_name"), l->b->a, &v))
		return "";
	return v;
}

int layer_activation_layer(const struct call *l, const struct call_row *row)
{
	int out = layer_activate(l, l->in[0], layer_activation(l));

	(void)row;
	return layer_made(l, out == l->in[0] ? call_make(l, "y = Identity(0)") : out);
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
