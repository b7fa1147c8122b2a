/* Products, attention and recurrent networks. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/keras/layer.h"

/* ---- products ---- */

/* in * weights of so many units (0: as many as the value `like` has) + bias. */
static int product(const struct call *l, int in, const char *what, int64_t units, int like,
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
	if (!has_bias)
		return sum[0];
	sum[1] = layer_parameter(l, "bias", units);
	out = layer_fresh(l);
	n = layer_node(l, "Add", sum, 2, out);
	if (!units)
		build_int(l->b, n, "is_bias", 1);
	return out;
}

int layer_dense(const struct call *l, const struct call_row *row)
{
	int64_t units = call_int(l, "units", 0);

	(void)row;
	if (units < 1)
		return -1;
	return layer_made(l, layer_activate(l,
					    product(l, l->in[0], "kernel", units, -1,
						    call_flag(l, "use_bias", 1)),
					    layer_activation(l)));
}

/* A bias has some of the last dimensions; one along others is left out. */
int layer_einsum_dense(const struct call *l, const struct call_row *row)
{
	const char *equation = call_text(l, "equation"), *axes = call_text(l, "bias_axes");
	const size_t length = equation ? strlen(equation) : 0, biased = axes ? strlen(axes) : 0;
	const int in[] = {l->in[0], layer_parameter(l, "kernel", 0)};
	int64_t sizes[GRAPH_MAX_RANK];
	const int count = layer_sizes(l, "output_shape", 1, sizes);
	int sum[] = {layer_fresh(l), -1}, out = sum[0];
	struct graph_node *n;

	if (!length)
		return layer_weighs(l, row);
	n = layer_node(l, row->onnx, in, 2, out);
	build_str(l->b, n, "equation", equation);
	build_ints(l->b, n, "sizes", sizes, count);
	if (biased && biased < length && !strcmp(equation + length - biased, axes)) {
		sum[1] = layer_parameter(l, "bias", 0);
		out = layer_fresh(l);
		build_int(l->b, layer_node(l, "Add", sum, 2, out), "is_bias", (int64_t)biased);
	}
	return layer_made(l, layer_activate(l, out, layer_activation(l)));
}

/* batch x steps x (heads * size) as batch x heads x steps x size. */
static int heads(const struct call *l, int in, int64_t count, int64_t size)
{
	static const int64_t perm[] = {0, 2, 1, 3};

	return layer_transpose(l, layer_reshape(l, in, (const int64_t[]){0, 0, count, size}, 4),
			       perm, 4);
}

int layer_pair(const struct call *l, const char *type, int a, int b, int is_transposed)
{
	const int from[] = {a, b};
	int out = layer_fresh(l);
	struct graph_node *n = layer_node(l, type, from, 2, out);

	if (is_transposed)
		build_int(l->b, n, "transB", 1);
	return out;
}

/* The heads of keys or values, each of which may serve several of the queries' heads: as many. */
static int for_each(const struct call *l, int in, int64_t count, int64_t size, int query)
{
	const int both[] = {heads(l, in, count, size), query};
	const int out = layer_fresh(l);

	layer_node(l, "RepeatHeads", both, 2, out);
	return out;
}

/* Inputs are the query, the value and, where it is another one, the key. */
int layer_attention(const struct call *l, const struct call_row *row)
{
	static const int64_t back[] = {0, 2, 1, 3};
	const int64_t count = call_int(l, "num_heads num_query_heads", 0);
	const int64_t size = call_int(l, "key_dim head_dim", 0);
	const int64_t width = call_int(l, "value_dim", size);
	const int64_t shared = call_int(l, "num_key_value_heads", count);
	const int query = l->in[0], value = l->in[l->nin > 1],
		  key = l->in[l->nin > 2 ? 2 : l->nin > 1];
	const int bias = call_flag(l, "use_bias", 1);
	int64_t out_shape[GRAPH_MAX_RANK];
	int q, k, v;

	(void)row;
	if (count < 1 || size < 1 || width < 1 || count > 1 << 12 || size > 1 << 16 ||
	    width > 1 << 16 || shared < 1 || count % shared)
		return -1;
	q = heads(l, product(l, query, "query", count * size, -1, bias), count, size);
	k = product(l, key, "key", shared * size, -1, bias);
	v = product(l, value, "value", shared * width, -1, bias);
	k = shared == count ? heads(l, k, count, size) : for_each(l, k, shared, size, q);
	v = shared == count ? heads(l, v, count, width) : for_each(l, v, shared, width, q);
	q = layer_softmax(l, layer_pair(l, "MatMul", q, k, 1));
	layer_more(l, q);
	v = layer_transpose(l, layer_pair(l, "MatMul", q, v, 0), back, 4);
	v = layer_reshape(l, v, (const int64_t[]){0, 0, -1}, 3);
	if (call_flag(l, "use_gate", 0)) {
		q = product(l, query, "gate", count * size, -1, bias);
		v = layer_pair(l, "Mul", v, layer_activate(l, q, "sigmoid"), 0);
	}
	if (call_ints(l, "output_shape", 1, out_shape) == 1)
		return layer_made(l, product(l, v, "output", out_shape[0], -1, bias));
	return layer_made(l, product(l, v, "output", 0, query, bias));
}

