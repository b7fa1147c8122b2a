/* gemm: matmul, and 1x1 convolution of unit stride without padding, over the brgemm tile.
 *
 * Blocks of mc x nc tiles are the parallel iteration space; inside a block k is cut into chunks of
 * kc, and the tiles are walked rows first or columns first (the loop orders of Goto and van de
 * Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008). A constant right
 * side is packed off the clock into column panels.
 *
 * Where the result has few tiles for many threads, k is split among these, too: each makes partial
 * sums of its part, which are added up behind a barrier (the third dimension of
 * Agarwal et al., "A three-dimensional approach to parallel matrix multiplication", IBM J. Res.
 * Dev. 39(5), 1995).
 *
 * gemm splits k (ks) where the result has too few tiles for the threads to share. Each thread then
 * makes partial sums of its part of k in the team's memory, and the second phase adds them up and
 * finishes the tiles. The knob is offered where even the largest tiles, which use all registers,
 * are fewer than two for each thread.
 *
 * gemm reads several streams (streams) where few rows meet weights that do not fit the second
 * cache: each vector of a tile has a panel of its own. A processor reads ahead within a page of 4
 * KB, so one stream for each thread leaves half of the memory's bandwidth unused
 * (docs/EXPERIMENTS.md).
 *
 * The last tile of a row may be narrower than the others (trim), where few columns are no whole
 * tiles: as a whole one it would multiply up to a fifth of a row more (docs/EXPERIMENTS.md).
 *
 * Tile registers need a right side in panels of groups. A computed one is packed so on the clock
 * (pack_b), split in halves where it is single precision. Where k has no steps of one depth, zeros
 * follow in the panels and in the copy of the left side (pack_a).
 *
 * Prefetching is a node without meaning. With the knob ahead a tile of gemm or direct prefetches
 * what the next tile reads and writes. The knob is offered where activations are larger than half
 * of the second cache. Where packed weights are, the next panel of them can be prefetched into that
 * cache instead, while row tiles multiply this one.
 */
#include "lib/algo/gemm.h"

#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/product.h"
#include "lib/schedule/range.h"
#include "lib/schedule/reorder.h"
#include "lib/schedule/split.h"
#include "lib/schedule/stage.h"
#include "lib/tile/brgemm.h"
#include "lib/tile/tile.h"

enum gemm_knob {
	VL,
	NV,
	MR,
	KC,
	MC,
	NC,
	ORDER,
	PAR,
	PACK_A,
	PACK_B,
	UNROLL,
	AHEAD,
	KS,
	STREAMS,
	STREAM,
	TRIM,
	WIDE,
	DEPTH
};

_Static_assert((int)DEPTH + 1 == (int)GEMM_KNOBS, "callers know how many there are");

const struct knob gemm_knobs[GEMM_KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1, "Rows of the register tile, at most, in near-equal parts."},
	[KC] = {"kc", 0, "Values of k in a chunk; 0: all."},
	[MC] = {"mc", 0, "Register tiles of rows in a block; 0: all."},
	[NC] = {"nc", 0, "Register tiles of columns in a block; 0: all."},
	[ORDER] = {"order", 0, "Inside a block: 0 walks columns innermost, 1 rows innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: columns innermost, 1: rows innermost."},
	[PACK_A] = {"pack_a", 0,
		    "1: the left side's block is copied into the thread's workspace; 0: it is read "
		    "in place, or, where it is split in halves, by a phase of all threads."},
	[PACK_B] = {"pack_b", 0, "1: a computed right side is packed into panels, on the clock."},
	[UNROLL] = {"unroll", 1,
		    "Unrolling of the loop over k; all of k: a tile is one straight run."},
	[AHEAD] = {"ahead", 0,
		   "1: what the next register tile reads and writes is prefetched, by tile "
		   "registers the right side; 2: the next panel of a packed right side."},
	[KS] = {"ks", 1, "Parts of k that threads share; their sums are added up at the end."},
	[STREAMS] = {"streams", 0,
		     "1: each vector of a packed right side has a panel of its own, so that a "
		     "register tile reads several streams of memory."},
	[STREAM] = {"stream", 0, "1: the result is written past the caches."},
	[TRIM] = {"trim", 0,
		  "1: the last register tile of a row has no more vectors than columns need.",
		  .is_rare = 1},
	[WIDE] = {"wide", 0, RANGE_WIDE_KNOB, .is_rare = 1},
	[DEPTH] = {"depth", 1, "Values of k that an instruction multiplies and sums.",
		   .is_rare = 1},
};

