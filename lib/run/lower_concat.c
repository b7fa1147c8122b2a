/* Concatenations. Before anything is lowered each gets its memory, and its parts a place there that
 * they are to be made in. The last ones come first: a concatenation whose parts are neighbours in a
 * later one is a view of that. In DenseNet (Huang et al., CVPR 2017) all of a block's are views of
 * its last one, and nothing is moved at all. A value whose parts by a Split or by Slices are
 * neighbours in a concatenation is made there as a whole.
 */
#include <string.h>

#include "lib/run/constants.h"
#include "lib/run/lower.h"

/* Part of a place along an axis, of the value's size there. */
static int part_of(const struct lowering *l, const struct place *whole, int axis, int64_t first,
		   int value, struct place *out, struct err *e)
{
	struct place shape;

	if (lower_shape(l, value, &shape, e))
		return -1;
	*out = *whole;
	out->at += first * whole->stride[axis];
	out->dim[axis] = shape.dim[axis];
	return 0;
}

static int axis_of(const struct lowering *l, const struct graph_node *n)
{
	return infer_axis(node_int(n, "axis", 1), l->g->value[n->out[0]]->shape.rank);
}

/* Where the parts are wanted already, if that is one place for them all. */
static int is_view(const struct lowering *l, const struct graph_node *n, int axis,
		   struct place *out)
{
	struct place whole = {0};

	for (int i = 0; i < n->nin; i++) {
		const struct place *p = n->in[i] < 0 ? NULL : &l->want[n->in[i]];

		if (!p || p->memory < 0)
			return 0;
		if (!i) {
			whole = *p;
			continue;
		}
		if (p->memory != whole.memory || p->rank != whole.rank ||
		    p->at != whole.at + whole.dim[axis] * whole.stride[axis] ||
		    memcmp(p->stride, whole.stride, sizeof p->stride[0] * (size_t)p->rank) != 0)
			return 0;
		whole.dim[axis] += p->dim[axis];
	}
	*out = whole;
	return 1;
}

/* Is a value of four dimensions an image, by the first node above it that tells? 1; 0; -1: none
 * tells. */
static int is_image(const struct lowering *l, int value)
{
	const struct graph *g = l->g;

	while (value >= 0 && g->value[value]->producer >= 0) {
		const struct graph_node *n = &g->node[g->value[value]->producer];

		switch (n->op) {
		case OP_AveragePool:
		case OP_BatchNormalization:
		case OP_Conv:
		case OP_ConvTranspose:
		case OP_GlobalAveragePool:
		case OP_MaxPool:
		case OP_QLinearConv:
		case OP_Resize:
			return 1;
		case OP_LayerNormalization:
		case OP_MatMul:
		case OP_Reshape:
		case OP_Softmax:
		case OP_Transpose:
			return 0;
		default:
			value = n->nin ? n->in[0] : -1;
		}
	}
	return -1;
}

/* One part that is an image makes the whole one. Where no part is known, it is one, too. */
static int are_images(const struct lowering *l, const struct graph_node *n)
{
	int some_other = 0;

	for (int i = 0; i < n->nin; i++) {
		const int is = is_image(l, n->in[i]);

		if (is > 0)
			return 1;
		some_other |= !is;
	}
	return !some_other;
}

/* Images keep their channels last. */
static int new_whole(struct lowering *l, const struct graph_node *n, struct place *out,
		     struct err *e)
{
	int order[PLACE_RANK];

	if (lower_shape(l, n->out[0], out, e))
		return -1;
	if (out->rank == 4 && l->ntasks && are_images(l, n)) {
		order_channels_last(out->rank, order);
		place_dense(out, out->rank, out->dim, order);
	}
	lower_room_as(l, out, l->elem[n->out[0]]);
	return 0;
}

/* What other nodes make, and make as their own. */
static int may_want(const struct lowering *l, int value)
{
	const struct value *v = l->g->value[value];
	static const enum node_op views[] = {OP_Reshape,   OP_Flatten, OP_Transpose, OP_Squeeze,
					     OP_Unsqueeze, OP_Slice,   OP_Split,     OP_Identity,
					     OP_Dropout,   OP_Expand,  OP_Cast};

	if (l->want[value].memory >= 0 || v->is_const || v->is_input || v->producer < 0)
		return 0;
	for (size_t i = 0; i < sizeof views / sizeof *views; i++)
		if (node_is(&l->g->node[v->producer], views[i]))
			return 0;
	return 1;
}

/* Where along the axis this output of a Split begins. */
static int64_t split_at(const struct lowering *l, const struct graph_node *n, int value, int axis)
{
	int64_t first = 0;

	for (int i = 0; i < n->nout && n->out[i] != value; i++)
		first += n->out[i] < 0 ? 0 : l->g->value[n->out[i]]->shape.dim[axis];
	return first;
}

/* Where along the axis a Slice begins that leaves out nothing along others; -1: it is no such one.
 */
