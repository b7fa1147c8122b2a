#include "lib/extract/task/task.h"

#include <limits.h>
#include <string.h>

#include "lib/extract/graph/infer.h"

int64_t task_times(int64_t a, int64_t b)
{
	int64_t r;

	return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? -1 : r;
}

int64_t task_plus(int64_t a, int64_t b)
{
	int64_t r;

	return a < 0 || b < 0 || __builtin_add_overflow(a, b, &r) ? -1 : r;
}

const char *task_part_name(const struct task *t)
{
	static const char *const names[TASK_PARTS + 1] = {"", "/input", "/state"};

	return names[t->part];
}

const char *task_unknown_shape(struct arena *a, const struct value *const *v, int n)
{
	for (int i = 0; i < n; i++)
		if (v[i] && !shape_known(&v[i]->shape) && v[i]->blame)
			return arena_printf(a, "unknown shape because of %s", v[i]->blame);
	return "unknown shape";
}

/* A Pad of zeros around the image can become part of the convolution's own padding. space: where
 * the image's dimensions begin. */
static int zero_pad(const struct graph *g, const struct graph_node *pad, int space, int64_t *before,
		    int64_t *after)
{
	const struct value *in = node_in(g, pad, 0), *fill = node_in(g, pad, 2);
	const int64_t *pads;
	double number;
	int npads;

	if (!node_is(pad, OP_Pad) || strcmp(node_str(pad, "mode", "constant"), "constant") != 0 ||
	    !in || node_in(g, pad, 3) || node_float(pad, "value", 0) != 0)
		return 0;
	if (fill && (!value_real(fill, &number) || number != 0))
		return 0;
	if (infer_list(g, pad, "pads", 1, &npads, &pads) != 1 || in->shape.rank < 3 ||
	    npads != 2 * in->shape.rank || !shape_known(&in->shape))
		return 0;
	for (int i = 0; i < in->shape.rank; i++) {
		int64_t b = pads[i], c = pads[i + in->shape.rank];

		if (b < 0 || c < 0)
			return 0;
		if (i >= space && i < space + in->shape.rank - 2) {
			before[i - space] = b;
			after[i - space] = c;
		} else if (b || c) {
			return 0;
		}
	}
	return 1;
}

/* Window and input shape of a convolution, with a Pad before it taken in. */
static int conv_window(const struct graph *g, const struct graph_node *n, const struct shape *f,
		       struct task *t, struct window *w, struct shape *in)
{
	const struct value *data = node_in(g, n, 0);
	int64_t before[GRAPH_MAX_RANK], after[GRAPH_MAX_RANK];

	*in = data->shape;
	if (window_resolve(g, n, in, f->dim + 2, w, NULL))
		return -1;
	/* Zeros of whole numbers are no zeros of what these stand for. */
	if (data->producer < 0 || !elem_is_real(data->elem) ||
	    !zero_pad(g, &g->node[data->producer], node_space(n), before, after) ||
	    g->value[g->node[data->producer].in[0]]->shape.rank != in->rank)
		return 0;
	t->in = g->node[data->producer].in[0];
	*in = g->value[t->in]->shape;
	for (int i = 0; i < w->rank; i++) {
		w->in[i] = in->dim[i + node_space(n)];
		w->before[i] += before[i];
		w->after[i] += after[i];
	}
	if (data->uses == 1 && !data->is_output)
		t->pad = data->producer;
	return 0;
}

/* The sizes along one axis of a window, at these dimensions of the problem. A dilation of a window
 * of one says nothing, and must not make two workloads of one. */
static void conv_axis(int64_t *d, const struct window *w, int axis, int in, int out, int kernel,
		      int step)
{
	d[in] = w->in[axis];
	d[out] = w->out[axis];
	d[kernel] = w->kernel[axis];
	d[kernel + step] = w->stride[axis];
	d[kernel + 2 * step] = w->before[axis];
	d[kernel + 3 * step] = w->kernel[axis] == 1 ? 0 : w->dilation[axis] - 1;
}

void task_axes(int64_t *d, const struct window *w, int axes, int in, int out, int kernel)
{
	static const struct window flat = {
		.rank = 1, .in = {1}, .out = {1}, .kernel = {1}, .stride = {1}, .dilation = {1}};
	const int missing = axes - w->rank;

	for (int i = 0; i < axes; i++)
		conv_axis(d, i < missing ? &flat : w, i < missing ? 0 : i - missing, in + i,
			  out + i, kernel + i, axes);
}