/* Values of k in a step, where those of whole numbers are proposed. (In bf16 all of k has been one
 * value of unroll since there are such candidates.) */
static int64_t step_of(const struct workload *w, const struct range *r, int64_t k)
{
	return r->space && dtype_is_int(w->dtype.src) && w->rhs_const
		       ? tile_depth(&w->dtype, r->machine->dots, k)
		       : 1;
}

/* May a side have zeros behind its values of k, or a computed right side groups, in vectors? */
static int is_grouped(const struct workload *w)
{
	return w->dtype.src == DTYPE_BF16 || w->dtype.src == DTYPE_U8;
}

/* Returns how many values of k are multiplied in steps of this depth, with zeros that follow. */
static int64_t values_of(const struct workload *w, const struct product *p, int64_t depth)
{
	const struct tile *t = tile_of(&w->dtype, depth);

	return t && (t->most || is_grouped(w)) ? ceil_div(p->k, depth) * depth : p->k;
}

/* Finds the depth of tile registers. Zeros follow where k has no steps of the same depth, and is
 * long enough. */
static void find_depth(struct range *r, const struct workload *w, const struct product *p)
{
	const int64_t most = dtype_is_int(w->dtype.src) ? 64 : 32; /* values in a step */

	range_tmul(r, DEPTH, w, p->k, p->m);
	if (r->space && !r->tmul && p->k > most)
		range_tmul(r, DEPTH, w, most, p->m);
}

/* Limits the knobs that tile registers do not have: only kc cuts k there. */
static void limit_tiles(struct range *r, const struct workload *w, const struct product *p)
{
	static const char why[] = "tile registers sum k in one plain loop";
	const int64_t *k = r->knob;

	if (!w->rhs_const)
		range_only(r, PACK_B, 1, "tile registers need a packed right side");
	if (values_of(w, p, r->tmul) > p->k)
		range_only(r, PACK_A, 1, "zeros follow the values of k where they are copied");

	range_only(r, KS, 1, why);
	range_only(r, UNROLL, 1, why);
	range_only(r, STREAMS, 0, why);
	if (!w->rhs_const || values_of(w, p, r->tmul) > p->k)
		range_only(r, KC, 0, "a side that is copied with zeros has all of k");
	if (k && k[KC]) {
		range_need(r, !r->halves || !k[PACK_A], "what is split has all of k");
		range_need(r, k[NC] == 1 && k[ORDER] == 1 && k[AHEAD] < AHEAD_PANEL,
			   "partial sums of one panel wait, and no other is prefetched");
	}
}

/* Lists chunks of k. In tile registers part of a panel stays in the first cache, while partial sums
 * wait, so panels must be large. */
static void list_chunks(struct range *r, const struct workload *w, const struct product *p)
{
	static const int chunks[] = {64, 128, 192, 256, 384, 512, 768, 1024, 0};
	static const int parts[] = {256, 384, 512, 768, 0};
	enum { LEAST_STEPS = 16 };

	if (!r->tmul) {
		range_chunks(r, KC, w, p->k, chunks);
		return;
	}
	range_blocks(r, KC, p->k, 1, parts);
	if (r->space && p->k < LEAST_STEPS * r->tmul)
		range_only(r, KC, 0, NULL);
}

/* Lists only groups of four for a right side of 8 bits that is computed, or has zeros behind its
 * values of k, where the machine multiplies these: other sums take four times as long. 0: it is no
 * such side. */
static int64_t list_fours(struct range *r, const struct workload *w, const struct product *p)
{
	const int64_t values = ceil_div(p->k, 4) * 4;

	if (!r->space || r->tmul || w->dtype.src != DTYPE_U8 || (w->rhs_const && values == p->k) ||
	    tile_depth(&w->dtype, r->machine->dots, values) != 4)
		return 0;
	range_only(r, PACK_B, !w->rhs_const, NULL);
	range_only(r, KC, 0, NULL);
	if (values > p->k) {
		range_only(r, PACK_A, 1, NULL);
		range_only(r, STREAMS, 0, NULL);
	}
	return range_depth(r, DEPTH, w, values, KC, 1);
}

