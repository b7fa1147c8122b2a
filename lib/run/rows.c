#include "lib/run/rows.h"

#include <math.h>

#include "lib/op/op.h"
#include "lib/tile/activation.h"

/* Vectors that are summed beside each other, as an addition waits for the one before it. */
enum { CHAINS = 4 };

struct building {
	const struct rows *r;
	struct nest *n;
	int lanes;
	int from, to, scale, shift; /* buffers */
	int vectors, scalars; /* registers: sums that go on, CHAINS of each; results of a row */
	struct affine row;    /* its first element */
};

typedef const struct expr *value;

/* OFF: what the mean in single precision, which is in MAXIMUM, is less than the mean. */
enum scalar { MAXIMUM, TOTAL, OFF, SCALARS };

static value scalar_of(const struct building *b, enum scalar i)
{
	return ex_reg(b->n, b->scalars, af(i));
}

static value two(const struct building *b, enum expr_kind kind, value x, value y)
{
	return ex_op(b->n, kind, x, y, NULL);
}

/* The first vector of a sum. */
static int vector_of(enum scalar total)
{
	return total == OFF ? CHAINS : 0;
}

/* Extremes of NaN are NaN. Softmax needs no such care, because its exponentials are NaN then. */
static value gathered(const struct building *b, enum expr_kind kind, value sum, value x)
{
	if (kind == EXPR_ADD || b->r->kind == ROWS_SOFTMAX)
		return two(b, kind, sum, x);
	return ex_limit(b->n, kind, sum, x);
}

/* A pass over the elements of a row: lanes of them at once, then what is left one by one. */
typedef void body(struct building *b, int lanes, struct affine i, int chain);

static void pass(struct building *b, body *f)
{
	int64_t step = (int64_t)b->lanes * CHAINS, whole = b->r->size / step * step;
	int64_t left = (b->r->size - whole) / b->lanes, rest = whole + left * b->lanes;

	if (whole) {
		int v = nest_for(b->n, LOOP_SERIAL, "v", af(0), af(whole / step));

		for (int k = 0; k < CHAINS; k++)
			f(b, b->lanes, af_add(af_mul(af_var(v), step), af((int64_t)k * b->lanes)),
			  k);
		nest_close(b->n);
	}
	for (int64_t k = 0; k < left; k++)
		f(b, b->lanes, af(whole + k * b->lanes), (int)k);
	if (b->lanes > 1 && rest < b->r->size) {
		int v = nest_for(b->n, LOOP_SERIAL, "w", af(rest), af(b->r->size));

		f(b, 1, af_var(v), 0);
		nest_close(b->n);
	}
}

static value load(const struct building *b, int buffer, int lanes, struct affine i)
{
	return ex_load(b->n, buffer, lanes, af_add(b->row, i), NULL);
}

static void gather(struct building *b, enum expr_kind kind, enum scalar total, int lanes, int chain,
		   value x)
{
	struct affine at = af(lanes > 1 || b->lanes == 1 ? vector_of(total) + chain : (int)total);
	int buffer = lanes > 1 || b->lanes == 1 ? b->vectors : b->scalars;

	nest_store(b->n, buffer, at, NULL, gathered(b, kind, ex_reg(b->n, buffer, at), x));
}

/* Before a pass that gathers. */
static void begin(struct building *b, enum scalar total, double start)
{
	for (int k = 0; k < CHAINS; k++)
		nest_store(b->n, b->vectors, af(vector_of(total) + k), NULL,
			   ex_const(b->n, ELEM_F32, b->lanes, start));
	nest_store(b->n, b->scalars, af(total), NULL, ex_const(b->n, ELEM_F32, 1, start));
}

