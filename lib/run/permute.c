#include "lib/run/permute.h"

#include <string.h>

enum { FROM, TO, SQUARE = 16, PIECE = 4096, FEW = 4, ROWS_OF_FEW = 1024 };

typedef unsigned char bytes __attribute__((vector_size(SQUARE), aligned(1), may_alias));

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int is_straight(const struct permute *p)
{
	return p->column_step == 1;
}

/* ---- the form of a copy ---- */

/* The dimension without gaps in what is read; -1: there is none. */
static int run_of(const struct loops *l)
{
	int row = l->n - 1;

	while (row >= 0 && l->stride[FROM][row] != 1)
		row--;
	return row;
}

/* One run becomes rows of a piece each, and a rest. */
static void cut_run(struct permute *p, int64_t n)
{
	p->rows = (n + PIECE - 1) / PIECE;
	p->columns = least(n, PIECE);
	p->last = n - (p->rows - 1) * PIECE;
	p->row_step[FROM] = p->row_step[TO] = PIECE;
	p->piece = 1;
}

static void take_sheet(struct permute *p, const struct loops *l, int row, int column)
{
	p->rows = l->dim[row];
	p->last = p->columns = l->dim[column];
	p->piece = is_straight(p)      ? 1 + PIECE / p->columns
		   : p->columns <= FEW ? ROWS_OF_FEW
				       : SQUARE;
	for (int side = 0; side < 2; side++)
		p->row_step[side] = l->stride[side][row];
	for (int d = 0; d < l->n; d++) {
		if (d == row || d == column)
			continue;
		p->dim[p->n] = l->dim[d];
		p->stride[FROM][p->n] = l->stride[FROM][d];
		p->stride[TO][p->n++] = l->stride[TO][d];
	}
}

int permute_of(const struct place *from, const struct place *to, struct permute *p)
{
	const struct place *const place[] = {from, to};
	const struct loops l = loops_of(place, 2);
	const int column = l.n - 1, row = run_of(&l);

	if (elem_size(from->elem) != 1 || to->elem != from->elem || row < 0 ||
	    l.stride[TO][column] != 1 || !place_count(to))
		return 0;
	*p = (struct permute){.column_step = l.stride[FROM][column]};
	if (l.n == 1)
		cut_run(p, l.dim[0]);
	else
		take_sheet(p, &l, row == column ? column - 1 : row, column);
	return 1;
}

/* ---- squares ---- */

/* Transposes a square: four times, each pair of rows half the square apart is woven into one. */
static void square(const unsigned char *from, int64_t from_step, unsigned char *to, int64_t to_step)
{
	static const bytes low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
	static const bytes high = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
	bytes a[SQUARE], b[SQUARE];

	for (int i = 0; i < SQUARE; i++)
		a[i] = *(const bytes *)(from + i * from_step);
	for (int turn = 0; turn < 4; turn++) {
		for (int i = 0; i < SQUARE / 2; i++) {
			b[2 * i] = __builtin_shuffle(a[i], a[i + SQUARE / 2], low);
			b[2 * i + 1] = __builtin_shuffle(a[i], a[i + SQUARE / 2], high);
		}
		memcpy(a, b, sizeof a);
	}
	for (int i = 0; i < SQUARE; i++)
		*(bytes *)(to + i * to_step) = a[i];
}

/* ---- sheets ---- */

/* Some rows of a sheet. */
struct part {
	const unsigned char *from;
	unsigned char *to;
	int64_t rows;
};

/* Callers give constants for the columns, so that compilers unroll the inner loop. */
static inline __attribute__((always_inline)) void
copy_columns(const struct permute *p, const struct part *s, int64_t first, int64_t columns)
{
	for (int64_t r = 0; r < s->rows; r++)
		for (int64_t c = first; c < columns; c++)
			s->to[r * p->row_step[TO] + c] =
				s->from[r * p->row_step[FROM] + c * p->column_step];
}

#pragma GCC push_options
#pragma GCC target("ssse3")
/* Weaves three planes, 16 pixels at a time, as images with red, green and blue want it: two planes
 * first, with room for the third. Returns how many rows were woven. */
