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

/* A list, or one number for all. */
static int ints(const struct call *l, const char *key, int64_t v[GRAPH_MAX_RANK])
{
	const struct json *list = layer_get(l, key);
	int n = 0;

	if (!list || list->type != JSON_ARR)
		return !json_int(list, v);
	for (const struct json *i = json_first(layer_of(l)->doc, list); i;
	     i = json_next(layer_of(l)->doc, list, i))
		if (n == GRAPH_MAX_RANK || json_int(i, &v[n++]))
			return 0;
	return n;
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

static int clip(const struct call *l, int in, double min, double max)
{
	int out = layer_fresh(l);

	compose_clip(l->b, in, out, (float)min, (float)max);
	return out;
}

static int gated(const struct call *l, int in, const char *gate)
{
	const int both[] = {in, one(l, gate, in)};
	int out = layer_fresh(l);

	layer_node(l, "Mul", both, 2, out);
	return out;
}

static int hard_sigmoid(const struct call *l, int in)
{
	int out = layer_fresh(l);
	struct graph_node *n = layer_node(l, "HardSigmoid", &in, 1, out);

	build_float(l->b, n, "alpha", 1.0f / 6);
	build_float(l->b, n, "beta", 0.5f);
	return out;
}

static int leaky_relu(const struct call *l, int in, double slope)
{
	int out = layer_fresh(l);

	build_float(l->b, layer_node(l, "LeakyRelu", &in, 1, out), "alpha", (float)slope);
	return out;
}

int layer_softmax(const struct call *l, int in)
{
	int out = layer_fresh(l);

	build_int(l->b, layer_node(l, "Softmax", &in, 1, out), "axis", -1);
	return out;
}

int layer_activate(const struct call *l, int in, const char *what)
{
	static const struct {
		const char *keras, *onnx;
	} same[] = {
		{"relu", "Relu"}, {"sigmoid", "Sigmoid"}, {"tanh", "Tanh"},
		{"elu", "Elu"},	  {"selu", "Selu"},	  {"softplus", "Softplus"},
		{"mish", "Mish"}, {"exponential", "Exp"}, {"softsign", "Softsign"},
		{"gelu", "Gelu"},
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
	if (!strcmp(what, "leaky_relu"))
		return leaky_relu(l, in, 0.2);
	if (!strcmp(what, "softmax"))
		return layer_softmax(l, in);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (!strcmp(same[i].keras, what))
			return one(l, same[i].onnx, in);
	return one(l, "Activation", in);
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

int layer_relu(const struct call *l, const struct call_row *row)
{
	const double slope = call_real(l, "negative_slope", 0);
	double most;

	if (call_real(l, "threshold", 0) != 0 ||
	    (slope != 0 && !json_num(layer_get(l, "max_value"), &most)))
		return -1;
	if (slope != 0)
		return layer_made(l, leaky_relu(l, l->in[0], slope));
	return layer_made(l, json_num(layer_get(l, "max_value"), &most)
				     ? one(l, row->onnx, l->in[0])
				     : clip(l, l->in[0], 0, most));
}
