/* Tables for people and for spreadsheets: rows of text cells, printed aligned or as CSV.
 *
 * A table that is wider than it may be loses columns, in the order that it says, and then shortens
 * the cells of one column.
 */
#ifndef TL_IO_TABLE_H
#define TL_IO_TABLE_H

#include "lib/base/arena.h"
#include "lib/base/buf.h"

enum { TABLE_COLUMNS = 24 };

/* How table_text() prints: on how many columns (0: as many as it takes), and with colours? */
struct table_look {
	int width, colors;
};

/* The options of programs that print tables, and the look that they ask for. to_file: the table
 * goes elsewhere than to standard output. */
#define COLOR_OPTION(when)                                                                         \
	{                                                                                          \
		0, "color", OPT_ENUM, &(when), "WHEN",                                             \
			"Colours in a table, green for faster and red for slower: on a terminal, " \
			"unless NO_COLOR is set (auto, the default), always, or never.",           \
			"auto|always|never"                                                        \
	}
#define WIDE_OPTION(flag)                                                                          \
	{                                                                                          \
		0, "wide", OPT_FLAG, &(flag), NULL,                                                \
			"All columns of a table, and problems in full. Without it a table fits "   \
			"the terminal, or 80 columns.",                                            \
			NULL                                                                       \
	}
struct table_look table_look(const char *color, int wide, int to_file);

/* Cells belong to the arena; head[i] begins with '>' for a column of numbers, aligned right. */
struct table {
	struct arena arena;
	int ncols;
	const char *const *head;
	const char **cell; /* ncols a row */
	char *mark;	   /* of each cell: table_mark */
	int64_t nrows, cap;
	struct table_look look;
	const signed char *leave; /* columns in the order in which they leave, -1 at the end */
	int shorten;		  /* the column whose cells are shortened; -1: none */
};

enum table_mark { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD };

void table_init(struct table *t, const char *const *head, int ncols);
/* Appends a row of empty cells. */
void table_row(struct table *t);
/* Sets a cell of the last row. */
void table_cell(struct table *t, int col, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Marks that cell. */
void table_mark(struct table *t, int col, enum table_mark mark);
/* Returns how many columns there was no room for. */
int table_text(const struct table *t, struct buf *out);
/* A sentence below a table, wrapped as wide as the table may be. */
void table_note(const struct table_look *look, struct buf *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* At most n characters of a problem or the like: its middle is replaced by "..", and no number is
 * cut in two. */
void table_shorten(const char *s, int n, struct buf *out);
void table_csv(const struct table *t, struct buf *out); /* RFC 4180, with a header line */
void table_free(struct table *t);

#endif
