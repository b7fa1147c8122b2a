#include "lib/tile/activation.h"

#include <assert.h>

enum { SLOTS = 10, MOST_LANES = 16, SLOT = ACTIVATION_JAM * MOST_LANES };
enum { LAMBERT_DEPTH = 13, LAMBERT = (LAMBERT_DEPTH + 1) / 2 };

struct activation {
	struct nest *n;
	enum elem elem;
	int lanes, room, nslots;
	int registers; /* the room is one of registers */
	int rounds;    /* the result is rounded to 8 bits or fewer */
};

typedef const struct expr *value;

/* ---- short forms ---- */

static value number(const struct activation *a, double v)
{
	return ex_const(a->n, a->elem, a->lanes, v);
}

static value op(const struct activation *a, enum expr_kind kind, value x, value y)
{
	return ex_op(a->n, kind, x, y, NULL);
}

static value times(const struct activation *a, double factor, value x)
{
	return op(a, EXPR_MUL, x, number(a, factor));
}

static value plus(const struct activation *a, value x, double y)
{
	return op(a, EXPR_ADD, x, number(a, y));
}

/* The constant is the first operand, so that NaN stays NaN. */
static value at_least(const struct activation *a, double low, value x)
{
	return op(a, EXPR_MAX, number(a, low), x);
}

static value at_most(const struct activation *a, double high, value x)
{
	return op(a, EXPR_MIN, number(a, high), x);
}

static value clip(const struct activation *a, value x, double low, double high)
{
	return at_most(a, high, at_least(a, low, x));
}

/* c[0] + c[1] x + ... */
static value polynomial(const struct activation *a, const double *c, int n, value x)
{
	value sum = number(a, c[n - 1]);

	for (int i = n - 2; i >= 0; i--)
		sum = ex_op(a->n, EXPR_FMA, sum, x, number(a, c[i]));
	return sum;
}

/* For values that are used several times: registers in a definition and on a GPU, which has many;
 * else memory of the thread's own. */
static int room_of(const struct activation *a)
{
	static const char name[] = "room";

	if (a->registers)
		return nest_reg(a->n, name, a->elem, a->lanes, SLOTS, 1);
	return nest_near(a->n, name, (int64_t)SLOTS * SLOT);
}

/* Does it lie in a register or in the thread's own memory as it is? */
static int is_kept(const struct activation *a, value x)
{
	const struct buffer *b = x->kind == EXPR_LOAD ? &a->n->buffer[x->buffer] : NULL;

	return b && (b->near || b->kind == BUFFER_REG) && !x->valid && b->elem == x->elem;
}

/* x, computed once. Turns that are jammed have places of their own. */
static value keep(struct activation *a, value x)
{
	struct affine at = af(a->registers ? a->nslots : a->nslots * SLOT);
	int64_t turns = 1;

	if (is_kept(a, x))
		return x;
	if (a->room < 0)
		a->room = room_of(a);
	if (!a->registers)
		at = af_add(at, af_mul(nest_turn(a->n, &turns), MOST_LANES));
	assert(a->nslots < SLOTS && turns <= ACTIVATION_JAM);
	a->nslots++;
	nest_store(a->n, a->room, at, NULL, x);
	return ex_load(a->n, a->room, a->lanes, at, NULL);
}

/* ---- functions ---- */

static const double LOG2_E = 1.44269504088896341;
/* 1.5 * 2^23 + 127: to add it rounds to a whole number n, and what EXPR_POWER takes for 2^n. */
static const double MAGIC = 12583039;

/* Returns p 2^n, and c added to it unless it is NULL. NaN in p stays NaN, whatever n is then. */
static value scale(const struct activation *a, value p, value n, value c)
{
	const value power = op(a, EXPR_POWER, n, NULL);

	return c ? ex_op(a->n, EXPR_FMA, p, power, c) : op(a, EXPR_MUL, p, power);
}

/* Computes 2^x, and c added to it unless it is NULL, for -125 <= x <= 127 as 2^n 2^r, |r| <= 1/2.
 * The polynomials have the least largest error: 7.5e-8, or 8e-5 where the result is rounded. */
