/* planar: convolution of groups by vectors of pixels, of any stride, dilation and padding.
 *
 * A group of few channels fills no vector, and one that spans groups costs a permutation for each
 * multiply-add (grouped). So the input channels of a few groups are put in planes, transposed in
 * registers, once for all their taps. A register tile is a few output channels of a group by a few
 * vectors of pixels: it reads vectors of a plane and broadcasts weights, as a matrix product does.
 * Its sums wait in planes of the output, which are transposed back through the post-ops.
 *
 * planar is for groups of any size. Where a processor has one port for permutations, grouped's are
 * what it waits for: one for each multiply-add. planar's vectors are of pixels. It transposes the
 * input of a few groups into planes, once for all taps, and the sums back; a 16x16 square costs 64
 * shuffles, and each of its vectors serves kh * kw * (a group's output channels) multiply-adds. A
 * stride's planes are phases (lib/schedule/planes.h), so vectors are full for all strides, and go
 * on from one row to the next.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block.h"
#include "lib/schedule/planes.h"
#include "lib/schedule/range.h"
#include "lib/schedule/reorder.h"
#include "lib/tile/brgemm.h"

enum planar_knob { VL, NV, MR, ROWS, GROUPS, PAR, KNOBS };
enum { MAX_RUN = 1600 }; /* multiply-adds of a straight run */

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors of pixels in the register tile, at most, in near-equal parts."},
	[MR] = {"mr", 1, "Output channels of the register tile."},
	[ROWS] = {"rows", 0, "Output rows in a band; 0: all."},
	[GROUPS] = {"groups", 0, "Groups in a block; 0: all."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: groups innermost, 1: bands innermost."},
};

/* The parts of the nest share these. */
struct planar {
	struct nest *n;
	struct conv p, whole; /* of a group, and as one group */
	int64_t lanes, mr, groups, rows;
	int64_t tiles;	    /* of a group's output channels */
	int64_t out;	    /* elements of a plane of the output */
	struct parts parts; /* of a band's vectors */
	struct planes planes;
	struct transpose square;
	int weights, sums, acc, wreg, xreg;
	struct access src, dst;
	struct block bands, blocks; /* of rows, of groups */
	struct brgemm_out to;
	struct reorder order;
};

static int applies(const struct workload *w, struct planar *s)
{
	if (!conv_of(w, &s->p) || s->p.g == 1 || (s->p.ic == 1 && s->p.oc == 1))
		return 0;
	s->whole = s->p;
	s->whole.ic *= s->p.g;
	s->whole.oc *= s->p.g;
	s->whole.g = 1;
	return 1;
}

/* The numbers that follow from the knobs. 0: the planes cannot be made. */
static int set(struct planar *s, const int64_t *k)
{
	int64_t vectors;

	s->lanes = k[VL];
	s->mr = k[MR];
	s->groups = k[GROUPS] ? k[GROUPS] : s->p.g;
	s->rows = k[ROWS] ? k[ROWS] : s->p.oh;
	s->tiles = ceil_div(s->p.oc, s->mr);
	if (!planes_make(&s->planes, &s->whole, s->lanes, s->groups * s->p.ic, s->rows))
		return 0;
	vectors = ceil_div(planes_positions(&s->planes, s->rows), s->lanes);
	s->parts.split = row_split(vectors, k[NV]);
	s->out = (vectors + (vectors % 2 == 0)) * s->lanes;
	return 1;
}

