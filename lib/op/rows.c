#include "lib/op/rows.h"

#include <stdlib.h>
#include <string.h>

int rows_parse(const struct op *op, const char *prob, int64_t *dim, struct err *e)
{
	const char *s = prob;

	(void)op;
	for (int i = 0; i < 2; i++) {
		size_t n = strspn(s, "0123456789");

		if (!n || n > 10 || (i == 0 && s[n] != 'x'))
			return err_set(e, "the problem \"%.60s\" is not RxC", prob);
		dim[i] = strtoll(s, NULL, 10);
		s += n + (i == 0);
	}
	if (*s && !op_is_label(s) && (s[0] != '_' || !op_is_label(s + 1)))
		return err_set(e, "\"%.20s\" stands behind the problem \"%.60s\"", s, prob);
	return 0;
}

void rows_print(const struct op *op, const int64_t *dim, struct buf *out)
{
	(void)op;
	buf_int(out, dim[ROWS_R]);
	buf_ch(out, 'x');
	buf_int(out, dim[ROWS_C]);
}

static const struct rows *form(const struct workload *w)
{
	return w->op->form;
}

static int64_t each(const struct workload *w)
{
	return form(w)->each ? form(w)->each : w->npost;
}

int rows_check(const struct workload *w, struct err *e)
{
	if (op_check_dims(w, ROWS_C + 1, e))
		return -1;
	if (w->layout != LAYOUT_AB)
		return err_set(e, "%s has no layout %s", w->op->name, layout_name(w->layout));
	if (op_product(w->dim, ROWS_C + 1, OP_MOST_ELEMENTS) < 0)
		return err_set(e, "a tensor has more than 2^40 elements");
	return each(w) < 1 ? err_set(e, "%s without post-operations does nothing", w->op->name) : 0;
}

int64_t rows_flops(const struct workload *w)
{
	return each(w) * w->dim[ROWS_R] * w->dim[ROWS_C];
}

int rows_tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	int64_t size = w->dim[ROWS_R] * w->dim[ROWS_C];
	int n = 0;

	t[n++] = (struct tensor){TENSOR_SRC, size, 0};
	if (form(w)->scaled)
		t[n++] = (struct tensor){TENSOR_WEIGHTS, w->dim[ROWS_C], 1};
	n += workload_post_tensors(w, w->dim[ROWS_C], size, t + n);
	t[n++] = (struct tensor){TENSOR_DST, size, 0};
	return n;
}

void rows_open(struct rows_naive *r, const struct workload *w, struct nest *n)
{
	int64_t rows = w->dim[ROWS_R], columns = w->dim[ROWS_C];

	*r = (struct rows_naive){.n = n, .scale = -1, .end = {.wide = 1}};
	r->src = nest_arg(n, "src", TENSOR_SRC, rows * columns, 0);
	if (form(w)->scaled)
		r->scale = nest_arg(n, "scale", TENSOR_WEIGHTS, columns, 0);
	r->end.sum = nest_reg(n, "out", ELEM_F64, 1, 1, 1);
	workload_post_naive(w, columns, rows * columns, n, &r->end);
	r->columns = nest_param(n, "C", columns);
	r->row = nest_for(n, LOOP_PARALLEL, "row", af(0), af_var(nest_param(n, "R", rows)));
}

int rows_for(struct rows_naive *r)
{
	return nest_for(r->n, LOOP_SERIAL, "j", af(0), af_var(r->columns));
}

static struct affine place(const struct rows_naive *r, int column)
{
	return af_add(af_times(af_var(r->row), r->columns), af_var(column));
}

static const struct expr *load(struct rows_naive *r, int buffer, struct affine at)
{
	return ex_op(r->n, EXPR_WIDEN, ex_load(r->n, buffer, 1, at, NULL), NULL, NULL);
}

const struct expr *rows_value(struct rows_naive *r, int column)
{
	return load(r, r->src, place(r, column));
}

int rows_number(struct rows_naive *r, const char *name, double value)
{
	int number = nest_reg(r->n, name, ELEM_F64, 1, 1, 1);

	rows_set(r, number, rows_const(r, value));
	return number;
}

const struct expr *rows_get(struct rows_naive *r, int number)
{
	return ex_reg(r->n, number, af(0));
}

void rows_set(struct rows_naive *r, int number, const struct expr *x)
{
	nest_store(r->n, number, af(0), NULL, x);
}

const struct expr *rows_op(struct rows_naive *r, enum expr_kind kind, const struct expr *a,
			   const struct expr *b)
{
	return ex_op(r->n, kind, a, b, NULL);
}

const struct expr *rows_const(struct rows_naive *r, double value)
{
	return ex_const(r->n, ELEM_F64, 1, value);
}

void rows_put(struct rows_naive *r, int column, const struct expr *x)
{
	if (r->scale >= 0)
		x = rows_op(r, EXPR_MUL, x, load(r, r->scale, af_var(column)));
	rows_set(r, r->end.sum, x);
	r->end.at = place(r, column);
	r->end.bias_at = af_var(column);
	post_finish(r->n, &r->end);
}

void rows_close(struct rows_naive *r)
{
	while (r->n->depth)
		nest_close(r->n);
}
