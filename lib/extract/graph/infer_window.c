/* Operators that slide a window over the data. */
#include <string.h>

#include "lib/extract/graph/infer.h"

enum { FAR = 1 << 20 }; /* paddings, strides and dilations beyond it are absurd */

/* Entry i of a list attribute, or the default where the attribute is absent. -1: too short, or
 * absurd. */
static int entry(const struct graph_node *n, const char *name, int count, int i, int64_t otherwise,
		 int64_t min, int64_t *out)
{
	const struct attr *a = node_attr(n, name);

	*out = otherwise;
	if (!a || !a->nints)
		return 0;
	if (a->nints != count || a->ints[i] < min || a->ints[i] > FAR)
		return -1;
	*out = a->ints[i];
	return 0;
}

static int bad_window(const struct graph *g, const struct graph_node *n, struct err *e)
{
	return err_set(e, "the node %s (%s) has a window that makes no sense", node_label(g, n),
		       n->type);
}

static int read_axis(const struct graph *g, const struct graph_node *n, struct window *w, int i,
		     struct err *e)
{
	if (!entry(n, "strides", w->rank, i, 1, 1, &w->stride[i]) &&
	    !entry(n, "dilations", w->rank, i, 1, 1, &w->dilation[i]) &&
	    !entry(n, "pads", 2 * w->rank, i, 0, 0, &w->before[i]) &&
	    !entry(n, "pads", 2 * w->rank, i + w->rank, 0, 0, &w->after[i]) && w->kernel[i] != 0 &&
	    w->kernel[i] <= FAR)
		return 0;
	return bad_window(g, n, e);
}

