/* Operators on numbers of 8 bits and less, as those that ONNX has: ConvInteger and MatMulInteger,
 * QLinearConv and QLinearMatMul; and products by weights that are packed in a few bits. */
#include <string.h>

#include "lib/extract/onnx/rewrite.h"

/* A, its scale and zero, B, ... */
void rewrite_q_binary(struct rewrite *r)
{
	const int in[] = {rewrite_in(r, 0), rewrite_in(r, 3)};

	rewrite_node(r, strcmp(r->n->type, "QLinearAdd") ? "Mul" : "Add", in, 2,
		     rewrite_made(r, 0));
}

/* The scale and zero of the result, then those of each part behind it. */
void rewrite_q_concat(struct rewrite *r)
{
	int count = (r->n->nin - 2) / 3;
	int *in = arena_array(r->b.a, int, count > 0 ? count : 1);
	struct graph_node *n;

	for (int i = 0; i < count; i++)
		in[i] = rewrite_in(r, 2 + 3 * i);
	n = rewrite_node(r, "Concat", in, count > 0 ? count : 0, rewrite_made(r, 0));
	build_int(&r->b, n, "axis", node_int(r->n, "axis", 0));
}

void rewrite_q_pool(struct rewrite *r)
{
	struct graph_node *n =
		rewrite_node(r, r->n->type + strlen("QLinear"), r->n->in, 1, rewrite_made(r, 0));

	n->attr = r->n->attr;
	n->nattr = r->n->nattr;
	n->channels_last = node_int(r->n, "channels_last", 0) != 0;
}

void rewrite_q_conv(struct rewrite *r)
{
	struct graph_node *n =
		rewrite_node(r, "QLinearConv", r->n->in, r->n->nin, rewrite_made(r, 0));

	n->attr = r->n->attr;
	n->nattr = r->n->nattr;
	n->channels_last = node_int(r->n, "channels_last", 0) != 0;
}

static void keep_turns(struct rewrite *r, struct graph_node *n)
{
	build_int(&r->b, n, "transA", node_int(r->n, "transA", 0));
	build_int(&r->b, n, "transB", node_int(r->n, "transB", 0));
}

/* A, scale, zero, B, scale, zero, C, and the scale and zero of the result. */
void rewrite_q_gemm(struct rewrite *r)
{
	int in[8];

	for (int i = 0; i < 8; i++)
		in[i] = rewrite_in(r, i < 6 ? i : i + 1);
	keep_turns(r, rewrite_node(r, "QLinearMatMul", in, 8, rewrite_made(r, 0)));
}

/* A product of integers that becomes floats, and a bias. */
static void integers(struct rewrite *r, int a, int b, int bias)
{
	const int in[] = {a, b};
	int product = rewrite_between(r, "product");
	int out = bias < 0 ? rewrite_made(r, 0) : rewrite_between(r, "float");

	keep_turns(r, rewrite_node(r, "MatMulInteger", in, 2, product));
	build_int(&r->b, rewrite_node(r, "Cast", &product, 1, out), "to", VALUE_F32);
	if (bias >= 0) {
		const int both[] = {out, bias};

		rewrite_node(r, "Add", both, 2, rewrite_made(r, 0));
	}
}

void rewrite_dynamic_matmul(struct rewrite *r)
{
	int a = rewrite_one(r, "DynamicQuantizeLinear", rewrite_in(r, 0), "quantized");

	integers(r, a, rewrite_in(r, 1), rewrite_in(r, 4));
}

void rewrite_matmul_to_float(struct rewrite *r)
{
	integers(r, rewrite_in(r, 0), rewrite_in(r, 1), rewrite_in(r, 6));
}

/* The reals that weights of directions x rows x gates in 8 bits stand for, as LSTM has them:
 * directions x gates x rows. */
static int gates_first(struct rewrite *r, int weights, const char *what)
{
	static const int64_t perm[] = {0, 2, 1};
	int turned;

	if (weights < 0)
		return -1;
	turned = rewrite_between(r, what);
	build_ints(&r->b, rewrite_node(r, "Transpose", &weights, 1, turned), "perm", perm, 3);
	return rewrite_one(r, "DequantizeLinear", turned, what);
}

/* X, W, R, and what LSTM has behind them up to P; then the scales and zeros of W and R. */
void rewrite_dynamic_lstm(struct rewrite *r)
{
	const int x = rewrite_one(r, "DynamicQuantizeLinear", rewrite_in(r, 0), "quantized");
	int in[8] = {rewrite_one(r, "DequantizeLinear", x, "input"),
		     gates_first(r, rewrite_in(r, 1), "weights"),
		     gates_first(r, rewrite_in(r, 2), "weights of the state")};
	struct graph_node *n;

	for (int i = 3; i < 8; i++)
		in[i] = rewrite_in(r, i);
	n = build_node(&r->b, "LSTM", in, 8, r->n->out, r->n->nout);
	n->name = r->n->name;
	n->attr = r->n->attr;
	n->nattr = r->n->nattr;
}

/* MatMulNBits says how many values of k share a scale, and has zero points of whole numbers or the
 * middle. Its last group may be shorter, which no workload says. */
void rewrite_say_groups(struct rewrite *r, struct graph_node *made)
{
	const int64_t k = node_int(r->n, "K", 0), block = node_int(r->n, "block_size", 0);
	const int zeros = rewrite_in(r, 3), order = rewrite_in(r, 4);
	const int64_t group = block < k ? block : k;

	if (strcmp(r->n->type, "MatMulNBits") != 0 || group < 1 || k % group || order >= 0 ||
	    (zeros >= 0 && r->b.g->value[zeros]->elem != VALUE_U8))
		return;
	build_int(&r->b, made, "block_size", group);
	build_int(&r->b, made, "zeros", zeros >= 0);
}

/* By a K x N matrix, of which the file has packed parts. */
void rewrite_matmul_bits(struct rewrite *r)
{
	int w = rewrite_between(r, "weights"), bias = rewrite_in(r, 5);
	struct value *v = r->b.g->value[w];
	int in[] = {rewrite_in(r, 0), w}, out;

	v->elem = node_int(r->n, "bits", 4) == 8 ? VALUE_U8 : VALUE_U4;
	v->is_const = v->quantized = 1;
	v->shape = (struct shape){2, {node_int(r->n, "K", 0), node_int(r->n, "N", 0)}};
	if (v->shape.dim[0] < 1 || v->shape.dim[1] < 1 || v->shape.dim[0] > MAX_ELEMENTS ||
	    v->shape.dim[1] > MAX_ELEMENTS / v->shape.dim[0])
		v->shape.rank = RANK_UNKNOWN;
	out = bias < 0 ? rewrite_made(r, 0) : rewrite_between(r, "product");
	rewrite_say_groups(r, rewrite_node(r, "MatMul", in, 2, out));
	if (bias >= 0) {
		in[0] = out;
		in[1] = bias;
		rewrite_node(r, "Add", in, 2, rewrite_made(r, 0));
	}
}
