/* grouped: convolution of groups that have at most as many channels as a vector has lanes, of any
 * stride, dilation and padding, over the spread or the woven tile.
 *
 * Such groups, of 4 to 32 channels, come from Xie et al., "Aggregated residual transformations for
 * deep neural networks", CVPR 2017. Input is read from a padded band of rows in the workspace, or,
 * where a group fills a vector by itself, in place (knob `copy`).
 *
 * With the knob `weave` the copy puts channel i of each of a vector's groups side by side. Vectors
 * of 16 lanes then multiply groups of 4, 8 or 16 channels, where direct has half of the lanes or a
 * quarter of them, and the spread tile a permutation for each product. At stride 2 few products are
 * made of a value, so the copy and the wait for its input take as long as the products.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/band.h"
#include "lib/schedule/edge.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/range.h"
#include "lib/schedule/reorder.h"
#include "lib/space/isa.h"
#include "lib/tile/brgemm.h"
#include "lib/tile/spread.h"
#include "lib/tile/woven.h"

enum grouped_knob { VL, NV, MR, ROWS, NC, PAR, WEAVE, COPY, DEPTH, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors of channels in the register tile."},
	[MR] = {"mr", 1,
		"Output pixels of the register tile, at most, in near-equal parts of a row."},
	[ROWS] = {"rows", 0, "Output rows in a band; 0: all."},
	[NC] = {"nc", 0, "Register tiles of channels in a block; 0: all."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: bands innermost."},
	[WEAVE] =
		{"weave", 0,
		 "1: the copy weaves the channels of a vector's groups; 0: products permute them."},
	[COPY] = {"copy", 1,
		  "1: the input is copied, with its padding; 0: a vector's one group is read where "
		  "it lies.",
		  .is_rare = 1},
	[DEPTH] = {"depth", 1, "Input channels that an instruction multiplies and sums.",
		   .is_rare = 1},
};

/* A vector of channels. */
struct shape {
	int spreads;			/* does it hold two groups, which are spread? */
	int64_t weaves;			/* groups that fill it, woven; 0: they cannot be */
	int64_t in, out, reads, writes; /* channels of a group, and of a vector */
};

static struct shape shape_of(const struct workload *w, const struct conv *p, int64_t lanes)
{
	struct shape s = {.in = p->ic, .out = p->oc};
	struct spread t;
	int64_t groups;

	/* Whole numbers are spread by pairs at least. */
	s.spreads = (!dtype_is_int(w->dtype.src) || p->ic % 2 == 0) &&
		    spread_shape(&t, p->ic, p->oc, lanes, 1);
	s.weaves = dtypes_are_f32(&w->dtype) && !p->fills ? woven_groups(p->ic, p->oc, lanes) : 0;
	groups = s.spreads ? t.writes / p->oc : s.weaves;
	s.reads = groups * p->ic;
	s.writes = groups * p->oc;
	return s;
}

/* p: as one group, whose channels are those of all. 0: it does not apply, or a vector does not hold
 * two groups and is not filled by one. */
static int applies(const struct workload *w, int64_t lanes, struct conv *p, struct shape *s)
{
	if (!conv_of(w, p) || p->g == 1)
		return 0;
	if (p->ic == 1 && p->oc == 1) /* depthwise reads the input where it lies */
		return 0;
	*s = shape_of(w, p, lanes);
	p->ic *= p->g;
	p->oc *= p->g;
	p->g = 1;
	return s->spreads || s->weaves;
}

static void list_weave(struct range *r, const struct shape *s)
{
	range_choice(r, WEAVE, 1);
	if (!s->weaves)
		range_only(r, WEAVE, 0, "groups that are woven fill a vector");
	else if (!s->spreads)
		range_only(r, WEAVE, 1, "a vector does not hold two groups");
}

/* Can a vector's one group be read in place, without the taps outside the image? */
static int can_leave_out(const struct workload *w, const struct conv *p, const struct shape *s)
{
	enum { MOST_TAPS = 3 }; /* each column that fewer taps read has a body */

	return dtypes_are_f32(&w->dtype) && s->weaves == 1 && p->kw <= MOST_TAPS &&
	       edge_rows_can_go(p);
}

