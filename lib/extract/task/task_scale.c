/* Scales and zero points of tasks in 8 bits: QLinearConv and QLinearMatMul have them as operands,
 * ConvInteger and MatMulInteger zero points alone, and between DequantizeLinear and QuantizeLinear
 * these two tell them. They become the post-ops scale, shift and pad, and a part of the bias:
 *
 *     result = zero + scale * (bias + sum of (source - its zero) * weights)
 *
 * where the bias takes minus the source's zero by the sum of the weights. Of ConvInteger and
 * MatMulInteger that zero may be known at run time alone; the workload does not tell who makes the
 * bias then. Weights must have the zero point 0. What is behind the sum in a graph of reals is put
 * into the result's units; bounds that the result's type has anyway are left out.
 */
#include <math.h>
#include <string.h>

#include "lib/extract/task/task.h"

/* The DequantizeLinear that the value comes from, maybe moved since. -1: there is none. */
static int dequantizer(const struct graph *g, int value)
{
	while (value >= 0 && g->value[value]->quantized && g->value[value]->producer >= 0) {
		const struct graph_node *n = &g->node[g->value[value]->producer];

		if (node_is(n, OP_DequantizeLinear))
			return g->value[value]->producer;
		value = n->nin ? n->in[0] : -1;
	}
	return -1;
}

static int input(const struct graph_node *n, int i)
{
	return i < n->nin ? n->in[i] : -1;
}

/* A value with the scale and zero point behind it. */
static struct task_number number_at(const struct graph_node *n, int i)
{
	return (struct task_number){input(n, i), input(n, i + 1), input(n, i + 2)};
}

/* Sides of products of reals that were dequantized. */
static int find_dequantized(const struct graph *g, const struct task *t, struct task_scales *s)
{
	const struct graph_node *n = &g->node[t->node];
	const int x = dequantizer(g, t->in), w = dequantizer(g, n->in[1]);

	if (x < 0 || w < 0 || input(&g->node[x], 1) < 0 || input(&g->node[w], 1) < 0)
		return 0;
	s->x = number_at(&g->node[x], 0);
	s->w = number_at(&g->node[w], 0);
	s->is_direct = g->node[x].out[0] == t->in && g->node[w].out[0] == n->in[1];
	return 1;
}

/* Finds the scales of source and weights, and those of a result that the node itself tells. 0: the
 * task has none, or weights with a zero point. */
static int find_scales(const struct graph *g, const struct task *t, struct task_scales *s)
{
	const struct graph_node *n = &g->node[t->node];
	const struct task_number none = {-1, -1, -1};

	*s = (struct task_scales){.x = none, .w = none, .y = none, .bias = -1};
	if (!task_is_int(t) || t->part || !t->w.rhs_const || t->w.dtype.wei != DTYPE_S8)
		return 0;
	if (node_is(n, OP_QLinearConv) || node_is(n, OP_QLinearMatMul)) {
		s->x = number_at(n, 0);
		s->w = number_at(n, 3);
		s->y = (struct task_number){n->out[0], input(n, 6), input(n, 7)};
		s->bias = input(n, 8);
		s->is_direct = 1;
	} else if (node_is(n, OP_ConvInteger) || node_is(n, OP_MatMulInteger)) {
		s->x = (struct task_number){n->in[0], -1, input(n, 2)};
		s->w = (struct task_number){n->in[1], -1, input(n, 3)};
	} else if (!find_dequantized(g, t, s)) {
		return 0;
	}
	if (t->w.op == &op_matmul && t->w.dim[MATMUL_B] > 1 &&
	    value_is_zero(s->x.zero < 0 ? NULL : g->value[s->x.zero]) != 1)
		return 0; /* a bias is of all matrices */
	return value_is_zero(s->w.zero < 0 ? NULL : g->value[s->w.zero]) != 0;
}

/* ---- what comes behind the sum ---- */

/* Is the post-op the same in other units, or a bound? */
static int is_scaled(enum post kind)
{
	return kind == POST_BIAS || kind == POST_RELU || kind == POST_RELU6 || kind == POST_CLIP ||
	       kind == POST_LEAKY_RELU;
}

static int is_scalar(const struct graph *g, int value)
{
	const struct value *v = value < 0 ? NULL : g->value[value];

	return !v || (v->is_const && shape_known(&v->shape) && shape_count(&v->shape) == 1);
}