static value power_of_two(struct activation *a, value x, value c)
{
	static const double exact[] = {1.00000007,   0.693146967,   0.240221197,
				       0.0555071327, 0.00967554133, 0.00132764715},
			    rounded[] = {0.999928074, 0.693260996, 0.242611118, 0.0551716132};
	value shifted, r;

	x = keep(a, x);
	shifted = keep(a, plus(a, x, MAGIC));
	r = keep(a, op(a, EXPR_SUB, x, op(a, EXPR_SUB, shifted, number(a, MAGIC))));
	r = a->rounds ? polynomial(a, rounded, sizeof rounded / sizeof *rounded, r)
		      : polynomial(a, exact, sizeof exact / sizeof *exact, r);
	return scale(a, r, shifted, c);
}

/* exp(x) = 2^n exp(r), |r| <= ln(2) / 2, by Taylor's polynomial: 5e-9. Limits keep 2^n normal.
 * log(2) has a first part whose product with n is exact (Cody and Waite). */
static value exponential(struct activation *a, value x)
{
	static const double c[] = {1, 1, 1 / 2., 1 / 6., 1 / 24., 1 / 120., 1 / 720., 1 / 5040.};
	value shifted, whole, r;

	if (a->elem == ELEM_F64)
		return op(a, EXPR_EXP, x, NULL);
	if (a->rounds)
		return power_of_two(a, times(a, LOG2_E, clip(a, x, -87, 88)), NULL);
	x = keep(a, clip(a, x, -87, 88));
	shifted = keep(a, ex_op(a->n, EXPR_FMA, x, number(a, LOG2_E), number(a, MAGIC)));
	whole = op(a, EXPR_SUB, shifted, number(a, MAGIC));
	r = ex_op(a->n, EXPR_FMA, whole, number(a, -0.693359375), x);
	r = keep(a, ex_op(a->n, EXPR_FMA, whole, number(a, 2.12194440054690583e-4), r));
	return scale(a, polynomial(a, c, sizeof c / sizeof *c, r), shifted, NULL);
}

/* Computes exp(factor x) in single precision, and c added to it unless it is NULL. The error of the
 * exponential is 1e-7 |x| of it: the product is rounded, and no part of it is put back. */
static value exponential_of(struct activation *a, double factor, value x, value c)
{
	return power_of_two(a, clip(a, times(a, factor * LOG2_E, x), -125, 127), c);
}

/* 1 + exp(factor x) */
static value one_and_exp(struct activation *a, double factor, value x)
{
	if (a->elem == ELEM_F64)
		return plus(a, op(a, EXPR_EXP, times(a, factor, x), NULL), 1);
	return exponential_of(a, factor, x, number(a, 1));
}

/* Lambert's continued fraction, tanh(x) = x / (1 + s / (3 + s / (5 + ...))), s = x^2, as x p(s) /
 * q(s). All coefficients are positive, so that nothing cancels. q[0] is 1. */
static void lambert(double p[LAMBERT], double q[LAMBERT])
{
	double above[LAMBERT] = {2 * LAMBERT_DEPTH - 1}, below[LAMBERT] = {1};

	for (int k = LAMBERT_DEPTH - 1; k > 0;
	     k--) /* v becomes 2 k - 1 + s / v, v = above / below */
		for (int i = LAMBERT - 1; i >= 0; i--) {
			double was = above[i];

			above[i] = (2 * k - 1) * was + (i ? below[i - 1] : 0);
			below[i] = was;
		}
	for (int i = 0; i < LAMBERT; i++) {
		p[i] = below[i] / above[0];
		q[i] = above[i] / above[0];
	}
}

/* Single precision: up to where tanh rounds to 1; 4e-7 of the result. */
static value hyperbolic_tangent(struct activation *a, value x)
{
	double p[LAMBERT], q[LAMBERT];
	value square, below;

	if (a->elem == ELEM_F64)
		return op(a, EXPR_SUB, number(a, 1),
			  op(a, EXPR_DIV, number(a, 2), one_and_exp(a, 2, x)));
	lambert(p, q);
	x = keep(a, clip(a, x, -9, 9));
	square = keep(a, op(a, EXPR_MUL, x, x));
	below = keep(a, polynomial(a, q, LAMBERT, square));
	return op(a, EXPR_DIV, op(a, EXPR_MUL, polynomial(a, p, LAMBERT, square), x), below);
}

