/* Activations that are written out in several nodes: SiLU and hardswish by their gates, GELU by
 * erf. */
#include <math.h>
#include <string.h>

#include "lib/extract/task.h"

int task_scalar(const struct value *v, double *out)
{
	if (!v->kept || !elem_is_real(v->elem) || !shape_known(&v->shape) ||
	    shape_count(&v->shape) != 1)
		return 0;
	*out = v->kept[0].f;
	return !isnan(*out);
}

/* Of the two nodes that read cur: the product of cur and of the other one's output, which nothing
 * else reads: x * sigmoid(x), or x * hardsigmoid(x) with the slope of hardswish. Marks the other
 * one; returns the product, or -1. */
static int take_gate(const struct graph *g, struct task *t, int cur, unsigned char *absorbed)
{
	const int reader[] = {g->value[cur]->first, g->value[cur]->consumer};

	for (int k = 0; k < 2; k++) {
		int i = reader[k];
		const struct graph_node *n = &g->node[i], *product;
		const struct value *v;
		enum post kind = POST_SILU;

		if (n->nin != 1 || n->in[0] != cur || n->ndeps != 1 || n->nout != 1)
			continue;
		if (node_is(n, "HardSigmoid") &&
		    fabs((double)node_float(n, "alpha", 0.2F) * 6 - 1) < 1e-6 &&
		    node_float(n, "beta", 0.5F) == 0.5F)
			kind = POST_HARDSWISH;
		else if (!node_is(n, "Sigmoid"))
			continue;
		v = node_out(g, n, 0);
		if (!v || v->is_output || v->uses != 1)
			continue;
		product = &g->node[v->consumer];
		if (!node_is(product, "Mul") || product->nin != 2 || product->ndeps != 2 ||
		    product->nout != 1 || product->out[0] < 0 ||
		    product->in[product->in[0] == n->out[0]] != cur || absorbed[i] ||
		    absorbed[v->consumer] || !task_push(t, kind))
			continue;
		absorbed[i] = 1;
		return v->consumer;
	}
	return -1;
}

/* n's value is cur and a constant, combined by a node of that type; the constant is second where
 * the order matters. */
static int is_with(const struct graph *g, const struct graph_node *n, const char *type, int cur,
		   double constant)
{
	const struct value *v;
	double is;

	if (!node_is(n, type) || n->nin != 2 || n->ndeps != 2 || n->nout != 1 || n->out[0] < 0 ||
	    n->in[0] < 0 || n->in[1] < 0 || (n->in[0] == cur) == (n->in[1] == cur) ||
	    (n->in[0] != cur && !strcmp(type, "Div")))
		return 0;
	v = g->value[n->in[n->in[0] == cur]];
	return task_scalar(v, &is) && fabs(is / constant - 1) < 1e-3;
}

static int is_times(const struct graph *g, const struct graph_node *n, int cur, double factor)
{
	return is_with(g, n, "Mul", cur, factor) || is_with(g, n, "Div", cur, 1 / factor);
}

static int is_product(const struct graph_node *n, int a, int b)
{
	return node_is(n, "Mul") && n->nin == 2 && n->ndeps == 2 && n->nout == 1 &&
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

/* From the scaled cur on: Erf, + 1, and the products with cur and 1/2 in either order. The nodes
 * are noted; 0: it is something else. */
static int is_erf_gelu(const struct graph *g, int cur, int chain[5])
{
	const struct graph_node *n = next(g, chain[0], &chain[1]);
	int at;

	if (!n || !node_is(n, "Erf") || n->nin != 1 || n->ndeps != 1 || n->nout != 1 ||
	    n->out[0] < 0)
		return 0;
	n = next(g, chain[1], &chain[2]);
	if (!n || !is_with(g, n, "Add", g->node[chain[1]].out[0], 1))
		return 0;
	at = n->out[0];
	n = next(g, chain[2], &chain[3]);
	if (!n)
		return 0;
	if (is_product(n, at, cur)) {
		n = next(g, chain[3], &chain[4]);
		return n && is_times(g, n, g->node[chain[3]].out[0], 0.5);
	}
	if (!is_times(g, n, at, 0.5))
		return 0;
	n = next(g, chain[3], &chain[4]);
	return n && is_product(n, g->node[chain[3]].out[0], cur);
}

/* From the readers of cur on: the product with 1/2; Neg, the scale, Erf, 1 - that, as TensorFlow
 * has it for 1 - erf(-x) = 1 + erf(x); and the product of both. */
static int is_erfc_gelu(const struct graph *g, int cur, int chain[6])
{
	const struct graph_node *n = &g->node[chain[1]];
	double one;
	int product;

	if (!is_times(g, &g->node[chain[0]], cur, 0.5) || !node_is(n, "Neg") || n->nin != 1 ||
	    n->ndeps != 1 || n->nout != 1 || n->out[0] < 0)
		return 0;
	n = next(g, chain[1], &chain[2]);
	if (!n || !is_times(g, n, g->node[chain[1]].out[0], 0.70710678))
		return 0;
	n = next(g, chain[2], &chain[3]);
	if (!n || !node_is(n, "Erf") || n->nin != 1 || n->ndeps != 1 || n->nout != 1 ||
	    n->out[0] < 0)
		return 0;
	n = next(g, chain[3], &chain[4]);
	if (!n || !node_is(n, "Sub") || n->nin != 2 || n->ndeps != 2 || n->nout != 1 ||
	    n->out[0] < 0 || n->in[0] < 0 || n->in[1] != g->node[chain[3]].out[0] ||
	    !task_scalar(g->value[n->in[0]], &one) || one != 1)
		return 0;
	n = next(g, chain[4], &chain[5]);
	return n && next(g, chain[0], &product) == n &&
	       is_product(n, g->node[chain[0]].out[0], g->node[chain[4]].out[0]);
}

/* GELU written out with Erf, as operator sets before 20 have to. Marks all but the last node, which
 * is returned; or -1. */
static int take_erf_gelu(const struct graph *g, struct task *t, int cur, unsigned char *absorbed)
{
	const int reader[] = {g->value[cur]->first, g->value[cur]->consumer};

	for (int r = 0; r < 2; r++) {
		int chain[6] = {reader[r], reader[!r]}, n = 0, taken = 0;

		if (is_times(g, &g->node[chain[0]], cur, 0.70710678) && is_erf_gelu(g, cur, chain))
			n = 5;
		else if (is_erfc_gelu(g, cur, chain))
			n = 6;
		for (int k = 0; k < n; k++)
			taken |= absorbed[chain[k]];
		if (!n || taken || !task_push(t, POST_GELU))
			continue;
		for (int k = 0; k < n - 1; k++)
			absorbed[chain[k]] = 1;
		return chain[n - 1];
	}
	return -1;
}

int task_take_pattern(const struct graph *g, struct task *t, int cur, unsigned char *absorbed)
{
	int last = take_gate(g, t, cur, absorbed);

	return last >= 0 ? last : take_erf_gelu(g, t, cur, absorbed);
}
