#include "lib/run/pointwise.h"

#include <assert.h>
#include <math.h>

#include "lib/op/op.h"
#include "lib/run/loops.h"
#include "lib/run/transposed.h"
#include "lib/tile/activation.h"

_Static_assert((int)LOOPS_PLACES == PW_INPUTS + 1, "the operands and the result");

/* Fewer turns of the outer loops than this, and the threads share the innermost one, too. */
enum { ENOUGH_TURNS = 32, UNROLL = 4, VECTORS = 64 };

int pointwise_op(struct pointwise *m, enum pointwise_kind kind, int a, int b)
{
	if (m->nop == PW_OPS)
		return -1;
	m->op[m->nop] = (struct pointwise_op){.kind = kind, .a = a, .b = b};
	return m->nop++;
}

int pointwise_const(struct pointwise *m, double value)
{
	int i = pointwise_op(m, PW_CONST, -1, -1);

	if (i >= 0)
		m->op[i].value = value;
	return i;
}

int pointwise_post(struct pointwise *m, int a, struct post_op post)
{
	int i = pointwise_op(m, PW_POST, a, -1);

	if (i >= 0)
		m->op[i].post = post;
	return i;
}

int pointwise_input(struct pointwise *m, const struct place *in)
{
	if (m->nin == PW_INPUTS)
		return -1;
	m->in[m->nin] = *in;
	return pointwise_op(m, PW_INPUT, m->nin++, -1);
}

/* ---- the nest ---- */

/* Vectors go along the innermost loop, if all places are dense there or have one element. */
static int lanes_of(const struct pointwise *m, const struct loops *l, int lanes)
{
	int last = l->n - 1;

	if (l->stride[m->nin][last] != 1)
		return 1;
	for (int i = 0; i < m->nin; i++)
		if (l->stride[i][last] > 1)
			return 1;
	while (lanes > l->dim[last])
		lanes /= 2;
	return lanes < 4 ? 1 : lanes;
}

struct building {
	const struct pointwise *m;
	struct nest *n;
	struct loops l;
	int lanes, registers;
	int buffer[PW_INPUTS + 1];
	struct affine base[PW_INPUTS + 1]; /* of the loops around the innermost one */
	unsigned char uses[PW_OPS];
	unsigned char multiplies[PW_OPS]; /* quotients by products, divide() */
};

static int is_activation(enum pointwise_kind kind)
{
	return kind == PW_EXP || kind == PW_ERF || kind == PW_POST;
}

static int is_unary(enum pointwise_kind kind)
{
	return kind == PW_SQRT || is_activation(kind);
}

static int is_limit(enum pointwise_kind kind)
{
	return kind == PW_MAX || kind == PW_MIN;
}

/* The largest magnitude that an operation can have, where those before it have these; an infinite
 * one is not known. Elements of 8 bits alone have an end. */
static double most(const struct pointwise *m, const struct pointwise_op *o, const double *of)
{
	switch (o->kind) {
	case PW_INPUT:
		return elem_size(m->in[o->a].elem) == 1 ? 255 : INFINITY;
	case PW_CONST:
		return isnan(o->value) ? INFINITY : fabs(o->value);
	case PW_ADD:
	case PW_SUB:
		return of[o->a] + of[o->b];
	case PW_MUL:
		return fmax(1, of[o->a]) * fmax(1, of[o->b]);
	case PW_MAX:
	case PW_MIN:
		return fmax(of[o->a], of[o->b]);
	default:
		return INFINITY;
	}
}

/* Which divisions are by a constant, of numbers that are known not to be too large? Vectors alone
 * have a multiply-add for sure. */
static void find_divisions(struct building *b)
{
	const double least = 1e-20, largest = 1e15; /* nothing becomes 0 or infinite on the way */
	double of[PW_OPS];

	for (int i = 0; i < b->m->nop; i++) {
		const struct pointwise_op *o = &b->m->op[i];

		of[i] = most(b->m, o, of);
		if (o->kind == PW_DIV && b->m->op[o->b].kind == PW_CONST)
			b->multiplies[i] = b->lanes > 1 && of[o->a] < largest && of[o->b] > least &&
					   of[o->b] < largest;
	}
}

static void count_uses(struct building *b)
{
	for (int i = 0; i < b->m->nop; i++) {
		const struct pointwise_op *o = &b->m->op[i];

		if (o->kind == PW_INPUT || o->kind == PW_CONST)
			continue;
		b->uses[o->a]++;
		b->uses[o->a] += b->multiplies[i];
		if (is_limit(o->kind) && b->m->op[o->b].kind != PW_CONST)
			b->uses[o->a]++; /* ex_limit() */
		if (!is_unary(o->kind))
			b->uses[o->b]++;
	}
}

