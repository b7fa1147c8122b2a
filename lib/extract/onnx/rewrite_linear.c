/* Quantized operators become nodes on reals between DequantizeLinear and QuantizeLinear, which say
 * all that is computed. This is for graphs that are run. Sums of ConvInteger and MatMulInteger pass
 * through single precision. An operator whose channels come last stays as it is. */
#include <string.h>

#include "lib/extract/onnx/rewrite.h"

/* Makes the reals that input i stands for, by this scale and zero point. */
static int real(struct rewrite *r, int i, int scale, int zero, int axis)
{
	return rewrite_make(r, "real = DequantizeLinear(%d @%d @%d) axis=%d", i, scale, zero, axis);
}

/* The scale and the zero point come behind the input. */
static int real_at(struct rewrite *r, int i)
{
	return rewrite_make(r, "real = DequantizeLinear(%d %d %d) axis=1", i, i + 1, i + 2);
}

/* Makes the result of a real, by the scale and zero point that are inputs i and i + 1. */
static void whole(struct rewrite *r, int value, int i)
{
	rewrite_make(r, "$0 = QuantizeLinear(@%d %d %d)", value, i, i + 1);
}

/* Returns the name of the operator on reals. */
static const char *plain_type(const struct rewrite *r)
{
	return r->n->type + strlen("QLinear");
}

/* A, the packed weights, their scales, zero points and order of groups, and a bias. accuracy_level
 * allows less than single precision. */
void rewrite_linear_bits(struct rewrite *r)
{
	const int bias = rewrite_in(r, 5);
	const int out = rewrite_make(
		r, "weights = DequantizePacked(1 2 3 4) *-accuracy_level; %s = MatMul(0 weights)",
		rewrite_product(bias));

	rewrite_say_groups(r);
	rewrite_sum(r, out, bias);
}

static void unary(struct rewrite *r, const char *more)
{
	if (node_int(r->n, "channels_last", 0))
		rewrite_keep(r);
	else
		whole(r,
		      rewrite_make(r, "result = %s(@%d) *-channels_last%s", plain_type(r),
				   real_at(r, 0), more),
		      3);
}

void rewrite_linear_unary(struct rewrite *r)
{
	unary(r, "");
}

/* Elements of a window beyond the padding count, too (lib/run/lower_pool.c). */
void rewrite_linear_pool(struct rewrite *r)
{
	unary(r, " whole_windows=1");
}

/* The operator set that the axis is to be read by is an attribute, too. */
void rewrite_linear_softmax(struct rewrite *r)
{
	whole(r,
	      rewrite_make(r, "result = Softmax(@%d) axis=%lld opset=%lld", real_at(r, 0),
			   (long long)node_int(r->n, "axis", -1),
			   (long long)node_int(r->n, "opset", 1)),
	      3);
}

void rewrite_linear_concat(struct rewrite *r)
{
	whole(r, rewrite_concat(r, real_at, "result"), 0);
}

/* The inputs are A, B and C, each of A and B with its scale and zero point. C is in units of the
 * product. The result's scale follows, if it is no real. */
void rewrite_linear_gemm(struct rewrite *r)
{
	const float alpha = node_float(r->n, "alpha", 1);
	const int turned = node_int(r->n, "transB", 0) != 0, is_real = rewrite_in(r, 7) < 0;
	const int a = real_at(r, 0), b = real(r, 3, rewrite_in(r, 4), rewrite_in(r, 5), !turned);
	int c = -1, out;

	if (rewrite_in(r, 6) >= 0) {
		c = rewrite_make(r, "unit = Mul(1 4)");
		if (alpha != 1)
			c = rewrite_make(r, "scaled = Mul(@%d @%d)", c,
					 build_number(&r->b, (double)alpha));
		c = real(r, 6, c, -1, 1);
	}
	out = rewrite_make(r, "%s = Gemm(@%d @%d @%d) transA=%lld transB=%d",
			   is_real ? "$0" : "result", a, b, c,
			   (long long)node_int(r->n, "transA", 0), turned);
	build_float(&r->b, build_last(&r->b), "alpha", alpha);
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
	if (has_weights(r, 3))
		rewrite_keep(r);
	else
		rewrite_make(r, "real1 = DequantizeLinear(0 1 2) axis=-2; "
				"real2 = DequantizeLinear(3 4 5) axis=-1; "
				"result = MatMul(real1 real2); $0 = QuantizeLinear(result 6 7)");
}

/* The bias has the unit of the sums. */
void rewrite_linear_conv(struct rewrite *r)
{
	int x, w, bias = -1;

	if (has_weights(r, 3)) {
		rewrite_keep(r);
		return;
	}
	x = real_at(r, 0);
	w = real(r, 3, rewrite_in(r, 4), rewrite_in(r, 5), 0);
	if (rewrite_in(r, 8) >= 0)
		bias = rewrite_make(r, "unit = Mul(1 4); real = DequantizeLinear(8 unit) axis=0");
	whole(r, rewrite_make(r, "result = Conv(@%d @%d @%d) *", x, w, bias), 6);
}

/* A product of whole numbers becomes one of reals with the scale 1. */
void rewrite_integers(struct rewrite *r)
{
	const int is_conv = !strcmp(r->n->type, "ConvInteger"), unit = build_number(&r->b, 1);

	rewrite_make(r,
		     "real1 = DequantizeLinear(0 @%d 2) axis=%d; "
		     "real2 = DequantizeLinear(1 @%d 3) axis=%d; "
		     "sums = %s(real1 real2) *; $0 = Cast(sums) to=%d",
		     unit, is_conv ? 1 : -2, unit, is_conv ? 0 : -1, is_conv ? "Conv" : "MatMul",
		     VALUE_I32);
}

/* Its range, with 0 in it, is 255 steps. Where all is 0 a step is 1. */
void rewrite_dynamic_quantize(struct rewrite *r)
{
	const int none = build_number(&r->b, 0), most = build_number(&r->b, 255);

	rewrite_make(r,
		     "extreme1 = ReduceMin(0) keepdims=0; bound1 = Min(extreme1 @%d); "
		     "extreme2 = ReduceMax(0) keepdims=0; bound2 = Max(extreme2 @%d); "
		     "range = Sub(bound2 bound1); empty = Equal(range @%d); step = Div(range @%d); "
		     "$1 = Where(empty #1 step); least = Div(bound1 $1); zero = Sub(@%d least); "
		     "positive = Max(zero @%d); bounded = Min(positive @%d); "
		     "rounded = Round(bounded); $2 = Cast(rounded) to=%d; "
		     "$0 = QuantizeLinear(0 $1 $2)",
		     none, none, none, most, none, none, most, VALUE_U8);
}
