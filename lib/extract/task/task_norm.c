/* Normalizations that are written out: the mean of each row, what is above it, the mean of the
 * squares of that, the root, the quotient, and a factor for each column. Without a mean it is
 * rms_norm. Operator sets before 17 have no other way. */
#include "lib/extract/task/task.h"

#include "lib/extract/graph/infer.h"

/* The node that makes the value, if it is that operator; it becomes part of the match. */
static const struct graph_node *made_by(struct task_norm *m, int value, enum node_op op)
{
	const struct value *v = value < 0 ? NULL : m->g->value[value];
	const struct graph_node *n;

	if (!v || v->producer < 0 || m->n == TASK_NORM_NODES)
		return NULL;
	n = &m->g->node[v->producer];
	if (!node_is(n, op))
		return NULL;
	for (int i = 0; i < m->n; i++)
		if (m->node[i] == v->producer)
			return n;
	m->node[m->n++] = v->producer;
	return n;
}

/* The node that alone reads what node i makes, or -1. */
static int next(const struct task_norm *m, int i)
{
	const struct value *v = node_out(m->g, &m->g->node[i], 0);

	return v && !v->is_output && v->uses == 1 ? v->consumer : -1;
}

static int number_is(const struct value *v, double number)
{
	int64_t whole;
	double is;

	if (value_whole(v, &whole))
		return (double)whole == number;
	return value_real(v, &is) && is == number;
}

/* A mean over the last dimension, which stays. The value that it is of, or -1. */
static int mean_of(struct task_norm *m, int value)
{
	const struct graph_node *n = made_by(m, value, OP_ReduceMean);
	const struct value *in = n ? node_in(m->g, n, 0) : NULL;
	const int64_t *axes;
	int count;

	if (!in || node_int(n, "keepdims", 1) != 1 || in->shape.rank < 1 ||
	    infer_list(m->g, n, "axes", 1, &count, &axes) != 1 || count != 1 ||
	    infer_axis(axes[0], in->shape.rank) != in->shape.rank - 1)
		return -1;
	return n->in[0];
}

/* The value whose square this is, or -1. */
static int square_of(struct task_norm *m, int value)
{
	const struct graph_node *n = made_by(m, value, OP_Pow);

	if (n)
		return n->nin == 2 && number_is(node_in(m->g, n, 1), 2) ? n->in[0] : -1;
	n = made_by(m, value, OP_Mul);
	return n && n->nin == 2 && n->in[0] == n->in[1] ? n->in[0] : -1;
}

/* What is above the mean of a row: the value that it is of, or -1. */
static int above_mean(struct task_norm *m, int value)
{
	const int had = m->n;
	const struct graph_node *n = made_by(m, value, OP_Sub);

	if (n && n->nin == 2 && n->in[0] >= 0 && mean_of(m, n->in[1]) == n->in[0])
		return n->in[0];
	m->n = had; /* it is another difference */
	return -1;
}

/* From the root back to the rows. */
static int find_rows(struct task_norm *m, const struct graph_node *root, int *above)
{
	const struct graph_node *sum = made_by(m, root->in[0], OP_Add);
	int mean = -1;

	for (int i = 0; sum && sum->nin == 2 && i < 2; i++)
		if (value_real(node_in(m->g, sum, !i), &m->epsilon))
			mean = sum->in[i];
	*above = square_of(m, mean < 0 ? -1 : mean_of(m, mean));
	if (*above < 0)
		return 0;
	m->x = above_mean(m, *above);
	m->is_rms = m->x < 0;
	if (m->is_rms)
		m->x = *above;
	return 1;
}

/* From the root on to the quotient: of the rows, or of another difference of the same. */
static int find_quotient(struct task_norm *m, int root, int above)
{
	int i = next(m, root), divides = 1, of;
	const struct graph_node *n = i < 0 ? NULL : &m->g->node[i];
	int divisor = m->g->node[root].out[0];

	if (n && n->nout == 1 &&
	    (node_is(n, OP_Reciprocal) ||
	     (node_is(n, OP_Div) && number_is(node_in(m->g, n, 0), 1)))) {
		divides = 0;
		m->node[m->n++] = i;
		divisor = n->out[0];
		i = next(m, i);
		n = i < 0 ? NULL : &m->g->node[i];
	}
	if (!n || n->nin != 2 || n->nout != 1 || n->out[0] < 0 ||
	    !node_is(n, divides ? OP_Div : OP_Mul) || (divides && n->in[1] != divisor))
		return 0;
	of = n->in[n->in[0] == divisor];
	if (of != above && (m->is_rms || above_mean(m, of) != m->x))
		return 0;
	if (m->n == TASK_NORM_NODES)
		return 0;
	m->node[m->n++] = i;
	return 1;
}