/* The letters of an operand: 'a' for the batch, 'z' for what is summed over. */
static void letters(char *to, char first, int rank, int summed)
{
	for (int i = 0; i < rank; i++)
		to[i] = (char)(!i ? 'a' : i == summed ? 'z' : first + i);
	to[rank] = 0;
}

/* The sum over one dimension of each; two lists make one number. */
int layer_dot(const struct call *l, const struct call_row *row)
{
	char side[2][GRAPH_MAX_RANK + 1], made[2 * GRAPH_MAX_RANK + 1] = "a";
	int64_t axes[GRAPH_MAX_RANK];
	int in[2], rank[2], n = 1, out = layer_fresh(l);

	if (l->nin != 2 || call_ints(l, "axes", 2, axes) != 2)
		return layer_weighs(l, row);
	for (int i = 0; i < 2; i++) {
		rank[i] = build_shape(l->b, l->in[i])->rank;
		axes[i] = rank[i] > 1 ? infer_axis(axes[i], rank[i]) : -1;
		if (axes[i] < 1)
			return layer_weighs(l, row);
		letters(side[i], i ? 'm' : 'a', rank[i], (int)axes[i]);
		for (const char *s = side[i] + 1; *s; s++)
			if (*s != 'z')
				made[n++] = *s;
		made[n] = 0;
		in[i] = l->in[i];
		if (call_flag(l, "normalize", 0)) {
			in[i] = layer_fresh(l);
			build_int(l->b, layer_node(l, "LpNormalization", &l->in[i], 1, in[i]),
				  "axis", axes[i]);
		}
	}
	build_str(l->b, layer_node(l, row->onnx, in, 2, out), "equation",
		  arena_printf(l->b->a, "%s,%s->%s", side[0], side[1], made));
	return layer_made(l, n > 1 ? out : layer_reshape(l, out, (const int64_t[]){-1, 1}, 2));
}

/* The same without weights and heads. */
int layer_dot_attention(const struct call *l, const struct call_row *row)
{
	const int value = l->in[l->nin > 1], key = l->in[l->nin > 2 ? 2 : l->nin > 1];
	const int scores = layer_softmax(l, layer_pair(l, "MatMul", l->in[0], key, 1));

	(void)row;
	layer_more(l, scores);
	return layer_made(l, layer_pair(l, "MatMul", scores, value, 0));
}

/* A node along one dimension, which goes where it reduces. */
static int along(const struct call *l, const char *type, int in, int64_t axis)
{
	const int out = layer_fresh(l);
	struct graph_node *n = layer_node(l, type, &in, 1, out);

	build_ints(l->b, n, "axes", &axis, 1);
	build_int(l->b, n, "keepdims", 0);
	return out;
}

/* A score is the sum of tanh(query + key), by weights. */
int layer_additive_attention(const struct call *l, const struct call_row *row)
{
	const int value = l->in[l->nin > 1], key = l->in[l->nin > 2 ? 2 : l->nin > 1];
	int sum = layer_pair(l, "Add", along(l, "Unsqueeze", l->in[0], 2),
			     along(l, "Unsqueeze", key, 1), 0);
	int scores, by[2];

	(void)row;
	sum = layer_activate(l, sum, "tanh");
	if (call_flag(l, "use_scale", 1)) {
		by[0] = sum;
		by[1] = layer_parameter(l, "scale", 0);
		sum = layer_fresh(l);
		build_int(l->b, layer_node(l, "Mul", by, 2, sum), "is_bias", 1);
	}
	sum = along(l, "ReduceSum", sum, -1);
	scores = layer_softmax(l, sum);
	layer_more(l, scores);
	return layer_made(l, layer_pair(l, "MatMul", scores, value, 0));
}

