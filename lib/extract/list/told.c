#include "lib/extract/list/told.h"

struct told_conv told_conv_plain(int space)
{
	struct told_conv c = {.space = space, .mb = 1, .groups = 1};

	for (int i = 0; i < TOLD_SPACE; i++)
		c.stride[i] = c.dilation[i] = 1;
	return c;
}

static int is_size(int64_t v, int64_t least)
{
	return v >= least && v <= INT32_MAX;
}

/* The output along a dimension; 0: there is none. */
static int64_t out_size(const struct told_conv *c, int i)
{
	int64_t room;

	if (!is_size(c->in[i], 1) || !is_size(c->kernel[i], 1) || !is_size(c->stride[i], 1) ||
	    !is_size(c->before[i], 0) || !is_size(c->after[i], 0) || !is_size(c->dilation[i], 1))
		return 0;
	room = c->in[i] + c->before[i] + c->after[i] - (c->kernel[i] - 1) * c->dilation[i] - 1;
	return room < 0 ? 0 : room / c->stride[i] + 1;
}

int64_t told_conv_macs(const struct told_conv *c)
{
	int64_t n = 1;

	if (!is_size(c->groups, 1) || !is_size(c->mb, 1) || !is_size(c->ic, c->groups) ||
	    !is_size(c->oc, 1) || __builtin_mul_overflow(c->mb, c->oc, &n) ||
	    __builtin_mul_overflow(n, c->ic / c->groups, &n))
		return -1;
	for (int i = 0; i < c->space; i++) {
		int64_t out = out_size(c, i);

		if (!out || __builtin_mul_overflow(n, out, &n) ||
		    __builtin_mul_overflow(n, c->kernel[i], &n))
			return -1;
	}
	return n;
}

int told_conv(const struct told_conv *c, enum layout layout, struct workload *w, struct err *e)
{
	int64_t *d = w->dim;

	if (c->space > 2)
		return err_set(e, "a convolution of 3 dimensions");
	*w = (struct workload){.op = &op_conv2d, .layout = layout, .rhs_const = 1};
	d[CONV_MB] = c->mb;
	d[CONV_G] = c->groups;
	d[CONV_IC] = c->ic;
	d[CONV_OC] = c->oc;
	for (int a = 0; a < 2; a++) {
		int i = a - 2 + c->space; /* a missing height is 1 */

		d[CONV_IH + a] = i < 0 ? 1 : c->in[i];
		d[CONV_OH + a] = i < 0 ? 1 : out_size(c, i);
		d[CONV_KH + a] = i < 0 ? 1 : c->kernel[i];
		d[CONV_SH + a] = i < 0 ? 1 : c->stride[i];
		d[CONV_PH + a] = i < 0 ? 0 : c->before[i];
		d[CONV_DH + a] = i < 0 || c->kernel[i] == 1 ? 0 : c->dilation[i] - 1;
	}
	return workload_finish(w, e);
}

int64_t told_product_macs(int64_t b, int64_t m, int64_t k, int64_t n)
{
	int64_t r;

	return b < 1 || m < 1 || k < 1 || n < 1 || __builtin_mul_overflow(b, m, &r) ||
			       __builtin_mul_overflow(r, k, &r) || __builtin_mul_overflow(r, n, &r)
		       ? -1
		       : r;
}

int told_product(int64_t b, int64_t m, int64_t k, int64_t n, int rhs_const, struct workload *w,
		 struct err *e)
{
	*w = (struct workload){.op = &op_matmul, .layout = LAYOUT_AB, .rhs_const = rhs_const};
	w->dim[MATMUL_B] = b;
	w->dim[MATMUL_M] = m;
	w->dim[MATMUL_K] = k;
	w->dim[MATMUL_N] = n;
	return workload_finish(w, e);
}
