/* What follows an operator and can be done on its output while that is still in registers. */
#include "lib/extract/task/task.h"

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
	/* Scales need room: a bias, a factor, a zero point and what is padded with. */
	const int room = !task_is_int(t)			    ? OP_MAX_POSTS
			 : has(t, POST_BIAS) || p.kind == POST_BIAS ? OP_MAX_POSTS - 3
								    : OP_MAX_POSTS - 4;

	if (has(t, p.kind) || t->w.npost >= room)
		return 0;
	t->w.post[t->w.npost++] = p;
	return 1;
}

int task_push(struct task *t, enum post kind)
{
	return push_op(t, (struct post_op){.kind = kind});
}

static int take_bias(struct task *t)
{
	return has(t, POST_BIAS) || task_push(t, POST_BIAS); /* two constants make one */
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
	if (t->channel_dim >= 0 && value_is_along(v, &mine->shape, t->channel_dim, t->channel_dims))
		return still_linear(t) && take_bias(t);
	return !t->is_moved && shape_equal(&v->shape, &mine->shape) && v->elem == mine->elem &&
	       task_push(t, POST_ADD);
}

/* Are its results sums of 32 bits, whose scale may be known at run time alone? */
static int makes_sums(const struct graph_node *n)
{
	return node_is(n, OP_ConvInteger) || node_is(n, OP_MatMulInteger);
}

static int take_mul(const struct graph *g, const struct graph_node *n, struct task *t, int cur)
{
	const struct value *v = other_operand(g, n, cur), *mine = g->value[cur];
	const struct value *out = node_out(g, n, 0);

	if (!v || !out || !elem_is_real(mine->elem) || !shape_equal(&mine->shape, &out->shape))
		return 0;
	if (t->channel_dim >= 0 && value_is_along(v, &mine->shape, t->channel_dim, t->channel_dims))
		return take_scale(t);
	if (task_is_int(t) && shape_known(&v->shape) && shape_count(&v->shape) == 1 &&
	    (v->is_const || makes_sums(&g->node[t->node])))
		return still_linear(t); /* what sums of whole numbers stand for */
	return !t->is_moved && shape_equal(&v->shape, &mine->shape) && v->elem == mine->elem &&
	       task_push(t, POST_MUL);
}

/* How many of the last dimensions have so many elements together; 0: none have. */
static int trailing(const struct shape *s, int64_t count)
{
	int64_t n = 1;

	for (int i = s->rank; i-- > 0 && n > 0 && count % n == 0;) {
		n *= s->dim[i];
		if (n == count)
			return s->rank - i;
	}
	return 0;
}

/* The result in other dimensions, where a bias comes next: TensorFlow multiplies matrices, gives
 * the result its dimensions back, and adds then; in attention, the columns are heads, too. A
 * convolution along one dimension has two there, of which one is taken away. Channels must come
 * last. */
static int take_reshape(const struct graph *g, const struct graph_node *n, struct task *t, int cur)
{
	const struct shape *mine = &g->value[cur]->shape;
	const struct value *out = node_out(g, n, 0), *bias;
	int dims;

	if (!still_linear(t) || t->channel_dim < 0 || t->is_moved ||
	    (t->w.op != &op_matmul && t->w.op != &op_conv2d) || n->in[0] != cur ||
	    t->channel_dim != mine->rank - 1 || !out || !shape_known(&out->shape) ||
	    out->is_output || out->uses != 1 || !node_is(&g->node[out->consumer], OP_Add))
		return 0;
	dims = trailing(&out->shape, mine->dim[t->channel_dim]);
	bias = other_operand(g, &g->node[out->consumer], n->out[0]);
	if (!dims || !bias || !value_is_along(bias, &out->shape, out->shape.rank - dims, dims))
		return 0;
	t->channel_dim = out->shape.rank - dims;
	t->channel_dims = dims;
	return 1;
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
	return value_real(v, out) ? 1 : -1;
}

/* Bounds that are left out, or beyond every float, are the largest floats. */
int task_clip(const struct graph *g, const struct graph_node *n, double *low, double *high)
{
	const double most = (double)FLT_MAX;

	*low = -most;
	*high = most;
	if (bound(g, n, "min", 1, low) < 0 || bound(g, n, "max", 2, high) < 0)
		return 0;
	*low = fmin(fmax(*low, -most), most);
	*high = fmin(fmax(*high, -most), most);
	return *low <= *high && (*low != -most || *high != most);
}

/* Is a bound infinite, so that the largest floats, which a post-op has, make another number of
 * infinity? A ReLU has no upper bound. */
static int is_boundless(const struct graph *g, const struct graph_node *n)
{
	double low = 1, high = 1;

	bound(g, n, "min", 1, &low);
	bound(g, n, "max", 2, &high);
	return isinf(low) || (isinf(high) && (low != 0 || high < 0));
}

static int take_clip(const struct graph *g, const struct graph_node *n, struct task *t)
{
	double low, high;

	if (!task_clip(g, n, &low, &high) || (t->is_run && !task_is_int(t) && is_boundless(g, n)))
		return 0;
	if (low == 0 && high >= (double)3.4e38f)
		return task_push(t, POST_RELU);
	if (low == 0 && high == 6)
		return task_push(t, POST_RELU6);
	return push_op(t, (struct post_op){POST_CLIP, low, high});
}

/* By a slope of 0 it is a ReLU, except of -infinity, of which it makes NaN. */
static int take_leaky_relu(const struct graph_node *n, struct task *t)
{
	double slope = (double)node_float(n, "alpha", 0.01F);

	if (!isfinite(slope))
		return 0;
	return slope == 0 ? !t->is_run && task_push(t, POST_RELU)
			  : push_op(t, (struct post_op){POST_LEAKY_RELU, slope, 0});
}