/* Lists the depth. A computed right side has groups where all of it is packed; and where k has no
 * whole ones, zeros follow, also on the left side. */
static int64_t list_depth(struct range *r, const struct workload *w, const struct product *p)
{
	const int64_t *k = r->knob, values = values_of(w, p, k ? k[DEPTH] : r->tmul);
	const int is_bf16 = w->dtype.src == DTYPE_BF16, may = is_grouped(w) && !r->tmul;
	const int packed =
		w->rhs_const || r->tmul || (may && k && k[PACK_B] && (is_bf16 || k[DEPTH] == 4));
	int64_t depth = list_fours(r, w, p);

	if (depth)
		return depth;
	depth = range_depth(r, DEPTH, w, values, KC, packed);
	if (is_bf16 && may && r->space && (!w->rhs_const || p->k % 2) &&
	    tile_depth(&w->dtype, r->machine->dots, p->k + p->k % 2) > 1)
		range_more(r, DEPTH, 2);
	if (!may || !k || depth == 1)
		return depth;
	range_need(r, (w->rhs_const && values == p->k) || (!k[KC] && k[KS] == 1),
		   "groups that are packed on the clock, or have zeros, have all of k");
	range_need(r, values == p->k || (k[PACK_A] && !k[STREAMS]),
		   "zeros follow the values of k where they are copied");
	return depth;
}

/* Offers narrow last tiles where no tile of two or three vectors divides the columns, and these are
 * few: 197 columns are 13 vectors, of which tiles of two make 14, and tiles of four 16. Other
 * spaces do not have the knob, so that their points stay what they were. */
static void list_trim(struct range *r, const struct workload *w, const struct product *p)
{
	enum { FEW = 3, MANY = 25 };
	const int64_t *k = r->knob, vectors = ceil_div(p->n, k ? k[VL] : r->machine->lanes);

	range_choice(r, TRIM, 1);
	if (!dtypes_are_f32(&w->dtype) || r->tmul || r->halves)
		range_only(r, TRIM, 0, "tiles in single precision alone are narrow at the end");
	else if (r->space &&
		 (vectors <= FEW || vectors > MANY || vectors % 2 == 0 || vectors % 3 == 0))
		r->space->knob[TRIM].n = 0;
	if (k && k[TRIM])
		range_need(r, vectors % k[NV] && k[KS] == 1,
			   "the last tile is as wide as the others, or makes parts of sums");
}

int gemm_ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 20, 24, 28, 0};
	static const int blocks[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 0};
	struct product p;
	int64_t steps;

	if (!product_of(w, &p))
		return 0;
	find_depth(r, w, &p);
	if (r->halves && !r->tmul && r->space)
		return 0;
	if (!range_register_tile(r, 6, p.m, rows,
				 dtypes_are_f32(&w->dtype) && w->rhs_const ? brgemm_fits_either_side
									   : brgemm_fits))
		return 1;
	list_chunks(r, w, &p);
	range_blocks(r, MC, p.m, r->rows, blocks);
	range_blocks(r, NC, p.n, r->columns, blocks);
	range_flags(r, ORDER, PACK_B);
	if (w->rhs_const)
		range_only(r, PACK_B, 0, "a constant right side is always packed");
	range_unroll(r, UNROLL, BRGEMM_STRAIGHT, 0);
	steps = p.k / step_of(w, r, p.k);
	if (steps > 1 && steps <= BRGEMM_STRAIGHT)
		range_more(r, UNROLL, steps);
	range_ahead(r, AHEAD, w,
		    &(struct ahead){ORDER, p.b * p.m * (p.k + p.n),
				    w->rhs_const && p.m > 1 ? p.b * p.k * p.n : 0});
	range_stream(r, STREAM, w, KC);
	list_trim(r, w, &p);
	split_range(r, KS, &p);
	if (dtype_is_int(w->dtype.src))
		range_only(r, KS, 1, "sums of whole numbers are not split");
	if (r->knob)
		range_need(r, r->knob[KS] == 1 || (!r->knob[KC] && !r->knob[AHEAD]),
			   "a part of k is neither cut into chunks nor prefetched");
	product_streams(r, STREAMS, w, &p);
	if (r->knob && r->knob[AHEAD] == AHEAD_PANEL && !r->tmul)
		range_need(r, r->knob[UNROLL] < steps && !(r->knob[STREAMS] && r->knob[KC]),
			   "a share of the next panel is prefetched by each turn of a loop");
	range_wide(r, WIDE, w, list_depth(r, w, &p), PACK_A);
	if (!w->rhs_const && !dtypes_are_f32(&w->dtype))
		range_only(r, WIDE, 0, "a computed right side is as it is");
	if (r->tmul)
		limit_tiles(r, w, &p);
	if (r->knob && !r->why) /* they divide */
		range_need(r,
			   r->knob[KS] == 1 || r->knob[DEPTH] == 1 ||
				   p.k % (r->knob[KS] * r->knob[DEPTH]) == 0,
			   "a part of k has no whole groups");
	return 1;
}

