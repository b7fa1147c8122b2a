/* direct: convolution of any stride, dilation, padding and groups, over the brgemm tile with its
 * taps as the batch.
 *
 * A tile is a run of output pixels in one row by a panel of output channels; the kernel's taps and
 * the input channels are reduced in registers (Georganas et al., "Anatomy of high-performance deep
 * learning convolutions on SIMD architectures", SC 2018, section II). Output rows are taken in
 * bands. A band's input rows may be copied into the thread's workspace with their padding, which
 * serves padding and strides alike. Or the input is read where it lies: tiles at the left and right
 * end of a row then have bodies of their own, without the taps that lie outside of the image, as
 * kernel rows above and below it are left out. Where few products are made of each value, as in
 * first layers and in groups, the copy takes a fifth to two fifths of the time. Where a pixel's
 * channels are contiguous, the taps of a kernel row and the channels are one run of k.
 *
 * A tile of few products is one straight run of statements (direct and gemm, with unroll as large
 * as all of k, at most 64; depthwise where all kernel rows lie inside the image). First layers of
 * 3x3 over 3 channels sum 27 products. Three turns of a loop over kernel rows, each of which
 * computes addresses, would cost as much again. If a straight run is the whole body of the
 * innermost loop, it computes no addresses at all: they advance by additions. Where a kernel row
 * lies outside the image, the loops remain.
 */
#include "lib/algo/direct.h"

#include <assert.h>

#include "lib/algo/algo.h"
#include "lib/nest/tmul.h"
#include "lib/schedule/band.h"
#include "lib/schedule/block.h"
#include "lib/schedule/conv.h"
#include "lib/schedule/edge.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/overrun.h"
#include "lib/schedule/range.h"
#include "lib/schedule/reorder.h"
#include "lib/tile/brgemm.h"
#include "lib/tile/tile.h"

enum direct_knob {
	VL,
	NV,
	MR,
	ROWS,
	KC,
	NC,
	ORDER,
	PAR,
	COPY,
	MERGE,
	UNROLL,
	AHEAD,
	STREAM,
	GROUPS,
	LINES,
	RUN,
	WIDE,
	DEPTH
};

_Static_assert((int)DEPTH + 1 == (int)DIRECT_KNOBS, "callers know how many there are");

const struct knob direct_knobs[DIRECT_KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1, "Pixels of the register tile, at most, in near-equal parts of a row."},
	[ROWS] = {"rows", 0, "Output rows in a band; 0: all."},
	[KC] = {"kc", 0, "Input channels in a chunk; 0: all."},
	[NC] = {"nc", 0, "Register tiles of output channels in a block; 0: all."},
	[ORDER] = {"order", 0, "Inside a block: 0 walks channels innermost, 1 pixels innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: bands innermost."},
	[COPY] = {"copy", 1,
		  "1: the band's input is copied, with its padding, into the workspace; 0: it is "
		  "read where it lies."},
	[MERGE] = {"merge", 0, "1: the taps of a kernel row and the input channels are one loop."},
	[UNROLL] = {"unroll", 1,
		    "Unrolling of the loop over input channels; all taps' channels: no loop."},
	[AHEAD] = {"ahead", 0,
		   "1: what the next register tile reads and writes is prefetched, by tile "
		   "registers the weights; 2: the next panel of the weights."},
	[STREAM] = {"stream", 0, "1: the result is written past the caches."},
	[GROUPS] = {"groups", 1, "Groups in a block; their input is copied together.",
		    .is_rare = 1},
	[LINES] = {"lines", 1, "Output rows of a tile, at most; several need tile registers.",
		   .is_rare = 1},
	[RUN] = {"run", 0,
		 "1: the lines of a tile are one run of rows, with the padding between them; 2: "
		 "tiles run over the ends of lines.",
		 .is_rare = 1},
	[WIDE] = {"wide", 0, RANGE_WIDE_KNOB, .is_rare = 1},
	[DEPTH] = {"depth", 1, "Input channels that an instruction multiplies and sums.",
		   .is_rare = 1},
};

/* Copying the input of groups together reads neighbours in memory one after the other. Without the
 * copy a thread's block has whole rows of the result, whose lines threads do not share then. */
static void list_groups(struct range *r, const struct conv *p)
{
	enum { MOST = 32 };
	const int64_t *k = r->knob;

	for (int64_t g = 1; r->space && g <= MOST && g <= p->g; g++)
		if (p->g % g == 0)
			range_more(r, GROUPS, g);
	if (!k)
		return;
	range_need(r, k[GROUPS] > 0 && p->g % (k[GROUPS] > 0 ? k[GROUPS] : 1) == 0,
		   "blocks are of equally many groups");
}

