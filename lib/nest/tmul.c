#include "lib/nest/tmul.h"

#include <stddef.h>

int nest_tiles(struct nest *n, const char *name, enum elem sum, int rows, int down, int across)
{
	const int tiles = nest_reg(n, name, sum, rows * TMUL_COLUMNS, down, across);

	n->buffer[tiles].tile_rows = rows;
	return tiles;
}

void nest_tmul(struct nest *n, int tiles, const struct tmul *op)
{
	struct node *s = nest_append(n, NODE_TMUL);
	struct tmul *kept = arena_new(n->arena, struct tmul);

	*kept = *op;
	s->buffer = tiles;
	s->tmul = kept;
}

/* Tiles of a line. */
static int of_line(const struct node *t)
{
	return t->tmul->down / t->tmul->lines;
}

int tmul_line(const struct node *t, int i)
{
	return i / of_line(t);
}

int tmul_begin(const struct nest *n, const struct node *t, int i)
{
	const int rows = n->buffer[t->buffer].tile_rows, last = t->tmul->height - rows;
	const int row = i % of_line(t) * rows;

	return row < last ? row : last;
}

struct affine tmul_left(const struct nest *n, const struct node *t, int i)
{
	const struct tmul *m = t->tmul;

	return af_sum(m->left_at, af_scale(af(tmul_line(t, i)), m->left_line),
		      af_scale(af(tmul_begin(n, t, i)), m->left_row));
}

int tmul_products(const struct tmul *m)
{
	return m->left_half ? 3 : 1;
}

/* Each has one side in common with the one before it. */
int64_t tmul_left_half(const struct tmul *m, int i)
{
	return i == 0 ? m->left_half : 0;
}

int64_t tmul_right_half(const struct tmul *m, int i)
{
	return i == 2 ? m->half : 0;
}

static const struct node *first(const struct node *t)
{
	const struct node *found = NULL;

	for (; t && !found; t = t->next) {
		if (t->kind == NODE_TMUL && t->tmul->op == TMUL_ADD)
			return t;
		found = first(t->body);
		if (!found)
			found = first(t->orelse);
	}
	return found;
}

const struct node *tmul_first(const struct nest *n)
{
	return first(n->body);
}

int tmul_has_depth(enum elem right, int depth)
{
	const int group = elem_group(right);

	return group > 1 && depth > 0 && depth % group == 0 && depth <= TMUL_ROWS * group;
}