/* P(X > z) for a standard normal X and 0 <= z <= TAIL: exp(-z^2 / 2) t Q(t), t = 1 / (1 + 0.35 z),
 * where Q interpolates at nine Chebyshev points: 4e-8. Single precision. Beyond TAIL products would
 * fall below the smallest normal number, which costs processors some hundred cycles each. */
enum { TAIL = 12 };

static value normal_tail(struct activation *a, value z)
{
	static const double q[] = {0.139619237,	 0.139901687,	0.119532288,
				   0.106730177,	 -0.0260523658, 0.163493264,
				   -0.259508663, 0.145804666,	-0.0295203081};
	value t, tail;

	t = keep(a, ex_op(a->n, EXPR_FMA, z, number(a, 0.35), number(a, 1)));
	t = keep(a, op(a, EXPR_DIV, number(a, 1), t));
	tail = keep(a, exponential(a, times(a, -0.5, op(a, EXPR_MUL, z, z))));
	return op(a, EXPR_MUL, op(a, EXPR_MUL, polynomial(a, q, sizeof q / sizeof *q, t), t), tail);
}

/* Returns max(x, 0), but NaN of -infinity, which a definition multiplies by 0. */
static value above_zero(struct activation *a, value x)
{
	return ex_op(a->n, EXPR_FMA, at_most(a, 0, x), number(a, 0), at_least(a, 0, x));
}

/* Returns log2 P(X > -y) as a polynomial of y, for -8 <= y <= 0 or, where the result is rounded,
 * for -6 <= y. With the power of two the error of y P(X > -y) is 8.4e-7 of it or of 0.01; where the
 * result is rounded 1.3e-4, or 6e-9. */
static value log_of_tail(struct activation *a, value y)
{
	static const double c[] = {-0.999999628,    1.15111527,	     -0.459146724,
				   0.0526417484,    0.00722268614,   0.000215638091,
				   -0.000178495315, -4.75372992e-05, -6.05246103e-06,
				   -4.0420104e-07,  -1.12634697e-08};
	static const double rounded[] = {-1.00006479,	1.15017426,	-0.461271925,  0.051185337,
					 0.00719556577, 0.000611100071, 2.29900633e-05};

	return a->rounds ? polynomial(a, rounded, sizeof rounded / sizeof *rounded, y)
			 : polynomial(a, c, sizeof c / sizeof *c, y);
}

/* x * P(X < x). Other precisions than double: max(x, 0) - z P(X > z), z = |x|, so that nothing
 * cancels, and no division is left. -infinity times 0 is NaN, as in the definition. */
static value gelu(struct activation *a, value x)
{
	value y, tail;

	x = keep(a, x);
	if (a->elem == ELEM_F64)
		return op(a, EXPR_MUL, times(a, 0.5, x),
			  op(a, EXPR_ERFC, times(a, -0.70710678118654752, x), NULL));
	y = keep(a, at_least(a, a->rounds ? -6 : -8, op(a, EXPR_MIN, times(a, -1, x), x)));
	tail = power_of_two(a, log_of_tail(a, y), NULL);
	return ex_op(a->n, EXPR_FMA, y, tail, above_zero(a, x));
}

/* 1 - 2 P(X > |x| sqrt(2)), with the sign of x, which is x itself below 1e-30. */
static value error_function(struct activation *a, value x)
{
	value z = op(a, EXPR_MAX, x, times(a, -1, x));
	value sign = clip(a, times(a, 1e30, x), -1, 1);

	z = keep(a, at_most(a, TAIL, times(a, 1.41421356237309505, z)));
	return op(a, EXPR_MUL, plus(a, times(a, -2, normal_tail(a, z)), 1), sign);
}

/* 1 + exp(factor x). In single precision the exponential is the square of that of half: it is
 * infinity where the exponential is more than a float holds. So a quotient by it becomes 0 there,
 * and NaN of -infinity. */
static value one_and_exp_to_infinity(struct activation *a, double factor, value x)
{
	value root;

	if (a->elem == ELEM_F64)
		return one_and_exp(a, factor, x);
	root = keep(a, exponential_of(a, factor / 2, x, NULL));
	return ex_op(a->n, EXPR_FMA, root, root, number(a, 1));
}

