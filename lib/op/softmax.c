/* Softmax: exponentials of what each value is above the largest of its row, over their sum. For
 * each value: compare, subtract, exponential, add, divide. */
#include "lib/op/rows.h"

enum { EACH = 5 }; /* operations an element */

static int check(const struct workload *w, struct err *e)
{
	return rows_check(w, EACH, e);
}

static int64_t flops(const struct workload *w)
{
	return EACH * w->dim[ROWS_R] * w->dim[ROWS_C];
}

static int tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	return rows_tensors(w, 0, t);
}

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
	rows_open(&r, w, 0, n);
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
	.check = check,
	.flops = flops,
	.tensors = tensors,
	.naive = naive,
};
