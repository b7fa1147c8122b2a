/* Arithmetic on the elements of small tensors, as far as exporters compute shapes with it. Integers
 * keep to integers, and what overflows or depends on an unknown dimension is INT_UNKNOWN, or NAN as
 * a float. */
#include <math.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/graph/infer.h"

static int64_t int_div(int64_t a, int64_t b)
{
	return b == 0 || (b == -1 && a == INT64_MIN) ? INT_UNKNOWN : a / b;
}

static int64_t int_floor_div(int64_t a, int64_t b)
{
	const int64_t q = int_div(a, b);

	return q == INT_UNKNOWN || a % b == 0 || (a < 0) == (b < 0) ? q : q - 1;
}

/* With the sign of b, as Python has it, or (is_fmod) of a, as C has it. */
static int64_t int_mod(int64_t a, int64_t b, int is_fmod)
{
	int64_t r;

	if (b == 0 || b == -1)
		return b ? 0 : INT_UNKNOWN;
	r = a % b;
	return !is_fmod && r && (r < 0) != (b < 0) ? r + b : r;
}

/* This case of a switch says what an operator makes of its operands. */
#define GIVES(op, value)                                                                           \
	case OP_##op:                                                                              \
		return value

/* Comparisons, by the sign of a - b; *known is cleared for what is none. */
static int64_t compare(enum node_op op, int sign, int *known)
{
	switch (op) {
		GIVES(Equal, sign == 0);
		GIVES(Greater, sign > 0);
		GIVES(GreaterOrEqual, sign >= 0);
		GIVES(Less, sign < 0);
		GIVES(LessOrEqual, sign <= 0);
	default:
		*known = 0;
		return 0;
	}
}

/* Binary operators on integers; *known is cleared for those not here. */
static int64_t int_binary(const struct graph_node *n, int64_t a, int64_t b, int *known)
{
	int64_t r;

	if (a == INT_UNKNOWN || b == INT_UNKNOWN)
		return INT_UNKNOWN;
	switch (n->op) {
		GIVES(Add, __builtin_add_overflow(a, b, &r) ? INT_UNKNOWN : r);
		GIVES(Sum, __builtin_add_overflow(a, b, &r) ? INT_UNKNOWN : r);
		GIVES(Sub, __builtin_sub_overflow(a, b, &r) ? INT_UNKNOWN : r);
		GIVES(Mul, __builtin_mul_overflow(a, b, &r) ? INT_UNKNOWN : r);
		GIVES(Div, int_div(a, b));
		GIVES(FloorDiv, int_floor_div(a, b));
		GIVES(Mod, int_mod(a, b, node_int(n, "fmod", 0) != 0));
		GIVES(Max, a > b ? a : b);
		GIVES(Min, a < b ? a : b);
		GIVES(And, a && b);
		GIVES(Or, a || b);
		GIVES(Xor, !a != !b);
	default:
		return compare(n->op, (a > b) - (a < b), known);
	}
}

static double real_binary(enum node_op op, double a, double b, int *known)
{
	const int is_known = !isnan(a) && !isnan(b);

	switch (op) {
		GIVES(Add, a + b);
		GIVES(Sum, a + b);
		GIVES(Sub, a - b);
		GIVES(Mul, a * b);
		GIVES(Div, a / b);
		GIVES(FloorDiv, floor(a / b));
		GIVES(Pow, pow(a, b));
		GIVES(Max, is_known ? fmax(a, b) : NAN);
		GIVES(Min, is_known ? fmin(a, b) : NAN);
		GIVES(Mod, fmod(a, b));
	default:
		*known &= !is_known;
		return NAN;
	}
}

static int64_t int_unary(enum node_op op, int64_t a, int *known)
{
	if (a == INT_UNKNOWN)
		return a;
	switch (op) {
		GIVES(Identity, a);
		GIVES(Dropout, a);
		GIVES(Floor, a);
		GIVES(Ceil, a);
		GIVES(Neg, -a);
		GIVES(Abs, a < 0 ? -a : a);
		GIVES(Not, !a);
		GIVES(Sign, (a > 0) - (a < 0));
		GIVES(Relu, a < 0 ? 0 : a);
	default:
		*known = 0;
		return 0;
	}
}