/* An upper bound of loops, by phases and by tensors whose order changes. */
static int64_t loops(const struct workload *w, const struct planar *s)
{
	enum { PHASE_LOOPS = 65, REORDER_LOOPS = 46 };
	int64_t tensors = w->layout == LAYOUT_NCHW ? 2 + workload_has_post(w, POST_ADD) +
							     workload_has_post(w, POST_MUL)
						   : 0;

	return s->planes.v.phases * s->planes.h.phases * PHASE_LOOPS + tensors * REORDER_LOOPS;
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int channels[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 0};
	static const int heights[] = {1, 2, 4, 7, 8, 14, 16, 28, 0};
	const int64_t *k = r->knob;
	struct planar s;

	if (!applies(w, &s))
		return 0;
	if (!range_register_tile(r, 4, s.p.oc, channels, brgemm_fits))
		return 1;
	range_lanes(r, w);
	range_blocks(r, ROWS, s.p.oh, 1, heights);
	range_blocks(r, GROUPS, s.p.g, 1, (const int[]){0});
	for (int64_t g = 1; r->space && g <= 16 && g < s.p.g; g++)
		if (s.p.g % g == 0)
			range_more(r, GROUPS, g);
	range_choice(r, PAR, 1);
	if (!k || r->why)
		return 1;
	range_need(r, !k[GROUPS] || s.p.g % k[GROUPS] == 0, "blocks are of equally many groups");
	range_need(r, s.p.kh * s.p.kw * k[NV] * k[MR] <= MAX_RUN, "a tile has too many products");
	range_need(r, r->why || set(&s, k), "strides and dilation make too many phases");
	range_need(r, r->why || loops(w, &s) <= NEST_LOOPS, "its phases make too many loops");
	range_need(r, r->why || s.parts.split.rows + (s.parts.split.rest > 0) == k[NV],
		   "another value of nv gives the same program");
	return 1;
}

/* [group][tile][input channel][kh][kw][output channel] */
static int packed_weights(struct planar *s)
{
	const struct conv *p = &s->p;
	struct packing w = {.rank = 5, .extent = {p->g, p->oc, p->ic, p->kh, p->kw}};

	packing_axis(&w, 0, p->g, 1);
	packing_axis(&w, 1, s->tiles, s->mr);
	packing_axis(&w, 2, p->ic, 1);
	packing_axis(&w, 3, p->kh, 1);
	packing_axis(&w, 4, p->kw, 1);
	packing_axis(&w, 1, s->mr, 1);
	return nest_packed(s->n, "w", TENSOR_WEIGHTS, &w);
}

static void declare(struct planar *s)
{
	struct nest *n = s->n;
	const struct extent bias = {s->whole.oc, s->whole.oc + s->lanes};
	int highest = parts_highest(&s->parts);

	s->src = conv_src(&s->whole, reorder_src(&s->order));
	s->weights = packed_weights(s);
	reorder_out(&s->order, operand_bias(n, s->order.w, 1, &bias), &s->to);
	operand_types(n, s->order.w);
	nest_elem(n, s->weights, ELEM_F32); /* they are broadcast as they are */
	s->dst = conv_dst(s->n, &s->whole, s->to.c);
	s->planes.n = n;
	planes_declare(&s->planes);
	s->sums = nest_work(n, "sums", s->groups * s->p.oc * s->out);
	s->square = transpose_of(n, s->lanes);
	s->acc = nest_reg(n, "acc", ELEM_F32, (int)s->lanes, (int)s->mr, highest);
	s->wreg = nest_reg(n, "w", ELEM_F32, (int)s->lanes, (int)s->mr, 1);
	s->xreg = nest_reg(n, "x", ELEM_F32, (int)s->lanes, 1, highest);
	s->parts.rest = nest_param(n, "rest", s->parts.split.rest);
}

/* ---- the register tile ---- */

struct tile {
	int channels, vectors;
	int x, w, sums; /* views */
};

static struct affine unrolled(struct nest *n, const char *name, int64_t turns)
{
	return af_var(nest_for(n, LOOP_UNROLL, name, af(0), af(turns)));
}

static struct affine acc_at(const struct planar *s, struct affine m, struct affine v)
{
	return af_add(af_mul(m, parts_highest(&s->parts)), v);
}

static void zero_tile(struct planar *s, const struct tile *t)
{
	struct affine m = unrolled(s->n, "m", t->channels), v = unrolled(s->n, "v", t->vectors);

	nest_store(s->n, s->acc, acc_at(s, m, v), NULL, ex_const(s->n, ELEM_F32, (int)s->lanes, 0));
	nest_close(s->n);
	nest_close(s->n);
}

