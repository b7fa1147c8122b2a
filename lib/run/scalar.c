#include "lib/run/scalar.h"

#include <math.h>
#include <string.h>

/* ---- functions ---- */

static float where(const float *x, float a)
{
	(void)a;
	return x[0] != 0 ? x[1] : x[2];
}

static float equal(const float *x, float a)
{
	(void)a;
	return x[0] == x[1];
}

static float less(const float *x, float a)
{
	(void)a;
	return x[0] < x[1];
}

static float less_or_equal(const float *x, float a)
{
	(void)a;
	return x[0] <= x[1];
}

static float greater(const float *x, float a)
{
	(void)a;
	return x[0] > x[1];
}

static float greater_or_equal(const float *x, float a)
{
	(void)a;
	return x[0] >= x[1];
}

static float both(const float *x, float a)
{
	(void)a;
	return x[0] != 0 && x[1] != 0;
}

static float either(const float *x, float a)
{
	(void)a;
	return x[0] != 0 || x[1] != 0;
}

static float one_of_two(const float *x, float a)
{
	(void)a;
	return (x[0] != 0) != (x[1] != 0);
}

static float negated(const float *x, float a)
{
	(void)a;
	return x[0] == 0;
}

static float is_nan(const float *x, float a)
{
	(void)a;
	return isnan(x[0]) != 0;
}

static float power(const float *x, float a)
{
	(void)a;
	return powf(x[0], x[1]);
}

/* Raises an integer to a power. A power that divides by 0 may give anything. */
static float whole_power(const float *x, float a)
{
	(void)a;
	return (float)trunc(pow((double)x[0], (double)x[1]));
}

static float quotient(const float *x, float a)
{
	(void)a;
	return x[1] == 0 ? 0 : (float)trunc((double)x[0] / (double)x[1]);
}

static float share(const float *x, float a)
{
	return (float)trunc((double)x[0] / (double)a);
}

/* a: the sign of the result is the dividend's (C), else the divisor's (Python). */
static float modulo(const float *x, float a)
{
	float r = fmodf(x[0], x[1]);

	return a == 0 && r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}

static float logarithm(const float *x, float a)
{
	(void)a;
	return logf(x[0]);
}

static float down(const float *x, float a)
{
	(void)a;
	return floorf(x[0]);
}

static float up(const float *x, float a)
{
	(void)a;
	return ceilf(x[0]);
}

/* Halves go to the even neighbour, in the default rounding mode. */
static float nearest(const float *x, float a)
{
	(void)a;
	return rintf(x[0]);
}

/* What is left of a whole number in so many bits; of a negative number of bits: with a sign. */
static double in_bits(double x, double bits)
{
	const double all = exp2(fabs(bits)), r = fmod(x, all);

	if (bits > 0)
		return r < 0 ? r + all : r;
	return r >= all / 2 ? r - all : r < -all / 2 ? r + all : r;
}

static float wrapped(const float *x, float a)
{
	return (float)in_bits((double)x[0], (double)a);
}

/* The same of i32 and i64, whose largest number, of which all bits but the sign are set, is a power
 * of 2 as a float. */
static float narrowed_32(const float *x, float a)
{
	return x[0] == 0x1p31F ? (float)in_bits(-1, (double)a) : wrapped(x, a);
}

static float narrowed_64(const float *x, float a)
{
	return x[0] == 0x1p63F ? (float)in_bits(-1, (double)a) : wrapped(x, a);
}

/* The least number of a type is what casts make of numbers that do not fit. Others of this size are
 * rounded to it when they are added to it: nobody needs their last digits. 2^24 may be a sum that
 * was rounded. */
static float exact(const float *x, float a)
{
	const float most = 0x1p24F - 1;

	if (a < 0 && x[0] == -exp2f(-a - 1))
		return x[0];
	return x[0] <= most && x[0] >= (a < 0 ? -most : 0) ? x[0] : NAN;
}

/* The largest number of i32 is 2^31 as a float, which wider types have, too: there it is another.
 */
static float widened(const float *x, float a)
{
	(void)a;
	return x[0] == 0x1p31F ? NAN : x[0];
}

/* As x86 does it: by way of 32 bits, or of 64 where the result has them or no sign; what does not
 * fit there, and NaN, is the least number. */
static float to_zero(const float *x, float a)
{
	const double least = fabsf(a) < 32 || a == -32 ? -0x1p31 : -0x1p63;
	const double end = a == 64 ? 0x1p64 : -least, whole = trunc((double)x[0]);

	return (float)in_bits(whole >= least && whole < end ? whole : least, (double)a);
}