/* The parts of the nest share these. */
struct gemm {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct product p;
	struct parts parts;
	int halves;			 /* are both sides split? */
	int64_t depth;			 /* of the tile: values of k in a step */
	int64_t kc, mc, nc;		 /* as the knobs say, where 0 is all */
	int64_t nr, tiles;		 /* columns of a tile, tiles of columns */
	int64_t panel;			 /* columns of a packed panel */
	int vn, vk, vb_tile, vc, vbatch; /* symbols; vk: values of k */
	int vsteps;			 /* steps of k */
	int src, weights, part, batch;	 /* buffers; loop variables */
	int kept;			 /* partial sums */
	struct block rows, columns;	 /* of tiles */
	struct chunk chunk;		 /* of k */
	struct window a, b;		 /* the left side by rows, the right side by panels */
	struct brgemm g;
	struct brgemm_out out;
	struct split split; /* of k */
	struct reorder order;
};

static void declare(struct gemm *s)
{
	const struct tile *tile = tile_of(&s->w->dtype, s->depth);
	const struct product *p = &s->p;
	struct nest *n = s->n;
	struct extent columns = {p->n, s->tiles * s->nr};

	nest_param(n, "M", p->m);
	s->vn = nest_param(n, "N", p->n);
	s->vk = nest_param(n, "K", p->k);
	s->vsteps = s->depth > 1 ? nest_param(n, "steps", p->values / s->depth) : s->vk;
	s->rows.extent = af_var(nest_param(n, "TM", s->parts.split.tiles));
	s->columns.extent = af_var(nest_param(n, "TN", s->tiles));
	s->parts.rest = nest_param(n, "rest", s->parts.split.rest);
	s->vb_tile = nest_param(n, "Btile", p->values * s->nr * (s->halves ? 2 : 1));
	s->src = reorder_src(&s->order);
	s->weights = s->w->rhs_const ? product_panels(n, p, s->tiles * s->nr / s->panel, s->panel,
						      tile->group, s->halves)
				     : nest_arg(n, "B", TENSOR_WEIGHTS, p->b * p->k * p->n, 0);
	reorder_out(&s->order, operand_bias(n, s->w, 1, &columns), &s->out);
	operand_types(n, s->w);
	if (s->w->rhs_const)
		operand_weights(n, s->weights, s->w, tile, s->k[WIDE] & RANGE_WIDE_RIGHT);
	if (s->halves && !s->k[PACK_A])
		s->src = product_halves(n, p, s->src, (int)s->k[VL]);
	s->g.tile = tile;
	s->g.depth = s->depth;
	s->g.a_half = p->b * p->m * p->k;
	s->g.b_half = p->values * s->panel;
	brgemm_registers(n, &s->g, (int)s->k[VL], parts_highest(&s->parts), (int)s->k[NV]);
	s->g.unroll = (int)s->k[UNROLL];
	if (s->g.unroll * s->depth == p->k && s->kc == p->k)
		s->g.straight = (struct brgemm_straight){1, s->g.unroll};
	if (s->k[STREAMS])
		s->g.b_vector = p->k * s->panel;
}

static int is_split(const struct gemm *s)
{
	return s->k[KS] > 1;
}

/* The parallel loops: parts of k if it is split, batch, then blocks of rows and columns in the
 * order that the knob says. */