static int take_gelu(const struct graph_node *n, struct task *t)
{
	return task_push(t, strcmp(node_str(n, "approximate", "none"), "tanh") ? POST_GELU
									       : POST_GELU_TANH);
}

/* One node that is an activation. Of values in 8 bits, only those that cut them off. */
static int take_activation(const struct graph *g, const struct graph_node *n, struct task *t,
			   int cur)
{
	const int is_real = elem_is_real(g->value[cur]->elem);

	if (!is_real && t->ntaken && /* behind the zero point of what was quantized */
	    node_is(&g->node[t->taken[t->ntaken - 1].node], OP_QuantizeLinear))
		return 0;

	switch (n->op) {
	case OP_Relu:
		return task_push(t, POST_RELU);
	case OP_Clip:
		return n->in[0] == cur && take_clip(g, n, t);
	case OP_HardSwish:
		return is_real && task_push(t, POST_HARDSWISH);
	case OP_Sigmoid:
		return is_real && task_push(t, POST_SIGMOID);
	case OP_Tanh:
		return is_real && task_push(t, POST_TANH);
	case OP_LeakyRelu:
		return is_real && take_leaky_relu(n, t);
	case OP_Gelu:
		return is_real && take_gelu(n, t);
	default:
		return 0;
	}
}

static int take_rest(const struct graph *g, const struct graph_node *n, struct task *t, int cur)
{
	return node_is(n, OP_Identity) || (node_is(n, OP_Dropout) && n->in[0] == cur) ||
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
	if (node_is(n, OP_Add) || node_is(n, OP_Sum))
		return take_add(g, n, t, cur) &&
		       note(t, g, node, cur, has(t, POST_ADD) != adds ? TAKEN_ADD : TAKEN_BIAS);
	if (node_is(n, OP_Mul))
		return take_mul(g, n, t, cur) &&
		       note(t, g, node, cur,
			    has(t, POST_MUL) != multiplies ? TAKEN_MUL : TAKEN_SCALE);
	if (node_is(n, OP_BatchNormalization))
		return take_batch_norm(g, n, t, cur) && note(t, g, node, cur, TAKEN_NORM);
	if (node_is(n, OP_Reshape) || node_is(n, OP_Squeeze))
		return take_reshape(g, n, t, cur) && note(t, g, node, cur, TAKEN_REST);
	return take_rest(g, n, t, cur) && note(t, g, node, cur, TAKEN_REST);
}

/* Does the node only give the elements of input 0 other dimensions, or another order? */
static int is_view(const struct graph_node *n)
{
	static const enum node_op views[] = {OP_Flatten, OP_Identity,  OP_Reshape,
					     OP_Squeeze, OP_Transpose, OP_Unsqueeze};

	for (size_t i = 0; i < sizeof views / sizeof *views; i++)
		if (node_is(n, views[i]))
			return n->nout == 1 && n->out[0] >= 0 && n->nin == n->ndeps;
	return 0;
}

/* The last of the views of a value that one behind the other alone reads; the value itself: there
 * is none. */
static int behind_views(const struct graph *g, int cur)
{
	for (;;) {
		const struct value *v = g->value[cur];
		const struct graph_node *n = v->consumer < 0 ? NULL : &g->node[v->consumer];

		if (v->is_output || v->uses != 1 || !is_view(n) || n->in[0] != cur)
			return cur;
		cur = n->out[0];
	}
}

/* The activation that reads a value: in one node, or in several. Its last node; -1: there is none,
 * or no room for it. */
static int take_one_activation(const struct graph *g, struct task *t, int cur,
			       unsigned char *absorbed)
{
	const struct value *v = g->value[cur];
	const struct graph_node *n;

	if (v->is_output || !elem_is_real(v->elem))
		return -1;
	if (v->uses > 1)
		return task_take_pattern(g, t, cur, absorbed);
	if (v->uses != 1 || absorbed[v->consumer])
		return -1;
	n = &g->node[v->consumer];
	return n->nout == 1 && n->out[0] >= 0 && n->nin == n->ndeps && take_activation(g, n, t, cur)
		       ? v->consumer
		       : -1;
}

static void take_behind(const struct graph *g, struct task *t, unsigned char *absorbed)
{
	const int value = behind_views(g, t->out);

	if (value == t->out || task_is_int(t) ||
	    (t->w.op != &op_matmul && t->w.op != &op_conv2d && t->w.op != &op_conv3d))
		return;
	t->behind = take_one_activation(g, t, value, absorbed);
	t->behind_in = value;
	if (t->behind >= 0)
		absorbed[t->behind] = 1;
}

/* Takes what reads the task's result itself. */
static void take_followers(const struct graph *g, struct task *t, unsigned char *absorbed)
{
	int cur = g->node[t->node].out[0];

	for (;;) {
		const struct value *v = g->value[cur];
		const struct graph_node *n;
		int last;

		if (!v->is_output && v->uses > 1 && elem_is_real(v->elem) &&
		    t->ntaken < TASK_TAKES &&
		    (last = task_take_pattern(g, t, cur, absorbed)) >= 0) {
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

void task_fuse(const struct graph *g, struct task *t, unsigned char *absorbed)
{
	if (t->pad >= 0)
		absorbed[t->pad] = 1;
	take_followers(g, t, absorbed);
	take_behind(g, t, absorbed);
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
