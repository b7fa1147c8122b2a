/* Affine forms and expressions of nests. */
#include <assert.h>
#include <math.h>

#include "lib/nest/nest.h"

/* a += k * b */
static void add(struct affine *a, const struct affine *b, int64_t k)
{
	a->c += k * b->c;
	for (int i = 0; i < b->n; i++) {
		int j = 0;

		while (j < a->n && (a->t[j].var != b->t[i].var || a->t[j].sym != b->t[i].sym))
			j++;
		if (j < a->n) {
			a->t[j].coef += k * b->t[i].coef;
			continue;
		}
		assert(a->n < AFFINE_TERMS);
		a->t[a->n] = b->t[i];
		a->t[a->n++].coef *= k;
	}
}

struct affine af_add(struct affine a, struct affine b)
{
	add(&a, &b, 1);
	return a;
}

struct affine af_sub(struct affine a, struct affine b)
{
	add(&a, &b, -1);
	return a;
}

struct affine af_mul(struct affine a, int64_t k)
{
	a.c *= k;
	for (int i = 0; i < a.n; i++)
		a.t[i].coef *= k;
	return a;
}

struct affine af_times(struct affine a, int sym)
{
	for (int i = 0; i < a.n; i++) {
		assert(a.t[i].sym < 0);
		a.t[i].sym = (int16_t)sym;
	}
	if (a.c) {
		assert(a.n < AFFINE_TERMS);
		a.t[a.n].coef = a.c;
		a.t[a.n].sym = -1;
		a.t[a.n].var = (int16_t)sym;
		a.n++;
		a.c = 0;
	}
	return a;
}

struct affine af_scale(struct affine a, struct affine stride)
{
	return stride.n ? af_times(a, stride.t[0].var) : af_mul(a, stride.c);
}

struct affine af_sum_(const struct affine *a, unsigned long n)
{
	struct affine s = a[0];

	for (unsigned long i = 1; i < n; i++)
		add(&s, &a[i], 1);
	return s;
}

static struct expr *new_expr(struct nest *n, enum expr_kind kind, enum elem elem, int lanes)
{
	struct expr *x = arena_new(n->arena, struct expr);

	x->kind = kind;
	x->elem = elem;
	x->lanes = lanes;
	return x;
}

const struct expr *ex_const(struct nest *n, enum elem elem, int lanes, double v)
{
	struct expr *x = new_expr(n, EXPR_CONST, elem, lanes);

	x->value = v;
	return x;
}

const struct expr *ex_load(struct nest *n, int buffer, int lanes, struct affine index,
			   const struct affine *valid)
{
	const enum elem is = n->buffer[buffer].elem;
	enum elem elem = is == ELEM_F64 || elem_group(is) > 1 ? is : ELEM_F32;
	struct expr *x = new_expr(n, EXPR_LOAD, elem, lanes);

	x->buffer = buffer;
	x->index = index;
	x->valid = valid;
	return x;
}

const struct expr *ex_reg(struct nest *n, int buffer, struct affine index)
{
	return ex_load(n, buffer, n->buffer[buffer].lanes, index, NULL);
}

const struct expr *ex_load_groups(struct nest *n, int buffer, enum elem group, int lanes,
				  struct affine index)
{
	struct expr *x = new_expr(n, EXPR_LOAD, group, lanes);

	x->buffer = buffer;
	x->index = index;
	return x;
}

const struct expr *ex_load_apart(struct nest *n, int buffer, enum elem group, int lanes,
				 struct affine index, const struct members *members,
				 const struct affine *valid)
{
	struct expr *x = new_expr(n, EXPR_LOAD, group, lanes);
	struct members *m = arena_new(n->arena, struct members);

	assert(members->from >= 0 && members->from < members->to &&
	       members->to <= elem_group(group));
	*m = *members;
	x->buffer = buffer;
	x->index = index;
	x->members = m;
	x->valid = valid;
	return x;
}

int ex_loads(const struct expr *load)
{
	return load->members ? load->members->to - load->members->from : 1;
}

struct affine ex_member_at(const struct expr *load, int m)
{
	return af_add(load->index, af_mul(load->members->apart, m));
}

const struct expr *ex_load_whole(struct nest *n, int buffer, int lanes, struct affine index,
				 const struct affine *valid)
{
	struct expr *x = new_expr(n, EXPR_LOAD, ELEM_S32, lanes);

	x->buffer = buffer;
	x->index = index;
	x->valid = valid;
	return x;
}