/* Behind it: all into the scalar. */
static void finish(struct building *b, enum expr_kind kind, enum scalar total)
{
	struct nest *n = b->n;
	const int first = vector_of(total);

	for (int k = 1; k < CHAINS; k++)
		nest_store(n, b->vectors, af(first), NULL,
			   gathered(b, kind, ex_reg(n, b->vectors, af(first)),
				    ex_reg(n, b->vectors, af(first + k))));
	for (int l = 0; l < b->lanes; l++) {
		value x = ex_reg(n, b->vectors, af(first));

		if (b->lanes > 1)
			x = ex_pick(n, x, af(l));
		nest_store(n, b->scalars, af(total), NULL,
			   gathered(b, kind, scalar_of(b, total), x));
	}
}

/* ---- passes ---- */

static void maximum(struct building *b, int lanes, struct affine i, int chain)
{
	gather(b, EXPR_MAX, MAXIMUM, lanes, chain, load(b, b->from, lanes, i));
}

static void minimum(struct building *b, int lanes, struct affine i, int chain)
{
	gather(b, EXPR_MIN, TOTAL, lanes, chain, load(b, b->from, lanes, i));
}

static void sum(struct building *b, int lanes, struct affine i, int chain)
{
	gather(b, EXPR_ADD, TOTAL, lanes, chain, load(b, b->from, lanes, i));
}

static value minus(const struct building *b, int buffer, int lanes, struct affine i, enum scalar s)
{
	value y = scalar_of(b, s);

	return two(b, EXPR_SUB, load(b, buffer, lanes, i),
		   lanes > 1 ? ex_bcast(b->n, lanes, y) : y);
}

static void exponentials(struct building *b, int lanes, struct affine i, int chain)
{
	value x = activation_exp_or_nan(b->n, minus(b, b->from, lanes, i, MAXIMUM));

	nest_store(b->n, b->to, af_add(b->row, i), NULL, x);
	gather(b, EXPR_ADD, TOTAL, lanes, chain, load(b, b->to, lanes, i));
}

static void scaled(struct building *b, int lanes, struct affine i, int chain)
{
	value y = scalar_of(b, TOTAL);

	(void)chain;
	nest_store(b->n, b->to, af_add(b->row, i), NULL,
		   two(b, EXPR_MUL, load(b, b->to, lanes, i),
		       lanes > 1 ? ex_bcast(b->n, lanes, y) : y));
}

static void squares(struct building *b, int lanes, struct affine i, int chain)
{
	value x = minus(b, b->from, lanes, i, MAXIMUM);

	gather(b, EXPR_ADD, TOTAL, lanes, chain, two(b, EXPR_MUL, x, x));
	if (b->r->kind == ROWS_NORM)
		gather(b, EXPR_ADD, OFF, lanes, chain, x);
}

static void normalized(struct building *b, int lanes, struct affine i, int chain)
{
	value y = scalar_of(b, TOTAL), x = minus(b, b->from, lanes, i, MAXIMUM);

	(void)chain;
	if (b->r->kind == ROWS_NORM) {
		value off = scalar_of(b, OFF);

		x = two(b, EXPR_SUB, x, lanes > 1 ? ex_bcast(b->n, lanes, off) : off);
	}
	x = two(b, EXPR_MUL, x, lanes > 1 ? ex_bcast(b->n, lanes, y) : y);
	if (b->r->has_scale)
		x = two(b, EXPR_MUL, x, ex_load(b->n, b->scale, lanes, i, NULL));
	if (b->r->has_shift)
		x = two(b, EXPR_ADD, x, ex_load(b->n, b->shift, lanes, i, NULL));
	nest_store(b->n, b->to, af_add(b->row, i), NULL, x);
}

/* ---- rows ---- */

static void set(struct building *b, enum scalar s, value x)
{
	nest_store(b->n, b->scalars, af(s), NULL, x);
}

static value number(const struct building *b, double x)
{
	return ex_const(b->n, ELEM_F32, 1, x);
}

static void softmax(struct building *b)
{
	begin(b, MAXIMUM, (double)-INFINITY);
	pass(b, maximum);
	finish(b, EXPR_MAX, MAXIMUM);
	begin(b, TOTAL, 0);
	pass(b, exponentials);
	finish(b, EXPR_ADD, TOTAL);
	set(b, TOTAL, two(b, EXPR_DIV, number(b, 1), scalar_of(b, TOTAL)));
	pass(b, scaled);
}

