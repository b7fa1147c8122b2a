/* Softmax: exponentials of what each value is above the largest of its row, over their sum. For
 * each value: compare, subtract, exponential, add, divide. */
#include "lib/op/rows.h"

static const struct rows form = {.each = 5};

static const struct expr *above(struct rows_naive *r, int most, int j)
{
	return rows_op(r, EXPR_EXP, rows_op(r, EXPR_SUB, rows_value(r, j), rows_get(r, most)),
		       NULL);
}

static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	struct rows_naive r;
	int most, sum, j;

	(void)wide;
	(void)e;
	rows_open(&r, w, n);
	most = rows_number(&r, "most", -1e300);
	sum = rows_number(&r, "sum", 0);
	j = rows_for(&r);
	rows_set(&r, most, rows_op(&r, EXPR_MAX, rows_get(&r, most), rows_value(&r, j)));
	nest_close(n);
	j = rows_for(&r);
	rows_set(&r, sum, rows_op(&r, EXPR_ADD, rows_get(&r, sum), above(&r, most, j)));
	nest_close(n);
	j = rows_for(&r);
	rows_put(&r, j, rows_op(&r, EXPR_DIV, above(&r, most, j), rows_get(&r, sum)));
	rows_close(&r);
	return 0;
}

const struct op op_softmax = {
	.name = "softmax",
	.summary = "softmax of each row",
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