/* Does nobody else read what is in between? */
static int is_closed(const struct task_norm *m)
{
	for (int i = 0; i < m->n - 1; i++) {
		const struct value *v = node_out(m->g, &m->g->node[m->node[i]], 0);
		int uses = 0;

		for (int k = 0; k < m->n; k++) {
			const struct graph_node *n = &m->g->node[m->node[k]];

			for (int j = 0; j < n->nin; j++)
				uses += node_in(m->g, n, j) == v;
		}
		if (!v || v->is_output || v->uses != uses)
			return 0;
	}
	return 1;
}

int task_norm_find(const struct graph *g, int root, struct task_norm *m)
{
	const struct graph_node *n = &g->node[root];
	int above;

	*m = (struct task_norm){.g = g, .node = {root}, .n = 1};
	return node_is(n, OP_Sqrt) && n->nout == 1 && n->nin == 1 && find_rows(m, n, &above) &&
	       find_quotient(m, root, above) && is_closed(m);
}

/* Does the node pass on what it reads, in the same type? */
static int passes_on(const struct graph *g, const struct graph_node *n)
{
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);

	return (node_is(n, OP_Identity) || node_is(n, OP_Cast)) && in && out &&
	       in->elem == out->elem;
}

/* The node that alone reads the quotient, if it has a factor for each column; -1: there is none. A
 * program that was written for other types, too, has casts before it. */
static int find_factor(struct task_norm *m)
{
	int factor = next(m, m->node[m->n - 1]);
	const struct graph_node *n;
	const struct value *out;

	while (factor >= 0 && m->n < TASK_NORM_NODES && passes_on(m->g, &m->g->node[factor])) {
		m->node[m->n++] = factor;
		factor = next(m, factor);
	}
	n = factor < 0 ? NULL : &m->g->node[factor];
	out = n ? node_out(m->g, n, 0) : NULL;
	if (!out || !node_is(n, OP_Mul) || n->nin != 2 || out->shape.rank < 1 ||
	    !shape_equal(&m->g->value[m->x]->shape, &out->shape))
		return -1;
	for (int i = 0; i < 2; i++) {
		const struct value *v = node_in(m->g, n, i);

		if (v && value_is_along(v, &out->shape, out->shape.rank - 1, 1))
			return factor;
	}
	return -1;
}

/* The task of the product with the factor. */
static int make(const struct task_norm *m, int factor, struct arena *a, struct task *t)
{
	const struct graph_node *n = &m->g->node[factor];
	const struct value *in = m->g->value[m->x];
	const int rank = in->shape.rank;

	*t = (struct task){.node = factor,
			   .times = 1,
			   .in = m->x,
			   .out = n->out[0],
			   .channel_dim = rank - 1,
			   .channel_dims = 1,
			   .pad = -1,
			   .behind = -1,
			   .w = {.op = m->is_rms ? &op_rms_norm : &op_layer_norm,
				 .layout = LAYOUT_AB,
				 .rhs_const = 1}};
	if (!elem_is_real(in->elem) || !in->shape.dim[rank - 1])
		return 0;
	t->w.dim[ROWS_C] = in->shape.dim[rank - 1];
	t->w.dim[ROWS_R] = shape_count(&in->shape) / t->w.dim[ROWS_C];
	t->why = task_types(m->g, n, in, in, a, &t->w.dtype);
	return 1;
}

struct task **task_norms(const struct graph *g, unsigned char *absorbed, struct arena *a)
{
	struct task **of = arena_array(a, struct task *, g->nnode + 1);
	struct task_norm m;

	for (int i = 0; i < g->nnode; i++) {
		const int is_norm = task_norm_find(g, i, &m),
			  factor = is_norm ? find_factor(&m) : -1;
		int taken = 0;
		struct task t;

		if (factor < 0)
			continue;
		for (int k = 0; k < m.n; k++)
			taken |= absorbed[m.node[k]];
		if (taken || absorbed[factor] || !make(&m, factor, a, &t))
			continue;
		for (int k = 0; k < m.n; k++)
			absorbed[m.node[k]] = 1;
		of[factor] = arena_new(a, struct task);
		*of[factor] = t;
	}
	return of;
}