/* The products of a tap: vectors at x of the planes, weights at w. */
static void multiply(struct planar *s, const struct tile *t, struct affine x, struct affine w)
{
	struct nest *n = s->n;
	int lanes = (int)s->lanes;
	struct affine v = unrolled(n, "v", t->vectors), m;

	nest_store(n, s->xreg, v, NULL, ex_load(n, t->x, lanes, af_add(x, af_mul(v, lanes)), NULL));
	nest_close(n);
	m = unrolled(n, "m", t->channels);
	nest_store(n, s->wreg, m, NULL,
		   ex_bcast(n, lanes, ex_load(n, t->w, 1, af_add(w, m), NULL)));
	v = unrolled(n, "v", t->vectors);
	nest_store(n, s->acc, acc_at(s, m, v), NULL,
		   ex_op(n, EXPR_FMA, ex_reg(n, s->wreg, m), ex_reg(n, s->xreg, v),
			 ex_reg(n, s->acc, acc_at(s, m, v))));
	nest_close(n);
	nest_close(n);
}

/* The taps of one phase of rows and of columns, of input channel i: one straight run. */
static void multiply_phase(struct planar *s, const struct tile *t, struct affine i, int b, int c)
{
	const struct planes_taps *rows = &s->planes.v, *columns = &s->planes.h;
	struct affine kh = unrolled(s->n, "kh", ceil_div(rows->taps - b, rows->period));
	struct affine kw = unrolled(s->n, "kw", ceil_div(columns->taps - c, columns->period));
	struct affine row = af_add(af_mul(kh, rows->period), af(b));
	struct affine tap = af_sum(af_mul(row, s->p.kw), af_mul(kw, columns->period), af(c));

	multiply(s, t, af_add(af_mul(i, s->planes.plane), planes_tap(&s->planes, b, kh, c, kw)),
		 af_mul(af_add(af_mul(i, s->p.kh * s->p.kw), tap), s->mr));
	nest_close(s->n);
	nest_close(s->n);
}

static void keep_tile(struct planar *s, const struct tile *t)
{
	struct affine m = unrolled(s->n, "m", t->channels), v = unrolled(s->n, "v", t->vectors);

	nest_store(s->n, t->sums, af_add(af_mul(m, s->out), af_mul(v, s->lanes)), NULL,
		   ex_reg(s->n, s->acc, acc_at(s, m, v)));
	nest_close(s->n);
	nest_close(s->n);
}

/* Output channels of tile j of group g (the g0-th is the block's first), and vectors from `vector`
 * on. */
static void tile(struct planar *s, struct affine g0, struct affine g, struct affine j,
		 struct affine vector, int channels, int vectors)
{
	struct nest *n = s->n;
	int64_t panel = s->p.ic * s->p.kh * s->p.kw * s->mr;
	struct affine x = af_mul(vector, s->lanes), i;
	struct affine m = af_add(af_mul(g, s->p.oc), af_mul(j, s->mr));
	struct tile t = {channels, vectors};

	t.x = nest_view(n, "X", s->planes.buffer, af_add(x, af_mul(g, s->p.ic * s->planes.plane)));
	t.w = nest_view(n, "W", s->weights,
			af_add(af_mul(af_add(g0, g), s->tiles * panel), af_mul(j, panel)));
	t.sums = nest_view(n, "S", s->sums, af_add(x, af_mul(m, s->out)));
	zero_tile(s, &t);
	i = af_var(nest_for(n, LOOP_SERIAL, "i", af(0), af(s->p.ic)));
	for (int b = 0; b < s->planes.v.phases; b++)
		for (int c = 0; c < s->planes.h.phases; c++)
			multiply_phase(s, &t, i, b, c);
	nest_close(n);
	keep_tile(s, &t);
}

/* The vectors of the band by a tile of channels. The last band may have fewer rows. */
static void tiles(struct planar *s, struct affine g, struct affine j, int channels)
{
	struct nest *n = s->n;
	int t = nest_for(n, LOOP_SERIAL, "t", af(0), af(s->parts.split.tiles));
	struct affine vector = parts_row(n, &s->parts, t);
	struct affine rows = af_sub(af_var(s->bands.hi), af_var(s->bands.lo));
	struct affine end = af_add(af_mul(rows, s->planes.width), af(s->p.ow - s->planes.width));

	nest_if_less(n, af_mul(vector, s->lanes), end);
	for (int vectors = parts_first(n, &s->parts, t); vectors;
	     vectors = parts_next(n, &s->parts, vectors))
		tile(s, af_var(s->blocks.lo), g, j, vector, channels, vectors);
	nest_close(n);
	nest_close(n);
}