static void list_copy(struct range *r, const struct workload *w, const struct conv *p,
		      const struct shape *s)
{
	const int64_t *k = r->knob;

	range_choice(r, COPY, 1);
	if (!can_leave_out(w, p, s))
		range_only(r, COPY, 1, "only a group that fills a vector is read in place");
	/* Spaces without a choice do not have the knob, so that their points stay what they were.
	 */
	if (r->space && dtypes_are_f32(&w->dtype) && r->space->knob[COPY].n == 1)
		r->space->knob[COPY].n = 0;
	if (!k || k[COPY] || r->why)
		return;
	range_need(r, k[WEAVE], "products that permute need the copy");
	edge_limit(r, p, k[MR]);
}

/* Checks the knobs of a tile that has this depth. */
static void check_tile(struct range *r, const struct workload *w, const struct conv *p,
		       const struct shape *s, int64_t depth)
{
	const int64_t *k = r->knob;

	range_need(r, depth > 1 || !dtype_is_int(w->dtype.src),
		   "whole numbers are spread by pairs at least");
	range_need(r, depth == 1 || !k[NC] || p->ic % (k[NC] * k[NV] * s->reads) == 0,
		   "groups of a vector would be read beyond a smaller block");
	range_need(r, k[NV] == 1 || (k[NV] - 1) * s->writes < p->oc, "a smaller nv does the same");
	range_registers(r,
			k[WEAVE] ? woven_needs(k[NV], k[MR], p->kw) : spread_needs(k[NV], k[MR]));
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 0};
	static const int heights[] = {1, 2, 4, 7, 8, 14, 16, 28, 0};
	static const int blocks[] = {1, 2, 4, 8, 0};
	const int64_t *k = r->knob;
	struct shape s;
	struct conv p;
	int64_t depth;

	if (!applies(w, k ? isa_list->lanes[DTYPE_F32] : r->machine->lanes, &p, &s) &&
	    !(k && applies(w, k[VL], &p, &s)))
		return 0;
	if (!range_register_tile(r, 4, p.ow, pixels, brgemm_fits))
		return 1;
	if (k && !applies(w, k[VL], &p, &s)) {
		range_need(r, 0, "a vector does not hold two groups");
		return 1;
	}
	depth = range_depth(r, DEPTH, w, s.in, -1, 1);
	range_blocks(r, ROWS, p.oh, 1, heights);
	range_blocks(r, NC, p.oc, (k ? k[NV] : 1) * s.writes, blocks);
	range_choice(r, PAR, 1);
	list_weave(r, &s);
	list_copy(r, w, &p, &s);
	if (k)
		check_tile(r, w, &p, &s, depth);
	return 1;
}

/* The parts of the nest share these. */
struct grouped {
	struct nest *n;
	const int64_t *k;
	struct conv p;
	struct shape shape;
	struct parts parts;	/* of a row of output pixels */
	int64_t nr, tiles;	/* channels of a tile, tiles */
	struct access dst, pad; /* pad: what lies outside of the image */
	struct block bands, panels;
	struct spread t;
	struct woven woven; /* the tile with the knob `weave` */
	struct brgemm_out out;
	struct reorder order;
};

/* [tile][kh][kw][step][vector][lane][channel of the step], whatever stands in lanes beyond the
 * groups. */
static int packed_weights(struct grouped *s)
{
	const struct conv *p = &s->p;
	const int64_t depth = s->t.tile->group;
	struct packing w = {.rank = 4, .extent = {p->oc, s->t.in, p->kh, p->kw}};

	packing_axis(&w, 0, s->tiles, s->nr);
	packing_axis(&w, 2, p->kh, 1);
	packing_axis(&w, 3, p->kw, 1);
	packing_axis(&w, 1, s->t.in / depth, depth);
	packing_axis(&w, 0, s->t.nv, s->t.writes);
	packing_axis(&w, 0, s->t.lanes, 1);
	if (depth > 1)
		packing_axis(&w, 1, depth, 1);
	return nest_packed(s->n, "w", TENSOR_WEIGHTS, &w);
}

