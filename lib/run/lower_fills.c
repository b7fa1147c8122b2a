/* Operators that make tensors of a few numbers (fills.h), or put rows in order (top.h). */
#include <math.h>

#include "lib/run/fills.h"
#include "lib/run/lower.h"
#include "lib/run/top.h"

int lower_triangle(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct triangle *t = arena_new(l->p->a, struct triangle);
	struct place shape;
	double k = 0;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (shape.rank < 2 || (node_in(l->g, n, 1) && !lower_number(l, n->in[1], &k)))
		return lower_bad(l, n, e, "has a diagonal that is not known");
	t->rows = shape.dim[shape.rank - 2];
	t->columns = shape.dim[shape.rank - 1];
	if (!t->rows || !t->columns)
		return lower_bad(l, n, e, "has an empty input");
	t->matrices = place_count(&shape) / t->rows / t->columns;
	/* A diagonal farther away lies outside as well. */
	t->k = (int64_t)fmin(fmax(k, -(double)t->rows - 1), (double)t->columns + 1);
	t->is_upper = node_int(n, "upper", 1) != 0;
	return lower_plain(l, n, &(struct plain){triangle_run, t, NULL}, 1, 0, e);
}

int lower_diagonal(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct diagonal *d = arena_new(l->p->a, struct diagonal);
	struct place shape;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (shape.rank != 2)
		return lower_bad(l, n, e, "makes no matrix");
	*d = (struct diagonal){shape.dim[0], shape.dim[1], node_int(n, "k", 0)};
	return lower_plain(l, n, &(struct plain){diagonal_run, d, NULL}, 0, 0, e);
}

int lower_one_hot(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct one_hot *h = arena_new(l->p->a, struct one_hot);
	struct place shape;
	int axis;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	axis = infer_axis(node_int(n, "axis", -1), shape.rank);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	*h = (struct one_hot){1, shape.dim[axis], 1};
	for (int i = 0; i < shape.rank; i++)
		*(i < axis ? &h->outer : i > axis ? &h->inner : &(int64_t){0}) *= shape.dim[i];
	return lower_plain(l, n, &(struct plain){one_hot_run, h, NULL}, 3, 0, e);
}

/* A Range whose numbers are known. */
int lower_range(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct series *s = arena_new(l->p->a, struct series);
	struct place shape;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	s->n = place_count(&shape);
	if (!lower_number(l, n->in[0], &s->first) || !lower_number(l, n->in[2], &s->step))
		return lower_bad(l, n, e, "has a start or a step that is not known");
	return lower_plain(l, n, &(struct plain){series_run, s, NULL}, 0, 0, e);
}

/* Nothing is dropped, so the mask is true everywhere. */
int lower_dropout(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct value *mask = node_out(l->g, n, 1);
	struct series *s = arena_new(l->p->a, struct series);

	if (lower_alias(l, n, e))
		return -1;
	if (!value_is_read(mask))
		return 0;
	*s = (struct series){shape_count(&mask->shape), 1, 0};
	return lower_plain(l, n, &(struct plain){series_run, s, NULL}, 0, 1, e);
}

int lower_reversal(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int batch = (int)node_int(n, "batch_axis", 1),
		  time = (int)node_int(n, "time_axis", 0);
	struct reversal *s = arena_new(l->p->a, struct reversal);
	struct place shape;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	if (shape.rank < 2 || batch + time != 1 || batch < 0 || time < 0)
		return lower_bad(l, n, e, "has axes that are not the first two");
	*s = (struct reversal){shape.dim[batch], shape.dim[time], 1, time == 0};
	for (int i = 2; i < shape.rank; i++)
		s->inner *= shape.dim[i];
	return lower_plain(l, n, &(struct plain){reversal_run, s, "a length is none"}, 2, 0, e);
}

int lower_top(struct lowering *l, const struct graph_node *n, struct err *e)
{
	unsigned char marked[PLACE_RANK] = {0};
	int order[PLACE_RANK], axis, rank = l->g->value[n->in[0]]->shape.rank;
	struct place from, to;

	axis = rank > PLACE_RANK ? -1 : infer_axis(node_int(n, "axis", -1), rank);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	marked[axis] = 1;
	lower_marked_last(rank, marked, order);
	if (lower_get_dense(l, n->in[0], order, &from, e))
		return -1;
	for (int i = 0; i < 2; i++) {
		const struct value *v = node_out(l->g, n, i);
		struct top *t = arena_new(l->p->a, struct top);

		if (!value_is_read(v))
			continue;
		if (lower_shape(l, n->out[i], &to, e))
			return -1;
		*t = (struct top){.size = from.dim[axis],
				  .kept = to.dim[axis],
				  .is_least = !node_int(n, "largest", 1),
				  .is_index = i};
		if (t->kept > t->size || !t->size)
			return lower_bad(l, n, e, "wants more elements than there are");
		if (i && lower_countable(l, n, t->size, e))
			return -1;
		t->rows = place_count(&from) / t->size;
		place_dense(&to, to.rank, to.dim, order);
		lower_room(l, &to);
		lower_put(l, n->out[i], &to);
		plan_plain(l->p, node_label(l->g, n), n->type,
			   &(struct plain){top_run, t, "there is no memory"},
			   (struct place[]){from, to}, 2);
	}
	return 0;
}
