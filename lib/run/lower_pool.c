/* Pooling. */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/pool.h"

/* The step, from an image to where the output is wanted. */
static int emit(struct lowering *l, const struct graph_node *n, struct pool *p,
		const struct place *from, struct err *e)
{
	struct place operand[2];
	struct place to;

	if (lower_new_image(l, n->out[0], &to, e))
		return -1;
	p->images = from->dim[0];
	p->channels = from->dim[1];
	p->in_pixel = from->stride[3];
	p->out_pixel = to.stride[3];
	operand[0] = *from;
	operand[1] = to;
	pool_nest(p, l->lanes, plan_nest(l->p, "pool"));
	lower_put(l, n->out[0], &to);
	return plan_kernel(l->p, node_label(l->g, n), n->type, operand, e) ? 0 : -1;
}

static int pads_itself(const struct graph_node *n)
{
	const struct attr *a = node_attr(n, "pads");

	for (int i = 0; a && i < a->nints; i++)
		if (a->ints[i])
			return 1;
	return !strncmp(node_str(n, "auto_pad", "NOTSET"), "SAME_", 5);
}

const struct graph_node *lower_pad_of(const struct lowering *l, const struct graph_node *pool,
				      const int64_t **pads)
{
	const struct value *v = node_in(l->g, pool, 0);
	const struct graph_node *n = !v || v->producer < 0 ? NULL : &l->g->node[v->producer];
	double with = 0;
	int npads;

	if (!node_is(pool, "AveragePool") || pads_itself(pool) || !n || !node_is(n, "Pad") ||
	    strcmp(node_str(n, "mode", "constant"), "constant") || node_in(l->g, n, 3) ||
	    (node_in(l->g, n, 2) && !lower_number(l, n->in[2], &with)) || with != 0 ||
	    node_float(n, "value", 0) != 0 || v->shape.rank != 4 ||
	    infer_list(l->g, n, "pads", 1, &npads, pads) != 1 || npads != 8)
		return NULL;
	for (int i = 0; i < 8; i++)
		if ((*pads)[i] < 0 || (i % 4 < 2 && (*pads)[i]))
			return NULL;
	return n;
}

int lower_is_pool_padding(const struct lowering *l, const struct graph_node *pad)
{
	const struct value *v = node_out(l->g, pad, 0);
	const int64_t *pads;
	int readers = 0;

	if (!v || v->is_output)
		return 0;
	for (int i = 0; i < l->g->nnode; i++)
		readers += lower_pad_of(l, &l->g->node[i], &pads) == pad;
	return readers == v->uses;
}

int lower_pool(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct attr *kernel = node_attr(n, "kernel_shape");
	struct pool p = {.is_mean = node_is(n, "AveragePool"),
			 .counts_padding = (int)node_int(n, "count_include_pad", 0)};
	struct value *in = node_in(l->g, n, 0), *out = node_out(l->g, n, 0);
	const struct graph_node *pad = NULL;
	const int64_t *pads = NULL;
	struct place from;
	struct window w;

	if (!kernel || kernel->nints != 2 || in->shape.rank != 4)
		return lower_bad(l, n, e, "is no pool over the two dimensions of images");
	if (node_out(l->g, n, 1) && node_out(l->g, n, 1)->uses)
		return lower_bad(l, n, e, "gives indices, too, which are not computed here");
	if (window_resolve(l->g, n, &in->shape, kernel->ints, &w, e))
		return -1;
	p.counts_padding &= w.before[0] || w.before[1] || w.after[0] || w.after[1];
	pad = lower_pad_of(l, n, &pads);
	if (lower_get_image(l, pad ? pad->in[0] : n->in[0], &from, e))
		return -1;
	p.ih = from.dim[2];
	p.iw = from.dim[3];
	p.oh = out->shape.dim[2];
	p.ow = out->shape.dim[3];
	p.kh = w.kernel[0];
	p.kw = w.kernel[1];
	p.sh = w.stride[0];
	p.sw = w.stride[1];
	p.dh = w.dilation[0];
	p.dw = w.dilation[1];
	p.ph = pad ? pads[2] : w.before[0];
	p.pw = pad ? pads[3] : w.before[1];
	if (pad)
		p.counts_padding = 1;
	return emit(l, n, &p, &from, e);
}

int lower_global_pool(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct pool p = {.is_mean = node_is(n, "GlobalAveragePool"), .oh = 1, .ow = 1};
	struct place from;

	if (node_in(l->g, n, 0)->shape.rank != 4)
		return lower_bad(l, n, e, "is no pool over the two dimensions of images");
	if (lower_get_image(l, n->in[0], &from, e))
		return -1;
	p.ih = p.kh = from.dim[2];
	p.iw = p.kw = from.dim[3];
	p.sh = p.sw = p.dh = p.dw = 1;
	return emit(l, n, &p, &from, e);
}
