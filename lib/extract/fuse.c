/* What follows an operator and can be done on its output while that is still in registers. */
#include "lib/extract/task.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int has(const struct task *t, enum post p)
{
	return workload_has_post(&t->w, p);
}

/* Only a bias so far: scaling and shifting can still go into weights and bias. */
static int still_linear(const struct task *t)
{
	return t->w.npost == 0 || (t->w.npost == 1 && t->w.post[0].kind == POST_BIAS);
}

static int push_op(struct task *t, struct post_op p)
{
	if (has(t, p.kind) || t->w.npost == OP_MAX_POSTS)
		return 0;
	t->w.post[t->w.npost++] = p;
	return 1;
}

static int push(struct task *t, enum post kind)
{
	return push_op(t, (struct post_op){.kind = kind});
}

static int take_bias(struct task *t)
{
	return has(t, POST_BIAS) || push(t, POST_BIAS); /* two constants make one */
}

/* A scale for each channel goes into the weights, which must be constant for it. */
static int take_scale(const struct task *t)
{
	return still_linear(t) && t->w.rhs_const;
}

static int take_batch_norm(const struct graph *g, const struct graph_node *n, struct task *t,
			   int cur)
{
	if (n->in[0] != cur || node_int(n, "training_mode", 0) || !take_scale(t) ||
	    g->value[cur]->shape.rank < 2 ||
	    t->channel_dim != node_channel(n, g->value[cur]->shape.rank))
		return 0;
	for (int i = 1; i < n->nout; i++)
		if (n->out[i] >= 0 && g->value[n->out[i]]->uses)
			return 0;
	for (int i = 1; i < 5; i++)
		if (!node_in(g, n, i) || !node_in(g, n, i)->is_const)
			return 0;
	return take_bias(t);
}

/* The other operand of a binary node that reads cur once, or NULL. */
static const struct value *other_operand(const struct graph *g, const struct graph_node *n, int cur)
{
	if (n->nin != 2 || n->in[0] < 0 || n->in[1] < 0 || n->in[0] == n->in[1])
		return NULL;
	return g->value[n->in[n->in[0] == cur]];
}

static int take_add(const struct graph *g, const struct graph_node *n, struct task *t, int cur)
{
	const struct value *v = other_operand(g, n, cur), *mine = g->value[cur];
	const struct value *out = node_out(g, n, 0);

	if (!v || !out || !elem_is_real(mine->elem) || !shape_equal(&mine->shape, &out->shape))
		return 0;
	if (t->channel_dim >= 0 && value_is_along(v, &mine->shape, t->channel_dim))
		return still_linear(t) && take_bias(t);
	return shape_equal(&v->shape, &mine->shape) && v->elem == mine->elem && push(t, POST_ADD);
}

static int take_mul(const struct graph *g, const struct graph_node *n, struct task *t, int cur)
{
	const struct value *v = other_operand(g, n, cur), *mine = g->value[cur];
	const struct value *out = node_out(g, n, 0);

	if (!v || !out || !elem_is_real(mine->elem) || !shape_equal(&mine->shape, &out->shape))
		return 0;
	if (t->channel_dim >= 0 && value_is_along(v, &mine->shape, t->channel_dim))
		return take_scale(t);
	if (task_is_int(t) && shape_known(&v->shape) && shape_count(&v->shape) == 1)
		return still_linear(t); /* what sums of whole numbers stand for */
	return shape_equal(&v->shape, &mine->shape) && v->elem == mine->elem && push(t, POST_MUL);
}

/* Is v a constant of one element? */
static int scalar(const struct value *v, double *out)
{
	if (!v->kept || !elem_is_real(v->elem) || !shape_known(&v->shape) ||
	    shape_count(&v->shape) != 1)
		return 0;
	*out = v->kept[0].f;
	return !isnan(*out);
}

/* A bound of a Clip: attribute (before opset 11) or input. 1 known, 0 absent, -1 unknown. */
static int bound(const struct graph *g, const struct graph_node *n, const char *name, int i,
		 double *out)
{
	const struct attr *a = node_attr(n, name);
	const struct value *v = node_in(g, n, i);

	if (a) {
		*out = (double)a->f;
		return 1;
	}
	if (!v)
		return 0;
	return scalar(v, out) ? 1 : -1;
}

/* Bounds that are left out, or beyond every float, are the largest floats. */
static int take_clip(const struct graph *g, const struct graph_node *n, struct task *t)
{
	const double most = (double)FLT_MAX;
	double low = -most, high = most;

	if (bound(g, n, "min", 1, &low) < 0 || bound(g, n, "max", 2, &high) < 0)
		return 0;
	low = fmin(fmax(low, -most), most);
	high = fmin(fmax(high, -most), most);
	if (!(low <= high) || (low == -most && high == most))
		return 0;
	if (low == 0 && high >= (double)3.4e38f)
		return push(t, POST_RELU);
	if (low == 0 && high == 6)
		return push(t, POST_RELU6);
	return push_op(t, (struct post_op){POST_CLIP, low, high});
}

