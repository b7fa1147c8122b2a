/* A chain of element-wise operations, which are the post-ops: at least one. Each counts as one
 * operation an element. */
#include "lib/op/rows.h"

static int check(const struct workload *w, struct err *e)
{
	return rows_check(w, w->npost, e);
}

static int64_t flops(const struct workload *w)
{
	return w->npost * w->dim[ROWS_R] * w->dim[ROWS_C];
}

static int tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	return rows_tensors(w, 0, t);
}

static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	struct rows_naive r;
	int j;

	(void)wide;
	(void)e;
	rows_open(&r, w, 0, n);
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
	.check = check,
	.flops = flops,
	.tensors = tensors,
	.naive = naive,
};
