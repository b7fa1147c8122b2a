/* Operators that multiply and add nothing, as tasks, for those who ask for all: softmax,
 * normalizations, pools, and chains of element-wise operators. */
#include "lib/extract/task/task.h"

#include "lib/extract/task/fate.h"
#include "lib/extract/graph/infer.h"

/* The problem of an operator on rows: those of the dimensions before `axis`, and the values of
 * those behind. */
static int set_rows(struct task *t, const struct op *op, const struct shape *s, int axis)
{
	int64_t columns = 1, all = shape_count(s);

	for (int i = axis; i < s->rank; i++)
		columns *= s->dim[i];
	if (!all)
		return 0;
	t->w.op = op;
	t->w.layout = LAYOUT_AB;
	t->w.dim[ROWS_R] = all / columns;
	t->w.dim[ROWS_C] = columns;
	return 1;
}

/* Before operator set 13, softmax was over all dimensions from its axis on. */
static int make_softmax(const struct graph_node *n, int64_t opset, const struct value *in,
			struct task *t)
{
	int axis = infer_axis(node_int(n, "axis", opset < 13 ? 1 : -1), in->shape.rank);

	if (axis < 0 || !set_rows(t, &op_softmax, &in->shape, axis))
		return 0;
	if (opset >= 13 && t->w.dim[ROWS_C] != in->shape.dim[axis])
		t->why = "along another axis than the last";
	return 1;
}

static int make_norm(const struct graph *g, const struct graph_node *n, const struct value *in,
		     struct task *t)
{
	const int is_rms = !node_is(n, OP_LayerNormalization);
	int axis = infer_axis(node_int(n, "axis", -1), in->shape.rank);

	if (axis < 0 || !set_rows(t, is_rms ? &op_rms_norm : &op_layer_norm, &in->shape, axis))
		return 0;
	if (node_in(g, n, 2))
		t->w.post[t->w.npost++].kind = POST_BIAS;
	return 1;
}

/* A window as large as the image. */
static void whole(const struct graph_node *n, const struct shape *s, struct window *w)
{
	*w = (struct window){.rank = s->rank - 2};
	for (int i = 0; i < w->rank; i++) {
		w->in[i] = w->kernel[i] = s->dim[i + node_space(n)];
		w->stride[i] = w->dilation[i] = w->out[i] = 1;
	}
}

static int read_window(const struct graph *g, const struct graph_node *n, const struct shape *s,
		       struct window *w)
{
	const struct attr *a = node_attr(n, "kernel_shape");
	const struct shape *out = &node_out(g, n, 0)->shape;

	if (node_is(n, OP_GlobalMaxPool) || node_is(n, OP_GlobalAveragePool)) {
		whole(n, s, w);
		return 0;
	}
	if (!a || a->nints != s->rank - 2 || window_resolve(g, n, s, a->ints, w, NULL))
		return -1;
	for (int i = 0; i < w->rank; i++) /* a last window may hang over the end */
		w->out[i] = out->dim[i + node_space(n)];
	return 0;
}

static int make_pool(const struct graph *g, const struct graph_node *n, enum layout layout,
		     const struct value *in, struct task *t)
{
	const struct shape *s = &in->shape;
	const int is_3d = s->rank == 5,
		  is_max = node_is(n, OP_MaxPool) || node_is(n, OP_GlobalMaxPool);
	struct window w;

	t->w.op = is_max  ? is_3d ? &op_maxpool3d : &op_maxpool2d
		  : is_3d ? &op_avgpool3d
			  : &op_avgpool2d;
	t->w.layout = task_layout(layout, is_3d);
	if (s->rank < 3 || s->rank > 5) {
		t->why = "of another rank";
		return 1;
	}
	if (read_window(g, n, s, &w))
		return 0;
	t->w.dim[POOL_MB] = s->dim[0]; /* and of three dimensions, which begin alike */
	t->w.dim[POOL_IC] = s->dim[node_channel(n, s->rank)];
	if (is_3d)
		task_axes(t->w.dim, &w, 3, POOL3D_ID, POOL3D_OD, POOL3D_KD);
	else
		task_axes(t->w.dim, &w, 2, POOL_IH, POOL_OH, POOL_KH);
	return 1;
}

/* A chain begins with a node that may be a post-op of something. */
static int make_chain(const struct graph *g, int node, struct task *t)
{
	const struct value *out = node_out(g, &g->node[node], 0);
	const int rank = out->shape.rank;

	t->w.op = &op_eltwise;
	t->w.layout = LAYOUT_AB;
	t->channel_dim = rank > 3 ? node_channel(&g->node[node], rank) : rank - 1;
	if (!task_begin(g, t))
		return 0;
	t->w.dim[ROWS_C] = rank ? out->shape.dim[t->channel_dim] : 1;
	t->w.dim[ROWS_R] = t->w.dim[ROWS_C] ? shape_count(&out->shape) / t->w.dim[ROWS_C] : 0;
	return 1;
}

static int make(const struct graph *g, const struct task_wanted *wanted, struct task *t)
{
	const struct graph_node *n = &g->node[t->node];
	const struct value *in = node_in(g, n, 0);

	switch (operator_rows[n->op].task) {
	case TASK_SOFTMAX:
		return make_softmax(n, node_int(n, "opset", wanted->opset), in, t);
	case TASK_NORM:
		return make_norm(g, n, in, t);
	case TASK_POOL:
		return make_pool(g, n, wanted->layout, in, t);
	default:
		return make_chain(g, t->node, t);
	}
}

int task_other(const struct graph *g, int node, const struct task_wanted *wanted, struct arena *a,
	       struct task *t)
{
	const struct graph_node *n = &g->node[node];
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);

	*t = (struct task){.node = node,
			   .times = 1,
			   .channel_dim = -1,
			   .channel_dims = 1,
			   .pad = -1,
			   .behind = -1};
	if (!in || !out || !elem_is_real(in->elem) || in->elem != out->elem ||
	    !shape_known(&in->shape) || !shape_known(&out->shape) || fate_is_plumbing(g, n))
		return 0;
	t->in = n->in[0];
	t->out = n->out[0];
	if (!make(g, wanted, t))
		return 0;
	t->w.rhs_const = 1;
	if (!t->why)
		t->why = task_types(g, n, in, in, a, &t->w.dtype);
	return 1;
}
