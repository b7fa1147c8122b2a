#include "lib/schedule/block.h"

#include "lib/space/knob.h"
#include "lib/tile/tile.h"

struct block block_of(const char *loop, const char *name, int64_t extent, int64_t size)
{
	int64_t step = size ? size : extent;

	return (struct block){.loop = loop,
			      .name = name,
			      .extent = af(extent),
			      .size = af(step),
			      .n = af(ceil_div(extent, step))};
}

static int loop_of(struct nest *n, const struct block *b)
{
	return nest_for(n, LOOP_PARALLEL, b->loop, af(0), b->n);
}

static void bounds(struct nest *n, struct block *b, int i)
{
	b->lo = nest_let(n, b->name, af_scale(af_var(i), b->size));
	b->hi = nest_let_min(n, b->name, af_add(af_var(b->lo), b->size), b->extent);
}

void block_share(struct nest *n, struct block *a, struct block *b, int a_innermost)
{
	int outer = loop_of(n, a_innermost ? b : a), inner = loop_of(n, a_innermost ? a : b);

	bounds(n, a, a_innermost ? inner : outer);
	bounds(n, b, a_innermost ? outer : inner);
}

int block_units(struct nest *n, const struct block *b, const char *name)
{
	return nest_for(n, LOOP_SERIAL, name, af_var(b->lo), af_var(b->hi));
}

struct chunk chunk_open(struct nest *n, int64_t size, int extent)
{
	struct chunk c = {.loop = -1, .k = af_var(extent)};
	int step;

	if (!size || size == n->var[extent].value)
		return c;
	step = nest_param(n, "kc", size);
	c.count = nest_param(n, "chunks", ceil_div(n->var[extent].value, size));
	c.loop = nest_for(n, LOOP_SERIAL, "kb", af(0), af_var(c.count));
	c.k0 = af_var(nest_let(n, "k0", af_times(af_var(c.loop), step)));
	c.k = af_var(nest_let_min(n, "kn", af_var(step), af_sub(af_var(extent), c.k0)));
	return c;
}

int parts_highest(const struct parts *p)
{
	return p->split.rows + (p->split.rest > 0);
}

struct affine parts_row(struct nest *n, const struct parts *p, int t)
{
	struct affine row = af_mul(af_var(t), p->split.rows);

	if (!p->split.rest)
		return row;
	return af_add(row, af_var(nest_let_min(n, "x", af_var(t), af_var(p->rest))));
}

int parts_first(struct nest *n, const struct parts *p, int t)
{
	if (!p->split.rest)
		return p->split.rows;
	nest_if_less(n, af_var(t), af_var(p->rest));
	return p->split.rows + 1;
}

int parts_next(struct nest *n, const struct parts *p, int rows)
{
	if (rows > p->split.rows) {
		nest_else(n);
		return p->split.rows;
	}
	if (p->split.rest)
		nest_close(n);
	return 0;
}

int sweep_next(struct nest *n, struct sweep *x)
{
	if (!x->rows)
		x->row = parts_row(n, x->parts, x->t);
	else if (x->innermost)
		nest_close(n);
	x->rows = x->rows ? parts_next(n, x->parts, x->rows) : parts_first(n, x->parts, x->t);
	if (x->rows && x->innermost)
		x->j = block_units(n, x->innermost, x->innermost->name);
	return x->rows > 0;
}

void block_look_ahead(struct brgemm *g, const struct brgemm_out *o, int beside, int rows,
		      int in_place)
{
	enum { PAGE = 4096, GROUP = 4 }; /* bytes */

	if (g->tile->most) {
		g->b_ahead = PAGE / GROUP * g->tile->group;
		return;
	}
	if (beside) {
		g->c_next = af((int64_t)g->nv * g->lanes);
		return;
	}
	g->c_next = af_scale(af(rows), o->c_row);
	if (in_place)
		g->a_next = af_scale(af(rows), g->a_row);
}

void block_panel_ahead(struct brgemm *g, const struct panel_ahead *p)
{
	const int64_t line = BRGEMM_LINE * g->tile->group, steps = p->tiles * p->steps;
	const int64_t share = ceil_div(p->elements, steps);

	g->next_lines = (int)ceil_div(share, line);
	g->next_step = share < line ? share : g->next_lines * line;
	g->next = af_add(p->at, af_mul(p->tile, p->steps * g->next_step));
}
