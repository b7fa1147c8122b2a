/* Images as nests and loops want them: where they are, and where they go. */
#include "lib/run/lower.h"

static int is_image(const struct place *p)
{
	int64_t pixel = p->stride[3];

	return p->rank == 4 && p->stride[1] == 1 && pixel >= p->dim[1] &&
	       p->stride[2] == pixel * p->dim[3] &&
	       (p->dim[0] == 1 || p->stride[0] == p->stride[2] * p->dim[2]);
}

/* A value with one dimension of space becomes an image of one row. */
static void one_row(struct place *p)
{
	if (p->rank != 3)
		return;
	p->rank = 4;
	p->dim[3] = p->dim[2];
	p->stride[3] = p->stride[2];
	p->stride[2] *= p->dim[2];
	p->dim[2] = 1;
}

static void make_image(struct lowering *l, int value, struct place *out)
{
	int order[PLACE_RANK];

	one_row(out);
	if (out->rank == 4 && is_image(out))
		return;
	order_channels_last(out->rank, order);
	lower_dense(l, out, order, l->g->value[value]->name, out);
}

int lower_get_image(struct lowering *l, int value, struct place *out, struct err *e)
{
	if (lower_get(l, value, out, e))
		return -1;
	make_image(l, value, out);
	return 0;
}

int lower_get_image_made(struct lowering *l, int value, struct place *out, struct err *e)
{
	if (lower_get_made(l, value, out, e))
		return -1;
	make_image(l, value, out);
	return 0;
}

int lower_new_image(struct lowering *l, int value, enum elem elem, struct place *out, struct err *e)
{
	const struct place *want = &l->want[value];
	int order[PLACE_RANK];

	order_channels_last(l->g->value[value]->shape.rank, order);
	if (lower_shape(l, value, out, e))
		return -1;
	place_dense(out, out->rank, out->dim, order);
	if (want->memory >= 0 && want->elem == elem)
		*out = *want;
	else
		lower_room_as(l, out, elem);
	one_row(out);
	order_channels_last(4, order);
	if (!is_image(out)) {
		place_dense(out, 4, out->dim, order);
		lower_room_as(l, out, elem);
	}
	return 0;
}