/* To so many bits behind the first one, halves to the even neighbour. Below `least` the last of
 * these bits stays where it is. */
static float rounded(float x, int bits, float least, float most)
{
	int e;
	float y;

	if (!isfinite(x))
		return x;
	frexpf(fmaxf(fabsf(x), least), &e);
	y = ldexpf(rintf(ldexpf(x, bits + 1 - e)), e - bits - 1);
	return fabsf(y) > most ? copysignf(INFINITY, y) : y;
}

static float to_half(const float *x, float a)
{
	(void)a;
	return rounded(x[0], 10, 0x1p-14F, 65504);
}

static float to_brain(const float *x, float a)
{
	(void)a;
	return rounded(x[0], 7, 0x1p-126F, 0x1.fep127F);
}

static float truth(const float *x, float a)
{
	(void)a;
	return x[0] != 0;
}

static float sign(const float *x, float a)
{
	(void)a;
	return isnan(x[0]) ? x[0] : (float)((x[0] > 0) - (x[0] < 0));
}

static float sine(const float *x, float a)
{
	(void)a;
	return sinf(x[0]);
}

static float cosine(const float *x, float a)
{
	(void)a;
	return cosf(x[0]);
}

/* log(1 + exp(x)), without overflow. */
static float softplus(const float *x, float a)
{
	(void)a;
	return fmaxf(x[0], 0) + log1pf(expf(-fabsf(x[0])));
}

static float softsign(const float *x, float a)
{
	(void)a;
	return x[0] / (1 + fabsf(x[0]));
}

static float mish(const float *x, float a)
{
	return x[0] * tanhf(softplus(x, a));
}

static float leaky_relu(const float *x, float a)
{
	return x[0] >= 0 ? x[0] : a * x[0];
}

static float sloped_relu(const float *x, float a)
{
	(void)a;
	return x[0] >= 0 ? x[0] : x[1] * x[0];
}

static float thresholded_relu(const float *x, float a)
{
	return x[0] > a ? x[0] : 0;
}

/* A function of one element that C has. */
#define OF_C(NAME, FUNCTION)                                                                       \
	static float NAME(const float *x, float a)                                                 \
	{                                                                                          \
		(void)a;                                                                           \
		return FUNCTION(x[0]);                                                             \
	}
OF_C(arc_cosine, acosf)
OF_C(arc_sine, asinf)
OF_C(arc_tangent, atanf)
OF_C(area_cosine, acoshf)
OF_C(area_sine, asinhf)
OF_C(area_tangent, atanhf)
OF_C(hyperbolic_cosine, coshf)
OF_C(hyperbolic_sine, sinhf)
OF_C(tangent, tanf)

/* a: 1: negative infinity counts; 2: positive; 3: both. */
static float is_infinite(const float *x, float a)
{
	return isinf(x[0]) && ((int)a & (x[0] < 0 ? 1 : 2)) != 0;
}

/* a: lambd; x[1]: bias. */
static float shrink(const float *x, float a)
{
	return x[0] < -a ? x[0] + x[1] : x[0] > a ? x[0] - x[1] : 0;
}

static float limited(const float *x, float a)
{
	const float least = x[0] < x[1] ? x[1] : x[0];

	(void)a;
	return least > x[2] ? x[2] : least;
}

/* The bound that a is, on the other side. */
static float at_least(const float *x, float a)
{
	return limited((const float[]){x[0], x[1], a}, 0);
}

static float at_most(const float *x, float a)
{
	return limited((const float[]){x[0], a, x[1]}, 0);
}

static float bits_and(const float *x, float a)
{
	(void)a;
	return (float)((int64_t)x[0] & (int64_t)x[1]);
}

static float bits_or(const float *x, float a)
{
	(void)a;
	return (float)((int64_t)x[0] | (int64_t)x[1]);
}

static float bits_xor(const float *x, float a)
{
	(void)a;
	return (float)((int64_t)x[0] ^ (int64_t)x[1]);
}

/* a: the bits of an unsigned type, or 0. */
static float bits_not(const float *x, float a)
{
	return (float)(~(int64_t)x[0] & (a != 0 ? ((int64_t)1 << (int)a) - 1 : -1));
}

/* a: the bits of an unsigned type; x[2]: does it go to the right? All bits may be shifted out. */
static float bits_shift(const float *x, float a)
{
	const uint64_t u = (uint64_t)x[0];

	if (!(x[1] >= 0 && x[1] < a))
		return 0;
	return (float)(x[2] != 0 ? u >> (int)x[1] : u << (int)x[1] & (((uint64_t)1 << (int)a) - 1));
}

