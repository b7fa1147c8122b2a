/* Layer normalization (Ba et al., 2016) as exporters write it before operator set 17: x minus its
 * mean, over the root of the mean square of that plus epsilon, times a row, plus a row. */
#include "lib/run/lower.h"

/* The only node that reads a value, if it is this operator. */
static const struct graph_node *only(const struct lowering *l, int value, enum node_op op)
{
	const struct value *v = l->g->value[value];
	const struct graph_node *n;

	if (v->is_output || v->uses != 1)
		return NULL;
	n = &l->g->node[v->consumer];
	return node_is(n, op) && n->nout == 1 && n->out[0] >= 0 ? n : NULL;
}

static int is_last_axis_mean(const struct lowering *l, const struct graph_node *n)
{
	const struct value *in = node_in(l->g, n, 0);
	const int64_t *axes;
	int naxes;

	return node_is(n, OP_ReduceMean) && in && shape_known(&in->shape) && in->shape.rank > 0 &&
	       node_int(n, "keepdims", 1) && infer_list(l->g, n, "axes", 1, &naxes, &axes) == 1 &&
	       naxes == 1 && infer_axis(axes[0], in->shape.rank) == in->shape.rank - 1;
}

/* The other operand of a node of two. */
static int other(const struct graph_node *n, int value)
{
	return n->nin == 2 ? n->in[n->in[0] == value] : -1;
}

/* A constant row of the size of the last dimension. */
static int is_row(const struct lowering *l, int value, int64_t size)
{
	const struct value *v = value < 0 ? NULL : l->g->value[value];

	return v && v->is_const && shape_known(&v->shape) && v->shape.rank == 1 &&
	       v->shape.dim[0] == size;
}

/* From the difference on: the node that divides by the root, or NULL. */
static const struct graph_node *quotient(const struct lowering *l, int difference, double *epsilon)
{
	const struct graph *g = l->g;
	double power;

	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[i];

		if (!node_is(n, OP_Pow) || n->in[0] != difference ||
		    !lower_number(l, n->in[1], &power) || power != 2)
			continue;
		n = only(l, n->out[0], OP_ReduceMean);
		if (!n || !is_last_axis_mean(l, n) || !(n = only(l, n->out[0], OP_Add)))
			continue;
		if (!lower_number(l, n->in[1], epsilon) && !lower_number(l, n->in[0], epsilon))
			continue;
		n = only(l, n->out[0], OP_Sqrt);
		if (!n)
			continue;
		i = n->out[0];
		n = only(l, i, OP_Div);
		return n && n->in[0] == difference && n->in[1] == i ? n : NULL;
	}
	return NULL;
}

static int find(const struct lowering *l, int node, struct norm *m)
{
	const struct graph_node *n = &l->g->node[node], *sub;
	int64_t size;

	if (!is_last_axis_mean(l, n) || !(sub = only(l, n->out[0], OP_Sub)) ||
	    sub->in[0] != n->in[0] || l->g->value[sub->out[0]]->uses != 2 ||
	    l->g->value[sub->out[0]]->is_output)
		return 0;
	*m = (struct norm){.first = node, .from = n->in[0], .scale = -1, .shift = -1};
	size = l->g->value[m->from]->shape.dim[l->g->value[m->from]->shape.rank - 1];
	n = quotient(l, sub->out[0], &m->epsilon);
	if (!n)
		return 0;
	m->out = n->out[0];
	m->last = (int)(n - l->g->node);
	n = only(l, m->out, OP_Mul);
	if (!n || !is_row(l, other(n, m->out), size))
		return 1;
	m->scale = other(n, m->out);
	m->out = n->out[0];
	m->last = (int)(n - l->g->node);
	n = only(l, m->out, OP_Add);
	if (!n || !is_row(l, other(n, m->out), size))
		return 1;
	m->shift = other(n, m->out);
	m->out = n->out[0];
	m->last = (int)(n - l->g->node);
	return 1;
}

/* Nodes between the first and the last, by what they make: walks back from the last one. */
static void absorb(struct lowering *l, const struct norm *m, int node)
{
	const struct graph_node *n = &l->g->node[node];

	if (l->absorbed[node])
		return;
	l->absorbed[node] = 1;
	for (int i = 0; node != m->first && i < n->nin; i++) {
		int v = n->in[i];

		if (v >= 0 && v != m->from && l->g->value[v]->producer >= 0 &&
		    !l->g->value[v]->is_const)
			absorb(l, m, l->g->value[v]->producer);
	}
}

void lower_find_norms(struct lowering *l)
{
	for (int i = 0; i < l->g->nnode; i++) {
		struct norm *m = &l->norms[l->nnorms];

		if (l->absorbed[i] || !find(l, i, m) || l->absorbed[m->last])
			continue;
		absorb(l, m, m->last);
		l->norm[m->last] = l->nnorms++;
	}
}