/* ---- recurrent networks ---- */

/* A recurrent layer as ONNX has it, of one direction or two. */
struct recurrent {
	int steps;	 /* what it makes: batch x steps x directions x units */
	int state[2], n; /* after the last step: batch x directions x units */
	int is_both;
	const char *merge; /* of the directions: "concat", "sum", "ave", "mul"; "": they stay */
};

/* The directions are this dimension of what it makes. */
enum { OF_STEPS = 2, OF_STATE = 1 };

/* The states that the layer begins with are inputs, too: batch x units. */
static int begins_with(const struct call *l, int is_both, int states, int in[2])
{
	if (is_both || l->nin != 1 + states)
		return 0;
	for (int i = 0; i < states; i++)
		in[i] = layer_reshape(l, l->in[1 + i], (const int64_t[]){0, 1, -1}, 3);
	return states;
}

static struct recurrent recur(const struct call *l, const char *onnx, int is_both)
{
	const int states = strcmp(onnx, "LSTM") ? 1 : 2;
	int from[] = {l->in[0],
		      layer_parameter(l, "kernel", 0),
		      layer_parameter(l, "recurrent", 0),
		      -1,
		      -1,
		      -1,
		      -1};
	const int given = begins_with(l, is_both, states, from + 5);
	const int out[] = {layer_fresh(l), layer_fresh(l), states > 1 ? layer_fresh(l) : -1};
	struct graph_node *n = build_node(l->b, onnx, from, given ? 5 + given : 3, out, 1 + states);

	build_int(l->b, n, "hidden_size", call_int(l, "units", 0));
	build_int(l->b, n, "layout", 1);
	if (is_both)
		build_str(l->b, n, "direction", "bidirectional");
	return (struct recurrent){out[0], {out[1], out[2]}, states, is_both, "concat"};
}

/* Drops the directions: those that are left become more units. */
static int joined(const struct call *l, int in, int dim)
{
	static const int64_t all[] = {0, 0, -1}, last[] = {0, -1};

	return dim == OF_STEPS ? layer_reshape(l, in, all, 3) : layer_reshape(l, in, last, 2);
}

static int direction(const struct call *l, int in, int dim, int64_t which)
{
	const int64_t end = which + 1, axis = dim;
	int out = layer_fresh(l);
	struct graph_node *n = layer_node(l, "Slice", &in, 1, out);

	build_ints(l->b, n, "starts", &which, 1);
	build_ints(l->b, n, "ends", &end, 1);
	build_ints(l->b, n, "axes", &axis, 1);
	return joined(l, out, dim);
}

/* Both directions as one, or, where they stay, the first. */
static int merged(const struct call *l, const struct recurrent *r, int in, int dim)
{
	static const char *const modes[][2] = {
		{"sum", "ReduceSum"}, {"ave", "ReduceMean"}, {"mul", "ReduceProd"}};
	const int64_t axis = dim;

	if (!r->merge[0])
		return direction(l, in, dim, 0);
	for (size_t i = 0; r->is_both && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i][0], r->merge)) {
			int out = layer_fresh(l);
			struct graph_node *n = layer_node(l, modes[i][1], &in, 1, out);

			build_ints(l->b, n, "axes", &axis, 1);
			build_int(l->b, n, "keepdims", 0);
			return out;
		}
	return joined(l, in, dim);
}

/* What the layer makes: each step or the last one, then the states of each direction. */
static int results(const struct call *l, const struct recurrent *r)
{
	const int dim = call_flag(l, "return_sequences", 0) ? OF_STEPS : OF_STATE;
	const int from = dim == OF_STEPS ? r->steps : r->state[0];
	const int first = merged(l, r, from, dim);

	if (!r->merge[0])
		layer_more(l, direction(l, from, dim, 1));
	if (call_flag(l, "return_state", 0))
		for (int d = 0; d <= r->is_both; d++)
			for (int i = 0; i < r->n; i++)
				layer_more(l, r->is_both ? direction(l, r->state[i], OF_STATE, d)
							 : joined(l, r->state[i], OF_STATE));
	return first;
}

