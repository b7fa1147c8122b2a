/* Products, attention and recurrent networks. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/keras/layer.h"

/* ---- products ---- */

/* in * weights of so many units (0: as many as the value `like` has) + bias. */
static int product(const struct keras_layer *l, int in, const char *what, int64_t units, int like,
		   int has_bias)
{
	const int from[] = {in, layer_parameter(l, what, 0)};
	int sum[] = {layer_fresh(l), -1}, out;
	struct graph_node *n = layer_node(l, "MatMul", from, 2, sum[0]);

	n->name = strcmp(what, "kernel") ? arena_printf(l->b->a, "%s/%s", l->name, what) : l->name;
	if (units)
		build_int(l->b, n, "units", units);
	else
		build_int(l->b, n, "units_like", like);
	if (!has_bias || !units)
		return sum[0];
	sum[1] = layer_parameter(l, "bias", units);
	out = layer_fresh(l);
	layer_node(l, "Add", sum, 2, out);
	return out;
}

int layer_dense(const struct keras_layer *l, const char *onnx)
{
	int64_t units = layer_int(l, "units", 0);

	(void)onnx;
	if (units < 1)
		return layer_own(l);
	return layer_activate(
		l, product(l, l->in[0], "kernel", units, -1, layer_flag(l, "use_bias", 1)),
		layer_activation(l));
}

/* batch x steps x (heads * size) as batch x heads x steps x size. */
static int heads(const struct keras_layer *l, int in, int64_t count, int64_t size)
{
	static const int64_t perm[] = {0, 2, 1, 3};

	return layer_transpose(l, layer_reshape(l, in, (const int64_t[]){0, 0, count, size}, 4),
			       perm, 4);
}

int layer_pair(const struct keras_layer *l, const char *type, int a, int b, int is_transposed)
{
	const int from[] = {a, b};
	int out = layer_fresh(l);
	struct graph_node *n = layer_node(l, type, from, 2, out);

	if (is_transposed)
		build_int(l->b, n, "transB", 1);
	return out;
}

/* Inputs are the query, the value and, where it is another one, the key. */
int layer_attention(const struct keras_layer *l, const char *onnx)
{
	static const int64_t back[] = {0, 2, 1, 3};
	const int64_t count = layer_int(l, "num_heads", 0), size = layer_int(l, "key_dim", 0);
	const int64_t width = layer_int(l, "value_dim", size);
	const int query = l->in[0], value = l->in[l->nin > 1],
		  key = l->in[l->nin > 2 ? 2 : l->nin > 1];
	const int bias = layer_flag(l, "use_bias", 1);
	int64_t out_shape[GRAPH_MAX_RANK];
	int q, k, v;

	(void)onnx;
	if (count < 1 || size < 1 || width < 1 || count > 1 << 12 || size > 1 << 16 ||
	    width > 1 << 16)
		return layer_own(l);
	q = heads(l, product(l, query, "query", count * size, -1, bias), count, size);
	k = heads(l, product(l, key, "key", count * size, -1, bias), count, size);
	v = heads(l, product(l, value, "value", count * width, -1, bias), count, width);
	q = layer_softmax(l, layer_pair(l, "MatMul", q, k, 1));
	v = layer_transpose(l, layer_pair(l, "MatMul", q, v, 0), back, 4);
	v = layer_reshape(l, v, (const int64_t[]){0, 0, -1}, 3);
	if (layer_ints(l, "output_shape", 1, out_shape) == 1)
		return product(l, v, "output", out_shape[0], -1, bias);
	return product(l, v, "output", 0, query, bias);
}

/* ---- recurrent networks ---- */

static int recur(const struct keras_layer *l, const char *onnx, int is_both)
{
	const int from[] = {l->in[0], layer_parameter(l, "kernel", 0),
			    layer_parameter(l, "recurrent", 0)};
	const int out[] = {layer_fresh(l), layer_fresh(l)};
	const int64_t all[] = {0, 0, -1}, last[] = {0, -1};
	struct graph_node *n = build_node(l->b, onnx, from, 3, out, 2);

	build_int(l->b, n, "hidden_size", layer_int(l, "units", 0));
	build_int(l->b, n, "layout", 1);
	if (is_both)
		build_str(l->b, n, "direction", "bidirectional");
	return layer_flag(l, "return_sequences", 0) ? layer_reshape(l, out[0], all, 3)
						    : layer_reshape(l, out[1], last, 2);
}

int layer_recurrent(const struct keras_layer *l, const char *onnx)
{
	return recur(l, onnx, 0);
}

/* The layer in a wrapper. */
static struct keras_layer inside(const struct keras_layer *l)
{
	struct keras_layer in = *l;
	const struct json *layer = layer_get(l, "layer");

	in.config = json_get(l->doc, layer, "config");
	if (json_str(json_get(l->doc, layer, "class_name"), l->b->a, &in.type))
		in.type = "";
	return in;
}

int layer_bidirectional(const struct keras_layer *l, const char *onnx)
{
	static const char *const types[][2] = {
		{"LSTM", "LSTM"}, {"GRU", "GRU"}, {"SimpleRNN", "RNN"}};
	struct keras_layer in = inside(l);

	(void)onnx;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(in.type, types[i][0]))
			return recur(&in, types[i][1], 1);
	return layer_own(l);
}

/* A dense layer does the same with or without. */
int layer_time_distributed(const struct keras_layer *l, const char *onnx)
{
	struct keras_layer in = inside(l);

	return strcmp(in.type, "Dense") ? layer_own(l) : layer_dense(&in, onnx);
}
