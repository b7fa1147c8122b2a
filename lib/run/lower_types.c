/* Types of elements: which operators compute in bf16, and which values are made in it.
 *
 * An operator computes in bf16 if an algorithm of this machine's target does. Its sources and
 * weights are bf16, and its sums single precision. A value is made in bf16 if such an operator
 * reads it, directly or through operators that pass it on (views, concatenations, pools, chains of
 * element-wise operators); else it is made in single precision. So what two such operators exchange
 * is never converted, and what others compute with keeps its precision: the sums of residuals that
 * a normalization reads, and the outputs. Where a reader wants another type than a value has, a
 * copy converts it, once for all such readers (lower_as()).
 */
#include <string.h>

#include "lib/algo/algo.h"
#include "lib/run/lower.h"

/* Operators that read and write elements of any type. */
static const enum node_op passes[] = {OP_Add,
				      OP_AveragePool,
				      OP_BatchNormalization,
				      OP_Clip,
				      OP_Concat,
				      OP_Div,
				      OP_Elu,
				      OP_Flatten,
				      OP_Gelu,
				      OP_GlobalAveragePool,
				      OP_HardSigmoid,
				      OP_HardSwish,
				      OP_Identity,
				      OP_LeakyRelu,
				      OP_Max,
				      OP_MaxPool,
				      OP_Min,
				      OP_Mul,
				      OP_PRelu,
				      OP_Relu,
				      OP_Reshape,
				      OP_Sigmoid,
				      OP_Slice,
				      OP_Split,
				      OP_Squeeze,
				      OP_Sub,
				      OP_Swish,
				      OP_Tanh,
				      OP_Transpose,
				      OP_Unsqueeze};

static int is_pass(const struct graph_node *n)
{
	for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
		if (node_is(n, passes[i]))
			return 1;
	return 0;
}

int lower_is_computed(const struct lowering *l, const struct workload *w)
{
	struct knob_space space = {0};

	for (const struct algo *const *a = algo_list; *a; a++)
		if (algo_suits(*a, target_default()) && algo_space(*a, w, &l->p->limits, &space))
			return 1;
	return 0;
}

int lower_workload(const struct task *t, enum elem in, enum elem out, struct workload *w,
		   struct err *e)
{
	const char *type = in == ELEM_F32 ? "f32" : out == ELEM_F32 ? "bf16:bf16:f32" : "bf16";

	*w = t->w;
	return in == ELEM_F32 ? 0 : workload_set_dtype(w, type, strlen(type), e);
}

/* Is there an algorithm for the task in bf16, whatever its result is made in? */
static int computes_bf16(const struct lowering *l, const struct task *t)
{
	static const enum elem results[] = {ELEM_BF16, ELEM_F32};
	struct err ignored = ERR_INIT;
	struct workload w;

	if (!dtypes_are_f32(&t->w.dtype))
		return 0;
	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		if (lower_workload(t, ELEM_BF16, results[i], &w, &ignored) ||
		    !lower_is_computed(l, &w))
			return 0;
	return 1;
}

/* A reader is content with bf16. */
static void want(struct lowering *l, int value)
{
	const struct value *v = value < 0 ? NULL : l->g->value[value];

	if (v && v->elem == VALUE_F32 && !v->is_output && !v->is_input && !v->is_const)
		l->elem[value] = ELEM_BF16;
}

static void want_operands(struct lowering *l, const struct task *t)
{
	const struct graph_node *n = &l->g->node[t->node];

	want(l, t->in);
	if (!node_is(n, OP_Conv)) {
		want(l, n->in[0]);
		want(l, n->in[1]);
	}
	for (int i = 0; i < t->ntaken && l->elem[t->out] == ELEM_BF16; i++)
		if (t->taken[i].as == TAKEN_ADD || t->taken[i].as == TAKEN_MUL)
			want(l, t->taken[i].other);
}

static void want_inputs(struct lowering *l, const struct graph_node *n)
{
	int wanted = 0;

	for (int i = 0; i < n->nout; i++)
		wanted |= n->out[i] >= 0 && l->elem[n->out[i]] == ELEM_BF16;
	for (int i = 0; wanted && i < n->nin; i++)
		want(l, n->in[i]);
}

/* Does the node make whole numbers of 8 bits, or pass on those of its inputs? */
static int makes_bytes(const struct lowering *l, const struct graph_node *n)
{
	static const enum node_op moves[] = {OP_Flatten, OP_Identity,  OP_MaxPool,   OP_Reshape,
					     OP_Squeeze, OP_Transpose, OP_Unsqueeze, OP_Concat};
	const int inputs = node_is(n, OP_Concat) ? n->nin : 1;
	int is_move = 0;

	if (node_is(n, OP_QuantizeLinear) || node_is(n, OP_QLinearConv) ||
	    node_is(n, OP_QLinearMatMul))
		return 1;
	for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
		is_move |= node_is(n, moves[i]);
	for (int i = 0; is_move && i < inputs; i++)
		is_move = n->in[i] >= 0 &&
			  l->elem[n->in[i]] == lower_bytes(node_out(l->g, n, 0)->elem);
	return is_move;
}

static void find_bytes(struct lowering *l)
{
	for (int i = 0; i < l->g->nnode; i++) {
		const struct graph_node *n = &l->g->node[l->g->order[i]];
		const struct value *v = n->nout && n->nin ? node_out(l->g, n, 0) : NULL;

		if (v && lower_bytes(v->elem) != ELEM_F32 && !v->is_const && makes_bytes(l, n))
			l->elem[n->out[0]] = lower_bytes(v->elem);
	}
}

/* The last nodes come first: what reads a value is known before the value. */
void lower_find_types(struct lowering *l)
{
	find_bytes(l);
	if (l->p->precision != DTYPE_BF16)
		return;
	for (int i = l->g->nnode; i-- > 0;) {
		const int node = l->g->order[i], at = l->task[node];
		const struct graph_node *n = &l->g->node[node];

		if (at >= 0) {
			l->computes[at] = computes_bf16(l, &l->tasks[at]) ? ELEM_BF16 : ELEM_F32;
			if (l->computes[at] == ELEM_BF16)
				want_operands(l, &l->tasks[at]);
		} else if (l->behind[node] >= 0) {
			if (l->elem[n->out[0]] == ELEM_BF16)
				want(l, l->behind[node]);
		} else if (l->norm[node] < 0 && !l->absorbed[node] && is_pass(n)) {
			want_inputs(l, n);
		}
	}
}

/* ---- conversions ---- */

void lower_as(struct lowering *l, const struct place *from, enum elem elem, const char *name,
	      struct place *out)
{
	int order[PLACE_RANK];

	if (from->elem == elem) {
		*out = *from;
		return;
	}
	place_order(from, order);
	lower_dense_as(l, from, order, elem, name, out);
}
