/* Each value over the root of the mean of the squares of its row, times a factor for each column.
 * The mean gets 1e-5 added. For each value: square, add, divide, multiply. */
#include "lib/op/rows.h"

static const struct rows form = {.each = 4, .scaled = 1};

static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	struct rows_naive r;
	int mean, j;

	(void)wide;
	(void)e;
	rows_open(&r, w, n);
	mean = rows_number(&r, "mean", 0);
	j = rows_for(&r);
	rows_set(&r, mean,
		 rows_op(&r, EXPR_ADD, rows_get(&r, mean),
			 rows_op(&r, EXPR_MUL, rows_value(&r, j), rows_value(&r, j))));
	nest_close(n);
	rows_set(&r, mean,
		 rows_op(&r, EXPR_DIV, rows_get(&r, mean), rows_const(&r, (double)w->dim[ROWS_C])));
	rows_set(&r, mean, rows_op(&r, EXPR_ADD, rows_get(&r, mean), rows_const(&r, 1e-5)));
	rows_set(&r, mean, rows_op(&r, EXPR_SQRT, rows_get(&r, mean), NULL));
	j = rows_for(&r);
	rows_put(&r, j, rows_op(&r, EXPR_DIV, rows_value(&r, j), rows_get(&r, mean)));
	rows_close(&r);
	return 0;
}

const struct op op_rms_norm = {
	.name = "rms_norm",
	.summary = "normalization of each row by its root mean square",
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