static int64_t weave_three(const unsigned char *from, int64_t plane, unsigned char *to,
			   int64_t rows)
{
	static const bytes two[3] = {{0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5},
				     {21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26},
				     {0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0}};
	static const bytes third[3] = {{0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15},
				       {0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15},
				       {26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31}};
	int64_t r = 0;

	for (; r + SQUARE <= rows; r += SQUARE) {
		const bytes a = *(const bytes *)(from + r);
		const bytes b = *(const bytes *)(from + plane + r);
		const bytes c = *(const bytes *)(from + 2 * plane + r);
		bytes *const out = (bytes *)(to + 3 * r);

		out[0] = __builtin_shuffle(__builtin_shuffle(a, b, two[0]), c, third[0]);
		out[1] = __builtin_shuffle(__builtin_shuffle(a, b, two[1]), c, third[1]);
		out[2] = __builtin_shuffle(__builtin_shuffle(a, b, two[2]), c, third[2]);
	}
	return r;
}
#pragma GCC pop_options

static void copy_three(const struct permute *p, const struct part *s)
{
	const int may = p->row_step[FROM] == 1 && p->row_step[TO] == 3;
	struct part rest = *s;
	int64_t done = 0;

	if (may && __builtin_cpu_supports("ssse3"))
		done = weave_three(s->from, p->column_step, s->to, s->rows);
	rest.from += done;
	rest.to += 3 * done;
	rest.rows -= done;
	copy_columns(p, done ? &rest : s, 0, 3);
}

static void transpose(const struct permute *p, const struct part *s)
{
	int64_t c = 0;

	for (; s->rows == SQUARE && c + SQUARE <= p->columns; c += SQUARE)
		square(s->from + c * p->column_step, p->column_step, s->to + c, p->row_step[TO]);
	copy_columns(p, s, c, p->columns);
}

static void copy_rows(const struct permute *p, const struct part *s, int is_end)
{
	for (int64_t r = 0; r < s->rows; r++)
		memcpy(s->to + r * p->row_step[TO], s->from + r * p->row_step[FROM],
		       (size_t)(is_end && r == s->rows - 1 ? p->last : p->columns));
}

/* is_end: the part has the last row. */
static void copy(const struct permute *p, const struct part *s, int is_end)
{
	if (p->columns == 2)
		copy_columns(p, s, 0, 2);
	else if (p->columns == 3)
		copy_three(p, s);
	else if (p->columns == 4)
		copy_columns(p, s, 0, 4);
	else if (is_straight(p))
		copy_rows(p, s, is_end);
	else
		transpose(p, s);
}

/* ---- parts of threads ---- */

/* Where sheet i begins on both sides, and its index by dimensions. */
static void go_to(const struct permute *p, int64_t i, int64_t index[PLACE_RANK], int64_t at[2])
{
	at[FROM] = at[TO] = 0;
	for (int d = p->n - 1; d >= 0; d--) {
		index[d] = i % p->dim[d];
		i /= p->dim[d];
		at[FROM] += index[d] * p->stride[FROM][d];
		at[TO] += index[d] * p->stride[TO][d];
	}
}

static void go_on(const struct permute *p, int64_t index[PLACE_RANK], int64_t at[2])
{
	for (int d = p->n - 1; d >= 0; d--) {
		index[d]++;
		at[FROM] += p->stride[FROM][d];
		at[TO] += p->stride[TO][d];
		if (index[d] < p->dim[d])
			return;
		index[d] = 0;
		at[FROM] -= p->dim[d] * p->stride[FROM][d];
		at[TO] -= p->dim[d] * p->stride[TO][d];
	}
}

int permute_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct permute *p = with;
	const int64_t pieces = (p->rows + p->piece - 1) / p->piece;
	int64_t units = pieces, i, end, piece, index[PLACE_RANK], at[2];

	for (int d = 0; d < p->n; d++)
		units *= p->dim[d];
	i = units * thread / threads;
	end = units * (thread + 1) / threads;
	piece = i % pieces;
	go_to(p, i / pieces, index, at);
	for (; i < end; i++) {
		const int64_t row = piece * p->piece;
		const struct part s = {
			(const unsigned char *)buffers[FROM] + at[FROM] + row * p->row_step[FROM],
			(unsigned char *)buffers[TO] + at[TO] + row * p->row_step[TO],
			least(p->piece, p->rows - row)};

		copy(p, &s, piece + 1 == pieces);
		if (++piece < pieces)
			continue;
		piece = 0;
		go_on(p, index, at);
	}
	return 0;
}