static int64_t reach(const struct window *w, int i)
{
	return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

/* Divides the padding along a dimension; the odd cell goes behind (upper) or before. */
static void divide_padding(struct window *w, int i, int64_t all, int upper)
{
	if (all < 0)
		all = 0;
	w->before[i] = upper ? all / 2 : all - all / 2;
	w->after[i] = all - w->before[i];
}

/* SAME: as many outputs as strides fit into the input. */
static void pad_same(struct window *w, int i, int upper)
{
	int64_t out = (w->in[i] + w->stride[i] - 1) / w->stride[i];

	divide_padding(w, i, (out - 1) * w->stride[i] + reach(w, i) - w->in[i], upper);
}

/* Does a pool count a last window that only begins inside? */
static int may_hang_over(const struct graph_node *n)
{
	return (operator_rows[n->op].task == TASK_POOL || node_is(n, OP_LpPool)) &&
	       node_int(n, "ceil_mode", 0);
}

int window_resolve(const struct graph *g, const struct graph_node *n, const struct shape *s,
		   const int64_t *kernel, struct window *w, struct err *e)
{
	const char *pad = node_str(n, "auto_pad", "NOTSET");

	*w = (struct window){.rank = s->rank - 2};
	for (int i = 0; i < w->rank; i++) {
		w->in[i] = s->dim[i + node_space(n)];
		w->kernel[i] = kernel[i];
		w->out[i] = DIM_UNKNOWN;
		if (read_axis(g, n, w, i, e))
			return -1;
		if (!strcmp(pad, "VALID"))
			w->before[i] = w->after[i] = 0;
		if (w->in[i] < 0 || w->kernel[i] < 0)
			continue;
		if (!strncmp(pad, "SAME_", 5))
			pad_same(w, i, !strcmp(pad, "SAME_UPPER"));
		w->out[i] = w->in[i] + w->before[i] + w->after[i] - reach(w, i);
		if (w->out[i] <= -(may_hang_over(n) ? w->stride[i] : 1))
			return err_set(
				e, "the node %s (%s) has a window of %lld over %lld padded inputs",
				node_label(g, n), n->type, (long long)reach(w, i),
				(long long)(w->in[i] + w->before[i] + w->after[i]));
		w->out[i] = w->out[i] / w->stride[i] + 1;
	}
	return 0;
}

/* Sizes of the kernel: the attribute, else those of the weights (NULL: there are none), else
 * unknown. */
static int kernel_sizes(const struct graph_node *n, const struct shape *weights, int rank,
			int64_t *k)
{
	const struct attr *a = node_attr(n, "kernel_shape");

	for (int i = 0; i < rank; i++) {
		k[i] = weights && weights->rank == rank + 2 ? weights->dim[i + 2] : DIM_UNKNOWN;
		if (a && a->nints != rank)
			return -1;
		if (a && k[i] >= 0 && a->ints[i] != k[i])
			return -1;
		if (a)
			k[i] = a->ints[i];
		if (k[i] < DIM_UNKNOWN || k[i] == 0 || (a && k[i] < 1))
			return -1;
	}
	return 0;
}

INFER(conv)
{
	const int nth = node_is(n, OP_QLinearConv) ? 3 : 1;
	const struct value *weights = node_in(x->g, n, nth);
	int64_t k[GRAPH_MAX_RANK], group = node_groups(x->g, n, nth);
	struct shape f;
	struct window w;
	int channel;

	if (!in || !weights)
		return infer_bad(x, n, e, "wants data and weights");
	if (in->shape.rank < 0)
		return 0;
	f = node_filter(n, &weights->shape);
	channel = node_channel(n, made->rank);
	if (made->rank < 3)
		return infer_bad(x, n, e, "wants data of three and more dimensions");
	if (f.rank >= 0 && f.rank != made->rank)
		return infer_bad(x, n, e, "has data of %d and weights of %d dimensions", made->rank,
				 f.rank);
	for (int i = 2; i < f.rank; i++)
		if (!f.dim[i])
			return infer_bad(x, n, e, "has a kernel of size 0");
	if (kernel_sizes(n, &f, made->rank - 2, k))
		return infer_bad(x, n, e, "has a kernel_shape that contradicts its weights");
	if (group < 1 || group > FAR)
		return infer_bad(x, n, e, "has %lld groups", (long long)group);
	made->dim[channel] = DIM_UNKNOWN;
	if (f.rank > 1) {
		int64_t ic = f.dim[1], oc = f.dim[0], got = in->shape.dim[channel];

		if (ic >= 0 && got >= 0 && ic * group != got)
			return infer_bad(x, n, e, "reads %lld channels, but its weights want %lld",
					 (long long)got, (long long)(ic * group));
		if (oc >= 0 && oc % group)
			return infer_bad(x, n, e, "makes %lld channels in %lld groups",
					 (long long)oc, (long long)group);
		made->dim[channel] = oc;
	}
	if (window_resolve(x->g, n, &in->shape, k, &w, e))
		return -1;
	memcpy(made->dim + node_space(n), w.out, sizeof *w.out * (size_t)w.rank);
	return 1;
}

/* The sizes that a transposed convolution is told to make, or NULL. */
static const int64_t *told_sizes(const struct graph *g, const struct graph_node *n, int rank)
{
	const int64_t *size;
	int count;

	/* They end the list, or, with the channels last, stand before its last entry. */
	if (infer_list(g, n, "output_shape", 3, &count, &size) != 1 ||
	    count < rank + n->channels_last)
		return NULL;
	return size + (count - rank - n->channels_last);
}

/* The output along dimension i, and the padding where that follows from it. told: the size to make,
 * or INT_UNKNOWN. -1: a negative size. */
static int transpose_axis(struct window *w, int i, int64_t more, int64_t told, const char *auto_pad)
{
	const int same = !strncmp(auto_pad, "SAME_", 5), is_told = told != INT_UNKNOWN;
	int64_t whole;

	w->out[i] = is_told ? told : DIM_UNKNOWN;
	if (w->out[i] < DIM_UNKNOWN || w->out[i] > INT32_MAX)
		return -1;
	if (w->in[i] < 0 || w->kernel[i] < 0 || told == DIM_UNKNOWN)
		return 0;
	whole = w->stride[i] * (w->in[i] - 1) + more + reach(w, i);
	if (!is_told)
		w->out[i] = !same			      ? whole - w->before[i] - w->after[i]
			    : w->in[i] * w->stride[i] < whole ? w->in[i] * w->stride[i]
							      : whole;
	if (w->out[i] < 0)
		return -1;
	if (is_told || same)
		divide_padding(w, i, whole - w->out[i], !strcmp(auto_pad, "SAME_UPPER"));
	return 0;
}

int window_transposed(const struct graph *g, const struct graph_node *n, const struct shape *s,
		      const int64_t *kernel, struct window *w, struct err *e)
{
	const int64_t *told = told_sizes(g, n, s->rank - 2);
	const char *auto_pad = node_str(n, "auto_pad", "NOTSET");

	*w = (struct window){.rank = s->rank - 2};
	for (int i = 0; i < w->rank; i++) {
		int64_t more;

		w->in[i] = s->dim[i + node_space(n)];
		w->kernel[i] = kernel[i];
		if (read_axis(g, n, w, i, e))
			return -1;
		if (entry(n, "output_padding", w->rank, i, 0, 0, &more))
			return bad_window(g, n, e);
		if (transpose_axis(w, i, more, told ? told[i] : INT_UNKNOWN, auto_pad))
			return err_set(e, "the node %s (%s) makes a negative size",
				       node_label(g, n), n->type);
	}
	return 0;
}

INFER(conv_transpose)
{
	const struct value *weights = node_in(x->g, n, 1);
	int64_t k[GRAPH_MAX_RANK], group = node_int(n, "group", 1);
	struct shape f;
	struct window w;

	if (in->shape.rank < 3 || weights->shape.rank != in->shape.rank)
		return in->shape.rank < 0 || weights->shape.rank < 0
			       ? 0
			       : infer_bad(x, n, e, "has data and weights that do not fit");
	f = node_filter(n, &weights->shape);
	if (kernel_sizes(n, &f, made->rank - 2, k) || group < 1 || group > FAR)
		return infer_bad(x, n, e, "has a kernel_shape or group that makes no sense");
	made->dim[node_channel(n, made->rank)] = f.dim[1] < 0 ? DIM_UNKNOWN : f.dim[1] * group;
	if (window_transposed(x->g, n, &in->shape, k, &w, e))
		return -1;
	memcpy(made->dim + node_space(n), w.out, sizeof *w.out * (size_t)w.rank);
	return 1;
}

/* With ceil_mode a last window may hang over the end, unless it would begin in the padding behind.
 */
static int64_t pooled(const struct window *w, int i)
{
	int64_t room = w->in[i] + w->before[i] + w->after[i] - reach(w, i);
	int64_t out = (room + w->stride[i] - 1) / w->stride[i] + 1;

	return (out - 1) * w->stride[i] >= w->in[i] + w->before[i] ? out - 1 : out;
}

INFER(pool)
{
	int64_t k[GRAPH_MAX_RANK];
	struct window w;

	if (made->rank < 3 || !node_attr(n, "kernel_shape") ||
	    kernel_sizes(n, NULL, made->rank - 2, k))
		return infer_bad(x, n, e, "has a kernel_shape that makes no sense");
	if (window_resolve(x->g, n, made, k, &w, e))
		return -1;
	for (int i = 0; i < w.rank; i++) {
		const int is_ceil = node_int(n, "ceil_mode", 0) != 0;

		made->dim[i + node_space(n)] = is_ceil && w.out[i] >= 0 ? pooled(&w, i) : w.out[i];
	}
	if (n->nout > 1 && node_out(x->g, n, 1)) {
		node_out(x->g, n, 1)->elem = VALUE_I64;
		node_out(x->g, n, 1)->quantized = 0;
	}
	return infer_set(x, n, 0, made, e) || infer_set(x, n, 1, made, e) ? -1 : 0;
}

/* The size of what MaxPool read, as far as its window tells; input 2 says it exactly. */
INFER(unpool)
{
	int64_t k[GRAPH_MAX_RANK];
	const int64_t *size;
	struct window w;
	int count, told;

	told = infer_list(x->g, n, NULL, 2, &count, &size);
	if (told < 0 || (told == 1 && count != made->rank))
		return infer_open(made, made->rank);
	if (made->rank < 3 || !node_attr(n, "kernel_shape") ||
	    kernel_sizes(n, NULL, made->rank - 2, k))
		return infer_bad(x, n, e, "has a kernel_shape that makes no sense");
	w = (struct window){.rank = made->rank - 2};
	for (int i = 0; i < made->rank; i++) {
		int64_t *d = &made->dim[i];

		if (told == 1) {
			*d = size[i] == INT_UNKNOWN ? DIM_UNKNOWN : size[i];
			continue;
		}
		if (i < 2)
			continue;
		w.kernel[i - 2] = k[i - 2];
		if (read_axis(x->g, n, &w, i - 2, e))
			return -1;
		if (*d > 0)
			*d = (*d - 1) * w.stride[i - 2] + k[i - 2] - w.before[i - 2] -
			     w.after[i - 2];
	}
	return 1;
}

INFER(global_pool)
{
	for (int i = 2; i < made->rank; i++)
		made->dim[i] = 1;
	return 1;
}
