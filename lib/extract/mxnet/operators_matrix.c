/* Products, attention and recurrent networks. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/mxnet/operator.h"

enum { MOST_LAYERS = 1 << 10, MOST_HEADS = 1 << 16 };

/* Data x weights', where the data are one row for each of the batch, or (flatten is false) for each
 * of all dimensions but the last. */
int mx_dense(const struct call *o, const struct call_row *row)
{
	const int64_t units = call_int(o, "num_hidden", 0);
	const int is_biased = o->nin > 2 && !call_flag(o, "no_bias", 0);
	int in[2], sum[2], product;
	struct graph_node *n;

	(void)row;
	if (o->nin < 2 || units < 1)
		return -1;
	in[0] = o->in[0];
	in[1] = o->in[1];
	if (call_flag(o, "flatten", 1))
		mx_step(o, "Flatten", o->in[0], &in[0]);
	product = is_biased ? mx_part(o, "product") : o->out[0];
	n = build_node(o->b, "MatMul", in, 2, &product, 1);
	n->name = o->name;
	build_int(o->b, n, "transB", 1);
	build_int(o->b, n, "units", units);
	if (!is_biased)
		return 0;
	sum[0] = product;
	sum[1] = o->in[2];
	if (o->b->g->value[sum[1]]->is_const && o->b->g->value[sum[1]]->shape.rank < 0)
		o->b->g->value[sum[1]]->shape = (struct shape){1, {units}};
	call_node(o, "Add", sum, 2);
	return 0;
}

int mx_dot(const struct call *o, const struct call_row *row)
{
	struct graph_node *n;

	if (o->nin < 2)
		return -1;
	n = call_node(o, row->onnx, o->in, 2);
	build_int(o->b, n, "last_by_first", !strcmp(o->type, "dot"));
	build_int(o->b, n, "transA", call_flag(o, "transpose_a", 0));
	build_int(o->b, n, "transB", call_flag(o, "transpose_b", 0));
	return 0;
}

/* The same, and a sum. */
int mx_gemm(const struct call *o, const struct call_row *row)
{
	int sum[2];
	struct call product = *o;

	if (o->nin < 3)
		return -1;
	sum[0] = mx_part(o, "product");
	sum[1] = o->in[2];
	product.out = sum;
	mx_dot(&product, row);
	call_node(o, "Add", sum, 2);
	return 0;
}

int mx_embedding(const struct call *o, const struct call_row *row)
{
	const int64_t rows = call_int(o, "input_dim", 0), width = call_int(o, "output_dim", 0);
	struct value *table = o->nin > 1 ? o->b->g->value[o->in[1]] : NULL;
	const int in[] = {o->nin > 1 ? o->in[1] : -1, o->in[0]};

	if (!table || rows < 1 || width < 1 || rows > 1 << 30 || width > 1 << 24)
		return -1;
	if (table->is_const && table->shape.rank < 0)
		table->shape = (struct shape){2, {rows, width}};
	if (table->elem == VALUE_UNKNOWN)
		table->elem = mx_elem(mx_text(o, "dtype", ""), VALUE_F32);
	call_node(o, row->onnx, in, 2);
	return 0;
}

/* ---- recurrent networks ---- */

/* One layer: steps x batch x elements, in and out. last: its last states. */
static int recur(const struct call *o, const char *onnx, int in, int layer, int *last)
{
	static const int64_t perm[] = {0, 2, 1, 3}, join[] = {0, 0, -1};
	const int from[] = {in, mx_part(o, "kernel"), mx_part(o, "recurrent")};
	const int made[] = {mx_part(o, "steps"), last[0] = mx_part(o, "state"),
			    last[1] = mx_part(o, "cell")};
	struct graph_node *n = build_node(o->b, onnx, from, 3, made, strcmp(onnx, "LSTM") ? 2 : 3);

	for (int i = 1; i < 3; i++) {
		o->b->g->value[from[i]]->is_const = 1;
		o->b->g->value[from[i]]->elem = VALUE_F32;
	}
	n->name = call_int(o, "num_layers", 1) == 1
			  ? o->name
			  : arena_printf(o->b->a, "%s/%d", o->name, layer);
	build_int(o->b, n, "hidden_size", call_int(o, "state_size", 0));
	if (call_flag(o, "bidirectional", 0))
		build_str(o->b, n, "direction", "bidirectional");
	return mx_reshape(o, mx_transpose(o, made[0], perm, 4), join, 3);
}

