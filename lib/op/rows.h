/* Operators on the rows of a matrix, row-major, each row on its own: what softmax, the
 * normalizations and eltwise share. The problem is written RxC. */
#ifndef TL_OP_ROWS_H
#define TL_OP_ROWS_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/tile/post.h"

/* The form of such an operator (op->form). */
struct rows {
	int64_t each; /* operations that an element takes; 0: one for each post-op */
	int scaled;   /* there is a factor for each column, in the place of weights */
};

int rows_parse(const struct op *op, const char *prob, int64_t *dim, struct err *e);
void rows_print(const struct op *op, const int64_t *dim, struct buf *out);
int rows_check(const struct workload *w, struct err *e);
int64_t rows_flops(const struct workload *w);
int rows_tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS]);

/* A definition: the nest while it is built, in double precision. */
struct rows_naive {
	struct nest *n;
	int src, scale; /* scale: -1 if there is none */
	int row, columns;
	struct post_naive end;
};

/* Opens the loop over the rows. */
void rows_open(struct rows_naive *r, const struct workload *w, struct nest *n);
/* Opens a loop over the columns, which nest_close() ends; its variable. */
int rows_for(struct rows_naive *r);
const struct expr *rows_value(struct rows_naive *r, int column);
/* A register that holds a number. */
int rows_number(struct rows_naive *r, const char *name, double value);
const struct expr *rows_get(struct rows_naive *r, int number);
void rows_set(struct rows_naive *r, int number, const struct expr *x);
const struct expr *rows_op(struct rows_naive *r, enum expr_kind kind, const struct expr *a,
			   const struct expr *b);
const struct expr *rows_const(struct rows_naive *r, double value);
/* The value of a column, through its factor and the post-ops. */
void rows_put(struct rows_naive *r, int column, const struct expr *x);
void rows_close(struct rows_naive *r);

#endif
