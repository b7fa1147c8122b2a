/* depthwise: convolution with a filter for each channel, nhwc.
 *
 * A tile is a run of output pixels in one row by a few vectors of channels; a vector of input is
 * multiplied by a vector of weights, so that nothing is broadcast and nothing summed over channels.
 * Each input value is used kh * kw times at most: what matters is that it is read from a near
 * cache, so rows are taken in bands and channels in blocks of whole vectors (Zhang et al., "High
 * performance depthwise and pointwise convolutions on mobile devices", AAAI 2020, section 3).
 *
 * Nothing is padded. Tiles whose taps leave the image at the left or the right have bodies of their
 * own, in which these taps are left out; kernel rows above and below the image are left out row by
 * row. Where the weights of a channel tile fit in registers, they are loaded once a row ("hold"),
 * and rows whose taps all lie inside the image are one body.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block.h"
#include "lib/schedule/conv.h"
#include "lib/schedule/edge.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/range.h"
#include "lib/space/isa.h"
#include "lib/tile/brgemm.h"

enum depthwise_knob { VL, NV, MR, ROWS, NC, ORDER, PAR, HOLD, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors of channels in the register tile."},
	[MR] = {"mr", 1,
		"Output pixels of the register tile, at most, in near-equal parts of a row."},
	[ROWS] = {"rows", 0, "Output rows in a band; 0: all."},
	[NC] = {"nc", 0, "Register tiles of channels in a block; 0: all."},
	[ORDER] = {"order", 0,
		   "Inside a block: 0 rows, channels, pixels; 1 rows, pixels, channels; "
		   "2 channels, rows, pixels; the last one innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: bands innermost."},
	[HOLD] = {"hold", 0, "1: the weights of a channel tile stay in registers."},
};

enum { CHANNELS_IN_PIXELS = 1, CHANNELS_OUTERMOST = 2 }; /* values of order */
enum { MAX_TAPS = 81, MAX_LOOPS = NEST_VARS - 40 };

static int applies(const struct workload *w, struct conv *p)
{
	return conv_of(w, p) && p->g > 1 && p->ic == 1 && p->oc == 1 && !p->nchw &&
	       p->kh * p->kw <= MAX_TAPS;
}

/* Registers: the tile, the weights, one for what post-ops compute, and one for a mask where masks
 * are vectors. Never fewer than brgemm_fits() counts. */
static int64_t registers(const struct conv *p, const int64_t *k)
{
	return k[NV] * (k[MR] + (k[HOLD] ? p->kh * p->kw : 1)) + 1 +
	       (isa_of_lanes(k[VL])->masks == MASKS_VECTOR && p->g % k[VL]);
}

/* Each tile at an edge has a body of its own: once more where weights are held, and where vectors
 * are masked. */
static int64_t loops(const struct conv *p, const int64_t *k)
{
	struct edges e = edge_find(p, row_split(p->ow, k[MR]));

	return (k[HOLD] + 1) * (p->g % (k[NV] * k[VL]) ? 2 : 1) *
	       ((e.left + e.right) * (3 * p->kw + 8) + 20);
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 0};
	static const int heights[] = {1, 2, 4, 7, 8, 14, 16, 28, 32, 56, 0};
	static const int blocks[] = {1, 2, 4, 8, 16, 0};
	const int64_t *k = r->knob;
	struct conv p;

	if (!applies(w, &p))
		return 0;
	if (!range_register_tile(r, 4, p.ow, pixels, brgemm_fits))
		return 1;
	range_blocks(r, ROWS, p.oh, 1, heights);
	range_blocks(r, NC, p.g, r->columns, blocks);
	range_choice(r, ORDER, CHANNELS_OUTERMOST);
	range_flags(r, PAR, HOLD);
	if (!k || r->why)
		return 1;
	range_need(r, k[NV] == 1 || (k[NV] - 1) * k[VL] < p.g,
		   "another value of nv gives the same program");
	range_need(r, !k[HOLD] || k[ORDER] != CHANNELS_IN_PIXELS,
		   "weights stay in registers only where pixels are innermost");
	range_registers(r, registers(&p, k));
	range_need(r, loops(&p, k) <= MAX_LOOPS, "too many tiles have taps outside the image");
	return 1;
}

/* What the parts of the nest share. */
struct depthwise {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct conv p;
	struct edges edges;
	int lanes, nv;
	int64_t nr, tiles; /* channels of a tile, tiles */
	int weights, acc, wreg;
	struct access src, dst;
	struct brgemm_out out;
	int img; /* loop variable */
	struct block bands, panels;
};

/* Where a tile stands. */
struct place {
	int oh;	  /* variable */
	int held; /* its weights are in registers, and no kernel row leaves the image */
	struct panel panel;
	struct stretch run;
};

static int packed_weights(struct depthwise *s)
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

	return nest_packed(s->n, "w", TENSOR_WEIGHTS, &w);
}

static void declare(struct depthwise *s)
{
	const struct conv *p = &s->p;
	const struct extent bias[] = {{p->g, s->tiles * s->nr}, {1, 1}};
	int held = s->k[HOLD] ? (int)(p->kh * p->kw) : 1;
	struct nest *n = s->n;

	s->src = conv_src(p, nest_arg(n, "src", TENSOR_SRC, p->mb * p->ih * p->iw * p->g, 0));
	s->weights = packed_weights(s);
	operand_out(n, s->w, operand_bias(n, s->w, 2, bias), p->mb * p->oh * p->ow * p->g, &s->out);
	s->dst = conv_dst(p, s->out.c);
	s->acc = nest_reg(n, "acc", ELEM_F32, s->lanes, (int)s->k[MR], s->nv);
	s->wreg = nest_reg(n, "wr", ELEM_F32, s->lanes, held, s->nv);
}

