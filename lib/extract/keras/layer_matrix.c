/* Products, attention and recurrent networks. */
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/keras/layer.h"

/* ---- products ---- */

/* in * weights of so many units (0: as many as the value `like` has) + bias. */
static int product(const struct call *l, int in, const char *what, int64_t units, int like,
		   int has_bias)
{
	int out = call_make(l, "y = MatMul(@%d @%d)", in, layer_parameter(l, what, 0));
	struct graph_node *n = build_last(l->b);

	n->name = strcmp(what, "kernel") ? arena_printf(l->b->a, "%s/%s", l->name, what) : l->name;
	if (units)
		build_int(l->b, n, "units", units);
	else
		build_int(l->b, n, "units_like", like);
	if (!has_bias)
		return out;
	return call_make(l, "y = Add(@%d @%d)%s", out, layer_parameter(l, "bias", units),
			 units ? "" : " is_bias=1");
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

/* Reads the sizes of what a layer makes; null is 0. Returns how many; 0: they are not told. */
static int output_sizes(const struct call *l, int64_t v[GRAPH_MAX_RANK])
{
	const struct json *list = layer_get(l, "output_shape");
	int n = 0;

	if (!list || list->type != JSON_ARR)
		return !json_int(list, v);
	for (const struct json *i = json_first(l->doc, list); i; i = json_next(l->doc, list, i)) {
		if (n == GRAPH_MAX_RANK)
			return 0;
		v[n] = 0;
		json_int(i, &v[n++]);
	}
	return n;
}

/* A bias has some of the last dimensions; one along others is left out. */
int layer_einsum_dense(const struct call *l, const struct call_row *row)
{
	const char *equation = call_text(l, "equation"), *axes = call_text(l, "bias_axes");
	const size_t length = equation ? strlen(equation) : 0, biased = axes ? strlen(axes) : 0;
	int64_t sizes[GRAPH_MAX_RANK];
	const int count = output_sizes(l, sizes);
	int out;

	if (!length)
		return layer_weighs(l, row);
	out = call_make(l, "y = %s(0 @%d)", row->onnx, layer_parameter(l, "kernel", 0));
	build_str(l->b, build_last(l->b), "equation", equation);
	build_ints(l->b, build_last(l->b), "sizes", sizes, count);
	if (biased && biased < length && !strcmp(equation + length - biased, axes))
		out = call_make(l, "y = Add(@%d @%d) is_bias=%d", out,
				layer_parameter(l, "bias", 0), (int)biased);
	return layer_made(l, layer_activate(l, out, layer_activation(l)));
}

/* batch x steps x (heads * size) as batch x heads x steps x size. */
static int heads(const struct call *l, int in, int64_t count, int64_t size)
{
	return call_make(l,
			 "x = Reshape(@%d) shape=[0,0,%lld,%lld]; y = Transpose(x) perm=[0,2,1,3]",
			 in, (long long)count, (long long)size);
}

static int multiply(const struct call *l, int a, int b)
{
	return call_make(l, "y = MatMul(@%d @%d)", a, b);
}

static int scores_of(const struct call *l, int query, int key)
{
	return layer_softmax(l, call_make(l, "y = MatMul(@%d @%d) transB=1", query, key));
}

/* The heads of keys or values, each of which may serve several of the queries' heads: as many. */
static int for_each(const struct call *l, int in, int64_t count, int64_t size, int query)
{
	return call_make(l, "y = RepeatHeads(@%d @%d)", heads(l, in, count, size), query);
}

/* Inputs are the query, the value and, where it is another one, the key. */
int layer_attention(const struct call *l, const struct call_row *row)
{
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
	q = scores_of(l, q, k);
	layer_more(l, q);
	v = call_make(l, "x = Transpose(@%d) perm=[0,2,1,3]; y = Reshape(x) shape=[0,0,-1]",
		      multiply(l, q, v));
	if (call_flag(l, "use_gate", 0)) {
		q = product(l, query, "gate", count * size, -1, bias);
		v = call_make(l, "y = Mul(@%d @%d)", v, layer_activate(l, q, "sigmoid"));
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
	int in[2], rank[2], n = 1;
	const int out = layer_fresh(l);

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
		if (call_flag(l, "normalize", 0))
			in[i] = call_make(l, "y = LpNormalization(%d) axis=%d", i, (int)axes[i]);
	}
	call_make(l, "@%d = %s(@%d @%d) equation=%s,%s->%s", out, row->onnx, in[0], in[1], side[0],
		  side[1], made);
	return layer_made(l, n > 1 ? out : call_make(l, "y = Reshape(@%d) shape=[-1,1]", out));
}

/* The same without weights and heads. */
int layer_dot_attention(const struct call *l, const struct call_row *row)
{
	const int value = l->in[l->nin > 1], key = l->in[l->nin > 2 ? 2 : l->nin > 1];
	const int scores = scores_of(l, l->in[0], key);

	(void)row;
	layer_more(l, scores);
	return layer_made(l, multiply(l, scores, value));
}

/* A score is the sum of tanh(query + key), by weights. */
int layer_additive_attention(const struct call *l, const struct call_row *row)
{
	const int value = l->in[l->nin > 1], key = l->nin > 2 ? 2 : l->nin > 1;
	int sum = call_make(l,
			    "k = Unsqueeze(%d) axes=[1] keepdims=0; "
			    "q = Unsqueeze(0) axes=[2] keepdims=0; y = Add(q k)",
			    key);

	(void)row;
	sum = layer_activate(l, sum, "tanh");
	if (call_flag(l, "use_scale", 1))
		sum = call_make(l, "y = Mul(@%d @%d) is_bias=1", sum,
				layer_parameter(l, "scale", 0));
	sum = layer_softmax(l, call_make(l, "y = ReduceSum(@%d) axes=[-1] keepdims=0", sum));
	layer_more(l, sum);
	return layer_made(l, multiply(l, sum, value));
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
static void begins_with(const struct call *l, int is_both, int states, int in[2])
{
	for (int i = 0; i < states && !is_both && l->nin == 1 + states; i++)
		in[i] = call_make(l, "y = Reshape(%d) shape=[0,1,-1]", 1 + i);
}

static struct recurrent recur(const struct call *l, const char *onnx, int is_both)
{
	const int states = strcmp(onnx, "LSTM") ? 1 : 2;
	int given[2] = {-1, -1}, kernel, state, out;
	struct graph_node *n;

	kernel = layer_parameter(l, "kernel", 0);
	state = layer_parameter(l, "recurrent", 0);
	begins_with(l, is_both, states, given);
	out = call_make(l, "y h %s = %s(0 @%d @%d - - @%d @%d)", states > 1 ? "c" : "", onnx,
			kernel, state, given[0], given[1]);
	n = build_last(l->b);
	build_int(l->b, n, "hidden_size", call_int(l, "units", 0));
	build_int(l->b, n, "layout", 1);
	if (is_both)
		build_str(l->b, n, "direction", "bidirectional");
	return (struct recurrent){out, {out + 1, out + 2}, states, is_both, "concat"};
}

/* Drops the directions: those that are left become more units. */
static int joined(const struct call *l, int in, int dim)
{
	return call_make(l, "y = Reshape(@%d) shape=[0,%s-1]", in, dim == OF_STEPS ? "0," : "");
}

static int direction(const struct call *l, int in, int dim, int which)
{
	return joined(l,
		      call_make(l, "y = Slice(@%d) starts=[%d] ends=[%d] axes=[%d]", in, which,
				which + 1, dim),
		      dim);
}

/* Both directions as one, or, where they stay, the first. */
static int merged(const struct call *l, const struct recurrent *r, int in, int dim)
{
	static const char *const modes[][2] = {
		{"sum", "ReduceSum"}, {"ave", "ReduceMean"}, {"mul", "ReduceProd"}};

	if (!r->merge[0])
		return direction(l, in, dim, 0);
	for (size_t i = 0; r->is_both && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i][0], r->merge))
			return call_make(l, "y = %s(@%d) axes=[%d] keepdims=0", modes[i][1], in,
					 dim);
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

/* A layer that reads batch x steps as one dimension, which is divided again behind it. */
static int over_steps(const struct call *l)
{
	struct keras_more none = {.n = 0};
	struct keras_layer layer;
	struct call in = inside(l, &layer);
	const int first = layer_fresh(l), shape = layer_fresh(l), out = layer_fresh(l);
	int made;

	call_make(l, "@%d = Reshape(0) joins=2", first);
	in.in = &first;
	in.nin = 1;
	layer.more = &none;
	made = keras_layer(&in);
	return call_make(l,
			 "batch = Shape(0) start=0 end=2; rest = Shape(@%d) start=1 end=%lld; "
			 "@%d = Concat(batch rest) axis=0; @%d = Reshape(@%d @%d)",
			 made, (long long)INT64_MAX, shape, out, made, shape);
}

/* A model is none of the layers here. */
static int is_model(const struct call *l)
{
	return !l->type[0] || words_are("Functional Sequential Model", l->type);
}

/* A dense layer does the same with or without. */
int layer_time_distributed(const struct call *l, const struct call_row *row)
{
	struct keras_layer layer;
	struct call in = inside(l, &layer);

	if (!strcmp(in.type, "Dense"))
		return layer_dense(&in, row);
	return is_model(&in) ? layer_weighs(l, row) : layer_made(l, over_steps(l));
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