/* 1 + tanh(y) = 2 / (1 + exp(-2 y)), y = sqrt(2 / pi) * (x + 0.044715 x^3). The exponential is the
 * square of 2^h in single precision, whose factors are in the polynomial: another product would be
 * rounded once more. */
static value gelu_tanh(struct activation *a, value x)
{
	const double half = a->elem == ELEM_F64 ? 1 : LOG2_E / 2, once = -1.5957691216057308 * half,
		     cubed = 0.044715 * once;
	value y;

	x = keep(a, x);
	y = ex_op(a->n, EXPR_FMA, op(a, EXPR_MUL, x, x), number(a, cubed), number(a, once));
	y = op(a, EXPR_MUL, y, x);
	if (a->elem == ELEM_F64)
		return op(a, EXPR_DIV, x, one_and_exp(a, 1, y));
	y = keep(a, power_of_two(a, clip(a, y, -125, 127), NULL));
	return op(a, EXPR_DIV, x, ex_op(a->n, EXPR_FMA, y, y, number(a, 1)));
}

static value silu(struct activation *a, value x)
{
	x = keep(a, x);
	return op(a, EXPR_DIV, x, one_and_exp_to_infinity(a, -1, x));
}

static value hardswish(struct activation *a, value x)
{
	x = keep(a, x);
	return op(a, EXPR_MUL,
		  clip(a, ex_op(a->n, EXPR_FMA, x, number(a, 1 / 6.), number(a, 0.5)), 0, 1), x);
}

static value leaky_relu(struct activation *a, value x, double slope)
{
	x = keep(a, x);
	return op(a, slope <= 1 ? EXPR_MAX : EXPR_MIN, x, times(a, slope, x));
}

int activation_waits(const struct post_op *p)
{
	return p->kind > POST_CLIP && p->kind != POST_LEAKY_RELU && p->kind != POST_HARDSWISH;
}

static struct activation begin(struct nest *n, const struct expr *x)
{
	return (struct activation){.n = n,
				   .elem = x->elem,
				   .lanes = x->lanes,
				   .room = -1,
				   .registers = x->elem == ELEM_F64 || n->block_threads};
}

const struct expr *activation_exp(struct nest *n, const struct expr *x)
{
	struct activation a = begin(n, x);

	return exponential(&a, x);
}

static value activated(struct activation *a, value x, const struct post_op *p)
{
	switch (p->kind) {
	case POST_CLIP:
		return clip(a, x, p->a, p->b);
	case POST_LEAKY_RELU:
		return leaky_relu(a, x, p->a);
	case POST_HARDSWISH:
		return hardswish(a, x);
	case POST_SIGMOID:
		return op(a, EXPR_DIV, number(a, 1), one_and_exp(a, -1, x));
	case POST_TANH:
		return hyperbolic_tangent(a, x);
	case POST_SILU:
		return silu(a, x);
	case POST_GELU:
		return gelu(a, x);
	case POST_GELU_TANH:
		return gelu_tanh(a, x);
	default:
		assert(0);
		return x;
	}
}

const struct expr *activation(struct nest *n, const struct expr *x, const struct post_op *p,
			      enum elem result)
{
	struct activation a = begin(n, x);

	a.rounds = !n->block_threads &&
		   (result == ELEM_BF16 || result == ELEM_U8 || result == ELEM_S8);
	return activated(&a, x, p);
}

const struct expr *activation_or_nan(struct nest *n, const struct expr *x, const struct post_op *p)
{
	struct activation a = begin(n, x);

	if (p->kind == POST_SIGMOID)
		return op(&a, EXPR_DIV, number(&a, 1), one_and_exp_to_infinity(&a, -1, x));
	return activated(&a, x, p);
}

/* The square of exp(x / 2), which is far from the limits where exp(x) overflows or vanishes. */
const struct expr *activation_exp_or_nan(struct nest *n, const struct expr *x)
{
	struct activation a = begin(n, x);
	value root = keep(&a, exponential(&a, times(&a, 0.5, x)));

	return op(&a, EXPR_MUL, root, root);
}

const struct expr *activation_erf_or_nan(struct nest *n, const struct expr *x)
{
	struct activation a = begin(n, x);

	x = keep(&a, x);
	return error_function(&a, keep(&a, x));
}