static int64_t slice_at(const struct lowering *l, const struct graph_node *n, int axis)
{
	const struct shape *from = &l->g->value[n->in[0]]->shape;
	const struct shape *to = &l->g->value[n->out[0]]->shape;
	const int64_t *start, *end, *axes = NULL, *steps = NULL;
	int nstart, nend, naxes = 0, nsteps = 0;
	int64_t first = 0, count;

	if (infer_list(l->g, n, "starts", 1, &nstart, &start) != 1 ||
	    infer_list(l->g, n, "ends", 2, &nend, &end) != 1 || nstart != nend ||
	    infer_list(l->g, n, "axes", 3, &naxes, &axes) < 0 ||
	    infer_list(l->g, n, "steps", 4, &nsteps, &steps) < 0 || (axes && naxes != nstart) ||
	    (steps && nsteps != nstart))
		return -1;
	for (int i = 0; i < nstart; i++) {
		if (steps && steps[i] != 1)
			return -1;
		if ((axes ? infer_axis(axes[i], from->rank) : i) == axis)
			infer_slice_range(from->dim[axis], start[i], end[i], 1, &first, &count);
	}
	for (int i = 0; i < from->rank; i++)
		if (i != axis && from->dim[i] != to->dim[i])
			return -1;
	return first;
}

/* The value that this one is cut out of along the axis, and where it begins there; -1: none. */
static int cut_from(const struct lowering *l, int value, int axis, int64_t *first)
{
	const struct graph *g = l->g;
	const struct graph_node *n;

	if (value < 0 || g->value[value]->producer < 0)
		return -1;
	n = &g->node[g->value[value]->producer];
	*first = -1;
	if (node_is(n, OP_Split) &&
	    infer_axis(node_int(n, "axis", 0), g->value[value]->shape.rank) == axis)
		*first = split_at(l, n, value, axis);
	else if (node_is(n, OP_Slice))
		*first = slice_at(l, n, axis);
	return *first < 0 ? -1 : n->in[0];
}

/* The value that part i and those behind it are all of, cut along the axis; -1: there is none. In
 * YOLO's C2f blocks (Jocher et al., 2023), each half of the first convolution's channels is a part
 * of the concatenation. */
static int cut_whole(const struct lowering *l, const struct graph_node *n, int axis, int i)
{
	int64_t first, next = 0;
	const int whole = cut_from(l, n->in[i], axis, &first);

	if (whole < 0)
		return -1;
	while (i < n->nin && cut_from(l, n->in[i], axis, &first) == whole && first == next)
		next += l->g->value[n->in[i++]]->shape.dim[axis];
	return next == l->g->value[whole]->shape.dim[axis] ? whole : -1;
}

static int plan(struct lowering *l, int node, struct err *e)
{
	const struct graph_node *n = &l->g->node[node];
	struct place whole, part;
	int axis = axis_of(l, n), cut;
	int64_t first = 0;

	if (lower_shape(l, n->out[0], &whole, e))
		return -1;
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	if (l->want[n->out[0]].memory >= 0)
		whole = l->want[n->out[0]];
	else if (!is_view(l, n, axis, &whole) && new_whole(l, n, &whole, e))
		return -1;
	l->whole[node] = whole;
	for (int i = 0; i < n->nin; i++) {
		if (n->in[i] < 0 || part_of(l, &whole, axis, first, n->in[i], &part, e))
			return -1;
		first += part.dim[axis];
		if (may_want(l, n->in[i])) {
			l->want[n->in[i]] = part;
			continue;
		}
		cut = cut_whole(l, n, axis, i);
		if (cut >= 0 && may_want(l, cut)) {
			part.dim[axis] = l->g->value[cut]->shape.dim[axis];
			l->want[cut] = part;
		}
	}
	return 0;
}

int lower_plan_concats(struct lowering *l, struct err *e)
{
	const struct graph *g = l->g;

	for (int i = g->nnode; i-- > 0;) {
		const struct graph_node *n = &g->node[g->order[i]];
		const struct value *out = node_out(g, n, 0);

		if (!node_is(n, OP_Concat) || !out || constant_is_kept(g, out) || out->is_const)
			continue;
		if (plan(l, g->order[i], e))
			return -1;
	}
	return 0;
}

static int is_there(const struct place *p, const struct place *part)
{
	return p->memory == part->memory && p->at == part->at &&
	       !memcmp(p->stride, part->stride, sizeof p->stride[0] * (size_t)p->rank);
}

int lower_concat(struct lowering *l, const struct graph_node *n, struct err *e)
{
	int node = (int)(n - l->g->node), axis = axis_of(l, n);
	struct place whole = l->whole[node], part, p;
	int64_t first = 0;

	if (whole.memory < 0 && new_whole(l, n, &whole, e))
		return -1;
	for (int i = 0; i < n->nin; i++) {
		if (lower_get_made(l, n->in[i], &p, e) ||
		    part_of(l, &whole, axis, first, n->in[i], &part, e))
			return -1;
		first += part.dim[axis];
		if (!is_there(&p, &part))
			plan_copy(l->p, node_label(l->g, n), &p, &part, 0);
	}
	lower_put(l, n->out[0], &whole);
	return 0;
}