/* conv2d from one or two spatial dimensions, where a missing height is 1; conv3d from three. */
static void conv_dims(struct task *t, const struct graph *g, const struct graph_node *n,
		      const struct window *w, const struct shape *in, const struct shape *weights)
{
	const int is_3d = w->rank == 3;
	int64_t *d = t->w.dim;

	d[CONV_MB] = in->dim[0];
	d[CONV_G] = node_groups(g, n, node_is(n, OP_QLinearConv) ? 3 : 1);
	d[CONV_IC] = in->dim[node_channel(n, in->rank)];
	d[is_3d ? CONV3D_OC : CONV_OC] = weights->dim[0];
	if (is_3d)
		task_axes(d, w, 3, CONV3D_ID, CONV3D_OD, CONV3D_KD);
	else
		task_axes(d, w, 2, CONV_IH, CONV_OH, CONV_KH);
}

/* The input that is the bias. */
static const struct value *conv_bias(const struct graph *g, const struct graph_node *n)
{
	return node_is(n, OP_Conv)	    ? node_in(g, n, 2)
	       : node_is(n, OP_QLinearConv) ? node_in(g, n, 8)
					    : NULL;
}

enum layout task_layout(enum layout layout, int is_3d)
{
	if (!is_3d)
		return layout;
	return layout == LAYOUT_NHWC ? LAYOUT_NDHWC : LAYOUT_NCDHW;
}

static void make_conv(const struct graph *g, const struct graph_node *n, enum layout layout,
		      struct arena *a, struct task *t)
{
	const struct value *data = node_in(g, n, 0);
	const struct value *weights = node_in(g, n, node_is(n, OP_QLinearConv) ? 3 : 1);
	const struct value *out = node_out(g, n, 0), *const all[] = {data, weights, out};
	struct window w;
	struct shape in, f = node_filter(n, &weights->shape);
	int is_3d;

	if (!shape_known(&data->shape) || !shape_known(&weights->shape) || !out ||
	    !shape_known(&out->shape)) {
		t->why = task_unknown_shape(a, all, 3);
		return;
	}
	/* Each output takes one multiply-add for each weight of its channel. */
	t->macs = task_times(shape_count(&out->shape), f.dim[0] ? shape_count(&f) / f.dim[0] : 0);
	is_3d = data->shape.rank == 5;
	t->w = (struct workload){.op = is_3d ? &op_conv3d : &op_conv2d,
				 .layout = task_layout(layout, is_3d),
				 .rhs_const = 1};
	if (data->shape.rank > 5)
		t->why = arena_printf(a, "%d-D", data->shape.rank - 2);
	else if (!(t->why = task_types(g, n, data, weights, a, &t->w.dtype)) && !weights->is_const)
		t->why = "computed weights";
	if (t->why)
		return;
	if (conv_window(g, n, &f, t, &w, &in)) {
		t->why = "a window that makes no sense";
		return;
	}
	conv_dims(t, g, n, &w, &in, &f);
	t->channel_dim = node_channel(n, in.rank);
	if (conv_bias(g, n))
		t->w.post[t->w.npost++].kind = POST_BIAS;
}

void task_set_matmul(struct task *t, int64_t b, int64_t m, int64_t k, int64_t n, int rhs_const)
{
	t->w = (struct workload){.op = &op_matmul, .layout = LAYOUT_AB, .rhs_const = rhs_const};
	t->w.dim[MATMUL_B] = b;
	t->w.dim[MATMUL_M] = m;
	t->w.dim[MATMUL_K] = k;
	t->w.dim[MATMUL_N] = n;
	t->macs = task_times(task_times(b, m), task_times(k, n));
}

const struct value *task_gemm_added(const struct graph *g, const struct graph_node *n)
{
	return node_float(n, "beta", 1) != 0 ? node_in(g, n, 2) : NULL;
}

static void make_gemm(const struct graph *g, const struct graph_node *n, struct arena *a,
		      struct task *t)
{
	const struct value *p = node_in(g, n, 0), *q = node_in(g, n, 1), *c = task_gemm_added(g, n);
	const struct value *out = node_out(g, n, 0), *const all[] = {p, q, out};
	int ta = node_int(n, "transA", 0) != 0;

	if (!out || !shape_known(&p->shape) || !shape_known(&q->shape) ||
	    !shape_known(&out->shape)) {
		t->why = task_unknown_shape(a, all, 3);
		return;
	}
	task_set_matmul(t, 1, out->shape.dim[0], p->shape.dim[!ta], out->shape.dim[1], q->is_const);
	t->why = task_types(g, n, p, q, a, &t->w.dtype);
	t->channel_dim = 1;
	if (c && value_is_along(c, &out->shape, 1, 1))
		t->w.post[t->w.npost++].kind = POST_BIAS;
	else if (c)
		t->w.post[t->w.npost++].kind = POST_ADD;
}

