/* Activations that are written out in several nodes, where two nodes read a value: SiLU and
 * hardswish by their gates, GELU by erf.
 *
 * A pattern is given one of the readers and the other one. It fills chain with its nodes, of which
 * the last makes the activation and nothing reads the others, and returns how many they are; or 0.
 */
#include <math.h>

#include "lib/extract/task/task.h"

enum { NODES = 8 };

typedef int pattern_fn(const struct graph *g, int cur, int reader, int other, int chain[NODES],
		       enum post *kind);

int task_scalar(const struct value *v, double *out)
{
	if (!v->kept || !elem_is_real(v->elem) || !shape_known(&v->shape) ||
	    shape_count(&v->shape) != 1)
		return 0;
	*out = v->kept[0].f;
	return !isnan(*out);
}

/* n's value is cur and a constant, combined by a node of that type; the constant is second where
 * the order matters. */
static int is_with(const struct graph *g, const struct graph_node *n, enum node_op op, int cur,
		   double constant)
{
	const struct value *v;
	double is;

	if (!node_is(n, op) || n->nin != 2 || n->ndeps != 2 || n->nout != 1 || n->out[0] < 0 ||
	    n->in[0] < 0 || n->in[1] < 0 || (n->in[0] == cur) == (n->in[1] == cur) ||
	    (n->in[0] != cur && op == OP_Div))
		return 0;
	v = g->value[n->in[n->in[0] == cur]];
	return task_scalar(v, &is) && fabs(is / constant - 1) < 1e-3;
}

static int is_times(const struct graph *g, const struct graph_node *n, int cur, double factor)
{
	return is_with(g, n, OP_Mul, cur, factor) || is_with(g, n, OP_Div, cur, 1 / factor);
}

static int is_product(const struct graph_node *n, int a, int b)
{
	return node_is(n, OP_Mul) && n->nin == 2 && n->ndeps == 2 && n->nout == 1 &&
	       n->out[0] >= 0 &&
	       ((n->in[0] == a && n->in[1] == b) || (n->in[0] == b && n->in[1] == a));
}

/* The node that alone reads the output of node i, or NULL. */
static const struct graph_node *next(const struct graph *g, int i, int *number)
{
	const struct value *v = g->value[g->node[i].out[0]];

	*number = v->consumer;
	return v->is_output || v->uses != 1 ? NULL : &g->node[v->consumer];
}

static int is_unary(const struct graph_node *n, enum node_op op, int in)
{
	return node_is(n, op) && n->nin == 1 && n->ndeps == 1 && n->nout == 1 && n->in[0] == in &&
	       n->out[0] >= 0;
}

static int made_by(const struct graph *g, int node)
{
	return g->node[node].out[0];
}

/* Behind chain[0]: its product with cur and a factor, in either order, which takes two nodes. */
static int is_scaled_product(const struct graph *g, int cur, double factor, int chain[3])
{
	const struct graph_node *n = next(g, chain[0], &chain[1]), *end;

	end = n ? next(g, chain[1], &chain[2]) : NULL;
	if (!end)
		return 0;
	if (is_product(n, made_by(g, chain[0]), cur))
		return is_times(g, end, made_by(g, chain[1]), factor);
	return is_times(g, n, made_by(g, chain[0]), factor) &&
	       is_product(end, made_by(g, chain[1]), cur);
}

/* x * sigmoid(x), where TensorFlow takes x times 1 first; or x * hardsigmoid(x) with the slope of
 * hardswish. */
static int gate(const struct graph *g, int cur, int reader, int other, int chain[NODES],
		enum post *kind)
{
	const struct graph_node *n = &g->node[reader];
	int k = 0, in = cur;

	(void)other;
	chain[k++] = reader;
	if (is_times(g, n, cur, 1)) {
		in = n->out[0];
		n = next(g, reader, &chain[k++]);
	}
	if (n && is_unary(n, OP_Sigmoid, in))
		*kind = POST_SILU;
	else if (n && is_unary(n, OP_HardSigmoid, in) &&
		 fabs((double)node_float(n, "alpha", 0.2F) * 6 - 1) < 1e-6 &&
		 node_float(n, "beta", 0.5F) == 0.5F)
		*kind = POST_HARDSWISH;
	else
		return 0;
	in = n->out[0];
	n = next(g, chain[k - 1], &chain[k]);
	return n && is_product(n, in, cur) ? k + 1 : 0;
}