static double real_unary(enum node_op op, double a, int *known)
{
	switch (op) {
		GIVES(Identity, a);
		GIVES(Dropout, a);
		GIVES(Neg, -a);
		GIVES(Abs, fabs(a));
		GIVES(Floor, floor(a));
		GIVES(Ceil, ceil(a));
		GIVES(Round, nearbyint(a));
		GIVES(Sqrt, sqrt(a));
		GIVES(Relu, a < 0 ? 0 : a);
		GIVES(Exp, exp(a));
		GIVES(Log, log(a));
		GIVES(Reciprocal, 1 / a);
		GIVES(Sign, isnan(a) ? a : (a > 0) - (a < 0));
	default:
		*known = 0;
		return 0;
	}
}

static union scalar cast(union scalar v, int from, int to, int *known)
{
	union scalar r = v;

	if (elem_is_int(from) && elem_is_real(to)) {
		r.f = v.i == INT_UNKNOWN ? NAN : element_number(from, v);
	} else if (elem_is_real(from) && elem_is_int(to)) {
		if (fabs(v.f) < 0x1p62)
			r.i = to == VALUE_BOOL ? v.f != 0 : (int64_t)v.f;
		else
			r.i = INT_UNKNOWN;
	} else if (elem_is_int(from) && to == VALUE_BOOL && v.i != INT_UNKNOWN) {
		r.i = v.i != 0;
	} else if (!(elem_is_int(from) && elem_is_int(to)) &&
		   !(elem_is_real(from) && elem_is_real(to))) {
		*known = 0;
	}
	return r;
}

/* Is it of those numbers of 64 bits that look negative as an element? */
static int is_beyond(int type, union scalar v)
{
	return type == VALUE_U64 && v.i < 0;
}

/* Integer operators; *known is cleared for those not here. */
static int64_t int_apply(const struct graph_node *n, union scalar a, union scalar b, int type,
			 int *known)
{
	const int is_same = node_is(n, OP_Identity) || node_is(n, OP_Dropout);

	if (!is_same && (is_beyond(type, a) || (n->nin > 1 && is_beyond(type, b))))
		return INT_UNKNOWN;
	return n->nin > 1 ? int_binary(n, a.i, b.i, known) : int_unary(n->op, a.i, known);
}

static union scalar apply(const struct graph_node *n, union scalar a, union scalar b, int type,
			  int to, int *known)
{
	union scalar r = {.i = 0};

	if (node_is(n, OP_Cast) || node_is(n, OP_CastLike))
		return cast(a, type, to, known);
	if (elem_is_int(type))
		r.i = int_apply(n, a, b, type, known);
	else if (n->nin > 1 && to == VALUE_BOOL)
		r.i = isnan(a.f) || isnan(b.f) ? INT_UNKNOWN
					       : compare(n->op, (a.f > b.f) - (a.f < b.f), known);
	else if (n->nin > 1)
		r.f = real_binary(n->op, a.f, b.f, known);
	else
		r.f = real_unary(n->op, a.f, known);
	return r;
}

enum { ARITY_MAX = 3 };

static union scalar one(const struct graph_node *n, const struct value **in, const int64_t *at,
			int to, int *known)
{
	union scalar a = in[0]->kept[at[0]], b = {.i = 0};

	if (node_is(n, OP_Where)) {
		const union scalar yes = in[1]->kept[at[1]], no = in[2]->kept[at[2]];

		if (a.i != INT_UNKNOWN || yes.i == no.i)
			return a.i ? yes : no;
		if (elem_is_real(in[1]->elem))
			b.f = NAN;
		else
			b.i = INT_UNKNOWN;
		return b;
	}
	if (n->nin > 1 && in[1])
		b = in[1]->kept[at[1]];
	return apply(n, a, b, in[0]->elem, to, known);
}