/* Layers one upon the other. Outputs are that of the last layer, and the last states of all. */
int mx_recurrent(const struct call *o, const struct call_row *row)
{
	const int64_t layers = call_int(o, "num_layers", 0);
	const char *mode = mx_text(o, "mode", "");
	int *last[2], at = o->in[0], pair[2];
	const char *onnx = !strcmp(mode, "lstm") ? "LSTM" : !strcmp(mode, "gru") ? "GRU" : "RNN";

	(void)row;
	if (layers < 1 || layers > MOST_LAYERS || call_int(o, "state_size", 0) < 1 || !mode[0] ||
	    call_int(o, "projection_size", 0) > 0)
		return -1;
	last[0] = arena_array(o->b->a, int, layers);
	last[1] = arena_array(o->b->a, int, layers);
	for (int64_t i = 0; i < layers; i++) {
		at = recur(o, onnx, at, (int)i, pair);
		last[0][i] = pair[0];
		last[1][i] = pair[1];
	}
	call_node(o, "Identity", &at, 1);
	for (int i = 1; i < mx_made(o) && i < 3; i++)
		build_int(o->b, build_node(o->b, "Concat", last[i - 1], (int)layers, &o->out[i], 1),
			  "axis", 0);
	return 0;
}

/* ---- attention of Gluon's networks for language ---- */

/* steps x batch x (heads x parts x size): part `which` as (batch x heads) x steps x size. */
static int take_part(const struct call *o, int in, int64_t heads, int64_t parts, int64_t which)
{
	static const int64_t perm[] = {1, 2, 0, 3}, join[] = {-3, 0, 0};
	const int64_t split[] = {0, 0, heads, parts, -1}, axis = 3, end = which + 1;
	struct graph_node *n;
	int at = mx_reshape(o, in, split, 5), out;

	n = mx_step(o, "Slice", at, &out);
	build_ints(o->b, n, "starts", &which, 1);
	build_ints(o->b, n, "ends", &end, 1);
	build_ints(o->b, n, "axes", &axis, 1);
	build_ints(o->b, mx_step(o, "Squeeze", out, &at), "axes", &axis, 1);
	return mx_reshape(o, mx_transpose(o, at, perm, 4), join, 3);
}

static int64_t heads_of(const struct call *o)
{
	const int64_t heads = call_int(o, "heads", 0);

	return heads <= MOST_HEADS ? heads : 0;
}

static int scores(const struct call *o, int q, int k)
{
	const int in[] = {q, k};

	build_int(o->b, call_node(o, "MatMul", in, 2), "transB", 1);
	return 0;
}

/* Queries, keys and values are in one tensor, head by head. */
int mx_self_scores(const struct call *o, const struct call_row *row)
{
	const int64_t heads = heads_of(o);

	(void)row;
	if (heads < 1)
		return -1;
	return scores(o, take_part(o, o->in[0], heads, 3, 0), take_part(o, o->in[0], heads, 3, 1));
}

/* Keys and values are in one tensor. */
int mx_cross_scores(const struct call *o, const struct call_row *row)
{
	const int64_t heads = heads_of(o);

	(void)row;
	if (heads < 1 || o->nin < 2)
		return -1;
	return scores(o, take_part(o, o->in[0], heads, 1, 0), take_part(o, o->in[1], heads, 2, 0));
}

/* weights x values, then the heads side by side again. */
static int weighted_sum(const struct call *o, int64_t parts)
{
	static const int64_t perm[] = {2, 0, 1, 3}, join[] = {0, 0, -1};
	const int64_t heads = heads_of(o), split[] = {-4, -1, heads, 0, 0};
	int in[2], at;

	if (heads < 1 || o->nin < 2)
		return -1;
	in[0] = o->in[1];
	in[1] = take_part(o, o->in[0], heads, parts, parts - 1);
	at = mx_part(o, "sum");
	build_node(o->b, "MatMul", in, 2, &at, 1)->name = o->name;
	at = mx_transpose(o, mx_reshape(o, at, split, 5), perm, 4);
	mx_reshape_to(o, at, join, 3, 0, o->out[0]);
	return 0;
}

int mx_self_sum(const struct call *o, const struct call_row *row)
{
	(void)row;
	return weighted_sum(o, 3);
}

int mx_cross_sum(const struct call *o, const struct call_row *row)
{
	(void)row;
	return weighted_sum(o, 2);
}