const struct expr *ex_load_as(struct nest *n, enum elem sum, int buffer, int lanes,
			      struct affine index, const struct affine *valid)
{
	return sum == ELEM_S32 ? ex_load_whole(n, buffer, lanes, index, valid)
			       : ex_load(n, buffer, lanes, index, valid);
}

const struct expr *ex_reg_as_is(struct nest *n, int buffer, struct affine index)
{
	return ex_load_as(n, n->buffer[buffer].elem, buffer, n->buffer[buffer].lanes, index, NULL);
}

const struct expr *ex_bcast(struct nest *n, int lanes, const struct expr *a)
{
	struct expr *x = new_expr(n, EXPR_BCAST, a->elem, lanes);

	assert(a->lanes == 1 || (a->kind == EXPR_LOAD && lanes % a->lanes == 0));
	x->a = a;
	return x;
}

const struct expr *ex_spread(struct nest *n, const struct expr *a, int per, int step,
			     struct affine index)
{
	struct expr *x = new_expr(n, EXPR_SPREAD, a->elem, a->lanes);

	x->a = a;
	x->per = per;
	x->step = step;
	x->index = index;
	return x;
}

const struct expr *ex_turn(struct nest *n, const struct expr *a, int rows, int columns)
{
	struct expr *x = new_expr(n, EXPR_SPREAD, a->elem, a->lanes);

	assert(rows * columns <= a->lanes);
	x->a = a;
	x->per = rows;
	x->step = 1;
	x->within = columns;
	x->index = af(0);
	return x;
}

const struct expr *ex_pick(struct nest *n, const struct expr *a, struct affine lane)
{
	struct expr *x = new_expr(n, EXPR_PICK, a->elem, 1);

	x->a = a;
	x->index = lane;
	return x;
}

int ex_spread_from(const struct expr *x, int64_t index, int lane)
{
	int64_t from =
		(int64_t)(lane / x->per) * x->step + (int64_t)(lane % x->per) * x->within + index;

	return from < x->lanes ? (int)from : x->lanes - 1;
}

const struct expr *ex_exchange(struct nest *n, const struct expr *a, const struct expr *b,
			       int apart, int upper)
{
	struct expr *x = new_expr(n, EXPR_EXCHANGE, a->elem, a->lanes);

	assert(b->lanes == a->lanes && apart < a->lanes);
	x->a = a;
	x->b = b;
	x->apart = apart;
	x->upper = upper;
	return x;
}

int ex_exchange_from(const struct expr *x, int lane)
{
	int has = lane & x->apart;

	if (x->upper)
		return has ? x->lanes + lane : lane + x->apart;
	return has ? x->lanes + lane - x->apart : lane;
}

const struct expr *ex_limit(struct nest *n, enum expr_kind kind, const struct expr *a,
			    const struct expr *b)
{
	const struct expr *x = ex_op(n, kind, a, b, NULL);

	assert(kind == EXPR_MAX || kind == EXPR_MIN);
	return a->kind == EXPR_CONST && !isnan(a->value) ? x : ex_op(n, EXPR_NAN, a, x, NULL);
}

const struct expr *ex_op(struct nest *n, enum expr_kind kind, const struct expr *a,
			 const struct expr *b, const struct expr *c)
{
	enum elem elem = kind == EXPR_WIDEN    ? ELEM_F64
			 : kind == EXPR_NARROW ? ELEM_F32
			 : kind == EXPR_DOT    ? elem_sum(a->elem)
					       : a->elem;
	struct expr *x = new_expr(n, kind, elem, a->lanes);

	assert(kind != EXPR_DOT ||
	       (elem_group(a->elem) > 1 &&
		(a->elem == ELEM_U8X4 ? b->elem == ELEM_S8X4 : b->elem == a->elem)));
	x->a = a;
	x->b = b;
	x->c = c;
	return x;
}

const struct expr *ex_by(struct nest *n, enum expr_kind kind, const struct expr *a, double value)
{
	struct expr *x = new_expr(n, kind, a->elem, a->lanes);

	x->a = a;
	x->value = value;
	return x;
}

const struct expr *ex_dot_low(struct nest *n, const struct expr *a, const struct expr *b,
			      const struct expr *c)
{
	struct expr *x = new_expr(n, EXPR_DOT, ELEM_S32, a->lanes);

	assert(a->elem == ELEM_U8X4 && b->elem == ELEM_S8X4);
	x->a = a;
	x->b = b;
	x->c = c;
	x->low = 1;
	return x;
}
