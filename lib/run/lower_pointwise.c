/* Element-wise operators: expressions that wait until their elements are wanted. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/run/constants.h"
#include "lib/run/lower.h"

/* Puts the operations and operands of `from` behind those of m: the number of its result. */
static int append(struct pointwise *m, const struct pointwise *from)
{
	int op = m->nop, in = m->nin;

	for (int i = 0; i < from->nin; i++)
		m->in[m->nin++] = from->in[i];
	for (int i = 0; i < from->nop; i++) {
		struct pointwise_op o = from->op[i];

		o.a += o.kind == PW_INPUT ? in : op;
		o.b += op;
		m->op[m->nop++] = o;
	}
	return m->nop - 1;
}

/* Does m have room for so many operands and operations more? */
static int has_room(const struct pointwise *m, int inputs, int ops)
{
	return m->nin + inputs <= PW_INPUTS && m->nop + ops <= PW_OPS;
}

int lower_operand(struct lowering *l, struct pointwise *m, int value, int inputs, int ops,
		  struct err *e)
{
	struct pointwise *w = l->waiting[value];
	const struct value *v = l->g->value[value];
	struct place p, here;
	double x;

	if (lower_number(l, value, &x))
		return has_room(m, inputs, 1 + ops) ? pointwise_const(m, x) : LOWER_NO_ROOM;
	if (w && (w->units.is || (v->uses == 1 && !v->is_output)) &&
	    place_same_shape(&w->out, &m->out) && has_room(m, w->nin + inputs, w->nop + ops)) {
		if (!w->units.is)
			l->waiting[value] = NULL;
		return append(m, w);
	}
	if (!has_room(m, 1 + inputs, 1 + ops))
		return LOWER_NO_ROOM;
	if (lower_get_made(l, value, &p, e))
		return -1;
	if (place_broadcast(&p, m->out.rank, m->out.dim, &here))
		return err_set(e, "'%s' does not fit the shape it is broadcast to", v->name);
	return pointwise_input(m, &here);
}

/* A map of the node's output, with input 0 as its first operation, and room for so many more
 * operands and operations. */
static struct pointwise *begin(struct lowering *l, const struct graph_node *n, int inputs, int ops,
			       int *x, struct err *e)
{
	struct pointwise *m = arena_new(l->p->a, struct pointwise);

	if (n->nin < 1 || n->in[0] < 0 || lower_shape(l, n->out[0], &m->out, e))
		return NULL;
	*x = lower_operand(l, m, n->in[0], inputs, ops, e);
	return *x < 0 ? NULL : m;
}

/* Another operand of m, with room for so many operations more. If m has none, what it has made so
 * far, operation *x, is computed by a step of its own, and m begins anew with that. */
static int operand(struct lowering *l, const struct graph_node *n, struct pointwise *m, int *x,
		   int value, int ops, struct err *e)
{
	int y = lower_operand(l, m, value, 0, ops, e);

	if (y != LOWER_NO_ROOM)
		return y;
	assert(*x == m->nop - 1);
	if (lower_compute(l, m, -1, node_label(l->g, n), n->type, e))
		return -1;
	m->nin = m->nop = 0;
	*x = pointwise_input(m, &m->out);
	return lower_operand(l, m, value, 0, ops, e);
}

/* It waits. i: the operation that is its result, the last one. */
static int finish(struct lowering *l, const struct graph_node *n, struct pointwise *m, int i)
{
	assert(i == m->nop - 1);
	l->waiting[n->out[0]] = m;
	return 0;
}

static enum pointwise_kind binary_kind(const struct graph_node *n)
{
	switch (n->op) {
	case OP_Sub:
		return PW_SUB;
	case OP_Mul:
		return PW_MUL;
	case OP_Div:
		return PW_DIV;
	case OP_Max:
		return PW_MAX;
	case OP_Min:
		return PW_MIN;
	default: /* Add, Sum, Mean */
		return PW_ADD;
	}
}

int lower_binary(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int is_mean = node_is(n, OP_Mean), more = is_mean ? 3 : 1;
	int x, y;
	struct pointwise *m;

	if (node_is(n, OP_Div) && elem_is_int(l->g->value[n->out[0]]->elem))
		return lower_by(l, n, "quotient", 0, e);
	m = begin(l, n, 0, 1 + more, &x, e);
	if (!m)
		return -1;
	for (int i = 1; i < n->nin; i++) {
		y = n->in[i] == n->in[i - 1] && n->nin == 2
			    ? x
			    : operand(l, n, m, &x, n->in[i], more, e);
		if (y < 0)
			return -1;
		x = pointwise_op(m, binary_kind(n), x, y);
	}
	if (is_mean)
		x = pointwise_op(m, PW_DIV, x, pointwise_const(m, n->nin));
	else if (n->nin == 1)
		x = pointwise_op(m, PW_MUL, x, pointwise_const(m, 1));
	return finish(l, n, m, x);
}

