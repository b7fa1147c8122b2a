#include "lib/schedule/channelwise.h"

void channelwise_weights(struct channelwise *s)
{
	const struct conv *p = &s->p;
	struct packing w = {
		.rank = 5,
		.extent = {p->g, 1, 1, p->kh, p->kw},
		.naxes = 6,
		.axis = {{0, s->tiles, s->nr},
			 {1, 1, 1},
			 {2, 1, 1},
			 {3, p->kh, 1},
			 {4, p->kw, 1},
			 {0, s->nr, 1}},
	};

	s->weights = nest_packed(s->n, "w", TENSOR_WEIGHTS, &w);
}

void channelwise_registers(struct channelwise *s, int pixels, int holds)
{
	int rows = holds ? (int)(s->p.kh * s->p.kw) : 1;

	s->acc = nest_reg(s->n, "acc", ELEM_F32, s->lanes, pixels, s->nv);
	s->wreg = nest_reg(s->n, "wr", ELEM_F32, s->lanes, rows, s->nv);
}

static struct site sites(const struct channelwise *s, const struct channelwise_place *at,
			 int64_t from, int64_t to)
{
	return (struct site){
		.lanes = s->lanes, .nv = s->nv, .columns = at->panel.width, .from = from, .to = to};
}

/* Register of vector v in this row. */
static struct affine reg_at(const struct channelwise *s, struct affine row, struct affine v)
{
	return af_add(af_mul(row, s->nv), v);
}

/* First channel of the vector. */
static struct affine channel_at(const struct channelwise *s, const struct channelwise_place *at,
				struct affine v)
{
	return af_add(af_mul(at->panel.index, s->nr), af_mul(v, s->lanes));
}

/* What the sums of vector v begin with. */
static const struct expr *first_value(struct channelwise *s, const struct channelwise_place *at,
				      struct affine v)
{
	if (s->bias < 0)
		return ex_const(s->n, ELEM_F32, s->lanes, 0);
	return ex_load(s->n, s->bias, s->lanes, channel_at(s, at, v), NULL);
}

/* The bias is loaded once for all pixels: loads are what a tile has most of. */
static void begin(struct channelwise *s, const struct channelwise_place *at)
{
	struct nest *n = s->n;

	for (struct site x = sites(s, at, 0, 1); site_next(n, &x);)
		nest_store(n, s->acc, reg_at(s, x.m, x.v), NULL, first_value(s, at, x.v));
	for (struct site x = sites(s, at, 1, at->run.pixels); site_next(n, &x);)
		nest_store(n, s->acc, reg_at(s, x.m, x.v), NULL,
			   s->bias < 0 ? first_value(s, at, x.v)
				       : ex_reg(n, s->acc, reg_at(s, af(0), x.v)));
}

/* Weights of tap `tap`, kh * KW + kw, into row `row` of their registers. */
static void load_weights(struct channelwise *s, const struct channelwise_place *at,
			 struct affine tap, struct affine row)
{
	struct site x = sites(s, at, 0, 1);
	struct nest *n = s->n;
	struct affine v = af_var(nest_for(n, LOOP_UNROLL, "v", af(0), af(site_vectors(&x))));
	struct affine panel = af_mul(at->panel.index, s->p.kh * s->p.kw * s->nr);

	nest_store(n, s->wreg, reg_at(s, row, v), NULL,
		   ex_load(n, s->weights, s->lanes,
			   af_sum(panel, af_mul(tap, s->nr), af_mul(v, s->lanes)), NULL));
	nest_close(n);
}

/* The tap in kernel row kh and column kw, for pixels [from, to); its weights are in row `row`. */
static void multiply(struct channelwise *s, const struct channelwise_place *at, struct affine kh,
		     struct affine kw, struct affine row, int64_t from, int64_t to)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;

	for (struct site x = sites(s, at, from, to); site_next(n, &x);) {
		struct affine ih =
			af_sum(af_mul(af_var(at->oh), p->sh), af_mul(kh, p->dh), af(-p->ph));
		struct affine iw = af_sum(af_mul(at->run.ow, p->sw), af_mul(x.m, p->sw),
					  af_mul(kw, p->dw), af(-p->pw));
		struct affine src =
			access_at(&s->src, {CONV_IMAGE, af_var(s->img)}, {CONV_ROW, ih},
				  {CONV_COLUMN, iw}, {CONV_GROUP, channel_at(s, at, x.v)});

		nest_store(n, s->acc, reg_at(s, x.m, x.v), NULL,
			   ex_op(n, EXPR_FMA, ex_reg(n, s->wreg, reg_at(s, row, x.v)),
				 ex_load(n, s->src.buffer, s->lanes, src, x.valid),
				 ex_reg(n, s->acc, reg_at(s, x.m, x.v))));
	}
}

/* The taps of kernel row kh. At an edge each is by itself. */
static void multiply_row(struct channelwise *s, const struct channelwise_place *at,
			 struct affine kh)
{
	int edge = at->run.edge >= 0;

