/* Layer normalization: what each value is above the mean of its row, over the standard deviation,
 * times a factor for each column; a shift is the post-op bias. The variance gets 1e-5 added. For
 * each value: a sum; subtract, square, a sum; subtract, divide, multiply. */
#include "lib/op/rows.h"

static const struct rows form = {.each = 7, .scaled = 1};

static const struct expr *above(struct rows_naive *r, int mean, int j)
{
	return rows_op(r, EXPR_SUB, rows_value(r, j), rows_get(r, mean));
}

static const struct expr *square(struct rows_naive *r, int mean, int j)
{
	return rows_op(r, EXPR_MUL, above(r, mean, j), above(r, mean, j));
}

static const struct expr *columns(struct rows_naive *r, const struct workload *w)
{
	return rows_const(r, (double)w->dim[ROWS_C]);
}

static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	struct rows_naive r;
	int mean, spread, j;

	(void)wide;
	(void)e;
	rows_open(&r, w, n);
	mean = rows_number(&r, "mean", 0);
	spread = rows_number(&r, "spread", 0);
	j = rows_for(&r);
	rows_set(&r, mean, rows_op(&r, EXPR_ADD, rows_get(&r, mean), rows_value(&r, j)));
	nest_close(n);
	rows_set(&r, mean, rows_op(&r, EXPR_DIV, rows_get(&r, mean), columns(&r, w)));
	j = rows_for(&r);
	rows_set(&r, spread, rows_op(&r, EXPR_ADD, rows_get(&r, spread), square(&r, mean, j)));
	nest_close(n);
	rows_set(&r, spread, rows_op(&r, EXPR_DIV, rows_get(&r, spread), columns(&r, w)));
	rows_set(&r, spread, rows_op(&r, EXPR_ADD, rows_get(&r, spread), rows_const(&r, 1e-5)));
	rows_set(&r, spread, rows_op(&r, EXPR_SQRT, rows_get(&r, spread), NULL));
	j = rows_for(&r);
	rows_put(&r, j, rows_op(&r, EXPR_DIV, above(&r, mean, j), rows_get(&r, spread)));
	rows_close(&r);
	return 0;
}

const struct op op_layer_norm = {
	.name = "layer_norm",
	.summary = "layer normalization of each row",
	.ndims = ROWS_C + 1,
	.dim = {"r", "c"},
	.layout = LAYOUT_AB,
	.parse = rows_parse,
	.print = rows_print,
	.check = rows_check,
	.flops = rows_flops,
	.tensors = rows_tensors,
	.naive = naive,
	.form = &form,
};