static int unary(struct pointwise *m, enum node_op op, int x)
{
	switch (op) {
	case OP_HardSwish:
		return pointwise_post(m, x, (struct post_op){POST_HARDSWISH, 0, 0});
	case OP_Sigmoid:
		return pointwise_post(m, x, (struct post_op){POST_SIGMOID, 0, 0});
	case OP_Tanh:
		return pointwise_post(m, x, (struct post_op){POST_TANH, 0, 0});
	case OP_Relu:
		return pointwise_op(m, PW_MAX, x, pointwise_const(m, 0));
	case OP_Sqrt:
		return pointwise_op(m, PW_SQRT, x, -1);
	case OP_Exp:
		return pointwise_op(m, PW_EXP, x, -1);
	case OP_Neg:
		return pointwise_op(m, PW_MUL, x, pointwise_const(m, -1));
	case OP_Abs:
		return pointwise_op(m, PW_MAX, x,
				    pointwise_op(m, PW_SUB, pointwise_const(m, 0), x));
	case OP_Reciprocal:
		return pointwise_op(m, PW_DIV, pointwise_const(m, 1), x);
	default:
		return pointwise_op(m, PW_ERF, x, -1);
	}
}

int lower_unary(struct lowering *l, const struct graph_node *n, struct err *e)
{
	int x;
	struct pointwise *m = begin(l, n, 0, 3, &x, e);

	return m ? finish(l, n, m, unary(m, n->op, x)) : -1;
}

int lower_clip(struct lowering *l, const struct graph_node *n, struct err *e)
{
	double bound[2] = {(double)node_float(n, "min", -FLT_MAX),
			   (double)node_float(n, "max", FLT_MAX)};
	int x;
	struct pointwise *m;

	for (int i = 1; i < 3; i++)
		if (node_in(l->g, n, i) && !lower_number(l, n->in[i], &bound[i - 1]))
			return node_in(l->g, n, 1) && node_in(l->g, n, 2) ? lower_scalar(l, n, e)
			       : i == 1 ? lower_by(l, n, "at least", bound[1], e)
					: lower_by(l, n, "at most", bound[0], e);
	m = begin(l, n, 0, 4, &x, e);
	if (!m)
		return -1;
	if (!isnan(bound[0]))
		x = pointwise_op(m, PW_MAX, x, pointwise_const(m, bound[0]));
	if (!isnan(bound[1]))
		x = pointwise_op(m, PW_MIN, x, pointwise_const(m, bound[1]));
	return finish(l, n, m, x);
}

/* x / (1 + exp(-alpha x)), and times input 1, if there is one. */
int lower_swish(struct lowering *l, const struct graph_node *n, struct err *e)
{
	int x, y;
	struct pointwise *m = begin(l, n, 0, 5, &x, e);

	if (!m)
		return -1;
	y = pointwise_op(m, PW_MUL, x, pointwise_const(m, (double)node_float(n, "alpha", 1)));
	y = pointwise_post(m, y, (struct post_op){.kind = POST_SIGMOID});
	x = pointwise_op(m, PW_MUL, x, y);
	if (!node_in(l->g, n, 1))
		return finish(l, n, m, x);
	y = operand(l, n, m, &x, n->in[1], 1, e);
	return y < 0 ? -1 : finish(l, n, m, pointwise_op(m, PW_MUL, x, y));
}

int lower_leaky_relu(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct post_op p = {POST_LEAKY_RELU, (double)node_float(n, "alpha", 0.01F), 0};
	int x;
	struct pointwise *m;

	if (p.a == 0 || !isfinite(p.a)) /* NaN times what is positive */
		return lower_by(l, n, "LeakyRelu", p.a, e);
	m = begin(l, n, 0, 1, &x, e);
	return m ? finish(l, n, m, pointwise_post(m, x, p)) : -1;
}

