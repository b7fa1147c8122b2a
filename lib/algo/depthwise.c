/* depthwise: convolution with a filter for each channel.
 *
 * Over the channelwise tile (lib/schedule/channelwise.h), pixels by vectors of channels. Each input
 * value is used kh * kw times at most: what matters is that it is read from a near cache, so rows
 * are taken in bands and channels in blocks of whole vectors (Zhang et al., "High performance
 * depthwise and pointwise convolutions on mobile devices", AAAI 2020, section 3). Output rows whose
 * taps all lie inside the image have a body of their own, in which a tile is one straight run.
 * Where the weights of a channel tile fit in registers, they may be loaded once a row of tiles, or,
 * with rows innermost, once a column of them ("hold").
 *
 * depthwise loads inputs once (once): an input vector of a kernel row meets all its taps and
 * pixels while it is in a register, and those outside the image are left out. Without it each
 * multiply-add has a load of its own, which is as many as there are ports, and more where channels
 * do not fill whole cache lines.
 *
 * Whole numbers of 8 bits are multiplied in groups (depth): of one column, the taps of kernel rows
 * below each other. A product of 32 bits takes an instruction that has half the rate of others on
 * many CPUs, and an addition; vpdpbusd takes four taps, vpmaddwd two.
 */
#include "lib/algo/algo.h"
#include "lib/nest/check.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block.h"
#include "lib/schedule/channelwise.h"
#include "lib/schedule/frame.h"
#include "lib/schedule/range.h"
#include "lib/schedule/reorder.h"
#include "lib/space/isa.h"
#include "lib/tile/brgemm.h"

enum depthwise_knob { VL, NV, MR, ROWS, NC, ORDER, PAR, HOLD, STREAM, ONCE, DEPTH, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors of channels in the register tile."},
	[MR] = {"mr", 1,
		"Output pixels of the register tile, at most, in near-equal parts of a row."},
	[ROWS] = {"rows", 0, "Output rows in a band; 0: all."},
	[NC] = {"nc", 0, "Register tiles of channels in a block; 0: all."},
	[ORDER] = {"order", 0,
		   "Inside a block: 0 rows, channels, pixels; 1 rows, pixels, channels; "
		   "2 channels, rows, pixels; 3 pixels, channels, rows; the last one innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: channels innermost, 1: bands innermost."},
	[HOLD] = {"hold", 0, "1: the weights of a channel tile stay in registers."},
	[STREAM] = {"stream", 0, "1: the result is written past the caches."},
	[ONCE] = {"once", 0,
		  "1: each vector of input is loaded once for the taps of a kernel row, whose "
		  "weights are in registers."},
	[DEPTH] = {"depth", 1, "Kernel rows that an instruction multiplies and sums.",
		   .is_rare = 1},
};

enum { CHANNELS_IN_PIXELS = 1, CHANNELS_OUTERMOST = 2, ROWS_INNERMOST = 3 }; /* values of order */
enum { MAX_TAPS = 81, MAX_STRAIGHT = 512, MOST_DEPTH = 4 };

static int applies(const struct workload *w, struct conv *p)
{
	if (!conv_of(w, p) || p->g == 1 || p->ic != 1 || p->oc != 1 || p->kh * p->kw > MAX_TAPS)
		return 0;
	if (p->fills)
		conv_frame(p);
	return 1;
}

/* Registers: the tile, the weights, one for what post-ops compute, one for products of whole
 * numbers, and one for a mask where masks are vectors. Never fewer than brgemm_fits() counts. */
static int64_t registers(const struct workload *w, const struct conv *p, const int64_t *k)
{
	const int is_whole = dtype_is_int(w->dtype.src);
	int64_t held = channelwise_groups(p, k[DEPTH]) * p->kw;
	int64_t weights = k[HOLD] ? held : k[ONCE] ? p->kw : 1;

	return k[NV] * (k[MR] + weights + (k[ONCE] != 0)) + !k[ONCE] + is_whole +
	       (isa_of_lanes(k[VL])->masks == MASKS_VECTOR && p->g % k[VL]);
}

/* Is a tile whose kernel rows all lie inside the image one straight run? Not where its products are
 * too many for that. */
static int is_straight(const struct conv *p, const int64_t *k)
{
	return k[HOLD] || p->kh * p->kw * k[NV] * k[MR] <= MAX_STRAIGHT;
}

/* An upper bound of variables, most of which are loops. Each tile at an edge has a body of its own:
 * once more where tiles may be straight, and where vectors are masked. */