static void open_blocks(struct gemm *s)
{
	struct nest *n = s->n;

	s->rows.n = af_var(nest_param(n, "BM", ceil_div(s->parts.split.tiles, s->mc)));
	s->columns.n = af_var(nest_param(n, "BN", ceil_div(s->tiles, s->nc)));
	s->rows.size = af_var(nest_param(n, "mc", s->mc));
	s->columns.size = af_var(nest_param(n, "nc", s->nc));
	s->vbatch = nest_param(n, "batch", s->p.b);
	if (is_split(s))
		s->part = nest_for(n, LOOP_PARALLEL, "s", af(0), af_var(s->split.parts));
	s->batch = nest_for(n, LOOP_PARALLEL, "b", af(0), af_var(s->vbatch));
	block_share(n, &s->rows, &s->columns, (int)s->k[PAR]);
}

/* The batch's own tensors, as views. */
static void open_batch(struct gemm *s)
{
	const int64_t packed = s->tiles * s->p.values * s->nr * (s->halves ? 2 : 1);
	struct nest *n = s->n;
	struct affine b = af_var(s->batch);
	int va = nest_param(n, "Abatch", s->p.m * s->p.k);
	int vb = nest_param(n, "Bbatch", s->w->rhs_const ? packed : s->p.n * s->p.k);

	s->vc = nest_param(n, "Cbatch", s->p.m * operand_pitch(n, s->p.n));
	s->a.buffer = nest_view(n, "Asrc", s->src, af_times(b, va));
	s->a.stride = af_var(s->vk);
	s->b.buffer = nest_view(n, "Bsrc", s->weights, af_times(b, vb));
	s->b.stride = af_var(s->vb_tile);
	s->g.b_k = s->w->rhs_const || s->k[PACK_B] ? af(s->panel * s->depth) : af_var(s->vn);
	s->out.c_row = af_var(n->pitch ? nest_param(n, "Crow", n->pitch) : s->vn);
	if (!is_split(s))
		brgemm_out_view(n, &s->out, af_times(b, s->vc));
}

/* Zeros follow the values of k in each row of the copy. */
static void zeros_behind(struct gemm *s, const struct window *copy)
{
	const int64_t more = s->p.values - s->p.k;
	struct run run = {
		.lanes = s->g.lanes, .count = af(more), .half = s->halves ? s->g.a_half : 0};
	struct window none = *copy, behind = *copy;
	struct nest *n = s->n;

	none.buffer = -1;
	behind.rest = af_add(copy->rest, af(s->p.k));
	run.vectors = nest_param(n, "zeros", ceil_div(more, run.lanes));
	stage_rows(n, &none, &behind, parts_row(n, &s->parts, s->rows.hi), &run);
}

static void pack_a(struct gemm *s)
{
	int64_t rows = s->mc * parts_highest(&s->parts);
	struct run run = {.lanes = s->g.lanes, .count = af_mul(s->chunk.k, s->depth)};
	struct nest *n = s->n;
	struct window copy = {.stride = af_var(nest_param(n, "Arow", s->kc))};

	rows = rows < s->p.m ? rows : s->p.m;
	if (s->p.values > s->p.k)
		run.count = af(s->p.k);
	run.vectors = nest_param(n, "Avecs", ceil_div(s->kc < s->p.k ? s->kc : s->p.k, run.lanes));
	run.half = s->g.a_half = s->halves ? rows * s->kc : 0;
	copy.buffer = nest_work(n, "wa", rows * s->kc + run.half);
	if (s->k[WIDE] & RANGE_WIDE_LEFT)
		nest_elem(n, copy.buffer, ELEM_S16);
	else if (s->depth > 1 || s->out.is_whole)
		nest_elem(n, copy.buffer, tile_elem(s->g.tile, s->w->dtype.src));
	copy.first = af_var(nest_let(n, "row", parts_row(n, &s->parts, s->rows.lo)));
	stage_rows(n, &s->a, &copy, parts_row(n, &s->parts, s->rows.hi), &run);
	if (s->p.values > s->p.k)
		zeros_behind(s, &copy);
	s->a = copy;
}

/* Splits the right side of the open batch, into the thread's workspace. */
static int split_right(struct gemm *s, int64_t half)
{
	const struct product *p = &s->p;
	struct run run = {.lanes = s->g.lanes, .count = af(p->n), .half = half};
	const struct window all = {.buffer = s->b.buffer, .stride = af(p->n)};
	struct nest *n = s->n;
	struct window halves = {.stride = af(p->n)};

	run.vectors = nest_param(n, "Bvecs", ceil_div(p->n, run.lanes));
	halves.buffer = nest_work(n, "wh", 2 * half);
	nest_elem(n, halves.buffer, ELEM_BF16);
	stage_rows(n, &all, &halves, af(p->k), &run);
	return halves.buffer;
}

