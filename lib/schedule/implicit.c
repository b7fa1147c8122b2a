#include "lib/schedule/implicit.h"

#include "lib/space/knob.h"

enum { LANES = 4 };

/* ---- the product ---- */

static int lanes_of(int64_t a, int64_t b)
{
	return a % LANES || b % LANES ? 1 : LANES;
}

static void product(const struct workload *w, struct implicit *p)
{
	p->b = w->dim[MATMUL_B];
	p->m = w->dim[MATMUL_M];
	p->n = w->dim[MATMUL_N];
	p->k = w->dim[MATMUL_K];
	p->taps = 1;
	p->packed = w->rhs_const;
	p->src_lanes = lanes_of(p->k, p->k);
	p->dst_lanes = lanes_of(p->n, p->n);
}

static void convolution(const struct workload *w, struct implicit *p)
{
	p->is_conv = p->packed = 1;
	p->nchw = w->layout == LAYOUT_NCHW;
	p->b = p->c.g;
	p->m = p->c.mb * p->c.oh * p->c.ow;
	p->n = p->c.oc;
	p->k = p->c.ic;
	p->taps = p->c.kh * p->c.kw;
	p->src_lanes = p->nchw ? 1 : lanes_of(p->c.ic, p->c.ic * p->c.g);
	p->dst_lanes = p->nchw ? 1 : lanes_of(p->c.oc, p->c.oc * p->c.g);
}

int implicit_of(const struct workload *w, struct implicit *p)
{
	*p = (struct implicit){.is_conv = 0};
	if (w->op == &op_matmul)
		product(w, p);
	else if (conv_of(w, &p->c))
		convolution(w, p);
	else
		return 0;
	p->weights_lanes = p->packed ? LANES : lanes_of(p->n, p->n);
	return 1;
}

static int64_t chunks_of_channels(const struct implicit *p)
{
	return ceil_div(p->k, p->bk);
}

int64_t implicit_chunks(const struct implicit *p)
{
	return chunks_of_channels(p) * p->taps;
}

int64_t implicit_panels(const struct implicit *p)
{
	return ceil_div(p->n, p->bn);
}

static int panels_of_product(struct nest *n, const struct implicit *p)
{
	struct packing w = {
		.rank = 3,
		.extent = {p->b, p->k, p->n},
		.naxes = 5,
		.axis = {{0, p->b, 1},
			 {2, implicit_panels(p), p->bn},
			 {1, chunks_of_channels(p), p->bk},
			 {1, p->bk, 1},
			 {2, p->bn, 1}},
	};

	return nest_packed(n, "w", TENSOR_WEIGHTS, &w);
}

void implicit_declare(struct nest *n, const struct workload *w, struct implicit *p)
{
	struct extent bias[] = {{p->b, p->b}, {p->n, implicit_panels(p) * p->bn}};

	p->src = nest_arg(n, "src", TENSOR_SRC, workload_size(w, TENSOR_SRC), 0);
	if (p->is_conv)
		p->weights = conv_weights(n, &p->c, p->bn, p->bk);
	else if (p->packed)
		p->weights = panels_of_product(n, p);
	else
		p->weights = nest_arg(n, "w", TENSOR_WEIGHTS, p->b * p->k * p->n, 0);
	operand_out(n, w, operand_bias(n, w, p->is_conv ? 2 : 1, p->is_conv ? bias : bias + 1),
		    workload_size(w, TENSOR_DST), &p->out);
}

/* ---- chunks ---- */

struct implicit_chunk implicit_chunk(struct nest *n, const struct implicit *p, int q)
{
	struct implicit_chunk c = {.q = q, .row = af(0), .column = af(0)};
	int channels = q, tap;

	if (p->taps > 1) {
		channels = nest_let_div(n, "cc", af_var(q), p->taps);
		tap = nest_let_mod(n, "tap", af_var(q), p->taps);
		c.row = af_var(nest_let_div(n, "kh", af_var(tap), p->c.kw));
		c.column = af_var(nest_let_mod(n, "kw", af_var(tap), p->c.kw));
	}
	c.channel = af_mul(af_var(channels), p->bk);
	return c;
}

/* ---- the left side ---- */

/* Opens a branch for what lies in [0, end). */
static void if_inside(struct nest *n, struct affine i, int64_t end, int from_below)
{
	if (from_below)
		nest_if_less(n, af(-1), i);
	nest_if_less(n, i, af(end));
}

/* Row, a pixel, as a variable each for image, row and column of the image. */
struct pixel {
	struct affine image, row, column;
};

static struct pixel pixel_of(struct nest *n, const struct implicit *p, struct affine row)
{
	int64_t pixels = p->c.oh * p->c.ow;
	struct pixel x;
	int rest;

	x.image = af_var(nest_let_div(n, "img", row, pixels));
	rest = nest_let_mod(n, "rest", row, pixels);
	x.row = af_var(nest_let_div(n, "oh", af_var(rest), p->c.ow));
	x.column = af_var(nest_let_mod(n, "ow", af_var(rest), p->c.ow));
	return x;
}

/* Does pixel m of the output have pixel m of the input alone? */
static int is_pointwise(const struct implicit *p)
{
	return p->taps == 1 && !p->c.padded && p->c.sh == 1 && p->c.sw == 1 && p->c.oh == p->c.ih &&
	       p->c.ow == p->c.iw && !p->nchw;
}