/* The right side's leading dimensions are all 1, or there are none: one matrix for all rows of the
 * left. */
static int one_matrix(const struct shape *s)
{
	for (int i = 0; i + 2 < s->rank; i++)
		if (s->dim[i] != 1)
			return 0;
	return 1;
}

static void make_matmul(const struct graph *g, const struct graph_node *n, struct arena *a,
			struct task *t)
{
	const struct value *p = node_in(g, n, 0);
	const struct value *q = node_in(g, n, node_is(n, OP_QLinearMatMul) ? 3 : 1);
	const struct value *out = node_out(g, n, 0), *const all[] = {p, q, out};
	int64_t k, m, cols, rows, size;
	struct shape a_side, b_side;

	if (!out || !shape_known(&p->shape) || !shape_known(&q->shape) ||
	    !shape_known(&out->shape)) {
		t->why = task_unknown_shape(a, all, 3);
		return;
	}
	a_side = p->shape;
	b_side = q->shape;
	infer_operands(n, &a_side, &b_side);
	k = a_side.dim[a_side.rank - 1];
	m = a_side.rank > 1 ? a_side.dim[a_side.rank - 2] : 1;
	cols = b_side.rank > 1 ? b_side.dim[b_side.rank - 1] : 1;
	size = shape_count(&out->shape);
	rows = cols ? size / cols : 0;
	if (one_matrix(&b_side))
		task_set_matmul(t, 1, rows, k, cols, q->is_const);
	else
		task_set_matmul(t, m ? rows / m : 0, m, k, cols, q->is_const);
	t->why = task_types(g, n, p, q, a, &t->w.dtype);
	t->channel_dim = q->shape.rank > 1 ? out->shape.rank - 1 : -1;
}

/* The sizes of the letters of one kind multiplied: where they stand, as IN_LEFT | IN_OUT. */
enum { IN_LEFT = 1, IN_RIGHT = 2, IN_OUT = 4 };

static int64_t letters(const struct einsum *s, const unsigned char *where, int kind)
{
	int64_t n = 1;

	for (size_t i = 0; i < sizeof s->used; i++)
		if (s->used[i] && where[i] == kind)
			n = task_times(n, s->size[i]);
	return n;
}

/* A product of two operands, if each letter is of a row, a column, the sum or the batch. The
 * constant is the right side. */
static void make_einsum(const struct graph *g, const struct graph_node *n, struct arena *a,
			struct task *t)
{
	const struct value *p = node_in(g, n, 0), *q = node_in(g, n, 1);
	unsigned char where[sizeof((struct einsum *)0)->used] = {0};
	struct einsum s;
	int side = IN_LEFT, left = IN_LEFT, right = IN_RIGHT;

	if (!node_out(g, n, 0) || einsum_resolve(g, n, &s)) {
		t->why = task_unknown_shape(a, (const struct value *const[]){p, q}, 2);
		return;
	}
	t->macs = 1;
	for (size_t i = 0; i < sizeof s.used; i++)
		if (s.used[i])
			t->macs = task_times(t->macs, s.size[i]);
	for (const char *c = s.equation; *c; c++) {
		if (*c == ',' || *c == '-')
			side = side == IN_LEFT && *c == ',' ? IN_RIGHT : IN_OUT;
		else if (*c != '>')
			where[(unsigned char)*c] |= (unsigned char)side;
	}
	for (size_t i = 0; i < sizeof where; i++)
		if (where[i] == IN_LEFT || where[i] == IN_RIGHT)
			t->why = "not an operator here";
	if (n->nin != 2 || t->why) {
		t->why = "not an operator here";
		return;
	}
	if (p->is_const && !q->is_const) {
		left = IN_RIGHT;
		right = IN_LEFT;
	}
	task_set_matmul(t, letters(&s, where, IN_LEFT | IN_RIGHT | IN_OUT),
			letters(&s, where, left | IN_OUT), letters(&s, where, IN_LEFT | IN_RIGHT),
			letters(&s, where, right | IN_OUT), p->is_const || q->is_const);
	t->why = task_types(g, n, p, q, a, &t->w.dtype);
}

/* Transposed and deformable convolutions as the product in them: each position, of the input or of
 * the output, by the weights of its group. What gathers its rows, or adds them up where windows
 * overlap, is not part of it. positions: the value that has a row for each. */
