/* Layer normalization (Ba et al., 2016) as exporters write it before operator set 17, with what is
 * behind it: times a row, plus a row. */
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

/* Takes what follows: a factor or an addend for each column. */
static int take_row(const struct lowering *l, enum node_op op, struct norm *m)
{
	const struct value *from = l->g->value[m->from];
	const struct graph_node *n = only(l, m->out, op);
	const int row = n ? other(n, m->out) : -1;

	if (!is_row(l, row, from->shape.dim[from->shape.rank - 1]) || l->absorbed[n - l->g->node])
		return -1;
	l->absorbed[n - l->g->node] = 1;
	m->out = n->out[0];
	m->last = (int)(n - l->g->node);
	return row;
}

void lower_find_norms(struct lowering *l)
{
	for (int i = 0; i < l->g->nnode; i++) {
		struct norm *m = &l->norms[l->nnorms];
		struct task_norm written;
		int taken = 0;

		if (!task_norm_find(l->g, i, &written) ||
		    !shape_known(&l->g->value[written.x]->shape))
			continue;
		for (int k = 0; k < written.n; k++)
			taken |= l->absorbed[written.node[k]];
		if (taken)
			continue;
		for (int k = 0; k < written.n; k++)
			l->absorbed[written.node[k]] = 1;
		m->last = written.node[written.n - 1];
		m->is_rms = written.is_rms;
		m->epsilon = written.epsilon;
		m->from = written.x;
		m->out = l->g->node[m->last].out[0];
		m->scale = take_row(l, OP_Mul, m);
		m->shift = m->scale < 0 ? -1 : take_row(l, OP_Add, m);
		l->norm[m->last] = l->nnorms++;
	}
}
