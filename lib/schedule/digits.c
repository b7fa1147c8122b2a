#include "lib/schedule/digits.h"

#include <stddef.h>

static const double BASE = 254, MOST = 127;
static const double LEAST = 1e-30;     /* of a group's largest value: its quotients are numbers */
static const double ROUNDS = 12582912; /* 1.5 * 2^23: added and subtracted, it leaves wholes */

/* Registers of one vector each. */
struct make {
	struct nest *n;
	const struct digits *d;
	int src, x, largest, sum, r;
	int row, group;
};

static const struct expr *constant(const struct make *s, double value)
{
	return ex_const(s->n, ELEM_F32, s->d->lanes, value);
}

static const struct expr *reg(const struct make *s, int buffer)
{
	return ex_reg(s->n, buffer, af(0));
}

static void set(const struct make *s, int buffer, const struct expr *x)
{
	nest_store(s->n, buffer, af(0), NULL, x);
}

static const struct expr *op(const struct make *s, enum expr_kind kind, const struct expr *a,
			     const struct expr *b)
{
	return ex_op(s->n, kind, a, b, NULL);
}

/* A vector has its place in a unit of the row: the unit's number, and its first value in there. */
struct place {
	struct affine unit, rest;
};

/* Opens the loops over a group's vectors, and loads one into x. */
static struct place open_vectors(const struct make *s)
{
	const int64_t units = s->d->group / DIGITS_LANES;
	const int i = nest_for(s->n, LOOP_SERIAL, "i", af(0), af(units));
	const int part = nest_for(s->n, LOOP_UNROLL, "part", af(0), af(DIGITS_LANES / s->d->lanes));
	const struct place at = {.unit = af_add(af_mul(af_var(s->group), units), af_var(i)),
				 .rest = af_mul(af_var(part), s->d->lanes)};

	set(s, s->x,
	    ex_load(s->n, s->src, s->d->lanes,
		    af_sum(af_mul(af_var(s->row), s->d->k), af_mul(at.unit, DIGITS_LANES), at.rest),
		    NULL));
	return at;
}

static void close_vectors(const struct make *s)
{
	nest_close(s->n);
	nest_close(s->n);
}

/* All lanes become the largest of all, or their sum. */
static void join(const struct make *s, int buffer, enum expr_kind kind)
{
	for (int apart = s->d->lanes / 2; apart; apart /= 2)
		set(s, buffer,
		    op(s, kind, ex_exchange(s->n, reg(s, buffer), reg(s, buffer), apart, 0),
		       ex_exchange(s->n, reg(s, buffer), reg(s, buffer), apart, 1)));
}

static void look_at_group(const struct make *s)
{
	set(s, s->largest, constant(s, LEAST));
	set(s, s->sum, constant(s, 0));
	open_vectors(s);
	set(s, s->largest,
	    op(s, EXPR_MAX,
	       op(s, EXPR_MAX, reg(s, s->x), op(s, EXPR_SUB, constant(s, 0), reg(s, s->x))),
	       reg(s, s->largest)));
	set(s, s->sum, op(s, EXPR_ADD, reg(s, s->sum), reg(s, s->x)));
	close_vectors(s);
	join(s, s->largest, EXPR_MAX);
	join(s, s->sum, EXPR_ADD);
}

static void store_terms(const struct make *s)
{
	const struct affine at = digits_term(s->d, af_var(s->row), af_var(s->group)), one = af(1);
	const double times = s->d->middle > 0 ? -s->d->middle : -1;
	struct nest *n = s->n;

	/* An infinite value has no digits, and the difference makes its step NaN. */
	nest_store(n, s->d->terms, at, nest_keep(n, one),
		   op(s, EXPR_ADD, op(s, EXPR_MUL, reg(s, s->largest), constant(s, 1 / MOST)),
		      op(s, EXPR_SUB, reg(s, s->largest), reg(s, s->largest))));
	nest_store(n, s->d->terms, af_add(at, one), nest_keep(n, one),
		   op(s, EXPR_MUL, reg(s, s->sum), constant(s, times)));
}

/* Each digit is the nearest whole number; what is left is that of the next ones. */
static void store_digits(const struct make *s)
{
	struct nest *n = s->n;
	struct place at;

	set(s, s->largest, op(s, EXPR_DIV, constant(s, MOST), reg(s, s->largest)));
	at = open_vectors(s);
	set(s, s->x, op(s, EXPR_MUL, reg(s, s->x), reg(s, s->largest)));
	for (int digit = 0; digit < DIGITS; digit++) {
		set(s, s->r,
		    op(s, EXPR_SUB, op(s, EXPR_ADD, reg(s, s->x), constant(s, ROUNDS)),
		       constant(s, ROUNDS)));
		nest_store(n, s->d->values,
			   digits_at(s->d, af_var(s->row), at.unit, digit, at.rest), NULL,
			   reg(s, s->r));
		if (digit + 1 < DIGITS)
			set(s, s->x,
			    op(s, EXPR_MUL, op(s, EXPR_SUB, reg(s, s->x), reg(s, s->r)),
			       constant(s, BASE)));
	}
	close_vectors(s);
}

void digits_make(struct nest *n, struct digits *d, int src)
{
	struct make s = {.n = n, .d = d, .src = src};

	d->values = nest_team(n, "digits", d->rows * d->k * DIGITS);
	nest_elem(n, d->values, ELEM_S8);
	d->terms = nest_team(n, "terms", d->rows * d->k / d->group * 2);
	s.x = nest_reg(n, "x", ELEM_F32, d->lanes, 1, 1);
	s.largest = nest_reg(n, "largest", ELEM_F32, d->lanes, 1, 1);
	s.sum = nest_reg(n, "total", ELEM_F32, d->lanes, 1, 1);
	s.r = nest_reg(n, "whole", ELEM_F32, d->lanes, 1, 1);
	s.row = nest_for(n, LOOP_PARALLEL, "row", af(0), af_var(nest_const(n, "rows", d->rows)));
	s.group = nest_for(n, LOOP_PARALLEL, "q", af(0),
			   af_var(nest_const(n, "groups", d->k / d->group)));
	look_at_group(&s);
	store_terms(&s);
	store_digits(&s);
	nest_close(n);
	nest_close(n);
	nest_sync(n);
}

struct affine digits_at(const struct digits *d, struct affine row, struct affine units, int digit,
			struct affine rest)
{
	return af_sum(af_mul(row, d->k * DIGITS), af_mul(units, DIGITS_LANES * DIGITS),
		      af(digit * DIGITS_LANES), rest);
}

struct affine digits_term(const struct digits *d, struct affine row, struct affine group)
{
	return af_mul(af_add(af_mul(row, d->k / d->group), group), 2);
}

double digits_worth(int digit)
{
	double worth = 1;

	while (digit--)
		worth /= BASE;
	return worth;
}