/* Where a channel of the open chunk is; opens branches for those that there are. */
static struct affine source_at(struct nest *n, const struct implicit *p,
			       const struct implicit_chunk *c, int batch, struct affine row,
			       struct affine channel)
{
	struct access a = conv_src(&p->c, p->src);
	struct pixel x;
	int ih, iw;

	if (!p->is_conv)
		return af_sum(af_mul(af_var(batch), p->m * p->k), af_mul(row, p->k), channel);
	if (is_pointwise(p))
		return af_sum(af_mul(row, p->b * p->k), af_mul(af_var(batch), p->k), channel);
	x = pixel_of(n, p, row);
	ih = nest_let(n, "ih",
		      af_sum(af_mul(x.row, p->c.sh), af_mul(c->row, p->c.dh), af(-p->c.ph)));
	iw = nest_let(n, "iw",
		      af_sum(af_mul(x.column, p->c.sw), af_mul(c->column, p->c.dw), af(-p->c.pw)));
	if (p->c.padded) {
		if_inside(n, af_var(ih), p->c.ih, 1);
		if_inside(n, af_var(iw), p->c.iw, 1);
	}
	if (p->nchw)
		return af_sum(af_mul(x.image, p->b * p->k * p->c.ih * p->c.iw),
			      af_mul(af_var(batch), p->k * p->c.ih * p->c.iw),
			      af_mul(channel, p->c.ih * p->c.iw), af_mul(af_var(ih), p->c.iw),
			      af_var(iw));
	return access_at(&a, {CONV_IMAGE, x.image}, {CONV_ROW, af_var(ih)},
			 {CONV_COLUMN, af_var(iw)}, {CONV_GROUP, af_var(batch)},
			 {CONV_CHANNEL, channel});
}

void implicit_source(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		     int batch, struct affine row, struct affine channel, int reg,
		     struct affine reg_at)
{
	const int depth = n->depth;
	struct affine at;

	nest_store(n, reg, reg_at, NULL, ex_const(n, ELEM_F32, p->src_lanes, 0));
	channel = af_add(c->channel, channel);
	if (p->m % p->bm)
		nest_if_less(n, row, af(p->m));
	if (p->k % p->bk)
		nest_if_less(n, channel, af(p->k));
	at = source_at(n, p, c, batch, row, channel);
	nest_store(n, reg, reg_at, NULL, ex_load(n, p->src, p->src_lanes, at, NULL));
	nest_close_to(n, depth);
}

/* ---- the right side ---- */

void implicit_right(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		    int batch, struct affine panel, struct affine k, struct affine column, int reg,
		    struct affine reg_at)
{
	const int depth = n->depth;
	struct affine at;

	if (p->packed) {
		int64_t chunk = p->bk * p->bn, of_panel = chunk * implicit_chunks(p);

		at = af_sum(af_mul(af_var(batch), of_panel * implicit_panels(p)),
			    af_mul(panel, of_panel), af_mul(af_var(c->q), chunk), af_mul(k, p->bn),
			    column);
		nest_store(n, reg, reg_at, NULL, ex_load(n, p->weights, LANES, at, NULL));
		return;
	}
	nest_store(n, reg, reg_at, NULL, ex_const(n, ELEM_F32, p->weights_lanes, 0));
	k = af_add(c->channel, k);
	column = af_add(af_mul(panel, p->bn), column);
	if (p->k % p->bk)
		nest_if_less(n, k, af(p->k));
	if (p->n % p->bn)
		nest_if_less(n, column, af(p->n));
	at = af_sum(af_mul(af_var(batch), p->k * p->n), af_mul(k, p->n), column);
	nest_store(n, reg, reg_at, NULL, ex_load(n, p->weights, p->weights_lanes, at, NULL));
	nest_close_to(n, depth);
}

/* ---- the result ---- */

static struct affine result_at(struct nest *n, const struct implicit *p, int batch,
			       struct affine row, struct affine column)
{
	int64_t pixels = p->c.oh * p->c.ow;
	int image, rest;

	if (!p->is_conv)
		return af_sum(af_mul(af_var(batch), p->m * p->n), af_mul(row, p->n), column);
	if (!p->nchw)
		return af_sum(af_mul(row, p->b * p->n), af_mul(af_var(batch), p->n), column);
	image = nest_let_div(n, "img", row, pixels);
	rest = nest_let_mod(n, "rest", row, pixels);
	return af_sum(af_mul(af_var(image), p->b * p->n * pixels),
		      af_mul(af_var(batch), p->n * pixels), af_mul(column, pixels), af_var(rest));
}

void implicit_store(struct nest *n, const struct implicit *p, int batch, struct affine row,
		    struct affine column, const struct expr *x)
{
	const int depth = n->depth;
	struct affine bias = column, at;
	int lane;

	if (p->is_conv)
		bias = af_add(af_mul(af_var(batch), implicit_panels(p) * p->bn), column);
	if (p->m % p->bm)
		nest_if_less(n, row, af(p->m));
	if (p->dst_lanes == 1) {
		lane = nest_for(n, LOOP_UNROLL, "l", af(0), af(LANES));
		x = ex_pick(n, x, af_var(lane));
		column = af_add(column, af_var(lane));
		bias = af_add(bias, af_var(lane));
	}
	if (p->n % p->bn)
		nest_if_less(n, column, af(p->n));
	at = result_at(n, p, batch, row, column);
	operand_store(n, &p->out, x, at, bias, NULL);
	nest_close_to(n, depth);
}
