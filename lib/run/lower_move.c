/* Operators that only move elements, or nothing: views. */
#include <string.h>

#include "lib/run/gather.h"
#include "lib/run/lower.h"

int lower_alias(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p;

	if (lower_get(l, n->in[0], &p, e))
		return -1;
	lower_put(l, n->out[0], &p);
	return 0;
}

int lower_reshape(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p, shape, to;

	if (lower_get(l, n->in[0], &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (place_count(&p) != place_count(&shape))
		return lower_bad(l, n, e, "has another number of elements than its input");
	if (!place_reshape(&p, shape.rank, shape.dim, &to)) {
		lower_dense(l, &p, NULL, node_label(l->g, n), &p);
		place_reshape(&p, shape.rank, shape.dim, &to);
	}
	lower_put(l, n->out[0], &to);
	return 0;
}

int lower_transpose(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct attr *perm = node_attr(n, "perm");
	struct place p, to;

	if (lower_get(l, n->in[0], &p, e))
		return -1;
	to = p;
	for (int i = 0; i < p.rank; i++) {
		int from = perm && perm->nints == p.rank ? (int)perm->ints[i] : p.rank - 1 - i;

		if (from < 0 || from >= p.rank)
			return lower_bad(l, n, e, "has a permutation that is none");
		to.dim[i] = p.dim[from];
		to.stride[i] = p.stride[from];
	}
	lower_put(l, n->out[0], &to);
	return 0;
}

/* Puts a view of input 0 as the output: count elements of a dimension from `first` on, `step`
 * apart.
 */
static void cut(struct place *p, int axis, int64_t first, int64_t step, int64_t count)
{
	p->at += first * p->stride[axis];
	p->stride[axis] *= step;
	p->dim[axis] = count;
}

int lower_slice(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int64_t *start, *end, *axes = NULL, *steps = NULL;
	int nstart, nend, naxes = 0, nsteps = 0;
	struct place p;

	if (lower_get(l, n->in[0], &p, e))
		return -1;
	if (infer_list(l->g, n, "starts", 1, &nstart, &start) != 1 ||
	    infer_list(l->g, n, "ends", 2, &nend, &end) != 1 || nstart != nend ||
	    infer_list(l->g, n, "axes", 3, &naxes, &axes) < 0 ||
	    infer_list(l->g, n, "steps", 4, &nsteps, &steps) < 0 || (axes && naxes != nstart) ||
	    (steps && nsteps != nstart))
		return lower_bad(l, n, e, "has bounds that are not known");
	for (int i = 0; i < nstart; i++) {
		int axis = axes ? infer_axis(axes[i], p.rank) : i;
		int64_t first, count, step = steps ? steps[i] : 1;

		if (axis < 0 || axis >= p.rank || step < 1)
			return lower_bad(l, n, e, "has an axis that is none, or runs backwards");
		infer_slice_range(p.dim[axis], start[i], end[i], step, &first, &count);
		if (count < 1)
			return lower_bad(l, n, e, "is empty");
		cut(&p, axis, first, step, count);
	}
	lower_put(l, n->out[0], &p);
	return 0;
}

int lower_split(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p;
	int axis;
	int64_t first = 0;

	if (lower_get(l, n->in[0], &p, e))
		return -1;
	axis = infer_axis(node_int(n, "axis", 0), p.rank);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	for (int i = 0; i < n->nout; i++) {
		struct place part = p, shape;

		if (n->out[i] < 0)
			return lower_bad(l, n, e, "leaves out a part");
		if (lower_shape(l, n->out[i], &shape, e))
			return -1;
		cut(&part, axis, first, 1, shape.dim[axis]);
		first += shape.dim[axis];
		lower_put(l, n->out[i], &part);
	}
	return 0;
}

int lower_expand(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p, shape, to;

	if (lower_get(l, n->in[0], &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (place_broadcast(&p, shape.rank, shape.dim, &to))
		return lower_bad(l, n, e, "does not fit its shape");
	lower_put(l, n->out[0], &to);
	return 0;
}

/* One index that is known: a view. */
static int pick(struct lowering *l, const struct graph_node *n, int axis, int64_t index,
		const struct place *from, struct err *e)
{
	struct place p = *from, shape, to;

	index += index < 0 ? p.dim[axis] : 0;
	if (index < 0 || index >= p.dim[axis])
		return lower_bad(l, n, e, "has an index that lies outside");
	cut(&p, axis, index, 1, 1);
	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (!place_reshape(&p, shape.rank, shape.dim, &to))
		return lower_bad(l, n, e, "has a shape that its input does not explain");
	lower_put(l, n->out[0], &to);
	return 0;
}

int lower_gather(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place data, index, to;
	struct place operand[GATHER_OPERANDS];
	struct gather *g = arena_new(l->p->a, struct gather);
	double known;
	int axis;

	if (lower_get(l, n->in[0], &data, e))
		return -1;
	axis = infer_axis(node_int(n, "axis", 0), data.rank);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	if (lower_number(l, n->in[1], &known))
		return pick(l, n, axis, (int64_t)known, &data, e);
	lower_dense(l, &data, NULL, node_label(l->g, n), &data);
	if (lower_get_dense(l, n->in[1], NULL, &index, e) || lower_shape(l, n->out[0], &to, e))
		return -1;
	lower_room(l, &to);
	*g = (struct gather){1, data.dim[axis], place_count(&index), 1};
	for (int i = 0; i < data.rank; i++)
		*(i < axis ? &g->outer : i > axis ? &g->inner : &(int64_t){0}) *= data.dim[i];
	operand[GATHER_DATA] = data;
	operand[GATHER_INDEX] = index;
	operand[GATHER_TO] = to;
	plan_plain(l->p, node_label(l->g, n), n->type,
		   &(struct plain){gather_run, g, "an index lies outside"}, operand,
		   GATHER_OPERANDS);
	lower_put(l, n->out[0], &to);
	return 0;
}

int lower_scatter(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct scatter *s = arena_new(l->p->a, struct scatter);
	struct place place[SCATTER_OPERANDS];
	struct place operand[SCATTER_OPERANDS];

	if (strcmp(node_str(n, "reduction", "none"), "none") != 0)
		return lower_bad(l, n, e, "reduces, which is not computed here");
	for (int i = SCATTER_DATA; i < SCATTER_TO; i++)
		if (lower_get_dense(l, n->in[i], NULL, &place[i], e))
			return -1;
	if (lower_shape(l, n->out[0], &place[SCATTER_TO], e))
		return -1;
	s->rank = (int)place[SCATTER_INDEX].dim[place[SCATTER_INDEX].rank - 1];
	if (place[SCATTER_INDEX].rank < 1 || s->rank < 1 || s->rank > place[SCATTER_DATA].rank)
		return lower_bad(l, n, e, "has indices that do not fit its data");
	s->rows = 1;
	for (int i = 0; i < s->rank; i++) {
		s->extent[i] = place[SCATTER_DATA].dim[i];
		s->rows *= s->extent[i];
	}
	s->inner = s->rows ? place_count(&place[SCATTER_DATA]) / s->rows : 0;
	s->count = place_count(&place[SCATTER_INDEX]) / s->rank;
	if (place_count(&place[SCATTER_UPDATES]) != s->count * s->inner)
		return lower_bad(l, n, e, "has updates that do not fit its indices");
	lower_room(l, &place[SCATTER_TO]);
	for (int i = 0; i < SCATTER_OPERANDS; i++)
		operand[i] = place[i];
	lower_put(l, n->out[0], &place[SCATTER_TO]);
	plan_plain(l->p, node_label(l->g, n), n->type,
		   &(struct plain){scatter_run, s, "an index lies outside"}, operand,
		   SCATTER_OPERANDS);
	return 0;
}

/* Each dimension is repeated: seen with a dimension of copies before it, which is a broadcast, it
 * is copied. */
int lower_tile(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p, wide = {0}, shape, to;

	if (lower_get(l, n->in[0], &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (p.rank != shape.rank || 2 * p.rank > PLACE_RANK)
		return lower_bad(l, n, e, "has more than %d dimensions", PLACE_RANK / 2);
	wide = p;
	wide.rank = 2 * p.rank;
	for (int i = 0; i < p.rank; i++) {
		wide.dim[2 * i] = p.dim[i] ? shape.dim[i] / p.dim[i] : 0;
		wide.stride[2 * i] = 0;
		wide.dim[2 * i + 1] = p.dim[i];
		wide.stride[2 * i + 1] = p.stride[i];
	}
	lower_dense(l, &wide, NULL, node_label(l->g, n), &wide);
	if (!place_reshape(&wide, shape.rank, shape.dim, &to))
		return lower_bad(l, n, e, "repeats in a way that its input does not explain");
	lower_put(l, n->out[0], &to);
	return 0;
}

/* Input 0 with other dimensions, then these in another order, then as the output's. */
static int rearrange(struct lowering *l, const struct graph_node *n, const int64_t *dim,
		     const int *perm, struct err *e)
{
	struct place p, split, turned, shape, to;

	if (lower_get_dense(l, n->in[0], NULL, &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (!place_reshape(&p, 6, dim, &split) || place_count(&split) != place_count(&shape))
		return lower_bad(l, n, e, "has a blocksize that does not divide its input");
	turned = split;
	for (int i = 0; i < 6; i++) {
		turned.dim[i] = split.dim[perm[i]];
		turned.stride[i] = split.stride[perm[i]];
	}
	lower_dense(l, &turned, NULL, node_label(l->g, n), &turned);
	if (!place_reshape(&turned, shape.rank, shape.dim, &to))
		return -1;
	lower_put(l, n->out[0], &to);
	return 0;
}

int lower_depth_to_space(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int64_t *d = l->g->value[n->in[0]]->shape.dim, b = node_int(n, "blocksize", 1);
	const int64_t depth = d[1] / (b * b);

	if (!strcmp(node_str(n, "mode", "DCR"), "CRD"))
		return rearrange(l, n, (int64_t[]){d[0], depth, b, b, d[2], d[3]},
				 (int[]){0, 1, 4, 2, 5, 3}, e);
	return rearrange(l, n, (int64_t[]){d[0], b, b, depth, d[2], d[3]},
			 (int[]){0, 3, 4, 1, 5, 2}, e);
}

int lower_space_to_depth(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int64_t *d = l->g->value[n->in[0]]->shape.dim, b = node_int(n, "blocksize", 1);

	return rearrange(l, n, (int64_t[]){d[0], d[1], d[2] / b, b, d[3] / b, b},
			 (int[]){0, 3, 5, 1, 2, 4}, e);
}

/* The frame is filled with the whole, and the input is put into its middle. */
int lower_pad(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct pointwise fill = {0};
	struct place from, to;
	const int64_t *pads;
	double with = (double)node_float(n, "value", 0);
	int npads, order[PLACE_RANK], all = 0;

	if (lower_is_pool_padding(l, n))
		return 0;
	if (lower_get(l, n->in[0], &from, e))
		return -1;
	if (strcmp(node_str(n, "mode", "constant"), "constant") != 0 || node_in(l->g, n, 3) ||
	    infer_list(l->g, n, "pads", 1, &npads, &pads) != 1 || npads != 2 * from.rank ||
	    (node_in(l->g, n, 2) && !lower_number(l, n->in[2], &with)))
		return lower_bad(l, n, e, "pads in a way that is not computed here");
	for (int i = 0; i < npads; i++) {
		if (pads[i] < 0)
			return lower_bad(l, n, e, "cuts instead of padding");
		all |= pads[i] != 0;
	}
	if (!all)
		return lower_alias(l, n, e);
	place_order(&from, order);
	if (lower_new(l, n->out[0], order, &to, e))
		return -1;
	fill.out = to;
	pointwise_const(&fill, with);
	lower_put(l, n->out[0], &to);
	if (lower_pointwise(l, &fill, node_label(l->g, n), n->type, e))
		return -1;
	for (int i = 0; i < from.rank; i++)
		cut(&to, i, pads[i], 1, from.dim[i]);
	plan_copy(l->p, node_label(l->g, n), &from, &to, 0);
	return 0;
}