/* x * relu6(x + 3) / 6 */
static int hardswish(const struct graph *g, int cur, int reader, int other, int chain[NODES],
		     enum post *kind)
{
	const struct graph_node *n;
	double low, high;

	(void)other;
	chain[0] = reader;
	if (!is_with(g, &g->node[reader], OP_Add, cur, 3))
		return 0;
	n = next(g, reader, &chain[1]);
	if (!n || !node_is(n, OP_Clip) || n->nin != n->ndeps || n->in[0] != made_by(g, reader) ||
	    n->nout != 1 || n->out[0] < 0 || !task_clip(g, n, &low, &high) || low != 0 || high != 6)
		return 0;
	*kind = POST_HARDSWISH;
	return is_scaled_product(g, cur, 1.0 / 6, chain + 1) ? 4 : 0;
}

/* 1 + erf(x / sqrt(2)), or, as TensorFlow has it, 1 - erf(-x / sqrt(2)). How many nodes. */
static int one_plus_erf(const struct graph *g, int cur, int reader, int chain[NODES])
{
	const struct graph_node *n = &g->node[reader];
	int k = 0, in = cur, negative = is_unary(n, OP_Neg, cur);
	double one;

	chain[k++] = reader;
	if (negative) {
		in = n->out[0];
		n = next(g, reader, &chain[k++]);
	}
	if (!n || !is_times(g, n, in, 0.70710678))
		return 0;
	in = n->out[0];
	n = next(g, chain[k - 1], &chain[k]);
	if (!n || !is_unary(n, OP_Erf, in))
		return 0;
	in = n->out[0];
	n = next(g, chain[k], &chain[k + 1]);
	if (!n)
		return 0;
	if (!negative)
		return is_with(g, n, OP_Add, in, 1) ? k + 2 : 0;
	return node_is(n, OP_Sub) && n->nin == 2 && n->ndeps == 2 && n->nout == 1 &&
			       n->out[0] >= 0 && n->in[0] >= 0 && n->in[1] == in &&
			       task_scalar(g->value[n->in[0]], &one) && one == 1
		       ? k + 2
		       : 0;
}

/* GELU as operator sets before 20 have to write it: the sum times x and 1/2, in any order. */
static int gelu(const struct graph *g, int cur, int reader, int other, int chain[NODES],
		enum post *kind)
{
	const int n = one_plus_erf(g, cur, reader, chain);
	const struct graph_node *end;

	if (!n)
		return 0;
	*kind = POST_GELU;
	if (!is_times(g, &g->node[other], cur, 0.5))
		return is_scaled_product(g, cur, 0.5, chain + n - 1) ? n + 2 : 0;
	chain[n] = other;
	end = next(g, other, &chain[n + 1]);
	return end && end == next(g, chain[n - 1], &chain[n + 1]) &&
			       is_product(end, made_by(g, other), made_by(g, chain[n - 1]))
		       ? n + 2
		       : 0;
}

int task_take_pattern(const struct graph *g, struct task *t, int cur, unsigned char *absorbed)
{
	static pattern_fn *const patterns[] = {gate, hardswish, gelu};
	const int reader[] = {g->value[cur]->first, g->value[cur]->consumer};
	int chain[NODES];
	enum post kind;

	for (int i = 0; i < 2 * (int)(sizeof patterns / sizeof *patterns); i++) {
		const int r = i % 2,
			  n = patterns[i / 2](g, cur, reader[r], reader[!r], chain, &kind);
		int taken = 0;

		for (int k = 0; k < n; k++)
			taken |= absorbed[chain[k]];
		if (!n || taken ||
		    !shape_equal(&g->value[cur]->shape,
				 &g->value[made_by(g, chain[n - 1])]->shape) ||
		    !task_push(t, kind))
			continue;
		for (int k = 0; k < n - 1; k++)
			absorbed[chain[k]] = 1;
		return chain[n - 1];
	}
	return -1;
}