int layer_recurrent(const struct call *l, const struct call_row *row)
{
	const struct recurrent r = recur(l, row->onnx, 0);

	return layer_made(l, results(l, &r));
}

/* The layer in a wrapper. */
static struct call inside(const struct call *l, struct keras_layer *to)
{
	const struct json *layer = layer_get(l, "layer");
	struct call in = *l;

	*to = *layer_of(l);
	to->config = json_get(to->doc, layer, "config");
	in.at = to;
	if (json_str(json_get(to->doc, layer, "class_name"), l->b->a, &in.type))
		in.type = "";
	return in;
}

/* null: the directions are two results. */
static const char *merge_mode(const struct call *l)
{
	const struct json *mode = layer_get(l, "merge_mode");
	const char *s;

	if (mode && mode->type == JSON_NULL)
		return "";
	return json_str(mode, l->b->a, &s) || !s[0] ? "concat" : s;
}

int layer_bidirectional(const struct call *l, const struct call_row *row)
{
	static const char *const types[][2] = {
		{"LSTM", "LSTM"}, {"GRU", "GRU"}, {"SimpleRNN", "RNN"}};
	struct keras_layer layer;
	struct call in = inside(l, &layer);

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(in.type, types[i][0])) {
			struct recurrent r = recur(&in, types[i][1], 1);

			r.merge = merge_mode(l);
			return layer_made(l, results(&in, &r));
		}
	return layer_weighs(l, row);
}

/* ---- layers over steps ---- */

/* A layer that has weights, of which nothing else is known. */
int layer_weighs(const struct call *l, const struct call_row *row)
{
	l->out[0] = layer_fresh(l);
	return call_weighs(l, row);
}

/* Some of the dimensions of a value. */
static int part_of_shape(const struct call *l, int in, int64_t start, int64_t end)
{
	int out = layer_fresh(l);
	struct graph_node *n = layer_node(l, "Shape", &in, 1, out);

	build_int(l->b, n, "start", start);
	build_int(l->b, n, "end", end);
	return out;
}

/* A layer that reads batch x steps as one dimension, which is divided again behind it. */
static int over_steps(const struct call *l, struct call *inner, struct keras_layer *layer)
{
	struct keras_more none = {.n = 0};
	int first = layer_fresh(l), shape = layer_fresh(l), out = layer_fresh(l);
	int parts[2], back[2];

	build_int(l->b, layer_node(l, "Reshape", l->in, 1, first), "joins", 2);
	inner->in = &first;
	inner->nin = 1;
	layer->more = &none;
	back[0] = keras_layer(inner);
	parts[0] = part_of_shape(l, l->in[0], 0, 2);
	parts[1] = part_of_shape(l, back[0], 1, INT64_MAX);
	build_int(l->b, layer_node(l, "Concat", parts, 2, shape), "axis", 0);
	back[1] = shape;
	layer_node(l, "Reshape", back, 2, out);
	return out;
}

/* A model is none of the layers here. */
static int is_model(const struct call *l)
{
	static const char *const models[] = {"", "Functional", "Sequential", "Model"};

	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (!strcmp(l->type, models[i]))
			return 1;
	return 0;
}

/* A dense layer does the same with or without. */
int layer_time_distributed(const struct call *l, const struct call_row *row)
{
	struct keras_layer layer;
	struct call in = inside(l, &layer);

	if (!strcmp(in.type, "Dense"))
		return layer_dense(&in, row);
	return is_model(&in) ? layer_weighs(l, row) : layer_made(l, over_steps(l, &in, &layer));
}

/* A layer whose weights are scaled does what it does without. */
int layer_scaled(const struct call *l, const struct call_row *row)
{
	struct keras_more none = {.n = 0};
	struct keras_layer layer;
	struct call in = inside(l, &layer);

	layer.more = &none;
	return is_model(&in) ? layer_weighs(l, row) : layer_made(l, keras_layer(&in));
}