static const struct expr *limit(const struct building *b, enum pointwise_kind kind,
				const struct expr *x, const struct expr *y)
{
	enum expr_kind of = kind == PW_MAX ? EXPR_MAX : EXPR_MIN;

	return y->kind == EXPR_CONST ? ex_limit(b->n, of, y, x) : ex_limit(b->n, of, x, y);
}

/* Element i + lane of the innermost loop. */
static struct affine element(const struct building *b, int place, struct affine i)
{
	int64_t stride = b->l.stride[place][b->l.n - 1];

	return af_add(b->base[place], af_mul(i, stride));
}

static const struct expr *input(const struct building *b, int k, struct affine i,
				const struct affine *valid)
{
	if (b->lanes > 1 && !b->l.stride[k][b->l.n - 1])
		return ex_bcast(b->n, b->lanes, ex_load(b->n, b->buffer[k], 1, b->base[k], NULL));
	return ex_load(b->n, b->buffer[k], b->lanes, element(b, k, i), valid);
}

static enum expr_kind expr_of(enum pointwise_kind kind)
{
	static const enum expr_kind of[] = {[PW_ADD] = EXPR_ADD,
					    [PW_SUB] = EXPR_SUB,
					    [PW_MUL] = EXPR_MUL,
					    [PW_DIV] = EXPR_DIV,
					    [PW_SQRT] = EXPR_SQRT};

	return of[kind];
}

/* x / by, rounded as a division rounds it, by three operations in a fifth of its time: the product
 * with the reciprocal, and that corrected by what it leaves of x (Markstein, "Computation of
 * elementary functions on the IBM RISC System/6000 processor", 1990). Keeps the product in register
 * k. */
static const struct expr *divide(const struct building *b, int k, const struct expr *x, double by)
{
	struct nest *n = b->n;
	const struct expr *part = ex_const(n, ELEM_F32, b->lanes, (double)(1 / (float)by));
	const struct expr *minus = ex_const(n, ELEM_F32, b->lanes, -by), *near;

	nest_store(n, b->registers, af(k), NULL, ex_op(n, EXPR_MUL, x, part, NULL));
	near = ex_reg(n, b->registers, af(k));
	return ex_op(n, EXPR_FMA, ex_op(n, EXPR_FMA, near, minus, x), part, near);
}

/* What is used several times is computed once, as is each activation: the next one would overwrite
 * what it stands on (activation.h). */
static const struct expr *evaluate(const struct building *b, struct affine i,
				   const struct affine *valid)
{
	const struct expr *x[PW_OPS];
	struct nest *n = b->n;

	for (int k = 0; k < b->m->nop; k++) {
		const struct pointwise_op *o = &b->m->op[k];

		if (o->kind == PW_INPUT)
			x[k] = input(b, o->a, i, valid);
		else if (o->kind == PW_CONST)
			x[k] = ex_const(n, ELEM_F32, b->lanes, o->value);
		else if (o->kind == PW_EXP)
			x[k] = activation_exp_or_nan(n, x[o->a]);
		else if (o->kind == PW_ERF)
			x[k] = activation_erf_or_nan(n, x[o->a]);
		else if (o->kind == PW_POST)
			x[k] = activation_or_nan(n, x[o->a], &o->post);
		else if (is_limit(o->kind))
			x[k] = limit(b, o->kind, x[o->a], x[o->b]);
		else if (b->multiplies[k])
			x[k] = divide(b, k, x[o->a], b->m->op[o->b].value);
		else
			x[k] = ex_op(n, expr_of(o->kind), x[o->a],
				     is_unary(o->kind) ? NULL : x[o->b], NULL);
		if ((b->uses[k] > 1 && o->kind != PW_CONST) || is_activation(o->kind)) {
			nest_store(n, b->registers, af(k), NULL, x[k]);
			x[k] = ex_reg(n, b->registers, af(k));
		}
	}
	return x[b->m->nop - 1];
}

/* The same by multiply-adds, which vectors alone have for sure. */
static const struct expr *summed(const struct building *b, struct affine i,
				 const struct affine *valid)
{
	const struct pointwise_sum *s = &b->m->sum;
	struct nest *n = b->n;
	const struct expr *x = ex_const(n, ELEM_F32, b->lanes, s->rest);

	for (int k = b->m->nin; k-- > 0;)
		x = ex_op(n, EXPR_FMA, input(b, k, i, valid),
			  ex_const(n, ELEM_F32, b->lanes, s->factor[k]), x);
	if (s->low > -INFINITY)
		x = ex_op(n, EXPR_MAX, x, ex_const(n, ELEM_F32, b->lanes, s->low), NULL);
	if (s->high < INFINITY)
		x = ex_op(n, EXPR_MIN, x, ex_const(n, ELEM_F32, b->lanes, s->high), NULL);
	return x;
}