/* Returns how many channels a tile of groups multiplies: zeros fill the last group in the copy. In
 * single precision that is no halves this is so only for fewer channels than a vector has lanes.
 * Groups of bf16 are of 16 lanes. */
static int64_t padded_channels(const struct workload *w, const struct range *r, int64_t ic)
{
	const int is_whole = dtype_is_int(w->dtype.src);
	const int64_t group = is_whole ? 4 : 2;
	const int64_t lanes = !is_whole ? 16 : r->space ? r->machine->lanes : r->knob[VL];
	const int is_plain = dtypes_are_f32(&w->dtype) && !r->halves;

	return ic > 1 && (ic < lanes || !is_plain) ? ceil_div(ic, group) * group : ic;
}

/* Channels of a pixel in the copy. If they are no whole steps of the tile registers, zeros follow
 * up to the next one: a row of a tile that lies in two cache lines takes four times as long to
 * load.
 */
static int64_t copied_channels(const struct workload *w, const struct conv *p, const int64_t *k,
			       int64_t channels)
{
	const struct tile *t = tile_of(&w->dtype, k[DEPTH]);
	const int64_t merged = k[MERGE] ? p->kw * channels : channels;

	if (!t || t->halves || t->most != k[DEPTH] || merged % t->most == 0)
		return channels;
	return ceil_div(channels, t->most) * t->most;
}

/* Offers the most values a step can take where channels are no whole lines, if zeros behind them
 * make no more steps. */
static void list_padded(struct range *r, const struct workload *w, int64_t channels)
{
	const struct tile *t = tile_of(&w->dtype, r->tmul);
	const int64_t line = t->most;

	if (!t->halves && channels % line && line % channels &&
	    ceil_div(channels, line) <= channels / r->tmul)
		range_more(r, DEPTH, line);
}

/* Lines are one run of rows where the next pixel is the next row of a tile, and a tile has whole
 * lines. */
static void check_run(struct range *r, const struct conv *p, const struct row_split *split)
{
	const int64_t *k = r->knob;
	const char *why = NULL;

	range_need(r, k[COPY] && k[MR] == p->ow && p->sw == 1 && p->sh == 1 && k[LINES] > 1,
		   "only whole lines that are copied, of unit stride, are one run");
	range_need(r, !split->rest || overrun_positions(p, split->rows) >= TMUL_ROWS,
		   "tile registers have rows for parts of one height");
	if (!brgemm_tiles_fit(k[VL], k[NV], overrun_positions(p, k[LINES]), 1, &why))
		range_need(r, 0, why);
}

/* Checks the knobs of a tile with several rows of the output. */
static void check_lines(struct range *r, const struct conv *p)
{
	const int64_t *k = r->knob, rows = k[ROWS] ? k[ROWS] : p->oh;
	const struct row_split split = row_split(rows, k[LINES]);
	const char *why = NULL;

	range_need(r, k[LINES] == 1 || p->oh % rows == 0,
		   "bands of several rows a tile have one height");
	range_need(r, split.rows + (split.rest > 0) == k[LINES],
		   "another value of lines gives the same program");
	range_need(r, k[RUN] != RUN_OVER || k[LINES] == 1,
		   "tiles that run over the ends of lines begin anywhere in one");
	if (k[RUN] == RUN_OVER)
		overrun_check(r, p, k[MR], rows, (int)k[COPY]);
	else if (k[RUN])
		check_run(r, p, &split);
	else if (!brgemm_tiles_fit(k[VL], k[NV], k[MR], k[LINES], &why))
		range_need(r, 0, why);
}

/* Do so many pixels fill tiles so badly that lines still fill them better together, with padding?
 */
static int fills_badly(int64_t pixels)
{
	enum { SHORT = 10 };

	return pixels <= SHORT ||
	       (pixels > TMUL_ROWS && pixels * 4 < ceil_div(pixels, TMUL_ROWS) * TMUL_ROWS * 3);
}

/* Offers tiles of several lines as one run, and tiles over the ends of lines, where they have fewer
 * products. */
static void list_runs(struct range *r, const struct conv *p)
{
	enum { LEAST = 2, MOST = 5 }; /* tile registers below each other */

	range_only(r, RUN, RUN_APART, NULL);
	if (fills_badly(p->ow) && p->kh * p->kw > 1)
		range_more(r, RUN, RUN_LINES);
	if (!overrun_pays(p))
		return;
	range_more(r, RUN, RUN_OVER);
	for (int64_t down = LEAST; down <= MOST; down++)
		if (down * TMUL_ROWS <= overrun_positions(p, p->oh))
			range_more(r, MR, down * TMUL_ROWS);
}

/* A tile loads weights once for all of its lines. With one line of few pixels, weights would be
 * loaded for few products. */
