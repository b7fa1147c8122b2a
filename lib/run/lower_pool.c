/* Pooling. */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/largest.h"
#include "lib/run/means.h"
#include "lib/run/pool.h"
#include "lib/run/windows.h"

/* The output of a pool over one dimension is an image of one row, of which the value is a view. */
static int put(struct lowering *l, const struct graph_node *n, const struct place *to,
	       struct err *e)
{
	struct place shape, seen = *to;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (shape.rank != to->rank && !place_reshape(to, shape.rank, shape.dim, &seen))
		return lower_bad(l, n, e, "has a shape that its input does not explain");
	lower_put(l, n->out[0], &seen);
	return 0;
}

/* A maximum in 8 bits. */
static void emit_bytes(struct lowering *l, const struct graph_node *n, const struct pool *p,
		       const struct place operand[2])
{
	struct largest *b = arena_new(l->p->a, struct largest);

	*b = (struct largest){.is_signed = operand[0].elem == ELEM_S8,
			      .images = p->images,
			      .channels = p->channels,
			      .in_pixel = p->in_pixel,
			      .out_pixel = p->out_pixel,
			      .in = {p->ih, p->iw},
			      .out = {p->oh, p->ow},
			      .kernel = {p->kh, p->kw},
			      .stride = {p->sh, p->sw},
			      .before = {p->ph, p->pw},
			      .dilation = {p->dh, p->dw}};
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){largest_run, b, NULL, 0, 1},
		   operand, 2);
}

/* The step, from an image to another one. */
static int add_step(struct lowering *l, const struct graph_node *n, struct pool *p,
		    const struct place *from, const struct place *to, struct err *e)
{
	const struct place operand[2] = {*from, *to};

	p->images = from->dim[0];
	p->channels = from->dim[1];
	p->in_pixel = from->stride[3];
	p->out_pixel = to->stride[3];
	p->in = from->elem;
	p->out = to->elem;
	if (elem_size(from->elem) == 1 && to->elem == from->elem && !p->is_mean) {
		emit_bytes(l, n, p, operand);
		return 0;
	}
	pool_nest(p, l->lanes, plan_nest(l->p, "pool"));
	return plan_kernel(l->p, node_label(l->g, n), n->type, operand, e) ? 0 : -1;
}

/* The step, from an image to where the output is wanted. bytes: the image holds whole numbers, and
 * the output stands for reals by the units of this expression; NULL: it does not. */
