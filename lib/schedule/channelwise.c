#include "lib/schedule/channelwise.h"

#include "lib/space/knob.h"

/* Kernel rows that are multiplied together: of group `index` those from `from` to `to` - 1. Where
 * the tile has no groups, the group is a row. */
struct kernel_rows {
	struct affine index;
	int from, to;
};

int64_t channelwise_groups(const struct conv *p, int64_t group)
{
	return ceil_div(p->kh, group);
}

static int64_t groups(const struct channelwise *s)
{
	return channelwise_groups(&s->p, s->tile->group);
}

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
			 {3, groups(s), s->tile->group},
			 {4, p->kw, 1},
			 {0, s->nr, 1}},
	};

	if (s->tile->group > 1)
		packing_axis(&w, 3, s->tile->group, 1);
	s->weights = nest_packed(s->n, "w", TENSOR_WEIGHTS, &w);
}

void channelwise_registers(struct channelwise *s, int pixels, int holds)
{
	int rows = holds ? (int)(groups(s) * s->p.kw) : s->once ? (int)s->p.kw : 1;

	s->acc = nest_reg(s->n, "acc", s->tile->sum, s->lanes, pixels, s->nv);
	s->wreg = nest_reg(s->n, "wr", s->tile->right, s->lanes, rows, s->nv);
	if (s->once)
		s->xreg = nest_reg(s->n, "x", s->tile->left, s->lanes, 1, s->nv);
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
		return ex_const(s->n, s->tile->sum, s->lanes, 0);
	return ex_load_as(s->n, s->tile->sum, s->bias, s->lanes, channel_at(s, at, v), NULL);
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
				       : ex_reg_as_is(n, s->acc, reg_at(s, af(0), x.v)));
}

/* Weights of tap `tap`, kh * KW + kw, or of its group, into row `row` of their registers. */
static void load_weights(struct channelwise *s, const struct channelwise_place *at,
			 struct affine tap, struct affine row)
{
	struct site x = sites(s, at, 0, 1);
	struct nest *n = s->n;
	struct affine v = af_var(nest_for(n, LOOP_UNROLL, "v", af(0), af(site_vectors(&x))));
	struct affine panel = af_mul(at->panel.index, groups(s) * s->p.kw * s->nr);
	const int64_t group = s->tile->group;
	struct affine from = af_mul(af_sum(panel, af_mul(tap, s->nr), af_mul(v, s->lanes)), group);

	nest_store(n, s->wreg, reg_at(s, row, v), NULL,
		   group > 1 ? ex_load_groups(n, s->weights, s->tile->right, s->lanes, from)
			     : ex_load_as(n, s->tile->sum, s->weights, s->lanes, from, NULL));
	nest_close(n);
}

/* The vector of input at site x in kernel rows `rows`, `column` columns behind the tile's first. */
static const struct expr *input(struct channelwise *s, const struct channelwise_place *at,
				const struct kernel_rows *rows, struct affine column,
				const struct site *x)
{
	const struct conv *p = &s->p;
	struct affine kh = af_mul(rows->index, s->tile->group);
	struct affine ih = af_sum(af_mul(af_var(at->oh), p->sh), af_mul(kh, p->dh), af(-p->ph));
	struct affine iw = af_sum(af_mul(at->run.ow, p->sw), column, af(-p->pw));
	struct affine src = access_at(&s->src, {CONV_IMAGE, af_var(s->img)}, {CONV_ROW, ih},
				      {CONV_COLUMN, iw}, {CONV_GROUP, channel_at(s, at, x->v)});

	if (s->tile->group > 1)
		return ex_load_apart(s->n, s->src.buffer, s->tile->left, s->lanes, src,
				     &(struct members){access_at(&s->src, {CONV_ROW, af(p->dh)}),
						       rows->from, rows->to},
				     x->valid);
	return ex_load_as(s->n, s->tile->sum, s->src.buffer, s->lanes, src, x->valid);
}

/* Pixel m of site x += weights in row `row` of their registers by the input. */
static void multiply_by(struct channelwise *s, struct affine m, const struct site *x,
			struct affine row, const struct expr *value)
{
	const struct expr *w = ex_reg_as_is(s->n, s->wreg, reg_at(s, row, x->v));
	struct affine acc = reg_at(s, m, x->v);
	const struct expr *sum = ex_reg_as_is(s->n, s->acc, acc);