static int64_t loops(const struct workload *w, const struct conv *p, const int64_t *k)
{
	enum { ONCE_LOOPS = 14, ASKED_LOOPS = 8, REORDER_LOOPS = 46 };
	struct edges e = edge_find(p, row_split(p->ow, k[MR]));
	int64_t edges = e.left + e.right, rest = edges * 8 + 20;
	int64_t step = p->sw / p->dw, combs = step < p->kw ? step : p->kw;
	int64_t row =
		k[ONCE] ? (edges + 1 + (e.split.rest > 0)) * ONCE_LOOPS * combs : edges * 3 * p->kw;
	int64_t asked = k[DEPTH] > 1 ? p->kh * (edges + 2) * ASKED_LOOPS : 0;
	int64_t clipped = ((k[ONCE] && p->dh > 1) || k[DEPTH] > 1 ? p->kh : 1) * row + asked + rest;
	int64_t whole = (k[DEPTH] > 1 && p->kh > k[DEPTH] ? 2 : 1) * row + rest, n;

	n = clipped * (1 + (k[ORDER] == ROWS_INNERMOST)) + is_straight(p, k) * whole;
	if (p->g % (k[NV] * k[VL]))
		n *= 2;
	if (k[ONCE] && w->layout == LAYOUT_NCHW)
		n += REORDER_LOOPS *
		     (2 + workload_has_post(w, POST_ADD) + workload_has_post(w, POST_MUL));
	return n;
}

static int depthwise_build(const struct workload *w, const int64_t *k, struct nest *n,
			   struct err *e);

static int has_nest(const struct workload *w, const int64_t *k)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct nest n;
	int holds;

	nest_init(&n, &a, "depthwise");
	holds = depthwise_build(w, k, &n, &e) == 0 && check_nest(&n, &e) == 0;
	arena_free(&a);
	return holds;
}

/* Is the nest no larger than nests may be? Where the bound does not tell, the nest is made. With
 * `once` the bound counts tiles that a row may lack. Without it, it leaves out what `once` alone
 * counts: such points were in spaces before there was this question, and those that make programs
 * stay. */
static int fits(const struct workload *w, const struct conv *p, const int64_t *k)
{
	enum { BOUND_ONCE = 2 * NEST_LOOPS, BOUND_F32 = NEST_VARS - 40 };
	const int64_t most = loops(w, p, k);
	const int tells = k[ONCE] || (p->dh == 1 && w->layout != LAYOUT_NCHW);

	if (most > (k[ONCE] ? BOUND_ONCE : dtypes_are_f32(&w->dtype) ? BOUND_F32 : NEST_LOOPS))
		return 0;
	return (tells && most <= NEST_LOOPS) || has_nest(w, k);
}

/* Where pairs are the largest groups, or kernels have more rows than a group, single rows are as
 * good: kernels of many rows may have no groups at all, as too many tiles would have taps outside
 * the image. */
static void list_depths(struct range *r, const struct workload *w, const struct conv *p)
{
	const int64_t depth = range_depth(r, DEPTH, w, MOST_DEPTH, -1, 1);

	if (depth == 2 || p->kh > depth)
		range_more(r, DEPTH, 1);
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
	range_lanes(r, w);
	range_blocks(r, ROWS, p.oh, 1, heights);
	range_blocks(r, NC, p.g, r->columns, blocks);
	range_choice(r, ORDER, ROWS_INNERMOST);
	range_flags(r, PAR, HOLD);
	range_stream(r, STREAM, w, -1);
	if (channelwise_loads_once(&p, p.ow))
		range_choice(r, ONCE, 1);
	else
		range_only(r, ONCE, 0, "no two taps of a kernel row read the same input");
	if (dtype_is_int(w->dtype.src))
		list_depths(r, w, &p);
	else if (k)
		range_only(r, DEPTH, 1, "kernel rows are multiplied in groups in 8 bits alone");
	if (!k || r->why)
		return 1;
	range_need(r, k[NV] == 1 || (k[NV] - 1) * k[VL] < p.g,
		   "another value of nv gives the same program");
	range_need(r, !k[HOLD] || k[ORDER] != CHANNELS_IN_PIXELS,
		   "weights stay in registers only where channels are not innermost");
	range_need(r, !k[ONCE] || channelwise_loads_once(&p, k[MR]),
		   "an input is loaded once only by tiles as wide as the taps that read it");
	range_registers(r, registers(w, &p, k));
	range_need(r, r->why || fits(w, &p, k), "too many tiles have taps outside the image");
	return 1;
}

/* The parts of the nest share these. */
struct depthwise {
	const int64_t *k;
	struct edges edges;
	struct channelwise t;
	struct block bands, panels; /* of rows, of channel tiles */
	struct reorder order;
};

static void declare(struct depthwise *s)
{
	struct channelwise *t = &s->t;
	const struct conv *p = &t->p;
	const struct extent bias[] = {{p->g, t->tiles * t->nr}, {1, 1}};
	struct nest *n = t->n;

	t->src = conv_src(p, frame_src(&s->order, p));
	channelwise_weights(t);
	reorder_out(&s->order, operand_bias(n, s->order.w, 2, bias), &t->out);
	operand_types(n, s->order.w);
	t->bias = brgemm_out_take_bias(&t->out);
	t->dst = conv_dst(n, p, t->out.c);
	channelwise_registers(t, (int)s->k[MR], s->k[HOLD] != 0);
}