static void make_product(const struct graph *g, const struct graph_node *n, struct arena *a,
			 const struct value *positions, struct task *t)
{
	const struct value *x = node_in(g, n, 0), *w = node_in(g, n, 1), *out = node_out(g, n, 0);
	const struct value *const all[] = {x, w, out};
	const struct shape f = node_filter(n, &w->shape);
	const int64_t groups = node_groups(g, n, 1);
	int64_t channels, rows, filter;

	if (!out || !positions || !shape_known(&x->shape) || !shape_known(&f) ||
	    !shape_known(&positions->shape)) {
		t->why = task_unknown_shape(a, all, 3);
		return;
	}
	channels = positions->shape.rank < 3
			   ? 0
			   : positions->shape.dim[node_channel(n, positions->shape.rank)];
	if (!channels || !f.dim[0] || groups < 1 || f.dim[0] % groups) {
		t->why = "a window that makes no sense";
		return;
	}
	rows = shape_count(&positions->shape) / channels;
	filter = shape_count(&f) / f.dim[0];
	if (positions == x)
		task_set_matmul(t, groups, rows, f.dim[0] / groups, filter, w->is_const);
	else
		task_set_matmul(t, groups, rows, filter, f.dim[0] / groups, w->is_const);
	t->why = task_types(g, n, x, w, a, &t->w.dtype);
	t->part = 1;
}

/* Recurrent networks and filters of other formats, by their matrices of weights. */
static void make_weighing(const struct graph *g, const struct graph_node *n, struct task *t)
{
	const struct value *x = node_in(g, n, 0);
	int64_t weights = 0, rows;

	t->why = "not an operator here";
	if (!x || !shape_known(&x->shape) || x->shape.rank < 2 || !x->shape.dim[x->shape.rank - 1])
		return;
	rows = shape_count(&x->shape) / x->shape.dim[x->shape.rank - 1];
	for (int i = 1; i < n->nin; i++) {
		const struct value *v = node_in(g, n, i);

		if (v && v->is_const && v->shape.rank == 2 && weights >= 0 &&
		    __builtin_add_overflow(weights, shape_count(&v->shape), &weights))
			weights = -1;
	}
	t->macs = weights ? task_times(rows, weights) : -1;
}

/* Where the file tells the shapes, no rule has asked for the operands. */
static int lacks_operand(const struct graph *g, const struct graph_node *n)
{
	const int is_quantized = node_is(n, OP_QLinearConv) || node_is(n, OP_QLinearMatMul);

	return operator_rows[n->op].task != TASK_EINSUM && /* which may have one */
	       (!node_in(g, n, 0) || !node_in(g, n, is_quantized ? 3 : 1) ||
		(operator_rows[n->op].task == TASK_RECURRENT && !node_in(g, n, 2)));
}

static void make(const struct graph *g, const struct graph_node *n, enum layout layout,
		 struct arena *a, struct task *t)
{
	switch (operator_rows[n->op].task) {
	case TASK_CONV:
		make_conv(g, n, layout, a, t);
		break;
	case TASK_CONV_TRANSPOSED:
		make_product(g, n, a, node_in(g, n, 0), t);
		if (!t->why)
			task_transposed(g, n, layout, t);
		break;
	case TASK_CONV_DEFORMED:
		make_product(g, n, a, node_out(g, n, 0), t);
		break;
	case TASK_GEMM:
		make_gemm(g, n, a, t);
		break;
	case TASK_MATMUL:
		make_matmul(g, n, a, t);
		break;
	default:
		make_einsum(g, n, a, t);
	}
}

int task_make(const struct graph *g, int node, enum layout layout, struct arena *a, struct task *t)
{
	const struct graph_node *n = &g->node[node];

	*t = (struct task){.node = node,
			   .times = 1,
			   .macs = -1,
			   .channel_dim = -1,
			   .channel_dims = 1,
			   .pad = -1,
			   .behind = -1};
	t->in = n->nin ? n->in[0] : -1;
	t->out = n->nout ? n->out[0] : -1;
	if (n->weighs) {
		make_weighing(g, n, t);
		return 1;
	}
	if (!operator_multiplies(n->op))
		return 0;
	if (lacks_operand(g, n))
		t->why = "without an operand";
	else if (operator_rows[n->op].task == TASK_RECURRENT)
		return task_rnn(g, n, a, t);
	else
		make(g, n, layout, a, t);
	if (!t->why && t->macs < 0)
		t->why = "of absurd size";
	if (!t->why && t->macs == 0)
		t->why = "a size of 0";
	return 1;
}