/* round(x / scale) + zero, between two bounds. Operands: x, scale, zero; then the upper bound; a:
 * the lower one. */
static float quantized(const float *x, float a)
{
	return fminf(fmaxf(rintf(x[0] / x[1]) + x[2], a), x[3]);
}

static const struct {
	const char *type;
	int operands;
	scalar_fn *fn;
} table[] = {
	{"Acos", 1, arc_cosine},
	{"Acosh", 1, area_cosine},
	{"And", 2, both},
	{"Asin", 1, arc_sine},
	{"Asinh", 1, area_sine},
	{"Atan", 1, arc_tangent},
	{"Atanh", 1, area_tangent},
	{"BitShift", 2, bits_shift},
	{"BitwiseAnd", 2, bits_and},
	{"BitwiseNot", 1, bits_not},
	{"BitwiseOr", 2, bits_or},
	{"BitwiseXor", 2, bits_xor},
	{"Ceil", 1, up},
	{"Clip", 3, limited},
	{"Cos", 1, cosine},
	{"Cosh", 1, hyperbolic_cosine},
	{"Equal", 2, equal},
	{"Floor", 1, down},
	{"Greater", 2, greater},
	{"GreaterOrEqual", 2, greater_or_equal},
	{"IsInf", 1, is_infinite},
	{"IsNaN", 1, is_nan},
	{"LeakyRelu", 1, leaky_relu},
	{"Less", 2, less},
	{"LessOrEqual", 2, less_or_equal},
	{"Log", 1, logarithm},
	{"Mish", 1, mish},
	{"Mod", 2, modulo},
	{"Not", 1, negated},
	{"Or", 2, either},
	{"PRelu", 2, sloped_relu},
	{"Pow", 2, power},
	{"QuantizeLinear", 3, quantized},
	{"Round", 1, nearest},
	{"Shrink", 1, shrink},
	{"Sign", 1, sign},
	{"Sin", 1, sine},
	{"Sinh", 1, hyperbolic_sine},
	{"Softplus", 1, softplus},
	{"Softsign", 1, softsign},
	{"Tan", 1, tangent},
	{"ThresholdedRelu", 1, thresholded_relu},
	{"Where", 3, where},
	{"Xor", 2, one_of_two},
	{"at least", 2, at_least},
	{"at most", 2, at_most},
	{"bf16", 1, to_brain},
	{"exact", 1, exact},
	{"f16", 1, to_half},
	{"power of integers", 2, whole_power},
	{"quotient", 2, quotient},
	{"share", 1, share},
	{"truncate", 1, to_zero},
	{"truth", 1, truth},
	{"narrow 32", 1, narrowed_32},
	{"narrow 64", 1, narrowed_64},
	{"widen", 1, widened},
	{"wrap", 1, wrapped},
};

scalar_fn *scalar_find(const char *type, int *operands)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].type, type)) {
			*operands = table[i].operands;
			return table[i].fn;
		}
	return NULL;
}

/* ---- loops ---- */

/* Where a row along the last dimension begins. */
static int64_t row_at(const struct place *p, int64_t row)
{
	int64_t at = 0;

	for (int i = p->rank - 2; i >= 0; i--) {
		at += row % p->dim[i] * p->stride[i];
		row /= p->dim[i];
	}
	return at;
}

static int run_row(const struct scalar_map *s, const float *const from[SCALAR_INPUTS], float *to,
		   int64_t n)
{
	const int last = s->out.rank - 1;
	float x[SCALAR_INPUTS + SCALAR_MORE];
	int has_nan = 0;

	memcpy(x + s->nin, s->more, sizeof s->more);
	for (int64_t i = 0; i < n; i++) {
		for (int k = 0; k < s->nin; k++)
			x[k] = from[k][i * (last < 0 ? 0 : s->in[k].stride[last])];
		x[0] = s->fn(x, s->a);
		has_nan |= isnan(x[0]);
		to[i * (last < 0 ? 0 : s->out.stride[last])] = x[0];
	}
	return has_nan;
}

int scalar_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct scalar_map *s = with;
	const int64_t n = s->out.rank ? s->out.dim[s->out.rank - 1] : 1;
	const int64_t rows = n ? place_count(&s->out) / n : 0;
	int has_nan = 0;

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		const float *from[SCALAR_INPUTS];

		for (int k = 0; k < s->nin; k++)
			from[k] = buffers[k] + row_at(&s->in[k], r);
		has_nan |= run_row(s, from, buffers[s->nin] + row_at(&s->out, r), n);
	}
	return has_nan && s->nan_is_bad ? -1 : 0;
}