static void multiply_groups(struct planar *s)
{
	struct nest *n = s->n;
	int64_t whole = s->p.oc / s->mr;
	struct affine g = af_var(nest_for(n, LOOP_SERIAL, "g", af(0), af(s->groups)));

	tiles(s, g, af_var(nest_for(n, LOOP_SERIAL, "j", af(0), af(whole))), (int)s->mr);
	nest_close(n);
	if (s->p.oc % s->mr)
		tiles(s, g, af(whole), (int)(s->p.oc % s->mr));
	nest_close(n);
}

/* ---- the result ---- */

/* Pixels from ow on, `pixels` of them, by channels of the block from `from` on: of the row that is
 * at `row` in the sums. */
static void finish_square(struct planar *s, int img, int oh, struct affine row, struct affine from,
			  int64_t channels, struct affine ow, int64_t pixels)
{
	struct nest *n = s->n;
	const struct affine *here = pixels < s->lanes ? nest_keep(n, af(pixels)) : NULL;
	const struct affine *valid = channels < s->lanes ? nest_keep(n, af(channels)) : NULL;
	struct affine channel = af_add(af_mul(af_var(s->blocks.lo), s->p.oc), from), i;
	int regs;

	i = unrolled(n, "i", channels);
	nest_store(n, s->square.regs[0], i, NULL,
		   ex_load(n, s->sums, (int)s->lanes,
			   af_sum(row, af_mul(af_add(from, i), s->out), ow), here));
	nest_close(n);
	transpose_zero(&s->square, channels);
	regs = transpose_square(&s->square);
	i = unrolled(n, "i", pixels);
	operand_store(n, &s->to, ex_reg(n, regs, i),
		      access_at(&s->dst, {CONV_IMAGE, af_var(img)}, {CONV_ROW, af_var(oh)},
				{CONV_COLUMN, af_add(ow, i)}, {CONV_CHANNEL, channel}),
		      channel, valid);
	nest_close(n);
}

static void finish_channels(struct planar *s, int img, int oh, struct affine row,
			    struct affine from, int64_t channels)
{
	int64_t whole = s->p.ow / s->lanes, rest = s->p.ow % s->lanes;

	if (whole) {
		int x = nest_for(s->n, LOOP_SERIAL, "x", af(0), af(whole));

		finish_square(s, img, oh, row, from, channels, af_mul(af_var(x), s->lanes),
			      s->lanes);
		nest_close(s->n);
	}
	if (rest)
		finish_square(s, img, oh, row, from, channels, af(whole * s->lanes), rest);
}

static void finish_rows(struct planar *s, int img)
{
	int64_t channels = s->groups * s->p.oc, whole = channels / s->lanes;
	int oh = block_units(s->n, &s->bands, "oh");
	struct affine row = af_mul(af_sub(af_var(oh), af_var(s->bands.lo)), s->planes.width);

	if (whole) {
		int c = nest_for(s->n, LOOP_SERIAL, "c", af(0), af(whole));

		finish_channels(s, img, oh, row, af_mul(af_var(c), s->lanes), s->lanes);
		nest_close(s->n);
	}
	if (channels % s->lanes)
		finish_channels(s, img, oh, row, af(whole * s->lanes), channels % s->lanes);
	nest_close(s->n);
}

static int planar_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct planar s = {.n = n, .order = reorder_of(n, w, k[VL])};
	int img;

	if (!applies(w, &s) || !set(&s, k))
		return err_set(e, "planar does not apply to this workload");
	declare(&s);
	s.bands = block_of("ib", "oh", s.p.oh, s.rows);
	s.blocks = block_of("gb", "g", s.p.g, s.groups);
	img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(s.p.mb));
	block_share(n, &s.bands, &s.blocks, (int)k[PAR]);
	planes_copy(&s.planes, &s.src, img, s.bands.lo, af_mul(af_var(s.blocks.lo), s.p.ic));
	multiply_groups(&s);
	finish_rows(&s, img);
	while (n->depth)
		nest_close(n);
	reorder_finish(&s.order, 0);
	return 0;
}

const struct algo algo_planar = {
	.name = "planar",
	.summary = "Convolution of groups by vectors of pixels, over planes of channels.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.types = 1U << DTYPE_BF16,
	.widens = 1,
	.pitches = 1,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = planar_build,
};
