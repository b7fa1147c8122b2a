#include "lib/run/pool.h"

#include <math.h>

#include "lib/op/op.h"

struct building {
	const struct pool *p;
	struct nest *n;
	int lanes;
	int from, to, sum, count; /* buffers, of which the last two are registers */
	struct affine in_image, out_row;
	struct affine first_row; /* of the window, in the image: may be outside */
	int some_outside;	 /* the number of taps that count differs from place to place */
};

typedef const struct expr *value;

/* Opens two branches: i lies in the image. */
static void guard(struct nest *n, struct affine i, int64_t extent)
{
	nest_if_less(n, af(-1), i);
	nest_if_less(n, i, af(extent));
}

static void take(const struct building *b, struct affine at)
{
	value x = ex_load(b->n, b->from, b->lanes, at, NULL), sum = ex_reg(b->n, b->sum, af(0));

	nest_store(b->n, b->sum, af(0), NULL,
		   b->p->is_mean ? ex_op(b->n, EXPR_ADD, sum, x, NULL)
				 : ex_limit(b->n, EXPR_MAX, sum, x));
}

static void count(const struct building *b)
{
	nest_store(b->n, b->count, af(0), NULL,
		   ex_op(b->n, EXPR_ADD, ex_reg(b->n, b->count, af(0)),
			 ex_const(b->n, ELEM_F32, 1, 1), NULL));
}

/* All taps of a window. column: of its first one. inside: all columns lie in the image. */
static void taps(const struct building *b, struct affine column, int inside, struct affine channel)
{
	const struct pool *p = b->p;
	struct nest *n = b->n;
	int depth = n->depth, counts = p->is_mean && b->some_outside,
	    padded = counts && p->counts_padding,
	    rows_inside = p->ph == 0 && (p->oh - 1) * p->sh + (p->kh - 1) * p->dh < p->ih;
	int kh = nest_for(n, LOOP_SERIAL, "kh", af(0), af(p->kh));
	int row = nest_let(n, "row", af_add(b->first_row, af_mul(af_var(kh), p->dh))), kw, col;

	if (!rows_inside && !padded)
		guard(n, af_var(row), p->ih);
	kw = nest_for(n, LOOP_SERIAL, "kw", af(0), af(p->kw));
	col = nest_let(n, "col", af_add(column, af_mul(af_var(kw), p->dw)));
	if (padded) {
		nest_if_less(n, af_var(row), af(p->to_row));
		nest_if_less(n, af_var(col), af(p->to_column));
		count(b);
		guard(n, af_var(row), p->ih);
	}
	if (!inside)
		guard(n, af_var(col), p->iw);
	if (counts && !padded)
		count(b);
	take(b, af_sum(b->in_image, af_mul(af_var(row), p->iw * p->in_pixel),
		       af_mul(af_var(col), p->in_pixel), channel));
	nest_close_to(n, depth);
}

static void window(const struct building *b, struct affine ow, int inside, struct affine channel)
{
	const struct pool *p = b->p;
	struct nest *n = b->n;
	const int lanes = b->lanes;
	value x;

	nest_store(n, b->sum, af(0), NULL,
		   ex_const(n, ELEM_F32, lanes, p->is_mean ? 0 : (double)-INFINITY));
	nest_store(n, b->count, af(0), NULL, ex_const(n, ELEM_F32, 1, 0));
	taps(b, af_add(af_mul(ow, p->sw), af(-p->pw)), inside, channel);
	x = ex_reg(n, b->sum, af(0));
	if (p->is_mean && b->some_outside) {
		value c = ex_reg(n, b->count, af(0));

		x = ex_op(n, EXPR_DIV, x, lanes > 1 ? ex_bcast(n, lanes, c) : c, NULL);
	} else if (p->is_mean) {
		x = ex_op(n, EXPR_MUL, x,
			  ex_const(n, ELEM_F32, lanes, 1.0 / (double)(p->kh * p->kw)), NULL);
	}
	nest_store(n, b->to, af_sum(b->out_row, af_mul(ow, p->out_pixel), channel), NULL, x);
}