static void list_lines(struct range *r, const struct workload *w, const struct conv *p)
{
	static const int lines[] = {1, 2, 3, 4, 5, 6, 7, 8, 0};
	static const int of_halves[] = {1, 2, 3, 4, 6, 7, 8, 0};
	static const char why[] = "several rows of the output need tile registers";

	if (r->tmul) {
		range_values(r, LINES, r->halves ? of_halves : lines, p->oh);
		range_choice(r, RUN, RUN_OVER);
		if (r->space)
			list_runs(r, p);
	} else if (r->knob || !dtypes_are_f32(&w->dtype)) {
		range_only(r, LINES, 1, why);
		range_only(r, RUN, 0, why);
	}
	if (r->knob && r->tmul && !r->why)
		check_lines(r, p);
}

/* Sums in tile registers take all of k, of which taps that merge have so many values. */
static void limit_tiles(struct range *r, const struct workload *w, int64_t merged)
{
	static const char why[] = "sums in tile registers take all of k, in a loop";

	range_only(r, KC, 0, why);
	range_only(r, UNROLL, 1, why);
	if (r->space && tile_tmul_depth(&w->dtype, r->machine->tiles, merged))
		range_more(r, DEPTH, tile_tmul_depth(&w->dtype, r->machine->tiles, merged));
}

/* Offers blocks of each thread's share of the channels, in tiles of one or two vectors, because
 * each block copies its band. */
static void list_shares(struct range *r, const struct conv *p)
{
	const int threads = r->machine->threads;

	for (int nv = 1; nv <= 2 && threads > 1; nv++) {
		const int64_t tiles = ceil_div(p->oc, nv * r->machine->lanes);

		range_more(r, NC, ceil_div(tiles, threads) % tiles);
	}
}

/* Can tiles leave out the taps that lie outside of the image, where the input is not copied? Kernel
 * rows are left out where the convolution is clipped, and each pixel has a tap inside: the first is
 * not behind the image, the last not before it, and none of the steps between goes over it. */
static int can_leave_out(const struct workload *w, const struct conv *p)
{
	return dtypes_are_f32(&w->dtype) && !p->fills && edge_rows_can_go(p) &&
	       p->kw <= BRGEMM_PARTS && p->dw <= p->iw && p->pw <= (p->kw - 1) * p->dw &&
	       (p->ow - 1) * p->sw - p->pw < p->iw;
}

/* Leaves out tiles that are wider than the channels of a group, which would multiply zeros. */
static void limit_vectors(struct range *r, const struct conv *p)
{
	const int lanes = r->machine->lanes > 8 ? r->machine->lanes / 2 : r->machine->lanes;
	const int64_t most = ceil_div(p->oc, lanes);

	if (r->space->knob[NV].n > most)
		r->space->knob[NV].n = (int)most;
}

/* Is reading in place worth trying? Where values of the input meet few products, their copy weighs.
 * With many input channels it is 4 to 6 per cent of a strided convolution, too. With fewer channels
 * winograd is faster than both, and models that have learned from few tiles in place take these to
 * be faster still (docs/EXPERIMENTS.md). */
static int copy_weighs(const struct conv *p)
{
	enum { FEW = 150, FIRST = 4, FEW_OF_FIRST = 600, DEEP = 256 };
	const int64_t products = p->oc * p->kh * p->kw, stride = p->sh * p->sw;

	return products <= FEW * stride || (p->ic <= FIRST && products <= FEW_OF_FIRST * stride) ||
	       (p->ic >= DEEP && stride > 1);
}

/* Checks the knobs of tiles in place at the edges of the image, each of which has its own body. */
static void check_edges(struct range *r, const struct conv *p)
{
	const int64_t *k = r->knob;

	edge_limit(r, p, k[MR]);
	range_need(r, k[AHEAD] != 1, "tiles at the edges of the image prefetch weights alone");
}

static void list_copy(struct range *r, const struct workload *w, const struct conv *p)
{
	if ((p->padded && !can_leave_out(w, p)) || r->halves)
		range_only(r, COPY, 1, "padding, or the split in halves, needs the copy");
	else if (r->space && p->padded && !copy_weighs(p))
		range_only(r, COPY, 1, NULL);
	if (r->knob && !r->why && p->padded && !r->knob[COPY])
		check_edges(r, p);
}

/* Can the taps of a kernel row be one run of k? */
static int merges(const struct conv *p)
{
	return p->dw == 1 && p->kw > 1;
}