/* The scale and the zero point of a result of 8 bits. 0: they are not known. */
static int result_units(const struct graph *g, const struct task_scales *s, double *scale,
			double *zero)
{
	const struct value *z = s->y.zero < 0 ? NULL : g->value[s->y.zero];
	int64_t whole;

	*zero = 0;
	if (s->y.scale < 0 || !value_real(g->value[s->y.scale], scale) || !(*scale > 0))
		return 0;
	if (!z)
		return 1;
	if (!value_whole(z, &whole))
		return 0;
	*zero = (double)whole;
	return 1;
}

int task_can_quantize(const struct graph *g, const struct graph_node *n, const struct task *t)
{
	const struct task_scales made = {.y = number_at(n, 0)};
	double scale, zero;

	if (input(n, 1) < 0) /* a format that tells no scales */
		return 1;
	for (int i = 0; i < t->w.npost; i++) {
		const enum post kind = t->w.post[i].kind;

		if (!is_scaled(kind) || ((kind == POST_CLIP || kind == POST_RELU6) &&
					 !result_units(g, &made, &scale, &zero)))
			return 0;
	}
	return is_scalar(g, n->in[1]) && is_scalar(g, input(n, 2));
}

/* Puts bounds into the result's units. Returns 0 if its type has them anyway, -1 if the units are
 * not known, but needed. */
static int scale_bounds(const struct graph *g, const struct task *t, struct post_op *p)
{
	const double least = t->w.dtype.dst == DTYPE_U8 ? 0 : -128, most = least + 255;
	double scale, zero, low, high;

	if (!result_units(g, &t->scales, &scale, &zero))
		return p->kind == POST_RELU ? 1 : -1;
	low = p->kind == POST_CLIP ? p->a / scale : 0;
	high = p->kind == POST_CLIP ? p->b / scale : p->kind == POST_RELU6 ? 6 / scale : 1e30;
	if (low <= least - zero && high >= most - zero - 0.5)
		return 0;
	if (high >= most - zero - 0.5 && low == 0)
		*p = (struct post_op){.kind = POST_RELU};
	else
		*p = (struct post_op){POST_CLIP, (double)(float)fmax(low, least - zero),
				      (double)(float)fmin(high, most - zero)};
	return 1;
}

/* Makes `to` the post-ops behind the scale. -1: some cannot be said in the result's units, or one
 * would stand twice. */
static int behind(const struct graph *g, const struct task *t, int is_real, struct post_op *to)
{
	int n = 0;

	for (int i = 0; i < t->w.npost; i++) {
		struct post_op p = t->w.post[i];
		int keeps = p.kind != POST_BIAS;

		if (is_real && dtype_bits(t->w.dtype.dst) == 8 &&
		    (p.kind == POST_RELU || p.kind == POST_RELU6 || p.kind == POST_CLIP))
			keeps = scale_bounds(g, t, &p);
		for (int k = 0; k < n && keeps > 0; k++)
			if (to[k].kind == p.kind)
				keeps = p.kind == POST_RELU ? 0 : -1;
		if (keeps < 0)
			return -1;
		if (keeps)
			to[n++] = p;
	}
	return n;
}

/* Does a window read what lies outside of the image? */
static int is_padded(const struct workload *w)
{
	const int is_3d = w->op == &op_conv3d, axes = is_3d ? 3 : 2;
	const int64_t *d = w->dim;

	if (w->op != &op_conv2d && !is_3d)
		return 0;
	for (int i = 0; i < axes; i++) {
		const int at = (is_3d ? CONV3D_KD : CONV_KH) + i; /* then strides, padding, .. */
		const int64_t in = d[(is_3d ? CONV3D_ID : CONV_IH) + i];
		const int64_t out = d[(is_3d ? CONV3D_OD : CONV_OH) + i];
		const int64_t window = (d[at] - 1) * (d[at + 3 * axes] + 1) + 1;

		if (d[at + 2 * axes] || (out - 1) * d[at + axes] + window > in)
			return 1;
	}
	return 0;
}

/* A task has taken these of scales and quantizers. */
struct behind {
	int is_integer; /* the node makes sums of 32 bits */
	int scales;	/* they were multiplied */
	int quantizer;	/* node, or -1 */
};

static struct behind look_behind(const struct graph *g, const struct task *t)
{
	const struct graph_node *n = &g->node[t->node];
	struct behind b = {.quantizer = -1};

	b.is_integer = node_is(n, OP_ConvInteger) || node_is(n, OP_MatMulInteger);
	for (int i = 0; i < t->ntaken; i++) {
		b.scales |= t->taken[i].as == TAKEN_SCALE;
		if (node_is(&g->node[t->taken[i].node], OP_QuantizeLinear))
			b.quantizer = t->taken[i].node;
	}
	return b;
}