/* gamma * (max(x, 0) + alpha * (exp(min(x, 0) / scale) - 1)) */
static int elu(struct pointwise *m, int x, double gamma, double alpha, double scale)
{
	int zero = pointwise_const(m, 0), least = pointwise_op(m, PW_MIN, x, zero), most;

	if (scale != 1)
		least = pointwise_op(m, PW_DIV, least, pointwise_const(m, scale));
	least = pointwise_op(m, PW_EXP, least, -1);
	least = pointwise_op(m, PW_SUB, least, pointwise_const(m, 1));
	least = pointwise_op(m, PW_MUL, least, pointwise_const(m, gamma * alpha));
	most = pointwise_op(m, PW_MAX, x, zero);
	if (gamma != 1)
		most = pointwise_op(m, PW_MUL, most, pointwise_const(m, gamma));
	return pointwise_op(m, PW_ADD, most, least);
}

int lower_elu(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int is_selu = node_is(n, OP_Selu), is_celu = node_is(n, OP_Celu);
	double alpha = (double)node_float(n, "alpha", is_selu ? 1.67326319F : 1);
	double gamma = is_selu ? (double)node_float(n, "gamma", 1.05070102F) : 1;
	int x;
	struct pointwise *m = begin(l, n, 0, 12, &x, e);

	return m ? finish(l, n, m, elu(m, x, gamma, alpha, is_celu ? alpha : 1)) : -1;
}

/* max(x, 0) + slope * min(x, 0), if all slopes are finite. */
int lower_prelu(struct lowering *l, const struct graph_node *n, struct err *e)
{
	int x, slope, least;
	struct pointwise *m;

	if (!node_in(l->g, n, 1))
		return lower_bad(l, n, e, "lacks its slope");
	if (!constant_is_finite(l->g, n->in[1], l->seed))
		return lower_scalar(l, n, e);
	m = begin(l, n, 0, 6, &x, e);
	if (!m)
		return -1;
	slope = operand(l, n, m, &x, n->in[1], 5, e);
	if (slope < 0)
		return -1;
	least = pointwise_op(m, PW_MIN, x, pointwise_const(m, 0));
	least = pointwise_op(m, PW_MUL, least, slope);
	return finish(
		l, n, m,
		pointwise_op(m, PW_ADD, pointwise_op(m, PW_MAX, x, pointwise_const(m, 0)), least));
}

int lower_hard_sigmoid(struct lowering *l, const struct graph_node *n, struct err *e)
{
	int x;
	struct pointwise *m = begin(l, n, 0, 5, &x, e);

	if (!m)
		return -1;
	x = pointwise_op(m, PW_MUL, x, pointwise_const(m, (double)node_float(n, "alpha", 0.2F)));
	x = pointwise_op(m, PW_ADD, x, pointwise_const(m, (double)node_float(n, "beta", 0.5F)));
	return finish(l, n, m, pointwise_post(m, x, (struct post_op){POST_CLIP, 0, 1}));
}

int lower_gelu(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const char *how = node_str(n, "approximate", "none");
	struct post_op p = {strcmp(how, "tanh") ? POST_GELU : POST_GELU_TANH, 0, 0};
	int x;
	struct pointwise *m = begin(l, n, 0, 1, &x, e);

	return m ? finish(l, n, m, pointwise_post(m, x, p)) : -1;
}

int lower_pow(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int is_int = elem_is_int(l->g->value[n->out[0]]->elem);
	double power;
	struct pointwise *m;
	int x, y;

	if (n->nin < 2 || !lower_number(l, n->in[1], &power) ||
	    (power != -1 && (power != floor(power) || power < 1 || power > 8)) ||
	    (power < 1 && is_int))
		return lower_by(l, n, is_int ? "power of integers" : "Pow", 0, e);
	m = begin(l, n, 0, 8, &x, e);
	if (!m)
		return -1;
	y = x;
	if (power < 0)
		y = pointwise_op(m, PW_DIV, pointwise_const(m, 1), x);
	else if (power == 1)
		y = pointwise_op(m, PW_MUL, x, pointwise_const(m, 1));
	for (int i = 1; i < (int)power; i++)
		y = pointwise_op(m, PW_MUL, y, x);
	return finish(l, n, m, y);
}

/* ---- sums of a few ---- */

int lower_few_axis(const struct lowering *l, const struct graph_node *n,
		   const unsigned char *marked)
{
	enum { MOST = 3 };
	const struct shape *s = &l->g->value[n->in[0]]->shape;
	int axis = -1, axes = 0;

	for (int i = 0; i < s->rank; i++)
		if (marked[i] && s->dim[i] != 1) {
			axis = i;
			axes++;
		}
	return (node_is(n, OP_ReduceSum) || node_is(n, OP_ReduceMean)) && axes == 1 &&
			       axis < s->rank - 1 && s->dim[axis] > 1 && s->dim[axis] <= MOST &&
			       !elem_is_int(l->g->value[n->in[0]]->elem)
		       ? axis
		       : -1;
}

