/* Quantized operators become nodes on reals between DequantizeLinear and QuantizeLinear, which say
 * all that is computed. This is for graphs that are run. Sums of ConvInteger and MatMulInteger pass
 * through single precision. An operator whose channels come last stays as it is. */
#include <string.h>

#include "lib/extract/onnx/rewrite.h"

/* Makes the reals that input i stands for, by this scale and zero point. Returns their value. */
static int real(struct rewrite *r, int i, int scale, int zero, int64_t axis)
{
	const int in[] = {rewrite_in(r, i), scale, zero}, out = rewrite_between(r, "real");

	build_int(&r->b, rewrite_node(r, "DequantizeLinear", in, zero < 0 ? 2 : 3, out), "axis",
		  axis);
	return out;
}

static int real_at(struct rewrite *r, int i)
{
	return real(r, i, rewrite_in(r, i + 1), rewrite_in(r, i + 2), 1);
}

/* Makes the result of a real, by the scale and zero point that are inputs i and i + 1. */
static void whole(struct rewrite *r, int value, int i)
{
	const int in[] = {value, rewrite_in(r, i), rewrite_in(r, i + 1)};

	rewrite_node(r, "QuantizeLinear", in, in[2] < 0 ? 2 : 3, rewrite_made(r, 0));
}

/* Returns the name of the operator on reals. */
static const char *plain_type(const struct rewrite *r)
{
	return r->n->type + strlen("QLinear");
}

/* Results halfway between two steps may be a step from onnxruntime's, which multiplies what is left
 * of whole numbers by one factor, and adds the zero point of the result before it rounds.
 * QuantizeLinear rounds first. */
void rewrite_linear_binary(struct rewrite *r)
{
	const int in[] = {real_at(r, 0), real_at(r, 3)}, out = rewrite_between(r, "result");

	rewrite_node(r, plain_type(r), in, 2, out);
	whole(r, out, 6);
}

/* A, the packed weights, their scales, zero points and order of groups, and a bias. accuracy_level
 * allows less than single precision. */
void rewrite_linear_bits(struct rewrite *r)
{
	const int packed[] = {rewrite_in(r, 1), rewrite_in(r, 2), rewrite_in(r, 3),
			      rewrite_in(r, 4)};
	const int bias = rewrite_in(r, 5);
	int in[] = {rewrite_in(r, 0), rewrite_between(r, "weights")};
	int out = bias < 0 ? rewrite_made(r, 0) : rewrite_between(r, "product");

	rewrite_copy_attrs(r, rewrite_node(r, "DequantizePacked", packed, 4, in[1]),
			   "accuracy_level");
	rewrite_say_groups(r, rewrite_node(r, "MatMul", in, 2, out));
	if (bias >= 0) {
		in[0] = out;
		in[1] = bias;
		rewrite_node(r, "Add", in, 2, rewrite_made(r, 0));
	}
}

void rewrite_linear_unary(struct rewrite *r)
{
	int in, out;

	if (node_int(r->n, "channels_last", 0)) {
		rewrite_keep(r);
		return;
	}
	in = real_at(r, 0);
	out = rewrite_between(r, "result");
	rewrite_copy_attrs(r, rewrite_node(r, plain_type(r), &in, 1, out), "channels_last");
	whole(r, out, 3);
}

/* The operator set that the axis is to be read by is an attribute, too. */
void rewrite_linear_softmax(struct rewrite *r)
{
	const int in = real_at(r, 0), out = rewrite_between(r, "result");
	struct graph_node *n = rewrite_node(r, "Softmax", &in, 1, out);

	build_int(&r->b, n, "axis", node_int(r->n, "axis", -1));
	build_int(&r->b, n, "opset", node_int(r->n, "opset", 1));
	whole(r, out, 3);
}

void rewrite_linear_where(struct rewrite *r)
{
	const int in[] = {rewrite_in(r, 0), real_at(r, 1), real_at(r, 4)};
	const int out = rewrite_between(r, "result");

	rewrite_node(r, "Where", in, 3, out);
	whole(r, out, 7);
}

void rewrite_linear_concat(struct rewrite *r)
{
	const int count = (r->n->nin - 2) / 3, out = rewrite_between(r, "result");
	int *in = arena_array(r->b.a, int, count > 0 ? count : 1);

	for (int i = 0; i < count; i++)
		in[i] = real_at(r, 2 + 3 * i);
	build_int(&r->b, rewrite_node(r, "Concat", in, count > 0 ? count : 0, out), "axis",
		  node_int(r->n, "axis", 0));
	whole(r, out, 0);
}

/* The inputs are A, B and C, each of A and B with its scale and zero point. C is in units of the
 * product. The result's scale follows, if it is no real. */