int direct_ranges(const struct workload *w, struct range *r)
{
	static const int pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 0};
	static const int chunks[] = {16, 32, 64, 128, 256, 0};
	static const int powers[] = {1, 2, 4, 8, 16, 32, 0};
	const int64_t *k = r->knob;
	int64_t channels, depth, group, steps; /* of a tap */
	struct conv p;

	if (!conv_of(w, &p))
		return 0;
	channels = padded_channels(w, r, p.ic);
	if (k)
		channels = copied_channels(w, &p, k, channels);
	range_tmul(r, DEPTH, w, channels, p.ow);
	if (r->space && !r->tmul && merges(&p))
		range_tmul(r, DEPTH, w, p.kw * channels, p.ow);
	if (r->halves && !r->tmul && r->space)
		return 0;
	if (!range_register_tile(r, 6, k && k[RUN] == RUN_OVER ? k[MR] : p.ow, pixels,
				 dtypes_are_f32(&w->dtype) ? brgemm_fits_either_side : brgemm_fits))
		return 1;
	if (r->space && !r->tmul && p.g > 1)
		limit_vectors(r, &p);
	if (r->space && p.oc <= r->machine->lanes / 2 && r->machine->lanes > 8)
		range_only(r, VL, r->machine->lanes / 2, NULL); /* half of the lanes do as much */
	depth = range_depth(r, DEPTH, w, k && r->tmul && k[MERGE] ? p.kw * channels : channels, KC,
			    1);
	range_wide(r, WIDE, w, depth, COPY);
	group = tile_of(&w->dtype, depth)->group;
	steps = ceil_div(p.ic, depth);
	range_blocks(r, ROWS, p.oh, 1, powers);
	if (p.oh % 7 == 0 && p.oh > 7)
		range_more(r, ROWS, 7);
	/* A band for each thread: few rows are copied twice. */
	if (r->space && r->tmul && r->machine->threads > 0)
		range_more(r, ROWS, ceil_div(p.oh, r->machine->threads) % p.oh);
	range_chunks(r, KC, w, p.ic, chunks);
	for (int parts = 2; parts <= 4; parts *= 2) /* even parts, so that taps can merge */
		if (p.ic % parts == 0 && p.ic / parts >= 4)
			range_more(r, KC, p.ic / parts);
	range_blocks(r, NC, p.oc, r->columns, powers);
	if (r->space && r->tmul)
		list_shares(r, &p);
	range_flags(r, ORDER, MERGE);
	range_unroll(r, UNROLL, BRGEMM_STRAIGHT, p.kw * steps);
	if (p.kh > 1 && p.kh * p.kw * steps <= BRGEMM_STRAIGHT)
		range_more(r, UNROLL, p.kh * p.kw * steps);
	range_ahead(r, AHEAD, w,
		    &(struct ahead){ORDER, p.mb * p.g * (p.ih * p.iw * p.ic + p.oh * p.ow * p.oc),
				    p.g * p.kh * p.kw * p.ic * p.oc});
	range_stream(r, STREAM, w, KC);
	list_copy(r, w, &p);
	list_lines(r, w, &p);
	if (r->tmul)
		limit_tiles(r, w, p.kw * channels);
	if (r->space && r->tmul)
		list_padded(r, w, channels);
	if (p.ic % group || (k && r->tmul && channels > p.ic)) {
		range_only(r, COPY, 1, "channels are padded in the copy");
		range_only(r, KC, 0, "padded channels are no chunks");
	}
	if (!merges(&p))
		range_only(r, MERGE, 0, "only taps of a kernel row that are adjacent merge");
	list_groups(r, &p);
	if (k && k[AHEAD] == AHEAD_PANEL && !r->tmul)
		range_need(r, k[UNROLL] * depth < p.kh * p.kw * (k[KC] ? k[KC] : channels),
			   "a share of the next panel is prefetched by each turn of a loop");
	if (!k || !k[MERGE])
		return 1;
	range_need(r, k[COPY] || (p.g == 1 && !k[KC]),
		   "taps merge only where a kernel row's channels are contiguous and whole");
	range_need(r, !k[KC] || p.ic % k[KC] == 0, "merged taps need chunks of one size");
	return 1;
}

/* The parts of the nest share these. */
struct direct {
	struct nest *n;
	const int64_t *k;
	struct conv p;
	struct parts parts;	  /* of a row of output pixels */
	struct edges edges;	  /* of such a row that is read in place */
	int leaves_out;		  /* do tiles at the edges leave out taps? */
	int64_t depth;		  /* of the tile: channels in a step */
	int halves;		  /* are both sides split? */
	int64_t group;		  /* of these, those that stand side by side in the weights */
	int64_t rows, kc, nc;	  /* as the knobs say, where 0 is all */
	int64_t nr, tiles, panel; /* channels of a tile, tiles of channels, weights of one */
	int img, g;		  /* variables */
	struct affine in_band;	  /* the group, counted from the first one of the copy */
	struct block bands, panels;
	struct affine line; /* the open row, or several, of the band, and how many these are */
	int64_t lines;
	struct chunk chunk;
	struct access in;  /* what the tile reads: the input, or the band; rows as of the output */
	struct access to;  /* what it writes */
	struct access pad; /* what lies outside of the image */
	int vtiles_w, voc, vpanel, vgroup, vchunk, vbias; /* symbols */
	struct brgemm t;
	struct brgemm_out out;
	struct reorder order;
};