/* Element i along the axis as an operand of m; like: how it is dequantized, or NULL. */
static int one_of(struct pointwise *m, const struct place *from, const struct pointwise *like,
		  int axis, int64_t i)
{
	struct place p = *from, seen;
	struct pointwise one;

	p.at += i * p.stride[axis];
	p.dim[axis] = 1;
	if (!place_reshape(&p, m->out.rank, m->out.dim, &seen))
		return -1;
	assert(has_room(m, 2, 6)); /* for so few */
	if (!like)
		return pointwise_input(m, &seen);
	one = *like;
	one.in[0] = seen;
	return append(m, &one);
}

int lower_few(struct lowering *l, const struct graph_node *n, int axis, struct err *e)
{
	const struct pointwise *like = lower_dequantized(l, n->in[0]);
	struct pointwise *m = arena_new(l->p->a, struct pointwise);
	struct place from;
	int x, y;

	if (lower_shape(l, n->out[0], &m->out, e) ||
	    (!like && lower_get_made(l, n->in[0], &from, e)))
		return -1;
	if (like)
		from = like->in[0];
	x = one_of(m, &from, like, axis, 0);
	for (int64_t i = 1; x >= 0 && i < from.dim[axis]; i++) {
		y = one_of(m, &from, like, axis, i);
		x = y < 0 ? -1 : pointwise_op(m, PW_ADD, x, y);
	}
	if (x < 0)
		return lower_bad(l, n, e, "has a shape that its input does not explain");
	if (node_is(n, OP_ReduceMean))
		x = pointwise_op(m, PW_DIV, x, pointwise_const(m, (double)from.dim[axis]));
	return finish(l, n, m, x);
}

/* ---- batch normalization ---- */

/* A vector of channels: scale / sqrt(variance + epsilon), or shift - mean * that. Constant, so that
 * it is computed once. */
static int norm_vector(struct lowering *l, const struct graph_node *n, const struct place *factor,
		       struct place *out, struct err *e)
{
	const double epsilon = (double)node_float(n, "epsilon", 1e-5F);
	struct pointwise m = {0};
	int x, y;

	if (lower_shape(l, n->in[1], &m.out, e))
		return -1;
	if (!factor) {
		x = lower_operand(l, &m, n->in[1], 1, 5, e);
		y = lower_operand(l, &m, n->in[4], 1, 5, e);
		if (x < 0 || y < 0)
			return -1;
		y = pointwise_op(&m, PW_ADD, y, pointwise_const(&m, epsilon));
		pointwise_op(&m, PW_DIV, x, pointwise_op(&m, PW_SQRT, y, -1));
	} else {
		x = lower_operand(l, &m, n->in[2], 1, 5, e);
		y = lower_operand(l, &m, n->in[3], 1, 5, e);
		if (x < 0 || y < 0)
			return -1;
		pointwise_op(&m, PW_SUB, x,
			     pointwise_op(&m, PW_MUL, y, pointwise_input(&m, factor)));
	}
	lower_room(l, &m.out);
	*out = m.out;
	return lower_pointwise(l, &m, node_label(l->g, n), n->type, e);
}

/* A vector along dimension 1 of the place. */
static struct place along_channels(const struct place *v, const struct place *of)
{
	struct place p = *of;

	p.memory = v->memory;
	p.at = v->at;
	for (int i = 0; i < p.rank; i++)
		p.stride[i] = i == 1;
	return p;
}

int lower_batch_norm(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place factor, shift, broad;
	struct pointwise *m;
	int x;

	for (int i = 1; i < 5; i++)
		if (!node_in(l->g, n, i))
			return lower_bad(l, n, e, "lacks its statistics");
	if (node_int(n, "training_mode", 0))
		return lower_own_batch_norm(l, n, e);
	if (norm_vector(l, n, NULL, &factor, e) || norm_vector(l, n, &factor, &shift, e))
		return -1;
	m = begin(l, n, 2, 4, &x, e);
	if (!m)
		return -1;
	broad = along_channels(&factor, &m->out);
	x = pointwise_op(m, PW_MUL, x, pointwise_input(m, &broad));
	broad = along_channels(&shift, &m->out);
	return finish(l, n, m, pointwise_op(m, PW_ADD, x, pointwise_input(m, &broad)));
}
