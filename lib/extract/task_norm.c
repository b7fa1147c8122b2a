/* Normalizations that are written out: the mean of each row, what is above it, the mean of the
 * squares of that, the root, the quotient, and a factor for each column. Without a mean it is
 * rms_norm. Operator sets before 17 have no other way. */
#include "lib/extract/task.h"

#include "lib/extract/infer.h"

enum { NODES = 12 };

struct match {
	const struct graph *g;
	int node[NODES], n; /* all but the product with the factor */
	int x;		    /* the value that is normalized */
	int factor;	    /* the node of that product */
	int is_rms;
};

/* The node that makes the value, if it is that operator; it becomes part of the match. */
static const struct graph_node *made_by(struct match *m, int value, enum node_op op)
{
	const struct value *v = value < 0 ? NULL : m->g->value[value];
	const struct graph_node *n;

	if (!v || v->producer < 0 || m->n == NODES)
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
static int next(const struct match *m, int i)
{
	const struct value *v = node_out(m->g, &m->g->node[i], 0);

	return v && !v->is_output && v->uses == 1 ? v->consumer : -1;
}

static int number_is(const struct value *v, double number)
{
	return v && v->kept && elem_is_real(v->elem) && shape_known(&v->shape) &&
	       shape_count(&v->shape) == 1 && (number < 0 || v->kept[0].f == number);
}

/* A mean over the last dimension, which stays. The value that it is of, or -1. */
static int mean_of(struct match *m, int value)
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
static int square_of(struct match *m, int value)
{
	const struct graph_node *n = made_by(m, value, OP_Pow);

	if (n)
		return n->nin == 2 && number_is(node_in(m->g, n, 1), 2) ? n->in[0] : -1;
	n = made_by(m, value, OP_Mul);
	return n && n->nin == 2 && n->in[0] == n->in[1] ? n->in[0] : -1;
}

/* What is above the mean of a row: the value that it is of, or -1. */
static int above_mean(struct match *m, int value)
{
	const int had = m->n;
	const struct graph_node *n = made_by(m, value, OP_Sub);

	if (n && n->nin == 2 && mean_of(m, n->in[1]) == n->in[0])
		return n->in[0];
	m->n = had; /* it is another difference */
	return -1;
}

/* From the root back to the rows. */
static int find_rows(struct match *m, const struct graph_node *root, int *above)
{
	const struct graph_node *sum = made_by(m, root->in[0], OP_Add);
	int mean = -1;

	for (int i = 0; sum && sum->nin == 2 && i < 2; i++)
		if (number_is(node_in(m->g, sum, !i), -1))
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
static int find_quotient(struct match *m, int root, int above)
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
	if (!n || n->nin != 2 || m->n >= NODES - 1 || !node_is(n, divides ? OP_Div : OP_Mul) ||
	    (divides && n->in[1] != divisor))
		return -1;
	m->node[m->n++] = i;
	of = n->in[n->in[0] == divisor];
	return of == above || (!m->is_rms && above_mean(m, of) == m->x) ? i : -1;
}

/* Does nobody else read what is in between? */
static int is_closed(const struct match *m)
{
	for (int i = 0; i < m->n; i++) {
		const struct value *v = node_out(m->g, &m->g->node[m->node[i]], 0);
		int uses = 0;

		for (int k = 0; k <= m->n; k++) {
			const struct graph_node *n = &m->g->node[k < m->n ? m->node[k] : m->factor];

			for (int j = 0; j < n->nin; j++)
				uses += node_in(m->g, n, j) == v;
		}
		if (!v || v->is_output || v->uses != uses)
			return 0;
	}
	return 1;
}

static int find(struct match *m, int root)
{
	const struct graph_node *n;
	int above, quotient;

	m->node[m->n++] = root;
	if (!find_rows(m, &m->g->node[root], &above))
		return 0;
	quotient = find_quotient(m, root, above);
	m->factor = quotient < 0 ? -1 : next(m, quotient);
	if (m->factor < 0)
		return 0;
	n = &m->g->node[m->factor];
	if (!node_is(n, OP_Mul) || n->nin != 2 || !node_out(m->g, n, 0) ||
	    node_out(m->g, n, 0)->shape.rank < 1)
		return 0;
	for (int i = 0; i < 2; i++) {
		const struct value *v = node_in(m->g, n, i);
		const struct shape *s = &node_out(m->g, n, 0)->shape;

		if (v && value_is_along(v, s, s->rank - 1, 1) &&
		    shape_equal(&m->g->value[m->x]->shape, s))
			return is_closed(m);
	}
	return 0;
}

/* The task of the product with the factor. */
static int make(const struct match *m, struct arena *a, struct task *t)
{
	const struct graph_node *n = &m->g->node[m->factor];
	const struct value *in = m->g->value[m->x];
	const int rank = in->shape.rank;

	*t = (struct task){.node = m->factor,
			   .times = 1,
			   .in = m->x,
			   .out = n->out[0],
			   .channel_dim = rank - 1,
			   .channel_dims = 1,
			   .pad = -1,
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

	for (int i = 0; i < g->nnode; i++) {
		struct match m = {.g = g, .factor = -1};
		int taken = 0;
		struct task t;

		if (!node_is(&g->node[i], OP_Sqrt) || g->node[i].nout != 1 || g->node[i].nin != 1 ||
		    !find(&m, i))
			continue;
		for (int k = 0; k < m.n; k++)
			taken |= absorbed[m.node[k]];
		if (taken || absorbed[m.factor] || !make(&m, a, &t))
			continue;
		for (int k = 0; k < m.n; k++)
			absorbed[m.node[k]] = 1;
		of[m.factor] = arena_new(a, struct task);
		*of[m.factor] = t;
	}
	return of;
}