static int emit(struct lowering *l, const struct graph_node *n, struct pool *p,
		const struct place *from, const struct pointwise *bytes, struct err *e)
{
	const int out = n->out[0];
	const struct place *want = &l->want[out];
	const enum elem elem = want->memory >= 0 ? want->elem : l->elem[out];
	struct place to;

	if (lower_new_image(l, out, bytes ? from->elem : elem, &to, e) ||
	    (!bytes && put(l, n, &to, e)))
		return -1;
	if (bytes)
		lower_put_dequantized(l, out, bytes, &to);
	return add_step(l, n, p, from, &to, e);
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

	if (!node_is(pool, OP_AveragePool) || pads_itself(pool) || !n || !node_is(n, OP_Pad) ||
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

/* A window of one dimension as one of two. */
static void widen(struct window *w)
{
	if (w->rank != 1)
		return;
	w->rank = 2;
	w->in[1] = w->in[0];
	w->kernel[1] = w->kernel[0];
	w->stride[1] = w->stride[0];
	w->dilation[1] = w->dilation[0];
	w->before[1] = w->before[0];
	w->after[1] = w->after[0];
	w->in[0] = w->kernel[0] = w->stride[0] = w->dilation[0] = 1;
	w->before[0] = w->after[0] = 0;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Returns where the last of the windows ends, if all of them count as whole, as those of
 * onnxruntime's QLinearAveragePool do; else 0. ONNX's end where the padding does. */
static int64_t beyond(const struct graph_node *n, const struct window *w, int i, int64_t windows)
{
	if (!node_int(n, "whole_windows", 0))
		return 0;
	return (windows - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 -
	       w->before[i];
}

/* In plain C (windows.h); is_place: the indices of the maxima. */
static int lower_windows(struct lowering *l, const struct graph_node *n, const struct window *w,
			 int is_place, struct err *e)
{
	const struct shape *in = &node_in(l->g, n, 0)->shape;
	const struct shape *out = &node_out(l->g, n, is_place)->shape;
	struct windows *p = arena_new(l->p->a, struct windows);

	if (w->rank > WINDOWS_RANK)
		return lower_bad(l, n, e, "is a pool over more than %d dimensions", WINDOWS_RANK);
	if (is_place && lower_countable(l, n, shape_count(in), e))
		return -1;
	*p = (struct windows){.kind = is_place			   ? WINDOWS_PLACE
				      : node_is(n, OP_MaxPool)	   ? WINDOWS_MAX
				      : node_is(n, OP_AveragePool) ? WINDOWS_MEAN
								   : WINDOWS_NORM,
			      .rank = w->rank,
			      .images = in->dim[0] * in->dim[1],
			      .counts_padding = (int)node_int(n, "count_include_pad", 0),
			      .is_column_major = (int)node_int(n, "storage_order", 0),
			      .p = (double)node_int(n, "p", 2)};
	for (int i = 0; i < w->rank; i++) {
		p->in[i] = w->in[i];
		p->out[i] = out->dim[i + 2];
		p->kernel[i] = w->kernel[i];
		p->stride[i] = w->stride[i];
		p->dilation[i] = w->dilation[i];
		p->before[i] = w->before[i];
		p->after[i] = larger(w->after[i], beyond(n, w, i, p->out[i]) - p->in[i]);
	}
	return lower_plain(l, n, &(struct plain){windows_run, p, NULL}, 1, is_place, e);
}

/* An image that was dequantized. A maximum of it is the same of the whole numbers, and a mean is
 * that of the whole numbers in their units. NULL: it is none. */
static const struct pointwise *dequantized_image(const struct lowering *l, int value)
{
	const int64_t most = 1 << 24; /* pixels, of means.h */
	const struct pointwise *m = lower_dequantized(l, value);

	return m && m->in[0].rank == 4 && place_count(&m->in[0]) < most * m->in[0].dim[1] &&
			       place_same_shape(&m->in[0], &m->out)
		       ? m
		       : NULL;
}

static void get_bytes(struct lowering *l, const struct graph_node *n, const struct pointwise *bytes,
		      struct place *out)
{
	int order[PLACE_RANK];

	order_channels_last(4, order);
	lower_dense(l, &bytes->in[0], order, node_label(l->g, n), out);
}

/* The output is a mean of whole numbers in these units, and waits. */
static int put_mean(struct lowering *l, const struct graph_node *n, const struct units *u,
		    const struct place *mean, struct err *e)
{
	struct pointwise *m = arena_new(l->p->a, struct pointwise);
	struct place p;
	int x;

	if (lower_shape(l, n->out[0], &m->out, e))
		return -1;
	if (!place_reshape(mean, m->out.rank, m->out.dim, &p))
		return lower_bad(l, n, e, "has a shape that its input does not explain");
	x = pointwise_input(m, &p);
	x = pointwise_op(m, PW_SUB, x, pointwise_const(m, u->zero));
	pointwise_op(m, PW_MUL, x, pointwise_const(m, u->scale));
	l->waiting[n->out[0]] = m;
	return 0;
}

/* The mean of each channel of whole images that are dequantized. */
static int mean_bytes(struct lowering *l, const struct graph_node *n, const struct pointwise *bytes,
		      struct err *e)
{
	const struct units units = bytes->units;
	struct means *p = arena_new(l->p->a, struct means);
	struct place operand[2] = {{0}, {.rank = 4}};
	struct place *from = &operand[0], *to = &operand[1];
	int order[PLACE_RANK];

	get_bytes(l, n, bytes, from);
	order_channels_last(4, order);
	place_dense(to, 4, (int64_t[]){from->dim[0], from->dim[1], 1, 1}, order);
	lower_room(l, to);
	*p = (struct means){.is_signed = from->elem == ELEM_S8,
			    .images = from->dim[0],
			    .pixels = from->dim[2] * from->dim[3],
			    .channels = from->dim[1],
			    .in_pixel = from->dim[1]};
	plan_plain(l->p, node_label(l->g, n), n->type,
		   &(struct plain){.run = means_run, .with = p, .is_typed = 1}, operand, 2);
	return put_mean(l, n, &units, to, e);
}

/* One direction of a pool, vertical or horizontal, of so many elements. */
static void set_direction(struct pool *p, int is_row, const struct window *w, int axis, int64_t out)
{
	*(is_row ? &p->ih : &p->iw) = w->in[axis];
	*(is_row ? &p->oh : &p->ow) = out;
	*(is_row ? &p->kh : &p->kw) = w->kernel[axis];
	*(is_row ? &p->sh : &p->sw) = w->stride[axis];
	*(is_row ? &p->dh : &p->dw) = w->dilation[axis];
	*(is_row ? &p->ph : &p->pw) = w->before[axis];
	*(is_row ? &p->to_row : &p->to_column) = w->in[axis] + w->after[axis];
}

/* By a nest over images, of which `pad` makes the padding, if it is not NULL. */
static int lower_image_pool(struct lowering *l, const struct graph_node *n, const struct window *w,
			    const struct graph_node *pad, const int64_t *pads, struct err *e)
{
	struct pool p = {.is_mean = node_is(n, OP_AveragePool),
			 .counts_padding = (int)node_int(n, "count_include_pad", 0)};
	const struct shape *out = &node_out(l->g, n, 0)->shape;
	const struct pointwise *bytes = p.is_mean ? NULL : dequantized_image(l, n->in[0]);
	struct window with = *w;
	struct place from;

	if (bytes)
		get_bytes(l, n, bytes, &from);
	else if (lower_get_image_made(l, pad ? pad->in[0] : n->in[0], &from, e))
		return -1;
	for (int i = 0; i < 2; i++) {
		with.in[i] = from.dim[2 + i];
		with.before[i] = pad ? pads[2 + i] : w->before[i];
		with.after[i] = pad ? pads[6 + i] : w->after[i];
	}
	set_direction(&p, 1, &with, 0, out->rank == 4 ? out->dim[2] : 1);
	set_direction(&p, 0, &with, 1, out->dim[out->rank - 1]);
	p.counts_padding |= pad != NULL;
	p.to_row = larger(p.to_row, beyond(n, w, 0, p.oh));
	p.to_column = larger(p.to_column, beyond(n, w, 1, p.ow));
	return emit(l, n, &p, &from, bytes, e);
}

/* An image without gaps, channels last. */
static struct place image_of(const struct place *in, int64_t images, int64_t rows, int64_t columns)
{
	struct place p = {.memory = in->memory, .at = in->at, .elem = in->elem};
	int order[PLACE_RANK];

	order_channels_last(4, order);
	place_dense(&p, 4, (int64_t[]){images, in->dim[1], rows, columns}, order);
	return p;
}

/* Over volumes: over each plane, and then over depth, where the pixels of a plane are a row. A
 * maximum of maxima is one, and so is a mean of means of equally many elements: how many count in a
 * plane depends on the row and the column alone. */
static int lower_volume_pool(struct lowering *l, const struct graph_node *n, const struct window *w,
			     struct err *e)
{
	static const struct window flat = {
		.rank = 1, .in = {1}, .kernel = {1}, .stride = {1}, .dilation = {1}};
	const int64_t *out = node_out(l->g, n, 0)->shape.dim;
	struct pool plane = {.is_mean = node_is(n, OP_AveragePool),
			     .counts_padding = (int)node_int(n, "count_include_pad", 0)};
	struct pool depth = plane;
	struct place x, from, half, to, shape;
	int order[PLACE_RANK];

	order_channels_last(5, order);
	if (lower_get_made(l, n->in[0], &x, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	lower_dense_as(l, &x, order, x.elem, node_label(l->g, n), &x);
	from = image_of(&x, x.dim[0] * w->in[0], w->in[1], w->in[2]);
	half = image_of(&x, x.dim[0] * w->in[0], out[3], out[4]);
	lower_room_as(l, &half, x.elem);
	set_direction(&plane, 1, w, 1, out[3]);
	set_direction(&plane, 0, w, 2, out[4]);
	if (add_step(l, n, &plane, &from, &half, e))
		return -1;
	place_dense(&shape, 5, shape.dim, order);
	lower_room_as(l, &shape, l->elem[n->out[0]]);
	from = image_of(&half, x.dim[0], w->in[0], out[3] * out[4]);
	to = image_of(&shape, x.dim[0], out[2], out[3] * out[4]);
	set_direction(&depth, 1, w, 0, out[2]);
	set_direction(&depth, 0, &flat, 0, out[3] * out[4]);
	depth.iw = depth.to_column = depth.ow;
	lower_put(l, n->out[0], &shape);
	return add_step(l, n, &depth, &from, &to, e);
}

int lower_pool(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct attr *kernel = node_attr(n, "kernel_shape");
	const struct value *in = node_in(l->g, n, 0), *place = node_out(l->g, n, 1);
	const struct graph_node *pad = NULL;
	const int64_t *pads = NULL;
	struct window w;

	if (!kernel || kernel->nints != in->shape.rank - 2)
		return lower_bad(l, n, e, "has a kernel_shape that does not fit its input");
	if (window_resolve(l->g, n, &in->shape, kernel->ints, &w, e))
		return -1;
	if (value_is_read(place) && lower_windows(l, n, &w, 1, e))
		return -1;
	if (w.rank == 3 && !node_is(n, OP_LpPool) && !node_int(n, "whole_windows", 0))
		return lower_volume_pool(l, n, &w, e);
	if (w.rank > 2 || node_is(n, OP_LpPool))
		return lower_windows(l, n, &w, 0, e);
	widen(&w);
	pad = lower_pad_of(l, n, &pads);
	return lower_image_pool(l, n, &w, pad, pads, e);
}

static void cover(struct pool *p, const struct place *from)
{
	p->ih = p->kh = from->dim[2];
	p->iw = p->kw = from->dim[3];
	p->sh = p->sw = p->dh = p->dw = p->oh = p->ow = 1;
}

/* Over other dimensions than those of images it is a reduction. */
int lower_global_pool(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct pool p = {.is_mean = node_is(n, OP_GlobalAveragePool)};
	const int rank = node_in(l->g, n, 0)->shape.rank;
	const struct pointwise *bytes = dequantized_image(l, n->in[0]);
	unsigned char marked[PLACE_RANK] = {0};
	struct place from;

	if (rank < 3 || rank > PLACE_RANK)
		return lower_bad(l, n, e, "is no pool over an image");
	for (int i = 2; i < rank; i++)
		marked[i] = 1;
	if (rank != 4 || node_is(n, OP_GlobalLpPool))
		return lower_reduce_marked(l, n, marked, e);
	if (bytes && p.is_mean)
		return mean_bytes(l, n, bytes, e);
	if (bytes)
		get_bytes(l, n, bytes, &from);
	else if (lower_get_image_made(l, n->in[0], &from, e))
		return -1;
	cover(&p, &from);
	return emit(l, n, &p, &from, bytes, e);
}

/* Do the elements of an image lie with their channels last, as far as that is known? */
static int has_channels_last(const struct lowering *l, int value)
{
	const struct pointwise *m = l->waiting[value];
	const struct place *p = &l->place[value];

	for (int i = 0; m && p == &l->place[value] && i < m->nin; i++)
		if (!place_repeats(&m->in[i]))
			p = &m->in[i];
	return p->memory >= 0 && p->rank == 4 && p->dim[1] > 1 && p->stride[1] == 1;
}

int lower_is_image_mean(const struct lowering *l, const struct graph_node *n,
			const unsigned char *marked)
{
	const struct value *in = l->g->value[n->in[0]];

	return node_is(n, OP_ReduceMean) && in->shape.rank == 4 && shape_count(&in->shape) &&
	       !marked[0] && !marked[1] && marked[2] && marked[3] && !elem_is_int(in->elem) &&
	       has_channels_last(l, n->in[0]);
}

int lower_image_mean(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct pointwise *bytes = dequantized_image(l, n->in[0]);
	struct place from, to = {.rank = 4};
	struct pool p = {.is_mean = 1};
	int order[PLACE_RANK];

	if (bytes)
		return mean_bytes(l, n, bytes, e);
	if (lower_get_image_made(l, n->in[0], &from, e))
		return -1;
	cover(&p, &from);
	order_channels_last(4, order);
	place_dense(&to, 4, (int64_t[]){from.dim[0], from.dim[1], 1, 1}, order);
	lower_room_as(l, &to, l->elem[n->out[0]]);
	return add_step(l, n, &p, &from, &to, e) || put(l, n, &to, e) ? -1 : 0;
}