static void declare(struct direct *s)
{
	const struct tile *tile = tile_of(&s->order.w->dtype, s->depth);
	const struct conv *p = &s->p;
	const struct extent bias[] = {{p->g, p->g}, {p->oc, s->tiles * s->nr}};
	struct nest *n = s->n;

	s->in = conv_src(p, reorder_src(&s->order));
	if (p->fills)
		s->pad = conv_pad(n, s->order.w, p);
	s->t.b = conv_weights(n, p, s->nr, s->kc, s->group, s->halves);
	reorder_out(&s->order, operand_bias(n, s->order.w, 2, bias), &s->out);
	operand_types(n, s->order.w);
	operand_weights(n, s->t.b, s->order.w, tile, s->k[WIDE] & RANGE_WIDE_RIGHT);
	s->t.tile = tile;
	s->t.b_half = s->panel / 2;
	s->t.depth = s->depth;
	s->t.lines = (int)s->k[LINES];
	s->t.run = s->k[RUN] == RUN_LINES ? (int)p->band_w : 0;
	brgemm_registers(n, &s->t, (int)s->k[VL], parts_highest(&s->parts), (int)s->k[NV]);
	s->t.unroll = (int)s->k[UNROLL];
	s->vtiles_w = nest_param(n, "TW", s->parts.split.tiles);
	s->parts.rest = nest_param(n, "rest", s->parts.split.rest);
	s->voc = nest_param(n, "OC", p->oc);
	s->panels.extent = af_var(nest_param(n, "TN", s->tiles));
	s->vpanel = nest_param(n, "panel", s->panel);
	s->vgroup = nest_param(n, "wgroup", s->tiles * s->panel);
	s->vchunk = nest_param(n, "Bchunk", p->kh * p->kw * s->kc * s->nr);
}

static void open_blocks(struct direct *s)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;

	s->bands.extent = af_var(nest_param(n, "OH", p->oh));
	s->bands.size = af_var(nest_param(n, "rows", s->rows));
	s->panels.size = af_var(nest_param(n, "nc", s->nc));
	s->bands.n = af_var(nest_param(n, "bands", ceil_div(p->oh, s->rows)));
	s->panels.n = af_var(nest_param(n, "blocks", ceil_div(s->tiles, s->nc)));
	s->img = nest_for(n, LOOP_PARALLEL, "img", af(0), af_var(nest_param(n, "MB", p->mb)));
	s->g = nest_for(n, LOOP_PARALLEL, "g", af(0),
			af_var(nest_param(n, "G", p->g / s->k[GROUPS])));
	block_share(n, &s->bands, &s->panels, (int)s->k[PAR]);
	if (s->k[GROUPS] > 1)
		s->g = nest_let(n, "g", af_mul(af_var(s->g), s->k[GROUPS]));
}

/* The group at hand of those that were copied together. */
static void open_group(struct direct *s)
{
	if (s->k[GROUPS] == 1)
		return;
	s->in_band = af_var(nest_for(s->n, LOOP_SERIAL, "gi", af(0), af(s->k[GROUPS])));
	s->g = nest_let(s->n, "g", af_add(af_var(s->g), s->in_band));
}

static void add_tap(struct direct *s, const char *name, int64_t taps, const char *a, int64_t a_step,
		    const char *b, int64_t b_step)
{
	struct nest *n = s->n;
	int i = s->t.ntaps++;

	s->t.tap[i].n = af_var(nest_param(n, name, taps));
	s->t.tap[i].a_step = af_var(nest_param(n, a, a_step));
	s->t.tap[i].b_step = af_var(nest_param(n, b, b_step));
}

/* How the tile reads: strides, taps and the extent of k. */
static void set_strides(struct direct *s)
{
	const struct conv *p = &s->p;
	int64_t row = s->in.dim[CONV_ROW].step, pixel = s->in.dim[CONV_COLUMN].step;

	s->in.dim[CONV_COLUMN].step *= p->sw;
	s->in.dim[CONV_ROW].step *= p->sh;
	access_name(s->n, &s->in, CONV_COLUMN, "Arow");
	access_name(s->n, &s->in, CONV_ROW, "Aline");
	s->t.a = s->in.buffer;
	s->t.a_half = s->in.half;
	s->t.a_row = af_var(s->in.dim[CONV_COLUMN].symbol);
	s->t.b_k = af(s->nr * s->depth);
	s->t.a_line = af_var(s->in.dim[CONV_ROW].symbol);
	if (p->kh > 1)
		add_tap(s, "KH", p->kh, "Akh", p->dh * row, "Bkh", p->kw * s->kc * s->nr);
	if (p->kw > 1 && !s->k[MERGE])
		add_tap(s, "KW", p->kw, "Akw", p->dw * pixel, "Bkw", s->kc * s->nr);
}