/* Has the value one real number, or one for each of so many channels? */
static int is_scale(const struct graph *g, int value, int64_t channels)
{
	const struct value *v = value < 0 ? NULL : g->value[value];

	return v && v->is_const && v->elem == VALUE_F32 && shape_known(&v->shape) &&
	       (shape_count(&v->shape) == 1 ||
		(v->shape.rank == 1 && shape_count(&v->shape) == channels));
}

/* Are the weights' scales of output channels? DequantizeLinear names the dimension; operators of
 * their own mean that of the channels. */
static int along_channels(const struct graph *g, const struct task *t, const struct task_scales *s)
{
	const struct graph_node *n = &g->node[t->node];
	const struct value *w = g->value[s->w.is];
	const int dequantizes = g->value[n->in[1]]->producer, conv = t->w.op == &op_conv2d;
	const int transposed = node_is(n, OP_Gemm) && node_int(n, "transB", 0);
	int64_t axis;

	if (shape_count(&g->value[s->w.scale]->shape) == 1 || node_is(n, OP_QLinearConv) ||
	    node_is(n, OP_QLinearMatMul))
		return 1;
	axis = node_int(&g->node[dequantizes], "axis", 1);
	axis += axis < 0 ? w->shape.rank : 0;
	return axis == (conv || transposed ? 0 : w->shape.rank - 1);
}

int task_runs_scaled(const struct graph *g, const struct task *t)
{
	const int64_t channels = t->w.dim[t->w.op == &op_matmul ? MATMUL_N : CONV_OC];
	const struct graph_node *n = &g->node[t->node];
	struct task_scales s;

	if (!node_is(n, OP_Conv) && !node_is(n, OP_Gemm) && !node_is(n, OP_MatMul) &&
	    !node_is(n, OP_QLinearConv) && !node_is(n, OP_QLinearMatMul))
		return 0;
	return (t->w.op == &op_conv2d || t->w.op == &op_matmul) && find_scales(g, t, &s) &&
	       s.is_direct && g->value[s.w.is]->is_const && !n->channels_last &&
	       value_is_zero(s.w.zero < 0 ? NULL : g->value[s.w.zero]) == 1 &&
	       is_scale(g, s.x.scale, 1) && is_scalar(g, s.x.zero) &&
	       is_scale(g, s.w.scale, channels) && along_channels(g, t, &s) &&
	       (s.y.scale < 0 || is_scale(g, s.y.scale, 1)) && is_scalar(g, s.y.zero) &&
	       (s.bias < 0 || g->value[s.bias]->is_const);
}

void task_scale(const struct graph *g, struct task *t)
{
	struct post_op post[OP_MAX_POSTS + 4] = {{POST_BIAS, 0, 0}}, rest[OP_MAX_POSTS];
	const struct behind b = look_behind(g, t);
	const int is_q = node_is(&g->node[t->node], OP_QLinearConv) ||
			 node_is(&g->node[t->node], OP_QLinearMatMul);
	int n = 0, nrest, has_zero, shifts;

	if (!find_scales(g, t, &t->scales) || (b.is_integer && !b.scales))
		return;
	if (b.quantizer >= 0)
		t->scales.y = (struct task_number){g->node[b.quantizer].out[0],
						   input(&g->node[b.quantizer], 1),
						   input(&g->node[b.quantizer], 2)};
	nrest = behind(g, t, !is_q, rest);
	if (nrest < 0)
		return;
	has_zero = t->scales.x.zero >= 0 && value_is_zero(g->value[t->scales.x.zero]) != 1;
	shifts = b.is_integer
			 ? workload_has_post(&t->w, POST_BIAS)
			 : t->scales.y.zero >= 0 && value_is_zero(g->value[t->scales.y.zero]) != 1;
	if (has_zero || (!b.is_integer && workload_has_post(&t->w, POST_BIAS)))
		post[n++].kind = POST_BIAS;
	post[n++].kind = POST_SCALE;
	if (shifts && (is_q || b.is_integer))
		post[n++].kind = POST_SHIFT;
	for (int i = 0; i < nrest; i++)
		post[n++] = rest[i];
	if (shifts && !is_q && !b.is_integer)
		post[n++].kind = POST_SHIFT;
	if (has_zero && is_padded(&t->w))
		post[n++].kind = POST_PAD;
	if (n > OP_MAX_POSTS)
		return;
	memcpy(t->w.post, post, sizeof *post * (size_t)n);
	t->w.npost = n;
	t->scales.is = 1;
}