static void vector_at(const struct building *b, struct affine i, const struct affine *valid)
{
	const struct expr *x =
		b->m->sum.is && b->lanes > 1 ? summed(b, i, valid) : evaluate(b, i, valid);

	nest_store(b->n, b->buffer[b->m->nin], element(b, b->m->nin, i), valid, x);
}

/* shared: the innermost loop will be parallel, too. The assembly printer wants two such loops. */
static void outer_loops(struct building *b, int shared)
{
	static const char *const name[PLACE_RANK] = {"a", "b", "c", "d", "e", "f", "g", "h"};

	for (int i = 0; i <= b->m->nin; i++)
		b->base[i] = af(0);
	if (b->l.n - 1 + shared == 1)
		nest_for(b->n, LOOP_PARALLEL, "one", af(0), af(1));
	for (int d = 0; d + 1 < b->l.n; d++) {
		int v = nest_for(b->n, LOOP_PARALLEL, name[d], af(0), af(b->l.dim[d]));

		for (int i = 0; i <= b->m->nin; i++)
			b->base[i] = af_add(b->base[i], af_mul(af_var(v), b->l.stride[i][d]));
	}
}

static void inner_loop(const struct building *b, int64_t extent)
{
	int64_t turns = extent / b->lanes, rest = extent % b->lanes;

	if (turns) {
		int v = nest_for(b->n, LOOP_SERIAL, "v", af(0), af(turns));

		nest_unroll_hint(b->n, UNROLL);
		vector_at(b, af_mul(af_var(v), b->lanes), NULL);
		nest_close(b->n);
	}
	if (rest)
		vector_at(b, af(extent - rest), nest_keep(b->n, af(rest)));
}

/* How many vectors a turn of the shared loop has: a division tells where each turn begins, which
 * takes as long as some vectors do. */
static int64_t vectors_of(int64_t turns)
{
	int64_t n = VECTORS;

	while (n > 1 && (turns % n || turns / n < ENOUGH_TURNS))
		n /= 2;
	return n;
}

/* Shared by the threads: masked in all turns, if the last one is. */
static void shared_loop(const struct building *b, int64_t extent)
{
	const int64_t turns = (extent + b->lanes - 1) / b->lanes;
	const int64_t vectors = extent % b->lanes ? 1 : vectors_of(turns);
	const int v = nest_for(b->n, LOOP_PARALLEL, "v", af(0), af(turns / vectors));
	struct affine i = af_mul(af_var(v), vectors * b->lanes);

	if (vectors > 1) {
		const int u = nest_for(b->n, LOOP_SERIAL, "u", af(0), af(vectors));

		nest_unroll_hint(b->n, UNROLL);
		i = af_add(i, af_mul(af_var(u), b->lanes));
	}
	vector_at(b, i, extent % b->lanes ? nest_keep(b->n, af_sub(af(extent), i)) : NULL);
}

/* An operand, or the result, in the type of its place. */
static int argument(struct nest *n, const char *name, enum tensor_role role, const struct place *p)
{
	const int buffer = nest_arg(n, name, role, place_span(p), role == TENSOR_DST);

	nest_elem(n, buffer, p->elem);
	return buffer;
}

static struct loops loops_over(const struct pointwise *m)
{
	const struct place *place[PW_INPUTS + 1];

	for (int i = 0; i < m->nin; i++)
		place[i] = &m->in[i];
	place[m->nin] = &m->out;
	return loops_of(place, m->nin + 1);
}

static int is_copy(const struct pointwise *m)
{
	return m->nin == 1 && m->nop == 1 && m->in[0].elem == ELEM_F32 && m->out.elem == ELEM_F32;
}

void pointwise_nest(const struct pointwise *m, int lanes, struct nest *n)
{
	static const char *const name[PW_INPUTS] = {"p", "q", "r", "s", "t", "u"};
	struct building b = {.m = m, .n = n, .l = loops_over(m)};
	int64_t turns = 1, extent = b.l.dim[b.l.n - 1];

	if (is_copy(m) && transposed_copy(&b.l, lanes, n))
		return;
	b.lanes = lanes_of(m, &b.l, lanes);
	find_divisions(&b);
	count_uses(&b);
	for (int i = 0; i < m->nin; i++)
		b.buffer[i] = argument(n, name[i], TENSOR_SRC, &m->in[i]);
	b.buffer[m->nin] = argument(n, "to", TENSOR_DST, &m->out);
	b.registers = nest_reg(n, "x", ELEM_F32, b.lanes, PW_OPS, 1);
	for (int d = 0; d + 1 < b.l.n; d++)
		turns *= b.l.dim[d];
	outer_loops(&b, turns < ENOUGH_TURNS);
	if (turns < ENOUGH_TURNS)
		shared_loop(&b, extent);
	else
		inner_loop(&b, extent);
	while (n->depth)
		nest_close(n);
}
