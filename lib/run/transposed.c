#include "lib/run/transposed.h"

#include "lib/op/op.h"
#include "lib/tile/transpose.h"

/* TILE_TERMS: an element's place in the tiles has so many terms: a row, a tile, a column of it. */
enum { FROM, TO, MAX_LANES = 16, TILE_TERMS = 3 };

/* The result is dense along `column`, the operand along `row`. A tile has so many of each. */
struct copy {
	struct nest *n;
	const struct loops *l;
	int row, column;
	int64_t rows, columns;
	int is_interleaved; /* a tile's columns are one run of the result */
	struct transpose square;
	int buffer[2];
	struct affine base[2]; /* of the loops around the tiles */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The size of tiles. 0: vectors do not pay. */
static int fit(struct copy *c, int lanes)
{
	const int64_t rows = c->l->dim[c->row], columns = c->l->dim[c->column];

	c->is_interleaved = (columns == 2 || columns == 4 || columns == 8) && columns < lanes &&
			    rows >= 4 && c->l->stride[TO][c->row] == columns;
	while (lanes > 4 && (lanes > rows || (lanes > columns && !c->is_interleaved)))
		lanes /= 2;
	c->is_interleaved &= columns < lanes;
	if (lanes < 4 || lanes > MAX_LANES || (rows < 4 && columns < 4))
		return 0;
	c->rows = least(rows, lanes);
	c->columns = least(columns, lanes);
	return lanes;
}

static int find_dimensions(struct copy *c)
{
	const struct loops *l = c->l;

	for (int d = 0; d < l->n; d++)
		if (!l->dim[d]) /* there is nothing to copy */
			return 0;
	c->column = l->n - 1;
	for (c->row = 0; c->row < c->column && l->stride[FROM][c->row] != 1; c->row++)
		;
	return c->row < c->column && l->stride[TO][c->column] == 1 &&
	       l->stride[FROM][c->column] > 1;
}

/* Element (row, column) of the operand or of the result. */
static struct affine at(const struct copy *c, int place, struct affine row, struct affine column)
{
	return af_sum(c->base[place], af_mul(row, c->l->stride[place][c->row]),
		      af_mul(column, c->l->stride[place][c->column]));
}

static void load_columns(const struct copy *c, struct affine row, struct affine column)
{
	struct nest *n = c->n;
	const int lanes = c->square.lanes;
	const struct affine *valid = c->rows < lanes ? nest_keep(n, af(c->rows)) : NULL;
	const struct affine i = af_var(nest_for(n, LOOP_UNROLL, "i", af(0), af(c->columns)));

	nest_store(n, c->square.regs[0], i, NULL,
		   ex_load(n, c->buffer[FROM], lanes, at(c, FROM, row, af_add(column, i)), valid));
	nest_close(n);
}

static void store_interleaved(const struct copy *c, struct affine row)
{
	struct nest *n = c->n;
	int part[MAX_LANES], regs;

	regs = transpose_interleave(&c->square, (int)c->columns, part);
	for (int i = 0; i < c->columns; i++)
		nest_store(n, c->buffer[TO],
			   af_add(at(c, TO, row, af(0)), af((int64_t)part[i] * c->square.lanes)),
			   NULL, ex_reg(n, regs, af(i)));
}

/* Where a row has fewer columns than a vector has lanes, and the next row follows it, that one
 * overwrites what is too much. */
static void store_rows(const struct copy *c, struct affine row, struct affine column)
{
	struct nest *n = c->n;
	const int is_partial = c->columns < c->square.lanes;
	const int64_t whole = !is_partial			       ? c->rows
			      : c->l->stride[TO][c->row] == c->columns ? c->rows - 1
								       : 0;
	int regs;

	transpose_zero(&c->square, c->columns);
	regs = transpose_square(&c->square);
	for (int64_t i = 0; i < c->rows; i++)
		nest_store(n, c->buffer[TO], at(c, TO, af_add(row, af(i)), column),
			   i < whole ? NULL : nest_keep(n, af(c->columns)), ex_reg(n, regs, af(i)));
}

/* A loop over the starts of tiles, of which the last one ends where the dimension does, so that it
 * may overlap the one before it. */
static struct affine starts(struct nest *n, const char *name, int64_t extent, int64_t tile)
{
	const int64_t turns = (extent + tile - 1) / tile;
	const struct affine start =
		af_mul(af_var(nest_for(n, LOOP_SERIAL, name, af(0), af(turns))), tile);

	return extent % tile ? af_var(nest_let_min(n, "start", start, af(extent - tile))) : start;
}

/* The same, shared by the threads: the last whole tile and the one that overlaps it are one's. */
static struct affine shared_starts(struct nest *n, int64_t extent, int64_t tile)
{
	const int64_t whole = extent / tile;
	const int v = nest_for(n, LOOP_PARALLEL, "rows", af(0), af(whole));
	struct affine more;

	if (extent % tile == 0)
		return af_mul(af_var(v), tile);
	more = af_var(nest_let_in(n, "last", af_sub(af_var(v), af(whole - 1)), af(1)));
	more = af_var(nest_for(n, LOOP_SERIAL, "more", af(0), af_add(more, af(1))));
	return af_var(
		nest_let_min(n, "start", af_mul(af_add(af_var(v), more), tile), af(extent - tile)));
}

/* Elements from the first to the last, both counted. */
static int64_t span(const struct loops *l, int place)
{
	int64_t elements = 1;

	for (int d = 0; d < l->n; d++)
		elements += (l->dim[d] - 1) * l->stride[place][d];
	return elements;
}

/* The assembly printer wants two parallel loops. */
static void outer_loops(struct copy *c)
{
	const struct loops *l = c->l;

	if (l->n == 2)
		nest_for(c->n, LOOP_PARALLEL, "one", af(0), af(1));
	for (int d = 0; d < l->n; d++) {
		int v;

		if (d == c->row || d == c->column)
			continue;
		v = nest_for(c->n, LOOP_PARALLEL, "outer", af(0), af(l->dim[d]));
		for (int i = 0; i < 2; i++)
			c->base[i] = af_add(c->base[i], af_mul(af_var(v), l->stride[i][d]));
	}
}

/* An affine form of eight loops and the columns of a tile would have too many terms. */
static void name_base(struct copy *c)
{
	static const char *const name[] = {"from", "into"};

	for (int i = 0; i < 2; i++)
		if (c->base[i].n + TILE_TERMS > AFFINE_TERMS)
			c->base[i] = af_var(nest_let(c->n, name[i], c->base[i]));
}

int transposed_copy(const struct loops *l, int lanes, struct nest *n)
{
	struct copy c = {.n = n, .l = l, .base = {af(0), af(0)}};
	struct affine row, column;

	if (!find_dimensions(&c))
		return 0;
	lanes = fit(&c, lanes);
	if (!lanes)
		return 0;
	c.buffer[FROM] = nest_arg(n, "p", TENSOR_SRC, span(l, FROM), 0);
	c.buffer[TO] = nest_arg(n, "to", TENSOR_DST, span(l, TO), 1);
	c.square = transpose_of(n, lanes);
	outer_loops(&c);
	row = shared_starts(n, l->dim[c.row], c.rows);
	name_base(&c);
	column = starts(n, "columns", l->dim[c.column], c.columns);
	load_columns(&c, row, column);
	if (c.is_interleaved)
		store_interleaved(&c, row);
	else
		store_rows(&c, row, column);
	while (n->depth)
		nest_close(n);
	return 1;
}
