/* A chain of element-wise operations, which are the post-ops: at least one. Each counts as one
 * operation an element. */
#include "lib/op/rows.h"

static const struct rows form = {.each = 0};

static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	struct rows_naive r;
	int j;

	(void)wide;
	(void)e;
	rows_open(&r, w, n);
	j = rows_for(&r);
	rows_put(&r, j, rows_value(&r, j));
	rows_close(&r);
	return 0;
}

const struct op op_eltwise = {
	.name = "eltwise",
	.summary = "chain of element-wise operations",
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
