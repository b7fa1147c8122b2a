/* Transposed convolutions as operators that are tuned.
 *
 * An output o along an axis has a phase: what (o + padding) leaves when it is divided by the stride
 * s. Tap t reaches the outputs of phase t % s alone. So the outputs of one phase are a convolution
 * of unit stride by every s-th tap, in reverse, and all phases together are one convolution that
 * makes a channel for each of them: the sub-pixel convolution of Shi et al., "Real-Time Single
 * Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural Network", CVPR
 * 2016, and "Is the deconvolution layer the same as a convolutional layer?", 2016. What makes an
 * image of it moves the channels to their pixels.
 *
 * Where the stride does not divide the kernel, phases differ in their number of taps, and this
 * convolution multiplies by zeros, too: 16 taps for the 9 of a 3x3 of stride 2. That is still less
 * than adding up columns costs (docs/EXPERIMENTS.md), up to twice the taps.
 *
 * Else the product of each pixel by all taps is the task, as it is for dilated windows. Adding up
 * its columns where windows overlap is not part of it: what is called "col2im" (Dumoulin and Visin,
 * "A guide to convolution arithmetic for deep learning", 2016, chapter 4, has the arithmetic).
 * Windows that lie side by side need no sums: each output is one column of the product.
 */
#include "lib/extract/graph/infer.h"
#include "lib/extract/task/task.h"

/* The convolution along one axis. 0: padding cuts off more than its window adds, or taps are
 * dilated over the phases. */
static int split_axis(const struct window *w, int i, struct window *c)
{
	const int64_t s = w->stride[i], first = w->before[i] / s;
	int64_t reach, far;

	if (s > 1 && w->dilation[i] > 1)
		return 0;
	c->in[i] = w->in[i];
	c->kernel[i] = (w->kernel[i] + s - 1) / s;
	c->stride[i] = 1;
	c->dilation[i] = s > 1 ? 1 : w->dilation[i];
	reach = (c->kernel[i] - 1) * c->dilation[i];
	c->before[i] = reach - first;
	c->out[i] = (w->out[i] - 1 + w->before[i]) / s - first + 1;
	far = c->out[i] + reach - c->in[i] - c->before[i];
	c->after[i] = far;
	return w->out[i] > 0 && c->before[i] >= 0 && far >= 0 && far <= reach + 1;
}

/* Does each output read one column of the product? */
static int is_apart(const struct window *w, int i)
{
	return w->kernel[i] == w->stride[i] && (w->kernel[i] == 1 || w->dilation[i] == 1) &&
	       w->out[i] > 0 && w->out[i] + w->before[i] <= w->in[i] * w->stride[i];
}

/* How much more a convolution by zeros, too, may multiply. */
enum { WASTE_MOST = 2 };

static enum task_phases_form form_of(const struct task_phases *p, int64_t groups)
{
	int64_t taps = 1, multiplied = 1;
	int splits = p->w.rank <= 2, apart = groups == 1, strides = 0;

	for (int i = 0; i < p->w.rank; i++) {
		splits &= p->conv.out[i] > 0;
		apart &= is_apart(&p->w, i);
		strides |= p->w.stride[i] > 1;
		taps = task_times(taps, p->w.kernel[i]);
		multiplied = task_times(multiplied, p->conv.kernel[i] * p->w.stride[i]);
	}
	if (splits && !strides)
		return PHASES_CONV;
	if (apart)
		return PHASES_COLUMNS;
	if (splits && multiplied > 0 && multiplied <= task_times(WASTE_MOST, taps))
		return PHASES_CONV;
	return PHASES_SUMS;
}

int task_phases(const struct graph *g, const struct graph_node *n, struct task_phases *p,
		struct err *e)
{
	const struct value *x = node_in(g, n, 0), *out = node_out(g, n, 0);
	const struct shape f = node_filter(n, &node_in(g, n, 1)->shape);

	*p = (struct task_phases){.groups = node_groups(g, n, 1), .phases = 1};
	if (f.rank != x->shape.rank || f.dim[0] != x->shape.dim[node_channel(n, x->shape.rank)])
		return err_set(e, "the node %s (%s) has data and weights that do not fit",
			       node_label(g, n), n->type);
	if (window_transposed(g, n, &x->shape, f.dim + 2, &p->w, e))
		return -1;
	p->conv.rank = p->w.rank;
	for (int i = 0; i < p->w.rank; i++) {
		if (p->w.out[i] != out->shape.dim[i + node_space(n)])
			return err_set(
				e, "the node %s (%s) has a size that its window does not explain",
				node_label(g, n), n->type);
		if (!split_axis(&p->w, i, &p->conv))
			p->conv.out[i] = 0;
		p->phases = task_times(p->phases, p->w.stride[i]);
	}
	p->ic = f.dim[0] / p->groups;
	p->oc = f.dim[1];
	p->form = form_of(p, p->groups);
	p->is_moved = p->form != PHASES_CONV || p->phases > 1;
	return 0;
}

void task_transposed(const struct graph *g, const struct graph_node *n, enum layout layout,
		     struct task *t)
{
	const struct value *x = node_in(g, n, 0);
	struct err ignored = ERR_INIT;
	const int64_t *in = x->shape.dim;
	const int rank = x->shape.rank;
	struct task_phases p;

	if (!t->w.rhs_const || dtype_is_int(t->w.dtype.src) || dtype_is_int(t->w.dtype.wei) ||
	    task_phases(g, n, &p, &ignored) || p.form == PHASES_SUMS)
		return;
	t->part = 0;
	t->is_moved = p.is_moved;
	t->channel_dim = node_channel(n, rank);
	if (p.form == PHASES_CONV) {
		const struct dtypes types = t->w.dtype;

		t->w = (struct workload){
			.op = &op_conv2d, .layout = layout, .rhs_const = 1, .dtype = types};
		t->w.dim[CONV_MB] = in[0];
		t->w.dim[CONV_G] = p.groups;
		t->w.dim[CONV_IC] = in[t->channel_dim];
		t->w.dim[CONV_OC] = p.groups * p.phases * p.oc;
		task_axes(t->w.dim, &p.conv, 2, CONV_IH, CONV_OH, CONV_KH);
	}
	if (node_in(g, n, 2))
		t->w.post[t->w.npost++].kind = POST_BIAS;
}
