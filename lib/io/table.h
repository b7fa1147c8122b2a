/* Tables for people and for spreadsheets: rows of text cells, printed aligned or as CSV. */
#ifndef TL_IO_TABLE_H
#define TL_IO_TABLE_H

#include "lib/base/arena.h"
#include "lib/base/buf.h"

enum { TABLE_COLUMNS = 24 };

/* Cells belong to the arena; head[i] begins with '>' for a column of numbers, aligned right. */
struct table {
	struct arena arena;
	int ncols;
	const char *const *head;
	const char **cell; /* ncols a row */
	char *mark;	   /* of each cell: table_mark */
	int64_t nrows, cap;
	int colors; /* table_text() shows marks, as a terminal does; 0 by default */
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
void table_text(const struct table *t, struct buf *out);
void table_csv(const struct table *t, struct buf *out); /* RFC 4180, with a header line */
void table_free(struct table *t);

#endif