	nest_store(s->n, s->acc, acc, NULL,
		   s->tile->group > 1 ? ex_op(s->n, EXPR_DOT, value, w, sum)
				      : ex_op(s->n, EXPR_FMA, w, value, sum));
}

/* The taps in kernel rows `rows` and column kw, for pixels [from, to); their weights are in row
 * `row`. */
static void multiply(struct channelwise *s, const struct channelwise_place *at,
		     const struct kernel_rows *rows, struct affine kw, struct affine row,
		     int64_t from, int64_t to)
{
	for (struct site x = sites(s, at, from, to); site_next(s->n, &x);) {
		struct affine column = af_add(af_mul(x.m, s->p.sw), af_mul(kw, s->p.dw));

		multiply_by(s, x.m, &x, row, input(s, at, rows, column, &x));
	}
}

/* Taps of a kernel row that read the same columns, `step` taps apart from `first` on: their tap c
 * and pixel m read the (m + c)-th. Of these, [from, to) lie inside the image. */
struct comb {
	int64_t first, step, from, to;
};

/* The n-th vectors of the comb, n in [from, to), each loaded once and multiplied for pixels
 * [lo, hi), which may depend on n by the slopes of 0 or 1. */
struct wedge {
	int64_t from, to, lo, hi;
	int lo_slope, hi_slope;
};

static void multiply_wedge(struct channelwise *s, const struct channelwise_place *at,
			   const struct kernel_rows *rows, const struct comb *c, struct wedge w)
{
	struct nest *n = s->n;
	struct affine i, m, column, tap;
	struct affine row = at->held ? af_mul(rows->index, s->p.kw) : af(0);

	if (w.from < c->from)
		w.from = c->from;
	if (w.to > c->to)
		w.to = c->to;
	if (w.from >= w.to)
		return;
	i = af_var(nest_for(n, LOOP_UNROLL, "x", af(w.from), af(w.to)));
	column = af_add(af_mul(i, s->p.sw), af(c->first * s->p.dw));
	for (struct site x = sites(s, at, 0, 1); site_next(n, &x);) {
		nest_store(n, s->xreg, x.v, NULL, input(s, at, rows, column, &x));
		m = af_var(nest_for(n, LOOP_UNROLL, "m", af_add(af(w.lo), af_mul(i, w.lo_slope)),
				    af_add(af(w.hi), af_mul(i, w.hi_slope))));
		tap = af_add(af_mul(af_sub(i, m), c->step), af(c->first));
		multiply_by(s, m, &x, af_add(row, tap), ex_reg_as_is(n, s->xreg, x.v));
		nest_close(n);
	}
	nest_close(n);
}

/* Every how many taps read columns that another pixel's tap reads, where there are such. */
static int64_t comb_step(const struct conv *p)
{
	return p->sw / p->dw;
}

int channelwise_loads_once(const struct conv *p, int64_t pixels)
{
	return p->sw % p->dw == 0 && ceil_div(p->kw, comb_step(p)) <= pixels;
}

/* The taps from `first` on, all of whose columns lie inside the image unless the tile is at an
 * edge.
 */
static struct comb comb_from(const struct channelwise *s, const struct channelwise_place *at,
			     int64_t first, int64_t step)
{
	const struct conv *p = &s->p;
	struct comb c = {.first = first, .step = step, .to = INT64_MAX};
	int64_t left = p->pw - first * p->dw - at->run.edge * p->sw, right = p->iw + left;

	if (at->run.edge < 0)
		return c;
	c.from = left > 0 ? ceil_div(left, p->sw) : 0;
	c.to = right > 0 ? ceil_div(right, p->sw) : 0;
	return c;
}

/* The taps of kernel rows, whose weights are loaded. */
static void multiply_once(struct channelwise *s, const struct channelwise_place *at,
			  const struct kernel_rows *rows)
{
	int64_t step = comb_step(&s->p), pixels = at->run.pixels;

	for (int64_t first = 0; first < step && first < s->p.kw; first++) {
		int64_t last = ceil_div(s->p.kw - first, step) - 1;
		struct comb c = comb_from(s, at, first, step);

		multiply_wedge(s, at, rows, &c, (struct wedge){0, last, 0, 1, 0, 1});
		multiply_wedge(s, at, rows, &c, (struct wedge){last, pixels, -last, 1, 1, 1});
		multiply_wedge(s, at, rows, &c,
			       (struct wedge){pixels, pixels + last, -last, pixels, 1, 0});
	}
}

