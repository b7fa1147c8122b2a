#include "lib/nest/box.h"

#include <stddef.h>

/* Of a tensor map for four dimensions (NVIDIA, "CUDA Driver API", cuTensorMapEncodeIm2col). */
enum {
	LEAST_CORNER = -128,
	MOST_CORNER = 127,
	MOST_STEP = 8,
	MOST_VALUES = 256,
	MOST_POSITIONS = 1024,
	STRIDE = 16, /* bytes */
};

struct box_corners box_corners(const struct box *b)
{
	return (struct box_corners){
		b->first_row,
		b->first_column,
		b->first_row + (b->down - 1) * b->step_down - (b->height - 1),
		b->first_column + (b->across - 1) * b->step_across - (b->width - 1),
	};
}

static int is_corner(int64_t x)
{
	return x >= LEAST_CORNER && x <= MOST_CORNER;
}

const char *box_refusal(const struct box *b, int size)
{
	const struct box_corners c = box_corners(b);

	if (!is_corner(c.first_row) || !is_corner(c.first_column) || !is_corner(c.last_row) ||
	    !is_corner(c.last_column))
		return "the corners of what has positions are further than 127 pixels from the image's";
	if (b->step_down > MOST_STEP || b->step_across > MOST_STEP)
		return "the positions of a box are more than 8 pixels apart";
	if (b->channels * size % STRIDE != 0)
		return "the pixels of a box do not begin at multiples of 16 bytes";
	if (b->values > MOST_VALUES || b->positions > MOST_POSITIONS)
		return "a box has more than 256 values of 1024 positions";
	return NULL;
}

int nest_box(struct nest *n, const struct box *b)
{
	if (n->nboxes == NEST_BOXES) {
		n->full.what = "kinds of boxes";
		n->full.most = NEST_BOXES;
		return 0;
	}
	n->box[n->nboxes] = *b;
	return n->nboxes++;
}

void nest_copy_box(struct nest *n, int to, struct affine at, int box, const struct box_place *p)
{
	struct node *s = nest_append(n, NODE_COPY);
	struct box_place *kept = arena_new(n->arena, struct box_place);
	const struct box *b = &n->box[box];

	*kept = *p;
	s->buffer = to;
	s->a = at;
	s->from = b->from;
	s->lanes = b->positions * b->values;
	s->box = box;
	s->place = kept;
}