/* The band's input, as the knob says in place or copied. */
static void open_input(struct direct *s)
{
	struct nest *n = s->n;
	struct chunk channels;

	if (s->depth > s->group)
		s->chunk = (struct chunk){.loop = -1, .k = af(s->kc / s->depth)};
	else
		s->chunk = chunk_open(n, s->kc / s->depth,
				      nest_param(n, "IC", ceil_div(s->p.ic, s->depth)));
	s->t.k = s->k[MERGE] ? af_var(nest_param(n, "K", s->p.kw * s->kc / s->depth)) : s->chunk.k;
	channels = s->chunk;
	channels.k0 = af_mul(channels.k0, s->depth);
	channels.k = s->depth > s->group || s->p.ic % s->depth ? af(s->p.ic)
							       : af_mul(channels.k, s->depth);
	if (s->k[COPY]) {
		s->in = band_copy(n,
				  &(struct band){&s->p, s->in, s->img, s->g, s->t.lanes, &s->bands,
						 s->rows, s->kc, &channels, s->k[GROUPS], 0,
						 s->p.fills ? &s->pad : NULL, s->halves});
		if (s->k[WIDE] & RANGE_WIDE_LEFT)
			nest_elem(n, s->in.buffer, ELEM_S16);
		else if (s->depth > 1 || s->out.is_whole)
			nest_elem(n, s->in.buffer, tile_elem(s->t.tile, s->order.w->dtype.src));
	} else {
		access_name(n, &s->in, CONV_IMAGE, "image");
		access_name(n, &s->in, CONV_GROUP, "IC");
	}
	set_strides(s);
}

/* Where tiles go, by symbols. */
static void declare_output(struct direct *s)
{
	struct nest *n = s->n;

	s->to = conv_dst(n, &s->p, s->out.c);
	access_name(n, &s->to, CONV_COLUMN, "Cpixel");
	access_name(n, &s->to, CONV_ROW, "Cline");
	access_name(n, &s->to, CONV_IMAGE, "Cimage");
	s->to.dim[CONV_GROUP].symbol = s->voc;
	s->out.c_row = af_var(s->to.dim[CONV_COLUMN].symbol);
	s->out.c_line = af_var(s->to.dim[CONV_ROW].symbol);
	s->vbias = nest_param(n, "biasgroup", s->tiles * s->nr);
}

/* The tile's place in the input, the weights and the output. */
static void place(struct direct *s, const struct conv_place *at, int j)
{
	struct affine img = af_var(at->img), g = af_var(at->g), oh = af_var(at->oh);
	struct affine row = oh, k0 = af_mul(s->chunk.k0, s->depth), group = g;

	if (s->k[COPY]) { /* the band has the block's groups and rows, and the chunk's channels */
		group = s->in_band;
		row = af_sub(oh, af_var(s->bands.lo));
		k0 = af(0);
	}
	s->t.a_at = access_at(&s->in, {CONV_IMAGE, img}, {CONV_GROUP, group}, {CONV_ROW, row},
			      {CONV_COLUMN, at->ow}, {CONV_CHANNEL, k0});
	s->t.b_at = af_add(af_times(g, s->vgroup), af_times(af_var(j), s->vpanel));
	if (s->leaves_out)
		s->t.a_at =
			af_add(s->t.a_at, af(-s->p.g * s->p.ic * (s->p.ph * s->p.iw + s->p.pw)));
	if (s->chunk.loop >= 0)
		s->t.b_at = af_add(s->t.b_at, af_times(af_var(s->chunk.loop), s->vchunk));
	s->out.c_at = access_at(&s->to, {CONV_IMAGE, img}, {CONV_GROUP, g}, {CONV_ROW, oh},
				{CONV_COLUMN, at->ow}, {CONV_CHANNEL, at->channel});
	s->out.valid = operand_left(s->n, s->voc, s->nr, at->channel);
	s->out.bias_at = af_add(af_times(g, s->vbias), at->channel);
}

/* The next panel of the weights is prefetched by each tile of the block; this one's number in its
 * row is given. */