/* The mean first and then the squares of what is left: nothing cancels. A mean of 1e6 is rounded by
 * 0.03, and its sum by more. So what is left is summed, too, and its mean is taken off. */
static void norm(struct building *b)
{
	double share = 1.0 / (double)b->r->size;
	value x;

	if (b->r->kind == ROWS_NORM) {
		begin(b, TOTAL, 0);
		pass(b, sum);
		finish(b, EXPR_ADD, TOTAL);
		x = two(b, EXPR_MUL, scalar_of(b, TOTAL), number(b, share));
	} else {
		x = number(b, 0);
	}
	set(b, MAXIMUM, x);
	begin(b, TOTAL, 0);
	if (b->r->kind == ROWS_NORM)
		begin(b, OFF, 0);
	pass(b, squares);
	finish(b, EXPR_ADD, TOTAL);
	x = two(b, EXPR_MUL, scalar_of(b, TOTAL), number(b, share));
	if (b->r->kind == ROWS_NORM) {
		finish(b, EXPR_ADD, OFF);
		set(b, OFF, two(b, EXPR_MUL, scalar_of(b, OFF), number(b, share)));
		x = two(b, EXPR_SUB, x, two(b, EXPR_MUL, scalar_of(b, OFF), scalar_of(b, OFF)));
		x = two(b, EXPR_MAX, number(b, 0), x); /* NaN stays NaN */
	}
	x = ex_op(b->n, EXPR_SQRT, two(b, EXPR_ADD, x, number(b, b->r->epsilon)), NULL, NULL);
	set(b, TOTAL, two(b, EXPR_DIV, number(b, 1), x));
	pass(b, normalized);
}

static void reduce(struct building *b, struct affine to)
{
	enum scalar s = b->r->kind == ROWS_MAX ? MAXIMUM : TOTAL;
	value x;

	if (b->r->kind == ROWS_MAX) {
		begin(b, s, (double)-INFINITY);
		pass(b, maximum);
		finish(b, EXPR_MAX, s);
	} else if (b->r->kind == ROWS_MIN) {
		begin(b, s, (double)INFINITY);
		pass(b, minimum);
		finish(b, EXPR_MIN, s);
	} else {
		begin(b, s, 0);
		pass(b, sum);
		finish(b, EXPR_ADD, s);
	}
	x = scalar_of(b, s);
	if (b->r->kind == ROWS_MEAN)
		x = two(b, EXPR_MUL, x, number(b, 1.0 / (double)b->r->size));
	nest_store(b->n, b->to, to, NULL, x);
}

void rows_nest(const struct rows *r, int lanes, struct nest *n)
{
	int whole = r->kind == ROWS_SOFTMAX || r->kind == ROWS_NORM || r->kind == ROWS_RMS, v;
	struct building b = {.r = r, .n = n};

	while (lanes > r->size)
		lanes /= 2;
	b.lanes = lanes < 4 ? 1 : lanes;
	b.from = nest_arg(n, "from", TENSOR_SRC, r->rows * r->size, 0);
	if (r->has_scale)
		b.scale = nest_arg(n, "scale", TENSOR_SRC, r->size, 0);
	if (r->has_shift)
		b.shift = nest_arg(n, "shift", TENSOR_SRC, r->size, 0);
	b.to = nest_arg(n, "to", TENSOR_DST, whole ? r->rows * r->size : r->rows, 1);
	b.vectors = nest_reg(n, "x", ELEM_F32, b.lanes, CHAINS * (r->kind == ROWS_NORM ? 2 : 1), 1);
	b.scalars = nest_reg(n, "y", ELEM_F32, 1, SCALARS, 1);
	v = nest_for(n, LOOP_PARALLEL, "row", af(0), af(r->rows));
	b.row = af_mul(af_var(v), r->size);
	if (r->kind == ROWS_SOFTMAX)
		softmax(&b);
	else if (whole)
		norm(&b);
	else
		reduce(&b, af_var(v));
	while (n->depth)
		nest_close(n);
}
