/* Attention, as one operator of what graphs have as several: a product of queries and keys, perhaps
 * scaled and masked, softmax, and a product with the values. */
#include "lib/extract/task/task.h"

#include <string.h>

enum { STEPS = 8 }; /* nodes between the products and softmax */

struct match {
	const struct graph *g;
	int between[2 * STEPS + 1], n; /* nodes that become part of it */
	int scores, values;	       /* the products */
	int masked;
};

static int add_between(struct match *m, int node)
{
	m->between[m->n++] = node;
	return 1;
}

/* Does the node pass on what it reads, with the same shape? */
static int passes_on(const struct graph_node *n)
{
	return node_is(n, OP_Identity) || node_is(n, OP_Dropout) || node_is(n, OP_Cast);
}

/* From softmax to the product with the values, of which it is the left side. */
static int find_values(struct match *m, int value)
{
	for (int i = 0; i < STEPS; i++) {
		const struct value *v = m->g->value[value];
		const struct graph_node *n;

		if (v->is_output || v->uses != 1)
			return 0;
		n = &m->g->node[v->consumer];
		if (n->nin < 1 || n->in[0] != value || n->nout < 1 || n->out[0] < 0)
			return 0;
		if (node_is(n, OP_MatMul)) {
			m->values = v->consumer;
			return 1;
		}
		if (!passes_on(n))
			return 0;
		add_between(m, v->consumer);
		value = n->out[0];
	}
	return 0;
}

static int is_one(const struct value *v)
{
	return v && shape_known(&v->shape) && shape_count(&v->shape) == 1;
}

/* The input of a node between the products that the scores come through; -1: it is another node.
 * What is the same for all scores scales them, another tensor masks them. */
static int scores_of(struct match *m, const struct graph_node *n)
{
	const int is_where = node_is(n, OP_Where), first = is_where;
	const struct value *a, *b;

	if (n->nin && (passes_on(n) ||
		       node_is(n, OP_Reshape))) /* masks of windows have one for several heads */
		return n->in[0];
	if (n->nin != 2 + first)
		return -1;
	a = node_in(m->g, n, first);
	b = node_in(m->g, n, first + 1);
	if (is_where) {
		m->masked = 1;
		return is_one(b) ? n->in[1] : is_one(a) ? n->in[2] : -1;
	}
	if (node_is(n, OP_Mul) && (is_one(a) || is_one(b)))
		return n->in[is_one(a)];
	if (node_is(n, OP_Div) && is_one(b))
		return n->in[0];
	if (!node_is(n, OP_Add) || !a || !b)
		return -1;
	m->masked = 1;
	/* Masks are read, or have fewer elements; scores are made for this alone. */
	return a->producer >= 0 && a->uses == 1 && !a->is_const &&
			       shape_equal(&a->shape, &node_out(m->g, n, 0)->shape)
		       ? n->in[0]
		       : n->in[1];
}

/* From softmax back to the product of queries and keys. */
static int find_scores(struct match *m, int value)
{
	for (int i = 0; i < STEPS; i++) {
		const struct value *v = value < 0 ? NULL : m->g->value[value];
		const struct graph_node *n;

		if (!v || v->producer < 0 || v->is_output || v->uses != 1)
			return 0;
		n = &m->g->node[v->producer];
		if (node_is(n, OP_MatMul)) {
			m->scores = v->producer;
			return add_between(m, v->producer);
		}
		if (n->nout < 1 || n->out[0] != value)
			return 0;
		add_between(m, v->producer);
		value = scores_of(m, n);
	}
	return 0;
}

static struct task *task_of(struct task *t, int n, int node)
{
	for (int i = 0; i < n; i++)
		if (t[i].node == node)
			return &t[i];
	return NULL;
}

/* Makes one task of two products, in the place of the second. */
static int join(const struct match *m, struct task *t, int n)
{
	struct task *s = task_of(t, n, m->scores), *v = task_of(t, n, m->values);
	const struct shape *out = &node_out(m->g, &m->g->node[m->scores], 0)->shape;
	struct workload w = {.op = &op_attention, .layout = LAYOUT_AB, .rhs_const = 1};
	int64_t heads;

	if (!s || !v || s->why || v->why || s->w.rhs_const || v->w.rhs_const ||
	    !dtypes_equal(&s->w.dtype, &v->w.dtype) || task_is_int(s) ||
	    s->w.dim[MATMUL_B] != v->w.dim[MATMUL_B] || s->w.dim[MATMUL_M] != v->w.dim[MATMUL_M] ||
	    s->w.dim[MATMUL_N] != v->w.dim[MATMUL_K])
		return 0;
	heads = out->rank > 3 ? out->dim[out->rank - 3] : 1;
	if (heads < 1 || s->w.dim[MATMUL_B] % heads)
		return 0;
	w.dtype = s->w.dtype;
	w.dim[ATTENTION_B] = s->w.dim[MATMUL_B] / heads;
	w.dim[ATTENTION_H] = heads;
	w.dim[ATTENTION_M] = s->w.dim[MATMUL_M];
	w.dim[ATTENTION_N] = s->w.dim[MATMUL_N];
	w.dim[ATTENTION_K] = s->w.dim[MATMUL_K];
	w.dim[ATTENTION_V] = v->w.dim[MATMUL_N];
	w.dim[ATTENTION_MASK] = m->masked;
	v->w = w;
	v->macs = task_plus(v->macs, s->macs);
	s->node = -1;
	return 1;
}

int task_attention(const struct graph *g, struct task *t, int n, unsigned char *absorbed)
{
	int kept = 0;

	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *x = &g->node[i];
		struct match m = {.g = g};

		if (!node_is(x, OP_Softmax) || absorbed[i] || x->nin < 1 || x->nout < 1 ||
		    x->out[0] < 0)
			continue;
		add_between(&m, i);
		if (!find_values(&m, x->out[0]) || !find_scores(&m, x->in[0]) || !join(&m, t, n))
			continue;
		for (int k = 0; k < m.n; k++)
			absorbed[m.between[k]] = 1;
	}
	for (int i = 0; i < n; i++)
		if (t[i].node >= 0)
			t[kept++] = t[i];
	return kept;
}