static int take_leaky_relu(const struct graph_node *n, struct task *t)
{
	double slope = (double)node_float(n, "alpha", 0.01F);

	if (!isfinite(slope))
		return 0;
	return slope == 0 ? push(t, POST_RELU)
			  : push_op(t, (struct post_op){POST_LEAKY_RELU, slope, 0});
}

static int take_gelu(const struct graph_node *n, struct task *t)
{
	return push(t, strcmp(node_str(n, "approximate", "none"), "tanh") ? POST_GELU
									  : POST_GELU_TANH);
}

/* One node that is an activation. Of values in 8 bits, only those that cut them off. */
static int take_activation(const struct graph *g, const struct graph_node *n, struct task *t,
			   int cur)
{
	static const struct {
		const char *type;
		enum post kind;
	} same[] = {{"Relu", POST_RELU},
		    {"HardSwish", POST_HARDSWISH},
		    {"Sigmoid", POST_SIGMOID},
		    {"Tanh", POST_TANH}};
	const int is_real = elem_is_real(g->value[cur]->elem);

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (node_is(n, same[i].type))
			return (is_real || same[i].kind == POST_RELU) && push(t, same[i].kind);
	if (node_is(n, "Clip"))
		return n->in[0] == cur && take_clip(g, n, t);
	if (node_is(n, "LeakyRelu"))
		return is_real && take_leaky_relu(n, t);
	return node_is(n, "Gelu") && is_real && take_gelu(n, t);
}

static int take_rest(const struct graph *g, const struct graph_node *n, struct task *t, int cur)
{
	return node_is(n, "Identity") || (node_is(n, "Dropout") && n->in[0] == cur) ||
	       (n->in[0] == cur && task_take_type(g, n, t)) || take_activation(g, n, t, cur);
}

/* Notes a node that was taken. */
static int note(struct task *t, const struct graph *g, int node, int cur, enum taken_as as)
{
	const struct graph_node *n = &g->node[node];
	int has_other = as == TAKEN_BIAS || as == TAKEN_SCALE || as == TAKEN_ADD || as == TAKEN_MUL;

	t->taken[t->ntaken].node = node;
	t->taken[t->ntaken].other = has_other ? n->in[n->in[0] == cur] : -1;
	t->taken[t->ntaken++].as = as;
	t->out = n->out[0];
	return 1;
}

static int take(const struct graph *g, int node, struct task *t, int cur)
{
	const struct graph_node *n = &g->node[node];
	int adds = has(t, POST_ADD), multiplies = has(t, POST_MUL);

	if (t->ntaken == TASK_TAKES)
		return 0;
	if (node_is(n, "Add") || node_is(n, "Sum"))
		return take_add(g, n, t, cur) &&
		       note(t, g, node, cur, has(t, POST_ADD) != adds ? TAKEN_ADD : TAKEN_BIAS);
	if (node_is(n, "Mul"))
		return take_mul(g, n, t, cur) &&
		       note(t, g, node, cur,
			    has(t, POST_MUL) != multiplies ? TAKEN_MUL : TAKEN_SCALE);
	if (node_is(n, "BatchNormalization"))
		return take_batch_norm(g, n, t, cur) && note(t, g, node, cur, TAKEN_NORM);
	return take_rest(g, n, t, cur) && note(t, g, node, cur, TAKEN_REST);
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
		    absorbed[v->consumer] || !push(t, kind))
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
	return scalar(v, &is) && fabs(is / constant - 1) < 1e-3;
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

/* GELU written out with Erf, as operator sets before 20 have to. Marks all but the last node, which
 * is returned; or -1. */
static int take_erf_gelu(const struct graph *g, struct task *t, int cur, unsigned char *absorbed)
{
	const int reader[] = {g->value[cur]->first, g->value[cur]->consumer};

	for (int r = 0; r < 2; r++) {
		int chain[5] = {reader[r]}, taken = 0;

		if (!is_times(g, &g->node[chain[0]], cur, 0.70710678) ||
		    !is_erf_gelu(g, cur, chain))
			continue;
		for (int k = 0; k < 5; k++)
			taken |= absorbed[chain[k]];
		if (taken || !push(t, POST_GELU))
			continue;
		for (int k = 0; k < 4; k++)
			absorbed[chain[k]] = 1;
		return chain[4];
	}
	return -1;
}