/* [tile][kh][i][vector][kw][lane], where the lanes of a channel's groups are side by side. */
static int woven_weights(struct grouped *s)
{
	const struct conv *p = &s->p;
	const struct woven *t = &s->woven;
	struct packing w = {.rank = 4, .extent = {p->oc, t->in, p->kh, p->kw}};

	packing_axis(&w, 0, s->tiles, s->nr);
	packing_axis(&w, 2, p->kh, 1);
	packing_axis(&w, 1, t->in, 1);
	packing_axis(&w, 0, t->nv, t->lanes);
	packing_axis(&w, 3, p->kw, 1);
	packing_axis(&w, 0, t->out, 1);
	packing_axis(&w, 0, t->groups, t->out);
	return nest_packed(s->n, "w", TENSOR_WEIGHTS, &w);
}

static void declare(struct grouped *s)
{
	const struct conv *p = &s->p;
	const struct extent bias = {p->oc, s->tiles * s->nr + s->k[VL]};
	struct nest *n = s->n;

	s->t.a = reorder_src(&s->order);
	if (p->fills)
		s->pad = conv_pad(s->n, s->order.w, p);
	s->t.b = s->woven.b = s->k[WEAVE] ? woven_weights(s) : packed_weights(s);
	reorder_out(&s->order, operand_bias(n, s->order.w, 1, &bias), &s->out);
	operand_types(n, s->order.w);
	s->t.bias = s->out.is_whole ? brgemm_out_take_bias(&s->out) : -1;
	s->dst = conv_dst(n, p, s->out.c);
	if (s->k[WEAVE])
		woven_registers(n, &s->woven, parts_highest(&s->parts));
	else
		spread_registers(n, &s->t, parts_highest(&s->parts));
	s->parts.rest = nest_param(n, "rest", s->parts.split.rest);
}

/* The block's rows, and the channels that its tiles read. */
static struct access copy_band(struct grouped *s, int img, int g)
{
	const struct conv *p = &s->p;
	int64_t tile = (int64_t)s->t.nv * s->t.reads, kc = s->k[NC] ? s->k[NC] * tile : p->ic;
	struct chunk chunk = {.loop = -1, .k = af(p->ic)};
	struct access band;

	if (s->k[NC]) {
		chunk.loop = s->panels.lo;
		chunk.k0 = af_mul(af_var(s->panels.lo), tile);
		chunk.k = af_var(nest_let_min(s->n, "kn", af(kc), af_sub(af(p->ic), chunk.k0)));
	}
	band = band_copy(s->n, &(struct band){p, conv_src(p, s->t.a), img, g, s->t.lanes, &s->bands,
					      s->k[ROWS] ? s->k[ROWS] : p->oh, kc, &chunk, 1,
					      spread_beyond(&s->t), p->fills ? &s->pad : NULL});
	if (s->t.tile->group > 1 || s->out.is_whole)
		nest_elem(s->n, band.buffer, elem_of(s->order.w->dtype.src));
	return band;
}

/* The block's rows, woven: a pixel of each vector of its tiles is a vector. */
static struct access weave_band(struct grouped *s, int img, int g)
{
	const struct conv *p = &s->p;
	const int64_t nv = s->k[NV];
	const struct band_woven woven = {&s->woven, af_mul(af_var(s->panels.lo), nv),
					 af_mul(af_var(s->panels.hi), nv)};

	return band_copy(s->n, &(struct band){.p = p,
					      .src = conv_src(p, s->t.a),
					      .img = img,
					      .g = g,
					      .lanes = s->woven.lanes,
					      .rows = &s->bands,
					      .most = s->k[ROWS] ? s->k[ROWS] : p->oh,
					      .kc = s->woven.lanes,
					      .groups = nv * (s->k[NC] ? s->k[NC] : s->tiles),
					      .woven = &woven});
}