/* Packs the open block's panels in groups; where the right side is split, each half of it. */
static void pack_groups(struct gemm *s, const struct window *to)
{
	const int64_t half = stage_spaced(s->p.k * s->p.n);
	struct panel_groups g = {.from = s->b.buffer,
				 .columns = s->vn,
				 .lanes = s->g.lanes,
				 .nv = s->g.nv,
				 .rows = s->p.k,
				 .whole = s->p.values,
				 .group = s->g.tile->right};
	struct window second = *to;
	struct nest *n = s->n;

	nest_elem(n, to->buffer, tile_elem(s->g.tile, s->w->dtype.wei));
	if (s->halves)
		g.from = split_right(s, half);
	stage_groups(n, &s->columns, &g, to);
	if (!s->halves)
		return;
	g.from = nest_view(n, "second", g.from, af(half));
	second.rest = af_add(second.rest, af(s->g.b_half));
	stage_groups(n, &s->columns, &g, &second);
}

static void pack_b(struct gemm *s)
{
	struct nest *n = s->n;
	const int64_t panel = s->kc * s->nr * (s->halves ? 2 : 1);
	struct window copy = {.stride = af_var(nest_param(n, "Bpanel", panel)),
			      .first = af_var(s->columns.lo)};

	copy.buffer = nest_work(n, "wb", s->nc * panel);
	if (s->depth > 1) {
		pack_groups(s, &copy);
	} else {
		if (s->out.is_whole)
			nest_elem(n, copy.buffer, elem_of(s->w->dtype.wei));
		stage_panels(n, &s->columns, &s->chunk, s->b.buffer, s->vn, &copy, s->g.lanes,
			     s->g.nv);
	}
	s->b = copy;
}

static void add_up(struct gemm *s)
{
	const struct split_result r = {
		&s->parts, s->rows.extent, s->columns.extent, s->vbatch, s->vn, s->vc, &s->out};

	split_finish(s->n, &s->split, &s->g, &r);
}

/* The next panel of the right side is prefetched. */
static void panel_ahead(struct gemm *s, const struct sweep *x)
{
	const int64_t tiles = s->parts.split.tiles;

	block_panel_ahead(&s->g,
			  &(struct panel_ahead){
				  .at = window_at(&s->b, af_add(af_var(x->j), af(1))),
				  .elements = s->n->var[s->vb_tile].value / s->p.values * s->kc,
				  .tile = af_sub(af_var(x->t), af_var(s->rows.lo)),
				  .tiles = s->mc < tiles ? s->mc : tiles,
				  .steps = s->kc / s->depth,
			  });
}

static void look_ahead(struct gemm *s, const struct sweep *x)
{
	if (s->k[AHEAD] == AHEAD_PANEL)
		panel_ahead(s, x);
	else if (s->k[AHEAD])
		block_look_ahead(&s->g, &s->out, s->k[ORDER] == 0, s->parts.split.rows,
				 !s->k[PACK_A]);
}

/* Partial sums of a row tile wait behind those of the tiles above it. */
static void place_kept(struct gemm *s, const struct sweep *x)
{
	s->g.kept = s->kept;
	s->g.kept_at =
		af_mul(af_sub(af_var(x->t), af_var(s->rows.lo)), parts_highest(&s->parts) * s->nr);
}

/* A row's last tile, which needs fewer vectors than the others, has a body of its own. */
static void trimmed_tile(struct gemm *s, const struct sweep *x)
{
	const int64_t lanes = s->k[VL], columns = s->p.n - (s->tiles - 1) * s->nr;
	struct brgemm g = s->g;
	struct brgemm_out out = s->out;
	struct nest *n = s->n;

	nest_if_less(n, af_var(x->j), af(s->tiles - 1));
	g.b_valid = out.valid = NULL;
	brgemm_tile(n, &g, x->rows, &out, s->chunk.loop, af_var(s->chunk.count));
	nest_else(n);
	g.nv = (int)ceil_div(columns, lanes);
	if (columns % lanes) {
		g.b_valid = s->g.b_valid;
		out.valid = s->out.valid;
	}
	brgemm_tile(n, &g, x->rows, &out, s->chunk.loop, af_var(s->chunk.count));
	nest_close(n);
}