/* ---- the tile ---- */

static struct site sites(const struct depthwise *s, const struct place *at, int64_t from,
			 int64_t to)
{
	return (struct site){
		.lanes = s->lanes, .nv = s->nv, .columns = at->panel.width, .from = from, .to = to};
}

/* Register of vector v in this row. */
static struct affine reg_at(const struct depthwise *s, struct affine row, struct affine v)
{
	return af_add(af_mul(row, s->nv), v);
}

/* First channel of the vector. */
static struct affine channel_at(const struct depthwise *s, const struct place *at, struct affine v)
{
	return af_add(af_mul(at->panel.index, s->nr), af_mul(v, s->lanes));
}

static void zero(struct depthwise *s, const struct place *at)
{
	for (struct site x = sites(s, at, 0, at->run.pixels); site_next(s->n, &x);)
		nest_store(s->n, s->acc, reg_at(s, x.m, x.v), NULL,
			   ex_const(s->n, ELEM_F32, s->lanes, 0));
}

/* Weights of tap `tap`, kh * KW + kw, into row `row` of their registers. */
static void load_weights(struct depthwise *s, const struct place *at, struct affine tap,
			 struct affine row)
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
static void multiply(struct depthwise *s, const struct place *at, struct affine kh,
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
static void multiply_row(struct depthwise *s, const struct place *at, struct affine kh)
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
static void multiply_dilated(struct depthwise *s, const struct place *at)
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
static void multiply_clipped(struct depthwise *s, const struct place *at)
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

static void multiply_held(struct depthwise *s, const struct place *at)
{
	struct nest *n = s->n;

	multiply_row(s, at, af_var(nest_for(n, LOOP_UNROLL, "kh", af(0), af(s->p.kh))));
	nest_close(n);
}

static void finish(struct depthwise *s, const struct place *at)
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

static void tile(struct depthwise *s, const struct place *at)
{
	zero(s, at);
	if (at->held)
		multiply_held(s, at);
	else
		multiply_clipped(s, at);
	finish(s, at);
}

/* ---- loops around it ---- */

static struct panel all_panels(const struct depthwise *s)
{
	return (struct panel){.block = &s->panels, .channels = s->p.g, .nr = s->nr};
}

/* A row of a channel tile. */
static void row_of_panel(struct depthwise *s, struct place *at)
{
	if (at->held) {
		int taps = nest_for(s->n, LOOP_UNROLL, "k", af(0), af(s->p.kh * s->p.kw));

		load_weights(s, at, af_var(taps), af_var(taps));
		nest_close(s->n);
	}
	at->run = (struct stretch){.edges = &s->edges};
	while (stretch_next(s->n, &at->run))
		tile(s, at);
}

static void row(struct depthwise *s, struct place *at)
{
	if (s->k[ORDER] == CHANNELS_OUTERMOST) {
		row_of_panel(s, at);
	} else if (s->k[ORDER] == CHANNELS_IN_PIXELS) {
		at->run = (struct stretch){.edges = &s->edges};
		while (stretch_next(s->n, &at->run))
			for (at->panel = all_panels(s); panel_next(s->n, &at->panel);)
				tile(s, at);
	} else {
		for (at->panel = all_panels(s); panel_next(s->n, &at->panel);)
			row_of_panel(s, at);
	}
}

/* Output rows [first, end) have all their kernel rows inside the image. */
static void inner_rows(const struct conv *p, int64_t *first, int64_t *end)
{
	int64_t room = p->ih - 1 - (p->kh - 1) * p->dh + p->ph;

	*first = ceil_div(p->ph, p->sh);
	*end = room < 0 ? 0 : room / p->sh + 1;
	if (*end > p->oh)
		*end = p->oh;
}

static void rows(struct depthwise *s, struct place *at)
{
	struct nest *n = s->n;
	int64_t first, end;
	int inside, some, all;

	at->oh = block_units(n, &s->bands, "oh");
	inner_rows(&s->p, &first, &end);
	some = s->k[HOLD] && first < end;
	all = first == 0 && end == s->p.oh;
	if (some && !all) {
		inside = nest_let_min(n, "inside", af_sub(af_var(at->oh), af(first)),
				      af_sub(af(end - 1), af_var(at->oh)));
		nest_if_less(n, af_var(inside), af(0));
		at->held = 0;
		row(s, at);
		nest_else(n);
	}
	at->held = some;
	row(s, at);
	if (some && !all)
		nest_close(n);
	nest_close(n);
}

static void open_blocks(struct depthwise *s)
{
	struct nest *n = s->n;

	s->bands = block_of("ib", "oh", s->p.oh, s->k[ROWS]);
	s->panels = block_of("jb", "j", s->tiles, s->k[NC]);
	s->img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(s->p.mb));
	block_share(n, &s->bands, &s->panels, (int)s->k[PAR]);
}

static int depthwise_build(const struct workload *w, const int64_t *k, struct nest *n,
			   struct err *e)
{
	struct depthwise s = {.n = n, .w = w, .k = k, .lanes = (int)k[VL], .nv = (int)k[NV]};
	struct place at = {0};

	if (!applies(w, &s.p))
		return err_set(e, "depthwise does not apply to this workload");
	s.edges = edge_find(&s.p, row_split(s.p.ow, k[MR]));
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.p.g, s.nr);
	declare(&s);
	open_blocks(&s);
	if (k[ORDER] != CHANNELS_OUTERMOST)
		rows(&s, &at);
	else
		for (at.panel = all_panels(&s); panel_next(n, &at.panel);)
			rows(&s, &at);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_depthwise = {
	.name = "depthwise",
	.summary = "Depthwise convolution by register tiles of pixels x vectors of channels.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.rev = 3,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = depthwise_build,
};