/* Vector v of a pixel. */
static void finish(struct grouped *s, const struct conv_place *at, const struct site *x)
{
	const int64_t writes = s->shape.writes;
	struct affine first = af_mul(x->v, writes), channel = af_add(at->channel, first);
	const struct expr *acc =
		s->k[WEAVE] ? woven_sum(s->n, &s->woven, x->m, x->v)
			    : ex_reg(s->n, s->t.acc, af_add(af_mul(x->m, s->k[NV]), x->v));
	const struct affine *valid = x->valid;

	if (!valid && writes < s->k[VL])
		valid = nest_keep(s->n, af(writes));
	operand_store(s->n, &s->out, acc,
		      access_at(&s->dst, {CONV_IMAGE, af_var(at->img)}, {CONV_ROW, af_var(at->oh)},
				{CONV_COLUMN, af_add(at->ow, x->m)}, {CONV_CHANNEL, channel}),
		      channel, valid);
}

/* The tile whose first pixel is at `first` in the band: its panel is so far behind the block's
 * first one. */
static void spread_at(struct grouped *s, struct affine first, const struct affine behind,
		      const struct conv_place *at, const struct panel *panel, int pixels)
{
	const int64_t weights = s->p.kh * s->p.kw * s->t.in * s->t.nv * s->t.lanes;

	s->t.a_at = af_add(first, af_mul(behind, s->t.nv * s->shape.reads));
	s->t.b_at = af_mul(panel->index, weights);
	s->t.bias_at = at->channel;
	spread_tile(s->n, &s->t, pixels, panel->width);
}

static void woven_at(struct grouped *s, struct affine first, const struct affine behind,
		     const struct panel *panel, int pixels)
{
	struct woven *t = &s->woven;
	const int64_t weights = s->p.kh * s->p.kw * t->in * t->nv * t->lanes;

	t->a_at = af_add(first, af_mul(behind, t->nv * t->a_vector));
	t->b_at = af_mul(panel->index, weights);
	woven_tile(s->n, t, pixels, (int)ceil_div(panel->width, s->shape.writes));
}

/* The first pixel of a tile. In place it may lie outside the image, but is not read then. */
static struct affine first_pixel(const struct grouped *s, const struct access *from,
				 const struct conv_place *at)
{
	const struct conv *p = &s->p;
	const struct affine column = af_mul(at->ow, p->sw);
	struct affine row = af_var(at->oh);

	if (s->k[COPY])
		return access_at(from, {CONV_ROW, af_mul(af_sub(row, af_var(s->bands.lo)), p->sh)},
				 {CONV_COLUMN, column});
	row = af_mul(row, p->sh);
	return access_at(from, {CONV_IMAGE, af_var(at->img)}, {CONV_ROW, af_sub(row, af(p->ph))},
			 {CONV_COLUMN, af_sub(column, af(p->pw))});
}

static void tile(struct grouped *s, const struct access *band, const struct conv_place *at,
		 const struct panel *panel, int pixels)
{
	const struct affine lo = s->k[COPY] ? af_var(s->panels.lo) : af(0);
	const struct affine behind = af_sub(panel->index, lo);
	const struct affine first = first_pixel(s, band, at);
	struct site x = {.lanes = (int)s->shape.writes,
			 .nv = (int)s->k[NV],
			 .columns = panel->width,
			 .to = pixels};

	if (s->k[WEAVE])
		woven_at(s, first, behind, panel, pixels);
	else
		spread_at(s, first, behind, at, panel, pixels);
	while (site_next(s->n, &x))
		finish(s, at, &x);
}

/* The tiles of a row that is read in place: those at its ends have bodies of their own. */
static void row_in_place(struct grouped *s, const struct access *src, struct conv_place *at,
			 const struct panel *panel)
{
	const struct edges e = edge_find(&s->p, s->parts.split);
	struct stretch x = {.edges = &e};

	while (stretch_next(s->n, &x)) {
		const int64_t first = x.edge * s->p.sw - s->p.pw; /* column */

		at->ow = x.ow;
		s->woven.from = x.edge < 0 ? 0 : -first;
		s->woven.to = x.edge < 0 ? INT64_MAX : s->p.iw - first;
		tile(s, src, at, panel, x.pixels);
	}
}