static void panel_ahead(struct direct *s, struct affine tile)
{
	const int64_t k = (s->k[MERGE] ? s->p.kw : 1) * s->kc / s->depth;
	const int64_t columns = s->parts.split.tiles;
	const int64_t across = s->k[MERGE] ? 1 : s->p.kw; /* taps that are no part of k */

	block_panel_ahead(&s->t, &(struct panel_ahead){
					 .at = af_add(s->t.b_at, af_var(s->vpanel)),
					 .elements = s->panel / ceil_div(s->p.ic, s->kc),
					 .tile = af_add(af_mul(s->line, columns), tile),
					 .tiles = s->lines * columns,
					 .steps = s->p.kh * across * k,
				 });
	if (s->chunk.loop >= 0)
		s->t.next = af_var(nest_let(s->n, "next", s->t.next));
	for (int i = s->t.ntaps - 1, inner = 1; i >= 0; i--, inner *= (int)across)
		s->t.next_tap[i] = k * inner * s->t.next_step;
}

static void look_ahead(struct direct *s, const struct sweep *x)
{
	if (s->k[AHEAD] == AHEAD_PANEL)
		panel_ahead(s, af_var(x->t));
	else if (s->k[AHEAD])
		block_look_ahead(&s->t, &s->out, x->innermost != NULL, s->parts.split.rows,
				 !s->k[COPY] && !s->t.ntaps);
}

/* Sets the parts of a tile, whose rows may lack columns of taps. Neighbours with the same rows are
 * one part. */
static void leave_out(struct direct *s, const struct stretch *x)
{
	const int64_t unit = s->k[MERGE] ? s->kc : 1; /* of the innermost loop */
	struct brgemm_part *p = NULL;
	int64_t from, to;

	s->t.nparts = 0;
	s->t.is_of_k = (int)s->k[MERGE];
	for (int kw = 0; x->edge >= 0 && kw < s->p.kw; kw++) {
		stretch_inside(x, &s->p, kw, &from, &to);
		if (from < to && (!p || p->from != from || p->to != to)) {
			p = &s->t.part[s->t.nparts++];
			*p = (struct brgemm_part){(int)from, (int)to, kw * unit, kw * unit};
		}
		if (from < to)
			p->hi += unit;
	}
	assert(x->edge < 0 || s->t.nparts);
}

/* The tiles of output row oh, read in place: those at its ends have bodies of their own. */
static void row_in_place(struct direct *s, int oh, int j)
{
	struct conv_place at = {.img = s->img, .g = s->g, .oh = oh};
	struct stretch x = {.edges = &s->edges};
	struct nest *n = s->n;

	while (stretch_next(n, &x)) {
		const int of = s->k[ORDER] ? j : block_units(n, &s->panels, "j");

		at.ow = x.ow;
		at.channel = af_mul(af_var(of), s->nr);
		place(s, &at, of);
		leave_out(s, &x);
		if (s->k[AHEAD])
			panel_ahead(s, x.tile);
		brgemm_tile(n, &s->t, x.pixels, &s->out, s->chunk.loop, af_var(s->chunk.count));
		if (!s->k[ORDER])
			nest_close(n);
	}
}

/* The tiles of output row oh: pixels, then channels, or the other way round. */
static void row(struct direct *s, int oh, int j)
{
	struct sweep x = {.parts = &s->parts, .innermost = s->k[ORDER] ? NULL : &s->panels, .j = j};
	struct conv_place at = {.img = s->img, .g = s->g, .oh = oh};
	struct nest *n = s->n;

	if (s->leaves_out) {
		row_in_place(s, oh, j);
		return;
	}
	x.t = nest_for(n, LOOP_SERIAL, "t", af(0), af_var(s->vtiles_w));
	while (sweep_next(n, &x)) {
		at.ow = x.row;
		at.channel = af_mul(af_var(x.j), s->nr);
		place(s, &at, x.j);
		look_ahead(s, &x);
		brgemm_tile(n, &s->t, x.rows, &s->out, s->chunk.loop, af_var(s->chunk.count));
	}
	nest_close(n);
}

/* May a tile with all its taps be one straight run? */
static int may_be_straight(const struct direct *s)
{
	return s->k[MERGE] && s->p.kh > 1 && s->k[UNROLL] * s->depth == s->p.kh * s->p.kw * s->kc;
}

/* Output row oh. Where kernel rows lie outside the image, the loops over taps remain. */
static void rows(struct direct *s, int oh, int j)
{
	const struct conv *p = &s->p;
	struct nest *n = s->n;
	int both = may_be_straight(s) && p->clipped;

	s->line = af_sub(af_var(oh), af_var(s->bands.lo));
	s->lines = s->rows;
	if (p->clipped) /* the tap over kernel rows is the outermost one */
		conv_rows_inside(n, p, oh, 1, &s->t.tap[0].lo, &s->t.tap[0].n);
	if (both) {
		nest_if_less(n, af_sub(s->t.tap[0].n, s->t.tap[0].lo), af(p->kh));
		row(s, oh, j);
		nest_else(n);
	}
	if (may_be_straight(s))
		s->t.straight =
			(struct brgemm_straight){(int)p->kh, (int)(p->kw * s->kc / s->depth)};
	row(s, oh, j);
	if (both)
		nest_close(n);
}

