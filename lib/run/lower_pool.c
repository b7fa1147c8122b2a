/* Pooling. */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/pool.h"

/* An image whose channels are dense, and whose pixels, rows and images follow each other: with gaps
 * between pixels, if need be. */
static int is_image(const struct place *p)
{
	int64_t pixel = p->stride[3];

	return p->rank == 4 && p->stride[1] == 1 && pixel >= p->dim[1] &&
	       p->stride[2] == pixel * p->dim[3] &&
	       (p->dim[0] == 1 || p->stride[0] == p->stride[2] * p->dim[2]);
}

static int get_image(struct lowering *l, int value, struct place *out, struct err *e)
{
	int order[PLACE_RANK];

	if (lower_get(l, value, out, e))
		return -1;
	if (out->rank == 4 && is_image(out))
		return 0;
	order_channels_last(out->rank, order);
	return lower_dense(l, out, order, l->g->value[value]->name, out, e);
}

/* The step, from an image to where the output is wanted. */
static int emit(struct lowering *l, const struct graph_node *n, struct pool *p,
		const struct place *from, struct err *e)
{
	struct operand operand[2];
	struct place to;
	int order[PLACE_RANK];

	order_channels_last(4, order);
	if (lower_new(l, n->out[0], order, &to, e))
		return -1;
	if (!is_image(&to)) { /* it goes where it is wanted by a copy */
		place_dense(&to, 4, to.dim, order);
		lower_room(l, &to);
	}
	p->images = from->dim[0];
	p->channels = from->dim[1];
	p->in_pixel = from->stride[3];
	p->out_pixel = to.stride[3];
	operand[0] = operand_of(from);
	operand[1] = operand_of(&to);
	pool_nest(p, l->lanes, plan_nest(l->p, "pool"));
	lower_put(l, n->out[0], &to);
	return plan_kernel(l->p, node_label(l->g, n), n->type, operand, e) ? 0 : -1;
}

/* A Pad of zeros around the image, which the mean counts as elements: its own input, and how far it
 * goes on each side. */
static const struct graph_node *pad_before(const struct lowering *l, int value,
					   const int64_t **pads)
{
	const struct value *v = l->g->value[value];
	const struct graph_node *n = v->producer < 0 ? NULL : &l->g->node[v->producer];
	double with = 0;
	int npads;

	if (!n || !node_is(n, "Pad") || strcmp(node_str(n, "mode", "constant"), "constant") ||
	    node_in(l->g, n, 3) || (node_in(l->g, n, 2) && !lower_number(l, n->in[2], &with)) ||
	    with != 0 || node_float(n, "value", 0) != 0 || v->shape.rank != 4 ||
	    infer_list(l->g, n, "pads", 1, &npads, pads) != 1 || npads != 8)
		return NULL;
	for (int i = 0; i < 8; i++)
		if ((*pads)[i] < 0 || (i % 4 < 2 && (*pads)[i]))
			return NULL;
	return n;
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
	if (p.is_mean && !w.before[0] && !w.before[1] && !w.after[0] && !w.after[1])
		pad = pad_before(l, n->in[0], &pads);
	if (get_image(l, pad ? pad->in[0] : n->in[0], &from, e))
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
	if (get_image(l, n->in[0], &from, e))
		return -1;
	p.ih = p.kh = from.dim[2];
	p.iw = p.kw = from.dim[3];
	p.sh = p.sw = p.dh = p.dw = 1;
	return emit(l, n, &p, &from, e);
}
