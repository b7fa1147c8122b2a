#include "lib/nest/interp_tmul.h"

#include "lib/nest/tmul.h"

enum { COLUMNS = TMUL_COLUMNS, MOST_DEPTH = TMUL_ROW_BYTES };

/* This is a tile of the array, by its numbers. */
struct tile {
	int i, j;
	struct place sums;
};

/* Returns where row r of a tile is. */
static double *row_of(const struct tile *x, int r)
{
	return x->sums.r + (int64_t)r * COLUMNS;
}

/* Finds the vector in memory of this row of the array and the tile's columns. */
static int locate_row(struct interp *s, const struct node *t, const struct tile *x, int64_t row,
		      struct place *p)
{
	const struct tmul *m = t->tmul;

	return access_locate(s, m->memory, access_eval(s, &m->at) + row * m->row + x->j * m->vector,
			     COLUMNS, p);
}

static int zero(struct interp *s, const struct node *t, struct tile *x)
{
	const int rows = s->n->buffer[t->buffer].tile_rows;

	for (int i = 0; i < rows * COLUMNS; i++)
		x->sums.r[i] = 0;
	return access_write(s, &x->sums, rows * COLUMNS);
}

static int repeat(struct interp *s, const struct node *t, struct tile *x)
{
	const int rows = s->n->buffer[t->buffer].tile_rows;
	struct place p;

	if (locate_row(s, t, x, 0, &p) < 0 || access_read(s, &p, COLUMNS) < 0)
		return -1;
	for (int r = 0; r < rows; r++)
		access_get(&p, COLUMNS, row_of(x, r));
	return access_write(s, &x->sums, rows * COLUMNS);
}

/* Finds row r of a tile in memory, where it is stored. */
static int locate_stored(struct interp *s, const struct node *t, const struct tile *x, int r,
			 struct place *p)
{
	const int line = tmul_line(t, x->i) * t->tmul->height;

	return locate_row(s, t, x, line + tmul_begin(s->n, t, x->i) + r, p);
}

static int load(struct interp *s, const struct node *t, struct tile *x)
{
	const int rows = s->n->buffer[t->buffer].tile_rows;
	struct place p;

	for (int r = 0; r < rows; r++) {
		if (locate_stored(s, t, x, r, &p) < 0 || access_read(s, &p, COLUMNS) < 0)
			return -1;
		access_get(&p, COLUMNS, row_of(x, r));
	}
	return access_write(s, &x->sums, rows * COLUMNS);
}

static int store(struct interp *s, const struct node *t, struct tile *x)
{
	const int rows = s->n->buffer[t->buffer].tile_rows;
	struct place p;

	if (access_read(s, &x->sums, rows * COLUMNS) < 0)
		return -1;
	for (int r = 0; r < rows; r++) {
		if (locate_stored(s, t, x, r, &p) < 0 || access_write(s, &p, COLUMNS) < 0)
			return -1;
		access_set(&p, COLUMNS, row_of(x, r));
	}
	return 0;
}

/* These are the right side's values for a tile: element (k, column). */
struct right {
	double of[MOST_DEPTH][COLUMNS];
};

static int read_right(struct interp *s, const struct node *t, const struct tile *x, int product,
		      struct right *right)
{
	const struct tmul *m = t->tmul;
	const int group = elem_group(m->right);
	double values[COLUMNS * 4];
	struct place p;

	for (int k = 0; k < m->depth; k += group) {
		const int64_t at = access_eval(s, &m->at) + tmul_right_half(m, product) +
				   k / group * m->row + x->j * m->vector;

		if (access_locate(s, m->memory, at, COLUMNS * group, &p) < 0 ||
		    access_read(s, &p, COLUMNS * group) < 0)
			return -1;
		access_get(&p, COLUMNS * group, values);
		for (int i = 0; i < COLUMNS * group; i++)
			right->of[k + i % group][i / group] = values[i];
	}
	return 0;
}

static int add_product(struct interp *s, const struct node *t, struct tile *x, int product)
{
	const int rows = s->n->buffer[t->buffer].tile_rows;
	const int is_whole = s->n->buffer[t->buffer].elem == ELEM_S32;
	const struct tmul *m = t->tmul;
	const struct affine begin = tmul_left(s->n, t, x->i);
	double left[MOST_DEPTH];
	struct right right;
	struct place p;

	if (access_read(s, &x->sums, rows * COLUMNS) < 0 ||
	    read_right(s, t, x, product, &right) < 0)
		return -1;
	for (int r = 0; r < rows; r++) {
		double *sum = row_of(x, r);

		if (access_locate(s, m->left,
				  access_eval(s, &begin) + tmul_left_half(m, product) +
					  r * access_eval(s, &m->left_row),
				  m->depth, &p) < 0 ||
		    access_read(s, &p, m->depth) < 0)
			return -1;
		access_get(&p, m->depth, left);
		for (int c = 0; c < COLUMNS; c++) {
			for (int k = 0; k < m->depth; k++)
				sum[c] += left[k] * right.of[k][c];
			sum[c] = is_whole ? elem_wrap(sum[c]) : (double)(float)sum[c];
		}
	}
	return 0;
}

static int add(struct interp *s, const struct node *t, struct tile *x)
{
	for (int i = 0; i < tmul_products(t->tmul); i++)
		if (add_product(s, t, x, i) < 0)
			return -1;
	return 0;
}

int tmul_run(struct interp *s, const struct node *t)
{
	static int (*const run[])(struct interp *, const struct node *,
				  struct tile *) = {[TMUL_ZERO] = zero,
						    [TMUL_REPEAT] = repeat,
						    [TMUL_LOAD] = load,
						    [TMUL_ADD] = add,
						    [TMUL_STORE] = store};
	const struct buffer *b = &s->n->buffer[t->buffer];

	for (int i = 0; i < t->tmul->down; i++)
		for (int j = 0; j < t->tmul->across; j++) {
			struct tile x = {i, j, {0}};

			if (access_locate(s, t->buffer, i * t->tmul->across + j, b->lanes,
					  &x.sums) < 0 ||
			    run[t->tmul->op](s, t, &x) < 0)
				return -1;
		}
	return 0;
}