/* Output columns first to end, all of whose windows lie inside, or not. Where vectors do not fit
 * the channels, the last one overlaps the one before it. */
static void stretch(const struct building *b, int64_t first, int64_t end, int inside)
{
	const struct pool *p = b->p;
	struct nest *n = b->n;
	int64_t whole = p->channels / b->lanes;
	int depth = n->depth, ow, c;

	if (first >= end)
		return;
	ow = nest_for(n, LOOP_SERIAL, "ow", af(first), af(end));
	c = nest_for(n, LOOP_SERIAL, "c", af(0), af(whole));
	window(b, af_var(ow), inside, af_mul(af_var(c), b->lanes));
	nest_close(n);
	if (whole * b->lanes < p->channels)
		window(b, af_var(ow), inside, af(p->channels - b->lanes));
	nest_close_to(n, depth);
}

static void rows(struct building *b)
{
	const struct pool *p = b->p;
	struct nest *n = b->n;
	int img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(p->images));
	int oh = nest_for(n, LOOP_PARALLEL, "oh", af(0), af(p->oh));
	int64_t first = (p->pw + p->sw - 1) / p->sw;
	int64_t reach = p->iw - 1 - (p->kw - 1) * p->dw + p->pw;
	int64_t end = reach < 0 ? 0 : reach / p->sw + 1;

	end = end < p->ow ? end : p->ow;
	first = first < p->ow ? first : p->ow;
	end = end > first ? end : first;
	b->in_image = af_mul(af_var(img), p->ih * p->iw * p->in_pixel);
	b->out_row = af_add(af_mul(af_var(img), p->oh * p->ow * p->out_pixel),
			    af_mul(af_var(oh), p->ow * p->out_pixel));
	b->first_row = af_add(af_mul(af_var(oh), p->sh), af(-p->ph));
	stretch(b, 0, first, 0);
	stretch(b, first, end, 1);
	stretch(b, end, p->ow, 0);
}

/* One output pixel an image: the threads share its channels. */
static void whole_image(struct building *b)
{
	const struct pool *p = b->p;
	struct nest *n = b->n;
	int img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(p->images));
	int c = nest_for(n, LOOP_PARALLEL, "c", af(0), af(p->channels / b->lanes));

	b->in_image = af_mul(af_var(img), p->ih * p->iw * p->in_pixel);
	b->out_row = af_mul(af_var(img), p->out_pixel);
	b->first_row = af(0);
	window(b, af(0), 1, af_mul(af_var(c), b->lanes));
}

void pool_nest(const struct pool *p, int lanes, struct nest *n)
{
	/* The last row and column that a window reaches. */
	int64_t bottom = (p->oh - 1) * p->sh + (p->kh - 1) * p->dh - p->ph;
	int64_t right = (p->ow - 1) * p->sw + (p->kw - 1) * p->dw - p->pw;
	int is_inside = p->ph == 0 && p->pw == 0 && bottom < p->ih && right < p->iw;
	struct building b = {.p = p, .n = n};
	int whole = p->oh * p->ow == 1 && is_inside;

	b.some_outside =
		p->counts_padding ? bottom >= p->to_row || right >= p->to_column : !is_inside;
	while (lanes > p->channels || (whole && lanes > 1 && p->channels % lanes))
		lanes /= 2;
	b.lanes = lanes < 4 ? 1 : lanes;
	b.from = nest_arg(n, "from", TENSOR_SRC, p->images * p->ih * p->iw * p->in_pixel, 0);
	b.to = nest_arg(n, "to", TENSOR_DST, p->images * p->oh * p->ow * p->out_pixel, 1);
	nest_elem(n, b.from, p->in);
	nest_elem(n, b.to, p->out);
	b.sum = nest_reg(n, "x", ELEM_F32, b.lanes, 1, 1);
	b.count = nest_reg(n, "y", ELEM_F32, 1, 1, 1);
	if (whole)
		whole_image(&b);
	else
		rows(&b);
	while (n->depth)
		nest_close(n);
}
