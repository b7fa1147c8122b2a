/* Operators on numbers of 8 bits and less, as those that ONNX has: ConvInteger and MatMulInteger,
 * QLinearConv and QLinearMatMul; and products by weights that are packed in a few bits. */
#include <string.h>

#include "lib/extract/onnx/rewrite.h"

static int input(struct rewrite *r, int i)
{
	return rewrite_in(r, i);
}

/* The scale and zero of the result, then those of each part behind it. */
void rewrite_q_concat(struct rewrite *r)
{
	rewrite_concat(r, input, "$0");
}

static void say_channels(struct rewrite *r)
{
	build_last(&r->b)->channels_last = node_int(r->n, "channels_last", 0) != 0;
}

void rewrite_q_pool(struct rewrite *r)
{
	rewrite_make(r, "$0 = %s(0) *", r->n->type + strlen("QLinear"));
	say_channels(r);
}

void rewrite_q_conv(struct rewrite *r)
{
	rewrite_make(r, "$0 = QLinearConv(0 1 2 3 4 5 6 7 8) *");
	say_channels(r);
}

/* A product of integers that becomes floats, and a bias. */
static void integers(struct rewrite *r, int a, int bias)
{
	const int out = rewrite_make(
		r, "product = MatMulInteger(@%d 1) transA transB; %s = Cast(product) to=%d", a,
		bias < 0 ? "$0" : "float", VALUE_F32);

	rewrite_sum(r, out, bias);
}

void rewrite_dynamic_matmul(struct rewrite *r)
{
	integers(r, rewrite_make(r, "quantized = DynamicQuantizeLinear(0)"), rewrite_in(r, 4));
}

void rewrite_matmul_to_float(struct rewrite *r)
{
	integers(r, rewrite_in(r, 0), rewrite_in(r, 6));
}

/* The reals that weights of directions x rows x gates in 8 bits stand for, as LSTM has them:
 * directions x gates x rows. */
static int gates_first(struct rewrite *r, int i, const char *what)
{
	return rewrite_in(r, i) < 0
		       ? -1
		       : rewrite_make(
				 r, "%s1 = Transpose(%d) perm=[0,2,1]; %s = DequantizeLinear(%s1)",
				 what, i, what, what);
}

/* X, W, R, and what LSTM has behind them up to P; then the scales and zeros of W and R. */
void rewrite_dynamic_lstm(struct rewrite *r)
{
	const int x = rewrite_make(
		r, "quantized = DynamicQuantizeLinear(0); input = DequantizeLinear(quantized)");
	const int w = gates_first(r, 1, "weights"),
		  state = gates_first(r, 2, "weights_of_the_state");

	rewrite_make(r, "$0? $1? $2? = LSTM(@%d @%d @%d 3 4 5 6 7) *", x, w, state);
}

/* MatMulNBits says how many values of k share a scale, and has zero points of whole numbers or the
 * middle. Its last group may be shorter, which no workload says. */
void rewrite_say_groups(struct rewrite *r)
{
	const int64_t k = node_int(r->n, "K", 0), block = node_int(r->n, "block_size", 0);
	const int zeros = rewrite_in(r, 3), order = rewrite_in(r, 4);
	const int64_t group = block < k ? block : k;

	if (strcmp(r->n->type, "MatMulNBits") != 0 || group < 1 || k % group || order >= 0 ||
	    (zeros >= 0 && r->b.g->value[zeros]->elem != VALUE_U8))
		return;
	build_int(&r->b, build_last(&r->b), "block_size", group);
	build_int(&r->b, build_last(&r->b), "zeros", zeros >= 0);
}

/* By a K x N matrix, of which the file has packed parts. */
void rewrite_matmul_bits(struct rewrite *r)
{
	const int w = rewrite_between(r, "weights"), bias = rewrite_in(r, 5);
	struct value *v = r->b.g->value[w];
	int out;

	v->elem = node_int(r->n, "bits", 4) == 8 ? VALUE_U8 : VALUE_U4;
	v->is_const = v->quantized = 1;
	v->shape = (struct shape){2, {node_int(r->n, "K", 0), node_int(r->n, "N", 0)}};
	if (v->shape.dim[0] < 1 || v->shape.dim[1] < 1 || v->shape.dim[0] > MAX_ELEMENTS ||
	    v->shape.dim[1] > MAX_ELEMENTS / v->shape.dim[0])
		v->shape.rank = RANK_UNKNOWN;
	out = rewrite_make(r, "%s = MatMul(0 @%d)", rewrite_product(bias), w);
	rewrite_say_groups(r);
	rewrite_sum(r, out, bias);
}