	for (int i = 0; i < (edge ? s->p.kw : 1); i++) {
		struct affine kw = af(i), tap;
		int64_t from, to;

		if (!edge)
			kw = af_var(nest_for(s->n, LOOP_UNROLL, "kw", af(0), af(s->p.kw)));
		tap = af_add(af_mul(kh, s->p.kw), kw);
		stretch_inside(&at->run, &s->p, i, &from, &to);
		if (!at->held)
			load_weights(s, at, tap, af(0));
		multiply(s, at, kh, kw, at->held ? tap : af(0), from, to);
		if (!edge)
			nest_close(s->n);
	}
}

/* Where kernel rows are apart, each is asked whether it lies in the image: there is no division. */
static void multiply_dilated(struct channelwise *s, const struct channelwise_place *at)
{
	struct affine top = af_sub(af_mul(af_var(at->oh), s->p.sh), af(s->p.ph));
	struct nest *n = s->n;

	for (int kh = 0; kh < s->p.kh; kh++) {
		struct affine ih = af_add(top, af(kh * s->p.dh));
		int inside = nest_let_min(n, "inside", ih, af_sub(af(s->p.ih - 1), ih));

		nest_if_less(n, af(-1), af_var(inside));
		multiply_row(s, at, af(kh));
		nest_close(n);
	}
}

/* Kernel rows that leave the image are left out. */
static void multiply_clipped(struct channelwise *s, const struct channelwise_place *at)
{
	const struct conv *p = &s->p;
	int leaves = p->ph || (p->oh - 1) * p->sh + (p->kh - 1) * p->dh >= p->ih;
	struct affine first = af(0), end = af(p->kh);

	if (leaves && p->dh > 1 && p->kh > 1) {
		multiply_dilated(s, at);
		return;
	}
	if (leaves)
		conv_rows_inside(s->n, p, at->oh, 0, &first, &end);
	multiply_row(s, at, af_var(nest_for(s->n, LOOP_SERIAL, "kh", first, end)));
	nest_close(s->n);
}

static void multiply_inside(struct channelwise *s, const struct channelwise_place *at)
{
	struct nest *n = s->n;

	multiply_row(s, at, af_var(nest_for(n, LOOP_UNROLL, "kh", af(0), af(s->p.kh))));
	nest_close(n);
}

static void finish(struct channelwise *s, const struct channelwise_place *at)
{
	struct nest *n = s->n;

	for (struct site x = sites(s, at, 0, at->run.pixels); site_next(n, &x);) {
		struct affine channel = channel_at(s, at, x.v);
		struct affine to =
			access_at(&s->dst, {CONV_IMAGE, af_var(s->img)}, {CONV_ROW, af_var(at->oh)},
				  {CONV_COLUMN, af_add(at->run.ow, x.m)}, {CONV_GROUP, channel});

		operand_store(n, &s->out, ex_reg(n, s->acc, reg_at(s, x.m, x.v)), to, channel,
			      x.valid);
	}
}

void channelwise_hold(struct channelwise *s, const struct channelwise_place *at)
{
	int taps = nest_for(s->n, LOOP_UNROLL, "k", af(0), af(s->p.kh * s->p.kw));

	load_weights(s, at, af_var(taps), af_var(taps));
	nest_close(s->n);
}

void channelwise_tile(struct channelwise *s, const struct channelwise_place *at)
{
	begin(s, at);
	if (at->inside)
		multiply_inside(s, at);
	else
		multiply_clipped(s, at);
	finish(s, at);
}

/* ---- columns ---- */

/* The larger of two, as minima are what there is. */
static struct affine larger(struct nest *n, struct affine a, int64_t b)
{
	return af_mul(af_var(nest_let_min(n, "start", af_mul(a, -1), af(-b))), -1);
}

static void tiles_of_rows(struct channelwise *s, struct channelwise_place *at, struct affine lo,
			  struct affine hi)
{
	at->oh = nest_for(s->n, LOOP_SERIAL, "oh", lo, hi);
	channelwise_tile(s, at);
	nest_close(s->n);
}

void channelwise_column(struct channelwise *s, struct channelwise_place *at,
			const struct block *band, int straight, int hold)
{
	struct affine lo = af_var(band->lo), hi = af_var(band->hi);
	struct nest *n = s->n;
	int64_t first, end;

	conv_whole_rows(&s->p, &first, &end);
	if (first >= end || !straight)
		first = end = s->p.oh;
	at->inside = at->held = 0;
	if (first > 0)
		tiles_of_rows(s, at, lo, af_var(nest_let_min(n, "end", hi, af(first))));
	if (first < end) {
		at->inside = 1;
		at->held = hold;
		if (hold)
			channelwise_hold(s, at);
		tiles_of_rows(s, at, larger(n, lo, first),
			      af_var(nest_let_min(n, "end", hi, af(end))));
	}
	at->inside = at->held = 0;
	if (first < end && end < s->p.oh)
		tiles_of_rows(s, at, larger(n, lo, end), hi);
}
