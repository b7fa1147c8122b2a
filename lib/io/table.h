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
	int64_t nrows, cap;
};

void table_init(struct table *t, const char *const *head, int ncols);
/* Appends a row of empty cells. */
void table_row(struct table *t);
/* Sets a cell of the last row. */
void table_cell(struct table *t, int col, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void table_text(const struct table *t, struct buf *out);
void table_csv(const struct table *t, struct buf *out); /* RFC 4180, with a header line */
void table_free(struct table *t);

#endif