/* Where two nodes read cur: the last node of an activation that is made of several, or -1. */
static int take_pattern(const struct graph *g, struct task *t, int cur, unsigned char *absorbed)
{
	int last = take_gate(g, t, cur, absorbed);

	return last >= 0 ? last : take_erf_gelu(g, t, cur, absorbed);
}

void task_fuse(const struct graph *g, struct task *t, unsigned char *absorbed)
{
	int cur = g->node[t->node].out[0];

	if (t->pad >= 0)
		absorbed[t->pad] = 1;
	for (;;) {
		const struct value *v = g->value[cur];
		const struct graph_node *n;
		int last;

		if (!v->is_output && v->uses == 2 && elem_is_real(v->elem) &&
		    t->ntaken < TASK_TAKES && (last = take_pattern(g, t, cur, absorbed)) >= 0) {
			absorbed[last] = 1;
			note(t, g, last, cur, TAKEN_REST);
			cur = g->node[last].out[0];
			continue;
		}
		if (v->is_output || v->uses != 1 || absorbed[v->consumer])
			return;
		n = &g->node[v->consumer];
		if (!n->nout || n->out[0] < 0 || n->nin != n->ndeps ||
		    !take(g, v->consumer, t, cur))
			return;
		absorbed[v->consumer] = 1;
		cur = n->out[0];
	}
}

int task_begin(const struct graph *g, struct task *t)
{
	const struct graph_node *n = &g->node[t->node];
	const struct value *out = node_out(g, n, 0);

	if (n->nin != n->ndeps || n->nin < 1)
		return 0;
	for (int i = 0; i < n->nin && i < 2; i++) {
		const struct value *in = node_in(g, n, i);

		if (!in || in->is_const || !shape_equal(&in->shape, &out->shape) ||
		    !take(g, t->node, t, n->in[i]))
			continue;
		t->in = n->in[i];
		return t->w.npost > 0;
	}
	return 0;
}

/* Is it among the workloads that are wanted? NULL, or why not. */
static const char *refuse(const struct task *t, const struct task_wanted *wanted, struct arena *a)
{
	if (wanted->kinds != TASKS_RUN)
		return NULL;
	if (t->w.op == &op_conv3d)
		return "3-D";
	return dtypes_are_f32(&t->w.dtype) ? NULL : arena_printf(a, "%s, not f32", t->w.dtype_text);
}

static void finish(const struct graph *g, const struct task_wanted *wanted, struct arena *a,
		   struct task *t, unsigned char *absorbed)
{
	struct err e = ERR_INIT;

	/* Before anything is taken into it: what is no workload must leave its followers to
	 * others. */
	if (workload_finish(&t->w, &e))
		t->why = arena_strdup(a, e.msg);
	else
		t->why = refuse(t, wanted, a);
	if (t->why || t->part || t->w.op == &op_attention)
		return;
	task_fuse(g, t, absorbed);
	if (task_is_int(t))
		task_take_dequantizers(g, t, absorbed);
	if (workload_finish(&t->w, &e))
		t->why = arena_strdup(a, e.msg);
}

/* Adds the other operators' tasks, in topological order, to n tasks. How many there are then. */
static int add_others(const struct graph *g, const struct task_wanted *wanted, struct arena *a,
		      struct task *t, int n, unsigned char *absorbed)
{
	struct task *had = arena_array(a, struct task, n + 1);
	struct task **norm = task_norms(g, absorbed, a);
	int next = 0, made = 0;

	memcpy(had, t, sizeof *t * (size_t)n);
	for (int i = 0; i < g->nnode; i++) {
		int node = g->order[i], has = next < n && had[next].node == node;

		while (next < n && had[next].node == node)
			t[made++] = had[next++];
		if (has || absorbed[node])
			continue;
		if (norm[node])
			t[made] = *norm[node];
		else if (!task_other(g, node, wanted, a, &t[made]))
			continue;
		if (!t[made].why)
			finish(g, wanted, a, &t[made], absorbed);
		made++;
	}
	return made;
}

int task_find(const struct graph *g, const struct task_wanted *wanted, struct arena *a,
	      struct task *t, unsigned char *absorbed)
{
	const int all = wanted->kinds == TASKS_ALL;
	int n = 0;

	for (int i = 0; i < g->nnode; i++)
		n += task_make(g, g->order[i], wanted->layout, a, &t[n]);
	if (all)
		n = task_attention(g, t, n, absorbed);
	for (int i = n; i-- > 0;)
		if (!t[i].why)
			finish(g, wanted, a, &t[i], absorbed);
	return all ? add_others(g, wanted, a, t, n, absorbed) : n;
}