/* The block's rows of a panel. */
static void rows(struct grouped *s, const struct access *band, struct conv_place *at,
		 const struct panel *panel)
{
	struct nest *n = s->n;
	int t;

	at->oh = block_units(n, &s->bands, "oh");
	if (s->p.clipped) {
		conv_rows_inside(n, &s->p, at->oh, 0, &s->t.lo, &s->t.hi);
		s->woven.lo = s->t.lo;
		s->woven.hi = s->t.hi;
	}
	if (!s->k[COPY]) {
		row_in_place(s, band, at, panel);
		nest_close(n);
		return;
	}
	t = nest_for(n, LOOP_SERIAL, "t", af(0), af(s->parts.split.tiles));
	at->ow = parts_row(n, &s->parts, t);
	for (int pixels = parts_first(n, &s->parts, t); pixels;
	     pixels = parts_next(n, &s->parts, pixels))
		tile(s, band, at, panel, pixels);
	nest_close(n);
	nest_close(n);
}

/* Fills in what both tiles share, before the band is there. */
static void shape_tiles(struct grouped *s)
{
	const struct shape *x = &s->shape;
	const int lanes = (int)s->k[VL], nv = (int)s->k[NV];

	if (x->spreads)
		spread_shape(&s->t, x->in, x->out, lanes, nv);
	s->t.tile = tile_of(&s->order.w->dtype, s->k[DEPTH]);
	s->woven = (struct woven){.groups = (int)x->weaves,
				  .in = (int)x->in,
				  .out = (int)x->out,
				  .lanes = lanes,
				  .nv = nv,
				  .taps = s->p.kw,
				  .apart = s->p.dw,
				  .stride = s->p.sw};
	s->parts.split = row_split(s->p.ow, s->k[MR]);
	s->nr = s->k[NV] * x->writes;
	s->tiles = ceil_div(s->p.oc, s->nr);
}

/* The tiles read the band. */
static void read_band(struct grouped *s, const struct access *band)
{
	s->t.a = s->woven.a = band->buffer;
	s->t.a_row = s->p.sw * band->dim[CONV_COLUMN].step;
	s->t.a_column = s->p.dw * band->dim[CONV_COLUMN].step;
	s->t.a_line = s->woven.a_line = af(s->p.dh * band->dim[CONV_ROW].step);
	s->woven.a_vector = s->k[COPY] ? band->dim[CONV_GROUP].step : s->woven.in;
	s->woven.a_pixel = band->dim[CONV_COLUMN].step;
	s->woven.to = INT64_MAX;
	s->t.columns = s->p.kw;
	s->t.hi = s->woven.hi = af(s->p.kh);
	s->t.lo = s->woven.lo = af(0);
}

static int grouped_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct grouped s = {.n = n, .k = k, .order = reorder_of(n, w, k[VL])};
	struct conv_place at;
	struct access band;

	if (!applies(w, k[VL], &s.p, &s.shape))
		return err_set(e, "grouped does not apply to this workload");
	shape_tiles(&s);
	declare(&s);
	s.bands = block_of("ib", "oh", s.p.oh, k[ROWS]);
	s.panels = block_of("jb", "j", s.tiles, k[NC]);
	at.img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(s.p.mb));
	block_share(n, &s.bands, &s.panels, (int)k[PAR]);
	at.g = nest_let(n, "g", af(0));
	if (!k[COPY])
		band = conv_src(&s.p, s.t.a);
	else
		band = k[WEAVE] ? weave_band(&s, at.img, at.g) : copy_band(&s, at.img, at.g);
	read_band(&s, &band);
	for (struct panel x = {.block = &s.panels, .channels = s.p.oc, .nr = s.nr};
	     panel_next(n, &x);) {
		at.channel = af_mul(x.index, s.nr);
		rows(&s, &band, &at, &x);
	}
	while (n->depth)
		nest_close(n);
	reorder_finish(&s.order, 0);
	return 0;
}

const struct algo algo_grouped = {
	.name = "grouped",
	.summary = "Convolution of groups of few channels, by vectors that span groups.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.types = 1U << DTYPE_BF16 | 1U << DTYPE_S8 | 1U << DTYPE_U8,
	.widens = 1,
	.narrows = 1,
	.pitches = 1,
	.rev = 2,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = grouped_build,
};