static struct panel all_panels(const struct depthwise *s)
{
	return (struct panel){.block = &s->panels, .channels = s->t.p.g, .nr = s->t.nr};
}

/* A row of a channel tile. */
static void row_of_panel(struct depthwise *s, struct channelwise_place *at)
{
	if (at->held)
		channelwise_hold(&s->t, at);
	at->run = (struct stretch){.edges = &s->edges};
	while (stretch_next(s->t.n, &at->run))
		channelwise_tile(&s->t, at);
}

static void row(struct depthwise *s, struct channelwise_place *at)
{
	if (s->k[ORDER] == CHANNELS_OUTERMOST) {
		row_of_panel(s, at);
	} else if (s->k[ORDER] == CHANNELS_IN_PIXELS) {
		at->run = (struct stretch){.edges = &s->edges};
		while (stretch_next(s->t.n, &at->run))
			for (at->panel = all_panels(s); panel_next(s->t.n, &at->panel);)
				channelwise_tile(&s->t, at);
	} else {
		for (at->panel = all_panels(s); panel_next(s->t.n, &at->panel);)
			row_of_panel(s, at);
	}
}

static void rows(struct depthwise *s, struct channelwise_place *at)
{
	struct nest *n = s->t.n;
	int64_t first, end;
	int inside, some, all;

	at->oh = block_units(n, &s->bands, "oh");
	conv_whole_rows(&s->t.p, &first, &end);
	some = first < end && is_straight(&s->t.p, s->k);
	all = first == 0 && end == s->t.p.oh;
	if (some && !all) {
		inside = nest_let_min(n, "inside", af_sub(af_var(at->oh), af(first)),
				      af_sub(af(end - 1), af_var(at->oh)));
		nest_if_less(n, af_var(inside), af(0));
		at->inside = at->held = 0;
		row(s, at);
		nest_else(n);
	}
	at->inside = some;
	at->held = some && s->k[HOLD];
	row(s, at);
	if (some && !all)
		nest_close(n);
	nest_close(n);
}

static void columns(struct depthwise *s, struct channelwise_place *at)
{
	at->run = (struct stretch){.edges = &s->edges};
	while (stretch_next(s->t.n, &at->run))
		for (at->panel = all_panels(s); panel_next(s->t.n, &at->panel);)
			channelwise_column(&s->t, at, &s->bands, is_straight(&s->t.p, s->k),
					   (int)s->k[HOLD]);
}

static void open_blocks(struct depthwise *s)
{
	struct nest *n = s->t.n;

	s->bands = block_of("ib", "oh", s->t.p.oh, s->k[ROWS]);
	s->panels = block_of("jb", "j", s->t.tiles, s->k[NC]);
	s->t.img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(s->t.p.mb));
	block_share(n, &s->bands, &s->panels, (int)s->k[PAR]);
}

static int depthwise_build(const struct workload *w, const int64_t *k, struct nest *n,
			   struct err *e)
{
	struct depthwise s = {.k = k,
			      .t = {.n = n,
				    .lanes = (int)k[VL],
				    .nv = (int)k[NV],
				    .once = (int)k[ONCE],
				    .tile = tile_of(&w->dtype, k[DEPTH])},
			      .order = reorder_of(n, w, k[VL])};
	struct channelwise_place at = {0};

	if (!applies(w, &s.t.p))
		return err_set(e, "depthwise does not apply to this workload");
	s.edges = edge_find(&s.t.p, row_split(s.t.p.ow, k[MR]));
	s.t.nr = k[NV] * k[VL];
	s.t.tiles = ceil_div(s.t.p.g, s.t.nr);
	declare(&s);
	open_blocks(&s);
	if (k[ORDER] == ROWS_INNERMOST)
		columns(&s, &at);
	else if (k[ORDER] != CHANNELS_OUTERMOST)
		rows(&s, &at);
	else
		for (at.panel = all_panels(&s); panel_next(n, &at.panel);)
			rows(&s, &at);
	while (n->depth)
		nest_close(n);
	reorder_finish(&s.order, (int)k[STREAM]);
	return 0;
}

const struct algo algo_depthwise = {
	.name = "depthwise",
	.summary = "Depthwise convolution by register tiles of pixels x vectors of channels.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.types = 1U << DTYPE_BF16 | 1U << DTYPE_S8 | 1U << DTYPE_U8,
	.widens = 1,
	.narrows = 1,
	.pitches = 1,
	.rev = 4,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = depthwise_build,
};