void rewrite_linear_gemm(struct rewrite *r)
{
	const float alpha = node_float(r->n, "alpha", 1);
	const int scales[] = {rewrite_in(r, 1), rewrite_in(r, 4)},
		  turned = node_int(r->n, "transB", 0) != 0;
	const int is_real = rewrite_in(r, 7) < 0;
	int in[3] = {real_at(r, 0), real(r, 3, scales[1], rewrite_in(r, 5), !turned), -1};
	int out = is_real ? rewrite_made(r, 0) : rewrite_between(r, "result");
	struct graph_node *n;

	if (rewrite_in(r, 6) >= 0) {
		int unit[2] = {rewrite_between(r, "unit"), build_number(&r->b, (double)alpha)};

		rewrite_node(r, "Mul", scales, 2, unit[0]);
		if (alpha != 1) {
			const int scaled = rewrite_between(r, "scaled");

			rewrite_node(r, "Mul", unit, 2, scaled);
			unit[0] = scaled;
		}
		in[2] = real(r, 6, unit[0], -1, 1);
	}
	n = rewrite_node(r, "Gemm", in, in[2] < 0 ? 2 : 3, out);
	build_int(&r->b, n, "transA", node_int(r->n, "transA", 0));
	build_int(&r->b, n, "transB", turned);
	build_float(&r->b, n, "alpha", alpha);
	if (!is_real)
		whole(r, out, 7);
}

/* Have kernels in 8 bits the weights at input i? These are constants of s8 around 0, and their
 * operator stays. */
static int has_weights(const struct rewrite *r, int i)
{
	const struct value *w = node_in(r->b.g, r->n, i), *zero = node_in(r->b.g, r->n, i + 2);

	return w && w->is_const && w->elem == VALUE_I8 && value_is_zero(zero) == 1;
}

void rewrite_linear_matmul(struct rewrite *r)
{
	int in[2], out;

	if (has_weights(r, 3)) {
		rewrite_keep(r);
		return;
	}
	in[0] = real(r, 0, rewrite_in(r, 1), rewrite_in(r, 2), -2);
	in[1] = real(r, 3, rewrite_in(r, 4), rewrite_in(r, 5), -1);
	out = rewrite_between(r, "result");
	rewrite_node(r, "MatMul", in, 2, out);
	whole(r, out, 6);
}

/* The bias has the unit of the sums. */
void rewrite_linear_conv(struct rewrite *r)
{
	const int scales[] = {rewrite_in(r, 1), rewrite_in(r, 4)};
	int in[3], out, nin = 2;

	if (has_weights(r, 3)) {
		rewrite_keep(r);
		return;
	}
	in[0] = real_at(r, 0);
	in[1] = real(r, 3, scales[1], rewrite_in(r, 5), 0);
	if (rewrite_in(r, 8) >= 0) {
		const int unit = rewrite_between(r, "unit");

		rewrite_node(r, "Mul", scales, 2, unit);
		in[nin++] = real(r, 8, unit, -1, 0);
	}
	out = rewrite_between(r, "result");
	rewrite_copy_attrs(r, rewrite_node(r, "Conv", in, nin, out), "-");
	whole(r, out, 6);
}

/* A product of whole numbers becomes one of reals with the scale 1. */
void rewrite_integers(struct rewrite *r)
{
	const int is_conv = !strcmp(r->n->type, "ConvInteger");
	const int unit = build_number(&r->b, 1), sums = rewrite_between(r, "sums");
	const int in[] = {real(r, 0, unit, rewrite_in(r, 2), is_conv ? 1 : -2),
			  real(r, 1, unit, rewrite_in(r, 3), is_conv ? 0 : -1)};

	rewrite_copy_attrs(r, rewrite_node(r, is_conv ? "Conv" : "MatMul", in, 2, sums), "-");
	build_int(&r->b, rewrite_node(r, "Cast", &sums, 1, rewrite_made(r, 0)), "to", VALUE_I32);
}

/* Adds a node of two inputs. Returns the value between that it makes. */
static int two(struct rewrite *r, const char *type, int a, int b, const char *what)
{
	const int in[] = {a, b}, out = rewrite_between(r, what);

	rewrite_node(r, type, in, 2, out);
	return out;
}

static int extreme(struct rewrite *r, const char *reduce, const char *with, int zero)
{
	const int x = rewrite_in(r, 0), out = rewrite_between(r, "extreme");

	build_int(&r->b, rewrite_node(r, reduce, &x, 1, out), "keepdims", 0);
	return two(r, with, out, zero, "bound");
}

/* Its range, with 0 in it, is 255 steps. Where all is 0 a step is 1. */
void rewrite_dynamic_quantize(struct rewrite *r)
{
	const int none = build_number(&r->b, 0), most = build_number(&r->b, 255);
	const int low = extreme(r, "ReduceMin", "Min", none);
	const int range = two(r, "Sub", extreme(r, "ReduceMax", "Max", none), low, "range");
	const int step[] = {two(r, "Equal", range, none, "empty"), build_number(&r->b, 1),
			    two(r, "Div", range, most, "step")};
	const int out[] = {rewrite_made(r, 1), rewrite_made(r, 2)};
	int zero, in[3] = {rewrite_in(r, 0), out[0], out[1]};

	rewrite_node(r, "Where", step, 3, out[0]);
	zero = two(r, "Sub", none, two(r, "Div", low, out[0], "least"), "zero");
	zero = two(r, "Min", two(r, "Max", zero, none, "positive"), most, "bounded");
	zero = rewrite_one(r, "Round", zero, "rounded");
	build_int(&r->b, rewrite_node(r, "Cast", &zero, 1, out[1]), "to", VALUE_U8);
	rewrite_node(r, "QuantizeLinear", in, 3, rewrite_made(r, 0));
}