static int loads_once(const struct channelwise *s, const struct channelwise_place *at)
{
	return s->once && channelwise_loads_once(&s->p, at->run.pixels);
}

/* The taps of kernel rows. At an edge each column is by itself. */
static void multiply_rows(struct channelwise *s, const struct channelwise_place *at,
			  const struct kernel_rows *rows)
{
	const struct affine first = af_mul(rows->index, s->p.kw);
	int edge = at->run.edge >= 0;

	if (loads_once(s, at)) {
		if (!at->held) {
			int kw = nest_for(s->n, LOOP_UNROLL, "kw", af(0), af(s->p.kw));

			load_weights(s, at, af_add(first, af_var(kw)), af_var(kw));
			nest_close(s->n);
		}
		multiply_once(s, at, rows);
		return;
	}
	for (int i = 0; i < (edge ? s->p.kw : 1); i++) {
		struct affine kw = af(i), tap;
		int64_t from, to;

		if (!edge)
			kw = af_var(nest_for(s->n, LOOP_UNROLL, "kw", af(0), af(s->p.kw)));
		tap = af_add(first, kw);
		stretch_inside(&at->run, &s->p, i, &from, &to);
		if (!at->held)
			load_weights(s, at, tap, af(0));
		multiply(s, at, rows, kw, at->held ? tap : af(0), from, to);
		if (!edge)
			nest_close(s->n);
	}
}

/* Each kernel row is asked whether it lies in the image: there is no division. */
static void multiply_asked(struct channelwise *s, const struct channelwise_place *at)
{
	struct affine top = af_sub(af_mul(af_var(at->oh), s->p.sh), af(s->p.ph));
	const int group = s->tile->group;
	struct nest *n = s->n;

	for (int kh = 0; kh < s->p.kh; kh++) {
		struct affine ih = af_add(top, af(kh * s->p.dh));
		int inside = nest_let_min(n, "inside", ih, af_sub(af(s->p.ih - 1), ih));

		nest_if_less(n, af(-1), af_var(inside));
		multiply_rows(s, at,
			      &(struct kernel_rows){af(kh / group), kh % group, kh % group + 1});
		nest_close(n);
	}
}

/* Kernel rows that follow each other: groups of them, in a loop, and what is left. */
static void multiply_range(struct channelwise *s, const struct channelwise_place *at,
			   enum loop_kind kind, struct affine first, struct affine end, int rest)
{
	struct kernel_rows rows = {.to = s->tile->group};

	if (end.n || end.c) {
		rows.index = af_var(nest_for(s->n, kind, "kh", first, end));
		multiply_rows(s, at, &rows);
		nest_close(s->n);
	}
	rows = (struct kernel_rows){end, 0, rest};
	if (rest)
		multiply_rows(s, at, &rows);
}

/* Kernel rows that leave the image are left out: where they are apart or in groups, row by row. */
static void multiply_clipped(struct channelwise *s, const struct channelwise_place *at)
{
	const struct conv *p = &s->p;
	const int group = s->tile->group, rest = (int)(p->kh % group);
	int leaves = p->ph || (p->oh - 1) * p->sh + (p->kh - 1) * p->dh >= p->ih;
	struct affine first = af(0), end = af(p->kh / group);

	if (leaves && (group > 1 || (p->dh > 1 && p->kh > 1))) {
		multiply_asked(s, at);
		return;
	}
	if (leaves)
		conv_rows_inside(s->n, p, at->oh, 0, &first, &end);
	multiply_range(s, at, LOOP_SERIAL, first, end, rest);
}

static void multiply_inside(struct channelwise *s, const struct channelwise_place *at)
{
	const int64_t group = s->tile->group;

	multiply_range(s, at, LOOP_UNROLL, af(0), af(s->p.kh / group), (int)(s->p.kh % group));
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
	int taps = nest_for(s->n, LOOP_UNROLL, "k", af(0), af(groups(s) * s->p.kw));

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
