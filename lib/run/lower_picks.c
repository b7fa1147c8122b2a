/* Operators that pick elements by a table of each dimension (picks.h): Pad by what is there, Slice
 * backwards, CenterCropPad. */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/picks.h"

int lower_picks(struct lowering *l, const struct graph_node *n, const struct place *from,
		int64_t *const index[PLACE_RANK], double fill, struct err *e)
{
	struct picks *p = arena_new(l->p->a, struct picks);
	struct place to;
	int order[PLACE_RANK];

	if (!from->rank)
		return lower_bad(l, n, e, "moves the elements of a tensor without dimensions");
	place_order(from, order);
	if (lower_new(l, n->out[0], order, &to, e))
		return -1;
	p->out = to;
	p->fill = (float)fill;
	for (int i = 0; i < from->rank; i++) {
		const int d = order[i];
		int64_t *at = index[d];

		for (int64_t k = 0; k < to.dim[d]; k++)
			at[k] *= at[k] < 0 ? 1 : from->stride[d];
		p->from[i] = at;
		p->out.dim[i] = to.dim[d];
		p->out.stride[i] = to.stride[d];
	}
	lower_put(l, n->out[0], &to);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){picks_run, p, NULL},
		   (struct place[]){*from, to}, 2);
	return 0;
}

int lower_slice_picks(struct lowering *l, const struct graph_node *n, const struct place *from,
		      const int64_t *first, const int64_t *step, struct err *e)
{
	int64_t *index[PLACE_RANK];
	struct place shape;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	for (int i = 0; i < from->rank; i++) {
		index[i] = arena_array(l->p->a, int64_t, shape.dim[i] ? shape.dim[i] : 1);
		for (int64_t k = 0; k < shape.dim[i]; k++)
			index[i][k] = first[i] + k * step[i];
	}
	return lower_picks(l, n, from, index, 0, e);
}

/* ---- Pad ---- */

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP, PAD_MODES };

/* The element of n that index i means, which may lie outside; -1: none. */
static int64_t padded(enum pad_mode mode, int64_t i, int64_t n)
{
	const int64_t period = n > 1 ? 2 * (n - 1) : 1;

	if (i >= 0 && i < n)
		return i;
	switch (mode) {
	case PAD_REFLECT:
		i = (i % period + period) % period;
		return i < n ? i : period - i;
	case PAD_EDGE:
		return i < 0 ? 0 : n - 1;
	case PAD_WRAP:
		return (i % n + n) % n;
	default:
		return -1;
	}
}

/* The cells along a dimension, of which there were n. What negative paddings cut off is gone before
 * cells are added. -1: there is nothing to add. */
static int pad_cells(enum pad_mode mode, int64_t before, int64_t n, int64_t to, int64_t *index)
{
	const int64_t after = to - n - before;
	const int64_t cut = before < 0 ? -before : 0, left = n - cut - (after < 0 ? -after : 0);

	if (left <= 0 && mode != PAD_CONSTANT)
		return -1;
	for (int64_t k = 0; k < to; k++) {
		index[k] = padded(mode, k - (before > 0 ? before : 0), left);
		index[k] += index[k] < 0 ? 0 : cut;
	}
	return 0;
}

int lower_pad_picks(struct lowering *l, const struct graph_node *n, const struct place *from,
		    const int64_t *before, double fill, struct err *e)
{
	static const char *const names[] = {"constant", "reflect", "edge", "wrap"};
	const char *name = node_str(n, "mode", "constant");
	int64_t *index[PLACE_RANK];
	int mode = 0;
	struct place shape;

	while (mode < PAD_MODES && strcmp(names[mode], name) != 0)
		mode++;
	if (mode == PAD_MODES)
		return lower_bad(l, n, e, "pads in the mode \"%s\", which is not known", name);
	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	for (int i = 0; i < from->rank; i++) {
		index[i] = arena_array(l->p->a, int64_t, shape.dim[i] ? shape.dim[i] : 1);
		if (pad_cells((enum pad_mode)mode, before[i], from->dim[i], shape.dim[i], index[i]))
			return lower_bad(l, n, e, "pads by elements of an empty dimension");
	}
	return lower_picks(l, n, from, index, fill, e);
}

/* What is cut off or added is divided; the odd cell goes behind. */
int lower_center(struct lowering *l, const struct graph_node *n, struct err *e)
{
	int64_t *index[PLACE_RANK];
	struct place from, shape;

	if (lower_get(l, n->in[0], &from, e) || lower_shape(l, n->out[0], &shape, e))
		return -1;
	for (int i = 0; i < from.rank; i++) {
		const int64_t more = shape.dim[i] - from.dim[i];
		const int64_t first = more < 0 ? -more / 2 : -(more / 2);

		index[i] = arena_array(l->p->a, int64_t, shape.dim[i] ? shape.dim[i] : 1);
		for (int64_t k = 0; k < shape.dim[i]; k++)
			index[i][k] = padded(PAD_CONSTANT, first + k, from.dim[i]);
	}
	return lower_picks(l, n, &from, index, 0, e);
}
