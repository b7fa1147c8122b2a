#include "lib/io/table.h"

#include <csv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/io/terminal.h"

enum { SHORTEST = 16 }; /* characters that a cell is shortened to, at least */

struct table_look table_look(const char *color, int wide, int to_file)
{
	int always = !strcmp(color, "always"), never = !strcmp(color, "never");
	int on_terminal = !to_file && isatty(STDOUT_FILENO);

	return (struct table_look){
		.width = wide	       ? 0
			 : on_terminal ? terminal_width(STDOUT_FILENO)
				       : TERMINAL_WIDTH,
		.colors = !never && !to_file && (always || terminal_color(STDOUT_FILENO)),
	};
}

void table_init(struct table *t, const char *const *head, int ncols)
{
	*t = (struct table){.ncols = ncols, .head = head, .shorten = -1};
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
	struct buf shown = BUF_INIT;
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	terminal_text(text, strlen(text), &shown);
	t->cell[(t->nrows - 1) * t->ncols + col] = arena_strndup(&t->arena, shown.s, shown.n);
	buf_free(&shown);
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

/* ---- shortening ---- */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* May a text be cut before s[i]? Not inside a word, and not between a name and its number. */
static int is_joint(const char *s, size_t i)
{
	char before = s[i - 1], c = s[i];

	if (is_digit(c))
		return !is_digit(before) && !is_letter(before);
	return !is_letter(c) || !is_letter(before);
}

/* Where character n begins. */
static size_t place(const char *s, int n)
{
	size_t i = 0;

	for (; s[i]; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80 && n-- == 0)
			break;
	return i;
}

void table_shorten(const char *s, int n, struct buf *out)
{
	const size_t len = strlen(s);
	const int chars = width(s);
	size_t head, tail, most, least;

	if (chars <= n) {
		buf_str(out, s);
		return;
	}
	head = most = place(s, (n - 2) * 2 / 3);
	while (head > 0 && !is_joint(s, head))
		head--;
	if (!head)
		head = most; /* one long word */
	tail = least = place(s, chars - (n - 2 - width(s) + width(s + head)));
	while (tail < len && !is_joint(s, tail))
		tail++;
	if (tail == len)
		tail = least;
	tail += s[tail] == '_'; /* which only parts */
	buf_add(out, s, head);
	buf_str(out, "..");
	buf_str(out, s + tail);
}

/* ---- columns ---- */

/* What is printed of a table. */
struct shown {
	int wide[TABLE_COLUMNS]; /* characters of each column; 0: it has left */
	int gap;		 /* blanks between two columns */
};

static int row_width(const struct table *t, const struct shown *v)
{
	int n = -v->gap;

	for (int i = 0; i < t->ncols; i++)
		n += v->wide[i] ? v->wide[i] + v->gap : 0;
	return n;
}

/* Gives what is left of the width to the column that is shortened. */
static void spend(const struct table *t, struct shown *v, int full)
{
	int most = v->wide[t->shorten] + t->look.width - row_width(t, v);

	if (most > v->wide[t->shorten])
		v->wide[t->shorten] = full < most ? full : most;
}

static void choose_columns(const struct table *t, struct shown *v)
{
	int full = 0;

	v->gap = 2;
	for (int i = 0; i < t->ncols; i++) {
		v->wide[i] = width(title(t, i));
		for (int64_t r = 0; r < t->nrows; r++) {
			int n = width(t->cell[r * t->ncols + i]);

			if (n > v->wide[i])
				v->wide[i] = n;
		}
	}
	if (!t->look.width || row_width(t, v) <= t->look.width)
		return;
	if (t->shorten >= 0) {
		full = v->wide[t->shorten];
		v->wide[t->shorten] = full < SHORTEST ? full : SHORTEST;
	}
	for (const signed char *c = t->leave; c && *c >= 0; c++)
		if (row_width(t, v) > t->look.width)
			v->wide[(int)*c] = 0;
	if (t->shorten < 0)
		return;
	spend(t, v, full);
	if (v->wide[t->shorten] < full) { /* closer columns, for a longer text */
		v->gap = 1;
		spend(t, v, full);
	}
}

/* ---- text ---- */

/* Green and red, as ECMA-48 writes them. */
static void put_marked(const struct table *t, const char *s, char mark, struct buf *out)
{
	static const char *const color[] = {
		[TABLE_PLAIN] = "", [TABLE_GOOD] = "\033[32m", [TABLE_BAD] = "\033[31m"};

	if (!t->look.colors || mark == TABLE_PLAIN)
		buf_str(out, s);
	else
		buf_fmt(out, "%s%s\033[0m", color[(int)mark], s);
}

/* Of row r; -1: the titles. */
static void text_row(const struct table *t, int64_t r, const struct shown *v, struct buf *out)
{
	struct buf cell = BUF_INIT;
	int blanks = 0; /* owed: a line does not end with any */

	for (int i = 0; i < t->ncols; i++) {
		const char *s = r < 0 ? title(t, i) : t->cell[r * t->ncols + i];
		int pad;

		if (!v->wide[i])
			continue;
		buf_clear(&cell);
		buf_reserve(&cell, 0);
		table_shorten(s, v->wide[i], &cell);
		pad = v->wide[i] - width(cell.s);
		if (cell.n) {
			spaces(out, blanks + (is_number(t, i) ? pad : 0));
			put_marked(t, cell.s, r < 0 ? TABLE_PLAIN : t->mark[r * t->ncols + i], out);
			blanks = v->gap + (is_number(t, i) ? 0 : pad);
		} else {
			blanks += v->wide[i] + v->gap;
		}
	}
	buf_ch(out, '\n');
	buf_free(&cell);
}

int table_text(const struct table *t, struct buf *out)
{
	struct shown v;
	int left = 0;

	choose_columns(t, &v);
	for (int64_t r = -1; r < t->nrows; r++)
		text_row(t, r, &v, out);
	for (int i = 0; i < t->ncols; i++)
		left += !v.wide[i];
	return left;
}

void table_note(const struct table_look *look, struct buf *out, const char *fmt, ...)
{
	struct buf text = BUF_INIT, raw = BUF_INIT, line = BUF_INIT;
	const char *s;
	va_list ap;
	int at = 0;

	va_start(ap, fmt);
	buf_vfmt(&raw, fmt, ap);
	va_end(ap);
	terminal_text(raw.s, raw.n, &line);
	s = line.s;
	while (*s) {
		int n = (int)strcspn(s, " ");

		if (at && look->width && at + 1 + n > look->width) {
			buf_ch(&text, '\n');
			at = 0;
		} else if (at) {
			buf_ch(&text, ' ');
			at++;
		}
		buf_add(&text, s, (size_t)n);
		at += n;
		s += n + (s[n] == ' ');
	}
	buf_str(out, text.s ? text.s : "");
	buf_ch(out, '\n');
	buf_free(&text);
	buf_free(&line);
	buf_free(&raw);
}

/* ---- CSV ---- */

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