static void tile(struct gemm *s, const struct sweep *x)
{
	struct affine column = af_mul(af_var(x->j), s->nr);
	struct nest *n = s->n;

	s->g.a = s->a.buffer;
	s->g.a_at = window_at(&s->a, x->row);
	s->g.a_row = s->a.stride;
	s->g.b = s->b.buffer;
	s->g.b_at = window_at(&s->b, af_var(x->j));
	s->g.k = s->chunk.k;
	operand_place(n, s->vn, s->nr, x->row, column, &s->out);
	if (!s->w->rhs_const && !s->k[PACK_B]) {
		s->g.b_at = af_add(af_times(s->chunk.k0, s->vn), column);
		s->g.b_valid = s->out.valid;
	}
	look_ahead(s, x);
	if (s->g.tile->keep && s->chunk.loop >= 0)
		place_kept(s, x);
	if (is_split(s))
		split_tile(n, &s->split, &s->g, x->rows, s->part, s->batch, x->row, column);
	else if (s->k[TRIM])
		trimmed_tile(s, x);
	else
		brgemm_tile(n, &s->g, x->rows, &s->out, s->chunk.loop, af_var(s->chunk.count));
}

/* The open block's tiles: rows, then columns, or the other way round. */
static void tiles(struct gemm *s)
{
	struct sweep x = {.parts = &s->parts, .innermost = s->k[ORDER] ? NULL : &s->columns};
	struct nest *n = s->n;

	if (!x.innermost)
		x.j = block_units(n, &s->columns, "j");
	for (x.t = block_units(n, &s->rows, "t"); sweep_next(n, &x);)
		tile(s, &x);
}

int gemm_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct gemm s = {.n = n,
			 .w = w,
			 .k = k,
			 .rows = {.loop = "ib", .name = "t"},
			 .columns = {.loop = "jb", .name = "j"},
			 .order = reorder_of(n, w, k[VL])};

	if (!product_of(w, &s.p))
		return err_set(e, "gemm does not apply to this workload");
	s.parts.split = row_split(s.p.m, k[MR]);
	s.depth = k[DEPTH];
	s.halves = tile_of(&w->dtype, s.depth)->halves;
	s.p.values = values_of(w, &s.p, s.depth);
	s.kc = k[KC] ? k[KC] : ceil_div(s.p.values, k[KS]);
	s.nr = k[NV] * k[VL];
	s.panel = k[STREAMS] ? k[VL] : s.nr;
	s.tiles = ceil_div(s.p.n, s.nr);
	s.mc = k[MC] ? k[MC] : s.parts.split.tiles;
	s.nc = k[NC] ? k[NC] : s.tiles;
	declare(&s);
	s.split = (struct split){.ways = k[KS], .b = s.p.b, .m = s.p.m, .columns = s.tiles * s.nr};
	if (is_split(&s))
		split_declare(n, &s.split);
	open_blocks(&s);
	open_batch(&s);
	s.chunk = is_split(&s) ? split_open(n, s.part, s.kc / s.depth, s.vsteps)
			       : chunk_open(n, s.kc / s.depth, s.vsteps);
	s.a.rest = af_mul(s.chunk.k0, s.depth);
	s.b.rest = af_mul(s.chunk.k0, s.panel * s.depth);
	if (s.chunk.loop >= 0 && s.g.tile->keep) {
		s.kept = nest_work(n, "kept", s.mc * parts_highest(&s.parts) * s.nr);
		nest_elem(n, s.kept, s.g.tile->sum);
	}
	if (k[PACK_A])
		pack_a(&s);
	if (k[PACK_B])
		pack_b(&s);
	tiles(&s);
	while (n->depth)
		nest_close(n);
	if (is_split(&s))
		add_up(&s);
	reorder_finish(&s.order, (int)k[STREAM]);
	return 0;
}

const struct algo algo_gemm = {
	.name = "gemm",
	.summary = "Blocked matrix product over a register tile; matmul and 1x1 convolution.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.types = 1U << DTYPE_BF16 | 1U << DTYPE_S8 | 1U << DTYPE_U8,
	.widens = 1,
	.narrows = 1,
	.pitches = 1,
	.rev = 4,
	.nknobs = GEMM_KNOBS,
	.knob = gemm_knobs,
	.ranges = gemm_ranges,
	.build = gemm_build,
};
