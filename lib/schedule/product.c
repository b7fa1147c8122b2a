#include "lib/schedule/product.h"

#include "lib/schedule/stage.h"
#include "lib/space/knob.h"

enum { MOST_ROWS_ONCE = 8 };

/* 1x1 convolution without padding. */
static int pixels_of(const struct workload *w, struct product *p)
{
	const int64_t *d = w->dim;

	if (w->op != &op_conv2d || d[CONV_G] != 1 || d[CONV_KH] != 1 || d[CONV_KW] != 1 ||
	    d[CONV_PH] || d[CONV_PW] || (d[CONV_OH] - 1) * d[CONV_SH] >= d[CONV_IH] ||
	    (d[CONV_OW] - 1) * d[CONV_SW] >= d[CONV_IW])
		return 0;
	*p = (struct product){.b = 1,
			      .m = d[CONV_MB] * d[CONV_OH] * d[CONV_OW],
			      .k = d[CONV_IC],
			      .values = d[CONV_IC],
			      .n = d[CONV_OC],
			      .transposed = 1,
			      .mb = d[CONV_MB],
			      .ih = d[CONV_IH],
			      .iw = d[CONV_IW],
			      .oh = d[CONV_OH],
			      .ow = d[CONV_OW],
			      .sh = d[CONV_SH],
			      .sw = d[CONV_SW]};
	p->strided = p->oh != p->ih || p->ow != p->iw;
	return 1;
}

int product_of(const struct workload *w, struct product *p)
{
	const int64_t *d = w->dim;

	if (w->op == &op_matmul) {
		*p = (struct product){.b = d[MATMUL_B],
				      .m = d[MATMUL_M],
				      .k = d[MATMUL_K],
				      .n = d[MATMUL_N],
				      .values = d[MATMUL_K]};
		return 1;
	}
	return pixels_of(w, p) && !p->strided;
}

int product_of_pixels(const struct workload *w, struct product *p)
{
	return w->op == &op_matmul ? product_of(w, p) : pixels_of(w, p);
}

int product_gather(struct nest *n, const struct product *p, int src, int lanes)
{
	struct run run = {.lanes = lanes, .from = src, .count = af(p->k)};
	int img, row, col;

	run.to = nest_team(n, "pixels", p->m * p->k);
	run.vectors = nest_const(n, "vectors", ceil_div(p->k, lanes));
	img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(p->mb));
	row = nest_for(n, LOOP_PARALLEL, "row", af(0), af(p->oh));
	col = nest_for(n, LOOP_SERIAL, "col", af(0), af(p->ow));
	run.to_at = af_sum(af_mul(af_var(img), p->oh * p->ow * p->k),
			   af_mul(af_var(row), p->ow * p->k), af_mul(af_var(col), p->k));
	run.from_at = af_sum(af_mul(af_var(img), p->ih * p->iw * p->k),
			     af_mul(af_var(row), p->sh * p->iw * p->k),
			     af_mul(af_var(col), p->sw * p->k));
	stage_run(n, &run);
	nest_close(n);
	nest_close(n);
	nest_close(n);
	nest_sync(n);
	return run.to;
}

int product_halves(struct nest *n, const struct product *p, int from, int lanes)
{
	enum { ROWS = 16 }; /* that a thread takes at a time */
	struct window a = {.buffer = from, .stride = af(p->k)}, halves = a;
	struct run run = {.lanes = lanes, .count = af(p->k), .half = p->b * p->m * p->k};
	struct affine end;
	int batch, block;

	run.vectors = nest_const(n, "Avecs", ceil_div(p->k, lanes));
	halves.buffer = nest_team(n, "halves", 2 * run.half);
	nest_elem(n, halves.buffer, ELEM_BF16);
	batch = nest_for(n, LOOP_PARALLEL, "b", af(0), af(p->b));
	block = nest_for(n, LOOP_PARALLEL, "rb", af(0), af(ceil_div(p->m, ROWS)));
	halves.first = af_mul(af_var(block), ROWS);
	end = af_add(halves.first, af(ROWS));
	if (p->m % ROWS)
		end = af_var(nest_let_min(n, "end", end, af(p->m)));
	a.rest = af_mul(af_var(batch), p->m * p->k);
	halves.rest = af_add(a.rest, af_mul(halves.first, p->k));
	stage_rows(n, &a, &halves, end, &run);
	nest_close(n);
	nest_close(n);
	nest_sync(n);
	return halves.buffer;
}

int product_panels(struct nest *n, const struct product *p, int64_t panels, int64_t columns,
		   int64_t depth, int halves)
{
	int in = p->transposed ? 2 : 1, out = 3 - in;
	struct packing w = {.rank = 3, .extent = {p->b}};

	packing_axis(&w, 0, p->b, 1);
	packing_axis(&w, out, panels, columns);
	if (halves)
		packing_halves(&w);
	packing_axis(&w, in, p->values / depth, depth);
	packing_axis(&w, out, columns, 1);
	if (depth > 1)
		packing_axis(&w, in, depth, 1);
	w.extent[in] = p->k;
	w.extent[out] = p->n;
	return nest_packed(n, "B", TENSOR_WEIGHTS, &w);
}

/* A processor reads ahead in each page apart: several streams keep more of the memory busy. It pays
 * where the right side is read once, and comes from beyond the second cache. */
void product_streams(struct range *r, int knob, const struct workload *w, const struct product *p)
{
	range_flags(r, knob, knob);
	if (!w->rhs_const)
		range_only(r, knob, 0, "only a constant right side has panels of vectors");
	else if (r->space &&
		 (p->m > MOST_ROWS_ONCE ||
		  workload_tensor_bytes(w, TENSOR_WEIGHTS, p->k * p->n) <= r->machine->l2))
		range_only(r, knob, 0, NULL);
}