/* Computes all rows of the band, several at a time. */
static void lines(struct direct *s, int j)
{
	const struct parts parts = {
		.split = row_split(s->rows, s->k[LINES]),
		.rest = nest_param(s->n, "lines", row_split(s->rows, s->k[LINES]).rest)};
	struct nest *n = s->n;
	const int t = nest_for(n, LOOP_SERIAL, "line", af(0), af(parts.split.tiles));
	int oh;

	oh = nest_let(n, "oh", af_add(af_var(s->bands.lo), parts_row(n, &parts, t)));
	s->line = af_var(t);
	s->lines = parts.split.tiles;
	for (int rows = parts_first(n, &parts, t); rows; rows = parts_next(n, &parts, rows)) {
		s->t.lines = rows;
		row(s, oh, j);
	}
	nest_close(n);
}

/* Computes the tiles of a band, which run over the ends of its lines: pixels, then channels, or the
 * other way round. */
static void runs(struct direct *s, int j)
{
	struct conv_place at = {.img = s->img, .g = s->g, .oh = s->bands.lo};
	struct sweep x = {.innermost = s->k[ORDER] ? NULL : &s->panels, .j = j};
	struct nest *n = s->n;

	s->line = af(0);
	s->lines = ceil_div(overrun_positions(&s->p, s->rows), s->k[MR]);
	x.t = overrun_open(n, &s->p, &s->bands, s->k[MR], &s->t);
	if (x.innermost)
		x.j = block_units(n, x.innermost, x.innermost->name);
	at.channel = af_mul(af_var(x.j), s->nr);
	place(s, &at, x.j);
	s->t.a_at = af_add(s->t.a_at, af_scale(s->t.over.begin, s->t.a_row));
	look_ahead(s, &x);
	brgemm_tile(n, &s->t, (int)s->k[MR], &s->out, -1, af(0));
}

int direct_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct direct s = {.n = n,
			   .k = k,
			   .bands = {.loop = "ib", .name = "oh"},
			   .panels = {.loop = "jb", .name = "j"},
			   .order = reorder_of(n, w, k[VL])};
	int j;

	if (!conv_of(w, &s.p))
		return err_set(e, "direct does not apply to this workload");
	s.parts.split = row_split(k[RUN] == RUN_OVER ? k[MR] : s.p.ow, k[MR]);
	s.edges = edge_find(&s.p, s.parts.split);
	s.leaves_out = s.p.padded && !k[COPY];
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.p.oc, s.nr);
	s.depth = k[DEPTH];
	if (k[LINES] > 1 || k[RUN] == RUN_OVER)
		s.p.clipped = 0; /* rows of zeros are copied: a tile's lines have all kernel rows */
	s.group = tile_of(&w->dtype, s.depth)->group;
	s.halves = tile_of(&w->dtype, s.depth)->halves;
	s.rows = k[ROWS] ? k[ROWS] : s.p.oh;
	s.kc = k[KC] ? k[KC] : copied_channels(w, &s.p, k, ceil_div(s.p.ic, s.group) * s.group);
	s.nc = k[NC] ? k[NC] : s.tiles;
	s.panel = ceil_div(s.p.ic, s.kc) * s.p.kh * s.p.kw * s.kc * s.nr * (s.halves ? 2 : 1);
	declare(&s);
	open_blocks(&s);
	open_input(&s);
	declare_output(&s);
	open_group(&s);
	j = k[ORDER] ? block_units(n, &s.panels, "j") : -1;
	if (k[RUN] == RUN_OVER)
		runs(&s, j);
	else if (k[LINES] > 1)
		lines(&s, j);
	else
		rows(&s, block_units(n, &s.bands, "oh"), j);
	while (n->depth)
		nest_close(n);
	reorder_finish(&s.order, (int)k[STREAM]);
	return 0;
}

const struct algo algo_direct = {
	.name = "direct",
	.summary = "Direct convolution by register tiles of pixels x channels, taps as the batch.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.types = 1U << DTYPE_BF16 | 1U << DTYPE_S8 | 1U << DTYPE_U8,
	.widens = 1,
	.narrows = 1,
	.pitches = 1,
	.rev = 5,
	.nknobs = DIRECT_KNOBS,
	.knob = direct_knobs,
	.ranges = direct_ranges,
	.build = direct_build,
};
