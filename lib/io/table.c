#include "lib/io/table.h"

#include <csv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
	}
	row = t->cell + t->nrows++ * t->ncols;
	for (int i = 0; i < t->ncols; i++)
		row[i] = "";
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

static void text_row(const struct table *t, const char *const *cell, const int *wide,
		     struct buf *out)
{
	for (int i = 0; i < t->ncols; i++) {
		const char *s = cell ? cell[i] : title(t, i);
		int pad = wide[i] - width(s);

		if (i)
			buf_str(out, "  ");
		if (is_number(t, i))
			spaces(out, pad);
		buf_str(out, s);
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
	text_row(t, NULL, wide, out);
	for (int64_t r = 0; r < t->nrows; r++)
		text_row(t, t->cell + r * t->ncols, wide, out);
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
}
