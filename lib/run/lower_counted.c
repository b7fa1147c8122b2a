/* Operators that make as many items as their data say (counted.h, suppress.h). One of which that
 * number is not known becomes a step that only counts, whose result has one element. */
#include "lib/run/constants.h"
#include "lib/run/counted.h"
#include "lib/run/lower.h"
#include "lib/run/suppress.h"

int lower_is_counted(const struct graph_node *n)
{
	return node_is(n, OP_Compress) || node_is(n, OP_NonMaxSuppression) ||
	       node_is(n, OP_NonZero) || node_is(n, OP_Unique);
}

/* How many items a run has told, or a condition that is constant; -1: it is not known. What the
 * model declares is not asked. */
static int64_t told_of(const struct lowering *l, const struct graph_node *n, int axis)
{
	const struct value *v = l->g->value[n->out[0]];

	if (v->told && v->told->count >= 0)
		return v->told->count;
	return node_is(n, OP_Compress) && constant_is_kept(l->g, node_in(l->g, n, 1)) &&
			       shape_known(&v->shape) && axis < v->shape.rank
		       ? v->shape.dim[axis]
		       : -1;
}

/* Adds a counter of the items of an output, which is outer x items x inner. The first output has
 * them along the axis. */
static struct counted *new_counted(struct lowering *l, const struct graph_node *n, int axis,
				   int64_t outer, int64_t inner)
{
	struct counted **c = arena_add(l->p->a, &l->p->counted, &l->p->ncounted, sizeof *c);

	*c = arena_new(l->p->a, struct counted);
	**c = (struct counted){.name = l->g->value[n->out[0]]->name,
			       .told = told_of(l, n, axis),
			       .found = -1,
			       .outer = outer,
			       .inner = inner};
	return *c;
}

int lower_non_zero(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct non_zero *z = arena_new(l->p->a, struct non_zero);
	struct place from;

	if (lower_shape(l, n->in[0], &from, e))
		return -1;
	if (!from.rank)
		return lower_bad(l, n, e, "looks at one number, of which implementations disagree");
	z->counted = new_counted(l, n, 1, from.rank, 1);
	z->rank = from.rank;
	z->size = place_count(&from);
	for (int i = 0; i < from.rank; i++) {
		z->dim[i] = from.dim[i];
		if (lower_countable(l, n, z->dim[i], e))
			return -1;
	}
	return lower_plain(l, n, &(struct plain){non_zero_run, z, COUNTED_CHANGED}, 1, 0, e);
}

/* Sizes before, along and behind an axis; without one all elements are in a row. -1: there is no
 * such axis. */
static int split(const struct graph_node *n, const struct place *p, int64_t *outer, int64_t *extent,
		 int64_t *inner)
{
	const int axis =
		node_attr(n, "axis") ? infer_axis(node_int(n, "axis", 0), p->rank) : PLACE_RANK;

	*outer = *extent = *inner = 1;
	for (int i = 0; i < p->rank; i++)
		*(axis == PLACE_RANK || i == axis ? extent : i < axis ? outer : inner) *= p->dim[i];
	return axis == PLACE_RANK ? 0 : axis;
}

int lower_compress(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct compress *c = arena_new(l->p->a, struct compress);
	struct place from, keep;
	int axis;

	if (lower_shape(l, n->in[0], &from, e) || lower_shape(l, n->in[1], &keep, e))
		return -1;
	axis = split(n, &from, &c->outer, &c->extent, &c->inner);
	if (axis < 0 || !from.rank)
		return lower_bad(l, n, e, "has an axis that is none");
	c->conditions = place_count(&keep);
	c->counted = new_counted(l, n, axis, c->outer, c->inner);
	return lower_plain(
		l, n,
		&(struct plain){compress_run, c,
				"a condition is true behind the end, or " COUNTED_CHANGED},
		2, 0, e);
}

int lower_unique(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct unique of = {.is_sorted = node_int(n, "sorted", 1) == 1};
	struct place from;
	int axis;

	if (lower_shape(l, n->in[0], &from, e))
		return -1;
	axis = split(n, &from, &of.outer, &of.extent, &of.inner);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	for (int i = UNIQUE_ITEMS + 1; i < UNIQUE_OUTPUTS; i++)
		if (value_is_read(node_out(l->g, n, i)) && lower_countable(l, n, of.extent, e))
			return -1;
	for (int i = 0; i < UNIQUE_OUTPUTS; i++) {
		struct unique *u;

		if (!value_is_read(node_out(l->g, n, i)))
			continue;
		u = arena_new(l->p->a, struct unique);
		*u = of;
		u->what = (enum unique_output)i;
		u->counted = new_counted(l, n, axis, i ? i != UNIQUE_INVERSE : of.outer,
					 i ? 1 : of.inner);
		u->order = arena_array(l->p->a, int64_t, of.extent + 1);
		u->group = arena_array(l->p->a, int64_t, of.extent + 1);
		u->first = arena_array(l->p->a, int64_t, of.extent + 1);
		if (lower_plain(l, n,
				&(struct plain){unique_run, u,
						"an element is NaN, or " COUNTED_CHANGED},
				1, i, e))
			return -1;
		if (u->counted->told < 0) /* the others have no sizes yet */
			return 0;
	}
	return 0;
}

int lower_suppress(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct suppress *s = arena_new(l->p->a, struct suppress);
	struct graph_node by_buffers = *n;
	const int64_t center = node_int(n, "center_point_box", 0);
	struct place boxes, scores, limit;

	if (lower_shape(l, n->in[0], &boxes, e) || lower_shape(l, n->in[1], &scores, e))
		return -1;
	if (boxes.rank != 3 || scores.rank != 3 || boxes.dim[0] != scores.dim[0] ||
	    boxes.dim[1] != scores.dim[2] || boxes.dim[2] != 4)
		return lower_bad(l, n, e, "has scores that do not fit its boxes");
	for (int i = SUPPRESS_MOST; i < n->nin && i < SUPPRESS_TO; i++)
		if (node_in(l->g, n, i) &&
		    (lower_shape(l, n->in[i], &limit, e) || place_count(&limit) != 1))
			return lower_bad(l, n, e, "has a limit that is not one number");
	for (int i = 0; i < 3; i++)
		if (lower_countable(l, n, scores.dim[i], e))
			return -1;
	if (center < 0 || center > 1)
		return lower_bad(l, n, e, "has a center_point_box that is neither 0 nor 1");
	*s = (struct suppress){.batch = scores.dim[0],
			       .classes = scores.dim[1],
			       .boxes = scores.dim[2],
			       .is_centered = center == 1,
			       .most = -1};
	s->order = arena_array(l->p->a, int64_t, s->boxes + 1);
	s->stays = arena_array(l->p->a, int64_t, s->boxes + 1);
	s->counted = new_counted(l, n, 0, 1, 3);
	if (infer_one(l->g, n, SUPPRESS_MOST, &s->most) == 1) { /* more than floats hold, often */
		s->most = s->most < 0 ? 0 : s->most;
		by_buffers.in = arena_array(l->p->a, int, n->nin);
		for (int i = 0; i < n->nin; i++)
			by_buffers.in[i] = i == SUPPRESS_MOST ? -1 : n->in[i];
	}
	return lower_plain(
		l, &by_buffers,
		&(struct plain){suppress_run, s,
				"the overlap lies outside of 0 to 1, or " COUNTED_CHANGED},
		SUPPRESS_OPERANDS - 1, 0, e);
}
