/* Operators that only move elements, or nothing: views. */
#include <string.h>

#include "lib/run/gather.h"
#include "lib/run/lower.h"

/* Where the elements of input 0 are, for a view of them: those of 8 bits, where it is dequantized
 * from some. */
static int seen(struct lowering *l, const struct graph_node *n, struct place *out, struct err *e)
{
	const struct pointwise *m = n->in[0] < 0 ? NULL : lower_dequantized(l, n->in[0]);

	if (!m)
		return lower_get_made(l, n->in[0], out, e);
	*out = m->in[0];
	return 0;
}

/* Makes a view of seen() an output. */
static void put_view(struct lowering *l, const struct graph_node *n, int value,
		     const struct place *p)
{
	const struct pointwise *m = lower_dequantized(l, n->in[0]);

	if (m)
		lower_put_dequantized(l, value, m, p);
	else
		lower_put(l, value, p);
}

int lower_alias(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p;

	if (seen(l, n, &p, e))
		return -1;
	put_view(l, n, n->out[0], &p);
	return 0;
}

/* The elements of a place with other dimensions, as many: a view, or a copy that changes the order
 * in memory as little as it can. */
static void reshape(struct lowering *l, const struct graph_node *n, const struct place *from,
		    int rank, const int64_t *dim, struct place *out)
{
	int order[PLACE_RANK];
	struct place p;

	if (place_reshape(from, rank, dim, out))
		return;
	place_reshape_order(from, rank, dim, order);
	lower_dense(l, from, order, node_label(l->g, n), &p);
	place_reshape(&p, rank, dim, out);
}

