#include "lib/io/table.h"

#include <csv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

void table_init(struct table *t, const char *const *head, int ncols)
{
	*t = (struct table){.ncols = ncols, .head = head};
}

void table_row(struct table *t)
{
	const char **row;

	if (t->nrows == t->cap) {
		t->cap = t->cap * 2 + 16;
		t->cell = xrealloc(t->cell, (size_t)(t->cap * t->ncols) * sizeof *t->cell);
		t->mark = xrealloc(t->mark, (size_t)(t->cap * t->ncols));
	}
	row = t->cell + t->nrows * t->ncols;
	memset(t->mark + t->nrows++ * t->ncols, TABLE_PLAIN, (size_t)t->ncols);
	for (int i = 0; i < t->ncols; i++)
		row[i] = "";
}

void table_mark(struct table *t, int col, enum table_mark mark)
{
	t->mark[(t->nrows - 1) * t->ncols + col] = (char)mark;
}

void table_cell(struct table *t, int col, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	t->cell[(t->nrows - 1) * t->ncols + col] = arena_strdup(&t->arena, text);
}

/* Characters, not bytes: all but the continuation bytes of UTF-8. */
static int width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static int is_number(const struct table *t, int col)
{
	return t->head[col][0] == '>';
}

static const char *title(const struct table *t, int col)
{
	return t->head[col] + is_number(t, col);
}

static void spaces(struct buf *out, int n)
{
	while (n-- > 0)
		buf_ch(out, ' ');
}

/* Green and red, as ECMA-48 writes them. */
static void put_marked(const struct table *t, const char *s, char mark, struct buf *out)
{
	static const char *const color[] = {
		[TABLE_PLAIN] = "", [TABLE_GOOD] = "\033[32m", [TABLE_BAD] = "\033[31m"};

	if (!t->colors || mark == TABLE_PLAIN)
		buf_str(out, s);
	else
		buf_fmt(out, "%s%s\033[0m", color[(int)mark], s);
}

/* Of row r; -1: the titles. */
static void text_row(const struct table *t, int64_t r, const int *wide, struct buf *out)
{
	for (int i = 0; i < t->ncols; i++) {
		const char *s = r < 0 ? title(t, i) : t->cell[r * t->ncols + i];
		int pad = wide[i] - width(s);

		if (i)
			buf_str(out, "  ");
		if (is_number(t, i))
			spaces(out, pad);
		put_marked(t, s, r < 0 ? TABLE_PLAIN : t->mark[r * t->ncols + i], out);
		if (!is_number(t, i) && i < t->ncols - 1)
			spaces(out, pad);
	}
	while (out->n && out->s[out->n - 1] == ' ')
		out->s[--out->n] = 0;
	buf_ch(out, '\n');
}

void table_text(const struct table *t, struct buf *out)
{
	int wide[TABLE_COLUMNS];

	for (int i = 0; i < t->ncols; i++) {
		wide[i] = width(title(t, i));
		for (int64_t r = 0; r < t->nrows; r++) {
			int n = width(t->cell[r * t->ncols + i]);

			if (n > wide[i])
				wide[i] = n;
		}
	}
	for (int64_t r = -1; r < t->nrows; r++)
		text_row(t, r, wide, out);
}

static void csv_cell(const char *s, struct buf *out)
{
	size_t n = strlen(s);

	if (!s[strcspn(s, ",\"\r\n")]) {
		buf_str(out, s);
		return;
	}
	buf_reserve(out, 2 * n + 2);
	out->n += csv_write(out->s + out->n, 2 * n + 2, s, n);
	out->s[out->n] = 0;
}

void table_csv(const struct table *t, struct buf *out)
{
	for (int64_t r = -1; r < t->nrows; r++)
		for (int i = 0; i < t->ncols; i++) {
			csv_cell(r < 0 ? title(t, i) : t->cell[r * t->ncols + i], out);
			buf_ch(out, i < t->ncols - 1 ? ',' : '\n');
		}
}

void table_free(struct table *t)
{
	arena_free(&t->arena);
	free(t->cell);
	free(t->mark);
}