/* The inputs, if the elements of all are known and of types that go together. */
static int gather_inputs(const struct infer *x, const struct graph_node *n, int nin,
			 const struct shape *out, const struct value **in,
			 int64_t stride[][GRAPH_MAX_RANK])
{
	int is_where = node_is(n, OP_Where);

	for (int i = 0; i < nin; i++) {
		in[i] = node_in(x->g, n, i);
		if (!in[i] || !in[i]->kept || !shape_known(&in[i]->shape) ||
		    (!elem_is_int(in[i]->elem) && !elem_is_real(in[i]->elem)) ||
		    infer_wide_strides(&in[i]->shape, out, stride[i]))
			return -1;
		if (!(is_where && i < 2) &&
		    elem_is_int(in[i]->elem) != elem_is_int(in[is_where ? 1 : 0]->elem))
			return -1;
	}
	return is_where && !elem_is_int(in[0]->elem) ? -1 : 0;
}

/* A Clip's bounds are inputs since operator set 11. -1: one of them is not known. */
static int clip_bounds(const struct infer *x, const struct graph_node *n, union scalar bound[2])
{
	const int is_int = elem_is_int(node_in(x->g, n, 0)->elem);

	for (int i = 0; i < 2; i++) {
		const struct value *v = node_in(x->g, n, i + 1);

		if (v && (!v->kept || !shape_known(&v->shape) || shape_count(&v->shape) != 1 ||
			  elem_is_int(v->elem) != is_int))
			return -1;
		if (v)
			bound[i] = v->kept[0];
		else if (is_int)
			bound[i].i = i ? INT64_MAX : -INT64_MAX;
		else
			bound[i].f =
				(double)node_float(n, i ? "max" : "min", i ? INFINITY : -INFINITY);
		if (is_int ? bound[i].i == INT_UNKNOWN : isnan(bound[i].f))
			return -1;
	}
	return 0;
}

static union scalar clip(union scalar v, int is_int, const union scalar bound[2])
{
	if (is_int && v.i != INT_UNKNOWN) {
		v.i = v.i < bound[0].i ? bound[0].i : v.i;
		v.i = v.i > bound[1].i ? bound[1].i : v.i;
	} else if (!is_int && !isnan(v.f)) {
		v.f = fmin(fmax(v.f, bound[0].f), bound[1].f);
	}
	return v;
}

static void fold_clip(struct infer *x, const struct graph_node *n)
{
	const struct value *in = node_in(x->g, n, 0);
	union scalar bound[2], *to;

	if (!node_out(x->g, n, 0) || !in->kept || !shape_known(&in->shape) ||
	    (!elem_is_int(in->elem) && !elem_is_real(in->elem)) || clip_bounds(x, n, bound) ||
	    !(to = infer_keep(x, n, 0)))
		return;
	for (int64_t k = 0; k < shape_count(&in->shape); k++)
		to[k] = clip(in->kept[k], elem_is_int(in->elem), bound);
}

void fold_elementwise(struct infer *x, const struct graph_node *n)
{
	struct value *v = node_out(x->g, n, 0);
	const struct value *in[ARITY_MAX] = {NULL};
	int64_t stride[ARITY_MAX][GRAPH_MAX_RANK], at[GRAPH_MAX_RANK] = {0};
	int one_in = node_is(n, OP_Dropout) || node_is(n, OP_CastLike);
	int nin = one_in ? 1 : n->nin, known = 1;
	union scalar *to;

	if (node_is(n, OP_Clip)) {
		fold_clip(x, n);
		return;
	}
	if (!v || !shape_known(&v->shape) || nin < 1 || nin > ARITY_MAX ||
	    (nin == ARITY_MAX) != node_is(n, OP_Where))
		return;
	if (gather_inputs(x, n, nin, &v->shape, in, stride) || !(to = infer_keep(x, n, 0)))
		return;
	for (int64_t k = 0; k < shape_count(&v->shape) && known; k++) {
		int64_t p[ARITY_MAX] = {0};

		for (int i = 0; i < nin; i++)
			for (int d = 0; d < v->shape.rank; d++)
				p[i] += at[d] * stride[i][d];
		to[k] = element_fit(v->elem, one(n, in, p, v->elem, &known));
		for (int d = v->shape.rank; d-- > 0 && ++at[d] == v->shape.dim[d];)
			at[d] = 0;
	}
	if (!known)
		v->kept = NULL;
}