int lower_reshape(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p, shape, to;

	if (seen(l, n, &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (place_count(&p) != place_count(&shape))
		return lower_bad(l, n, e, "has another number of elements than its input");
	reshape(l, n, &p, shape.rank, shape.dim, &to);
	put_view(l, n, n->out[0], &to);
	return 0;
}

int lower_transpose(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct attr *perm = node_attr(n, "perm");
	struct place p, to;

	if (seen(l, n, &p, e))
		return -1;
	to = p;
	for (int i = 0; i < p.rank; i++) {
		int from = perm && perm->nints == p.rank ? (int)perm->ints[i] : p.rank - 1 - i;

		if (from < 0 || from >= p.rank)
			return lower_bad(l, n, e, "has a permutation that is none");
		to.dim[i] = p.dim[from];
		to.stride[i] = p.stride[from];
	}
	put_view(l, n, n->out[0], &to);
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
	int nstart, nend, naxes = 0, nsteps = 0, backwards = 0;
	int64_t first[PLACE_RANK] = {0}, step[PLACE_RANK];
	struct place p, shape;

	if (seen(l, n, &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (infer_list(l->g, n, "starts", 1, &nstart, &start) != 1 ||
	    infer_list(l->g, n, "ends", 2, &nend, &end) != 1 || nstart != nend ||
	    infer_list(l->g, n, "axes", 3, &naxes, &axes) < 0 ||
	    infer_list(l->g, n, "steps", 4, &nsteps, &steps) < 0 || (axes && naxes != nstart) ||
	    (steps && nsteps != nstart))
		return lower_bad(l, n, e, "has bounds that are not known");
	for (int i = 0; i < p.rank; i++)
		step[i] = 1;
	for (int i = 0; i < nstart; i++) {
		int axis = axes ? infer_axis(axes[i], p.rank) : i;
		int64_t count, by = steps ? steps[i] : 1;

		if (axis < 0 || axis >= p.rank || !by)
			return lower_bad(l, n, e, "has an axis that is none, or a step of 0");
		infer_slice_range(p.dim[axis], start[i], end[i], by, &first[axis], &count);
		if (count < 1)
			return lower_bad(l, n, e, "is empty");
		step[axis] = by;
		backwards |= by < 0;
	}
	if (backwards)
		return lower_get(l, n->in[0], &p, e) ? -1
						     : lower_slice_picks(l, n, &p, first, step, e);
	for (int i = 0; i < p.rank; i++)
		cut(&p, i, first[i], step[i], shape.dim[i]);
	put_view(l, n, n->out[0], &p);
	return 0;
}

int lower_split(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p;
	int axis;
	int64_t first = 0;

	if (seen(l, n, &p, e))
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
		put_view(l, n, n->out[i], &part);
	}
	if (first < p.dim[axis] && (node_attr(n, "split") || node_in(l->g, n, 1)))
		return lower_bad(l, n, e, "splits %lld into parts of %lld in all",
				 (long long)p.dim[axis], (long long)first);
	return 0;
}

int lower_expand(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p, shape, to;

	if (seen(l, n, &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (place_broadcast(&p, shape.rank, shape.dim, &to))
		return lower_bad(l, n, e, "does not fit its shape");
	put_view(l, n, n->out[0], &to);
	return 0;
}

/* One index that is known: a view. */
static int pick(struct lowering *l, const struct graph_node *n, int axis, int64_t index,
		struct err *e)
{
	struct place p, shape, to;

	if (seen(l, n, &p, e))
		return -1;
	index += index < 0 ? p.dim[axis] : 0;
	if (index < 0 || index >= p.dim[axis])
		return lower_bad(l, n, e, "has an index that lies outside");
	cut(&p, axis, index, 1, 1);
	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (!place_reshape(&p, shape.rank, shape.dim, &to))
		return lower_bad(l, n, e, "has a shape that its input does not explain");
	put_view(l, n, n->out[0], &to);
	return 0;
}

int lower_gather(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place data, index, to;
	struct place operand[GATHER_OPERANDS];
	struct gather *g = arena_new(l->p->a, struct gather);
	double known;
	int axis;

	if (lower_shape(l, n->in[0], &data, e))
		return -1;
	axis = infer_axis(node_int(n, "axis", 0), data.rank);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	if (lower_number(l, n->in[1], &known))
		return pick(l, n, axis, (int64_t)known, e);
	if (lower_get(l, n->in[0], &data, e))
		return -1;
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

/* Repeats as many of the dimensions as there are places for, from the first that differs from `to`
 * on. A dimension that is repeated is seen with a dimension of copies before it, which is a
 * broadcast, and that is copied. A dimension of one is a broadcast itself. 0: there is no place. */
static int tile_some(struct lowering *l, const struct graph_node *n, struct place *p,
		     const int64_t *to)
{
	struct place wide = *p, dense;
	int64_t dim[PLACE_RANK];
	int left = PLACE_RANK - p->rank, done = 0;

	wide.rank = 0;
	for (int i = 0; i < p->rank; i++) {
		const int is_pair = p->dim[i] > 1 && to[i] != p->dim[i];
		const int is_done = p->dim[i] != to[i] && (!is_pair || left > 0);

		dim[i] = is_done ? to[i] : p->dim[i];
		if (is_pair && is_done) {
			wide.dim[wide.rank] = to[i] / p->dim[i];
			wide.stride[wide.rank++] = 0;
			left--;
		}
		wide.dim[wide.rank] = is_pair ? p->dim[i] : dim[i];
		wide.stride[wide.rank++] = p->dim[i] == 1 ? 0 : p->stride[i];
		done += is_done;
	}
	lower_dense(l, &wide, NULL, node_label(l->g, n), &dense);
	return done && place_reshape(&dense, p->rank, dim, p);
}

int lower_tile(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place p, shape;

	if (lower_get(l, n->in[0], &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (p.rank != shape.rank)
		return lower_bad(l, n, e, "repeats in a way that its input does not explain");
	while (memcmp(p.dim, shape.dim, (size_t)p.rank * sizeof *p.dim) != 0)
		if (!tile_some(l, n, &p, shape.dim))
			return lower_bad(l, n, e, "has more than %d dimensions", PLACE_RANK - 1);
	lower_put(l, n->out[0], &p);
	return 0;
}

/* Input 0 with other dimensions, then these in another order, then as the output's. */
static int rearrange(struct lowering *l, const struct graph_node *n, const int64_t *dim,
		     const int *perm, struct err *e)
{
	struct place p, split, turned, shape, to;
	int64_t count = 1;

	if (lower_get(l, n->in[0], &p, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	for (int i = 0; i < 6; i++)
		count *= dim[i];
	if (count != place_count(&p) || count != place_count(&shape))
		return lower_bad(l, n, e, "has a blocksize that does not divide its input");
	reshape(l, n, &p, 6, dim, &split);
	turned = split;
	for (int i = 0; i < 6; i++) {
		turned.dim[i] = split.dim[perm[i]];
		turned.stride[i] = split.stride[perm[i]];
	}
	reshape(l, n, &turned, shape.rank, shape.dim, &to);
	lower_put(l, n->out[0], &to);
	return 0;
}

/* The channels of a block: column, row and depth in that order, or the other way round. -1: neither
 * of both. */
static int is_depth_first(const struct graph_node *n)
{
	const char *mode = node_str(n, "mode", "DCR");

	return !strcmp(mode, "CRD") ? 1 : !strcmp(mode, "DCR") ? 0 : -1;
}

int lower_depth_to_space(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int64_t *d = l->g->value[n->in[0]]->shape.dim, b = node_int(n, "blocksize", 1);
	const int64_t depth = d[1] / (b * b);
	const int order = is_depth_first(n);

	if (order < 0)
		return lower_bad(l, n, e, "has a mode that is none");
	if (order)
		return rearrange(l, n, (int64_t[]){d[0], depth, b, b, d[2], d[3]},
				 (int[]){0, 1, 4, 2, 5, 3}, e);
	return rearrange(l, n, (int64_t[]){d[0], b, b, depth, d[2], d[3]},
			 (int[]){0, 3, 4, 1, 5, 2}, e);
}

int lower_space_to_depth(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int64_t *d = l->g->value[n->in[0]]->shape.dim, b = node_int(n, "blocksize", 1);
	const int order = is_depth_first(n);

	if (order < 0)
		return lower_bad(l, n, e, "has a mode that is none");
	return rearrange(l, n, (int64_t[]){d[0], d[1], d[2] / b, b, d[3] / b, b},
			 order ? (int[]){0, 1, 3, 5, 2, 4} : (int[]){0, 3, 5, 1, 2, 4}, e);
}

/* How much a Pad adds before and behind each dimension. */
static int read_pads(const struct lowering *l, const struct graph_node *n, int rank,
		     int64_t *before, int64_t *after)
{
	const int64_t *pads, *axes = NULL;
	int npads, naxes = rank;

	if (infer_list(l->g, n, node_attr(n, "paddings") ? "paddings" : "pads", 1, &npads, &pads) !=
		    1 ||
	    infer_list(l->g, n, NULL, 3, &naxes, &axes) < 0)
		return -1;
	naxes = axes ? naxes : rank;
	if (npads != 2 * naxes)
		return -1;
	for (int i = 0; i < rank; i++)
		before[i] = after[i] = 0;
	for (int i = 0; i < naxes; i++) {
		const int axis = axes ? infer_axis(axes[i], rank) : i;

		if (axis < 0)
			return -1;
		before[axis] = pads[i];
		after[axis] = pads[i + naxes];
	}
	return 0;
}

/* A Pad puts this number around. It is known, or the graph computes it. */
struct margin {
	double number;
	int value; /* the graph's; -1: it is the number */
};

static int margin_of(const struct lowering *l, const struct graph_node *n, struct margin *m)
{
	*m = (struct margin){(double)node_float(n, "value", 0), -1};
	if (node_in(l->g, n, 2) && !lower_number(l, n->in[2], &m->number))
		m->value = n->in[2];
	return m->value >= 0;
}

/* The whole is filled with what is around, and the input is put into its middle. */
static int frame(struct lowering *l, const struct graph_node *n, const struct place *from,
		 const int64_t *before, const struct margin *with, struct err *e)
{
	struct pointwise fill = {0};
	struct place to, number;
	int order[PLACE_RANK];

	place_order(from, order);
	if ((with->value >= 0 && lower_get(l, with->value, &number, e)) ||
	    lower_new(l, n->out[0], order, &to, e))
		return -1;
	fill.out = to;
	if (with->value < 0)
		pointwise_const(&fill, with->number);
	else if (place_broadcast(&number, to.rank, to.dim, &number) < 0)
		return lower_bad(l, n, e, "pads by several numbers");
	else
		pointwise_input(&fill, &number);
	lower_put(l, n->out[0], &to);
	if (lower_pointwise(l, &fill, node_label(l->g, n), n->type, e))
		return -1;
	for (int i = 0; i < from->rank; i++)
		cut(&to, i, before[i], 1, from->dim[i]);
	plan_copy(l->p, node_label(l->g, n), from, &to, 0);
	return 0;
}

int lower_pad(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int is_constant = !strcmp(node_str(n, "mode", "constant"), "constant");
	int64_t before[PLACE_RANK], after[PLACE_RANK];
	struct margin with = {0, -1};
	int some = 0, cuts = 0;
	struct place from;

	if (lower_is_pool_padding(l, n))
		return 0;
	if (lower_get(l, n->in[0], &from, e))
		return -1;
	if (read_pads(l, n, from.rank, before, after))
		return lower_bad(l, n, e, "has pads or axes that are not known");
	for (int i = 0; i < from.rank; i++) {
		some |= before[i] || after[i];
		cuts |= before[i] < 0 || after[i] < 0;
	}
	if (!some)
		return lower_alias(l, n, e);
	if (is_constant && margin_of(l, n, &with) && cuts)
		return lower_bad(l, n, e, "cuts, and pads by a number that is not known");
	if (is_constant && !cuts)
		return frame(l, n, &from, before, &with, e);
	return lower_pad_picks(l, n, &from, before, with.number, e);
}
