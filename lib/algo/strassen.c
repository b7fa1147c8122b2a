/* strassen: a matrix product of seven products of half the size instead of eight, over the tile of
 * quadrants (lib/schedule/quadrants.h). For matmul by a constant right side, and 1x1 convolution on
 * nhwc as one; where its stride is larger, a phase gathers the pixels first. An odd last row has a
 * half of its own, with zeros below.
 *
 * strassen (its tile: lib/schedule/quadrants.h) computes a product with a constant right side by
 * seven products of half the size in each direction. Where a product reaches the peak of
 * multiply-adds, as the library does too, only fewer multiply-adds can make it faster. The sums of
 * the right side are prepared (a packing's map may go along two dimensions at once). The sums of
 * the left side cost one pass over a block of rows. 1x1 convolutions of a larger stride gather
 * their pixels in a phase before. One register tile makes the four quadrants that belong together,
 * one after the other, so that the products that they share never leave the first cache.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/product.h"
#include "lib/schedule/quadrants.h"
#include "lib/schedule/range.h"
#include "lib/schedule/reorder.h"
#include "lib/tile/brgemm.h"

enum strassen_knob { VL, NV, MR, MC, NC, ORDER, PAR, UNROLL, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1,
		"Rows of the register tile, at most; rows of the upper half are dealt out in "
		"near-equal parts."},
	[MC] = {"mc", 0, "Register tiles of rows in a block; 0: all."},
	[NC] = {"nc", 0, "Register tiles of columns in a block; 0: all."},
	[ORDER] = {"order", 0, "Inside a block: 0 walks columns innermost, 1 rows innermost."},
	[PAR] = {"par", 0,
		 "Blocks are dealt to threads with 0: columns innermost, 1: rows innermost."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over k."},
};

static int applies(const struct workload *w, struct product *p)
{
	return product_of_pixels(w, p) && w->rhs_const && p->b == 1 && p->m >= 8 && p->k >= 32 &&
	       p->k % 16 == 0 && p->n >= 16 && p->n % 2 == 0;
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 20, 24, 28, 0};
	static const int blocks[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 0};
	struct product p;

	if (!applies(w, &p))
		return 0;
	if (!range_register_tile(r, 4, (p.m + 1) / 2, rows, brgemm_fits_either_side))
		return 1;
	if (r->knob) {
		range_need(r, p.k / 2 % r->knob[VL] == 0, "half of k fills no whole vectors");
		range_need(r, p.m % 2 == 0 || row_split((p.m + 1) / 2, r->rows).rows > 1,
			   "an odd last row has a tile of its own");
	}
	range_blocks(r, MC, (p.m + 1) / 2, r->rows, blocks);
	range_blocks(r, NC, p.n / 2, r->columns, blocks);
	range_flags(r, ORDER, PAR);
	range_unroll(r, UNROLL, 16, 0);
	return 1;
}

/* The parts of the nest share these. */
struct strassen {
	struct nest *n;
	const int64_t *k;
	struct product p;
	struct parts parts;	    /* of the upper rows */
	struct block rows, columns; /* of tiles */
	struct affine first;	    /* row of the block */
	struct quadrants q;
	struct reorder order;
};

static void declare(struct strassen *s)
{
	const struct extent bias[] = {{2, 2}, {s->q.columns, s->q.panels * s->q.width}};
	struct nest *n = s->n;

	s->q.src = reorder_src(&s->order);
	quadrants_weights(&s->q, s->p.transposed);
	reorder_out(&s->order, operand_bias(n, s->order.w, 2, bias), &s->q.out);
	quadrants_workspace(&s->q);
	s->parts.rest = nest_const(n, "rest", s->parts.split.rest);
	brgemm_registers(n, &s->q.g, (int)s->k[VL], (int)s->q.highest, (int)s->k[NV]);
	s->q.g.unroll = (int)s->k[UNROLL];
}

static void open_blocks(struct strassen *s)
{
	int64_t tiles = s->parts.split.tiles, mc = s->k[MC] ? s->k[MC] : tiles;
	int64_t panels = s->q.panels, nc = s->k[NC] ? s->k[NC] : panels;

	s->rows = (struct block){"ib", "t", af(tiles), af(mc), af(ceil_div(tiles, mc)), -1, -1};
	s->columns =
		(struct block){"jb", "j", af(panels), af(nc), af(ceil_div(panels, nc)), -1, -1};
	block_share(s->n, &s->rows, &s->columns, (int)s->k[PAR]);
	s->first = af_var(nest_let(s->n, "row", parts_row(s->n, &s->parts, s->rows.lo)));
}

static void sums(const struct strassen *s)
{
	struct nest *n = s->n;
	struct affine end = parts_row(n, &s->parts, s->rows.hi);
	int row = nest_for(n, LOOP_SERIAL, "row", s->first, end), odd = s->p.m % 2;

	if (odd)
		nest_if_less(n, af_var(row), af(s->q.rows - 1));
	quadrants_sums(&s->q, row, s->first, 1);
	if (odd) {
		nest_else(n);
		quadrants_sums(&s->q, row, s->first, 0);
		nest_close(n);
	}
	nest_close(n);
}

static void tile(struct strassen *s, int t, int j)
{
	struct nest *n = s->n;
	int64_t last = s->parts.split.tiles - 1;
	int odd = s->p.m % 2, lowest = s->parts.split.rows;
	struct affine row = af_var(nest_let(n, "row", parts_row(n, &s->parts, t)));
	struct quadrants_place at = quadrants_at(&s->q, row, s->first, j);

	if (odd) {
		nest_if_less(n, af(last - 1), af_var(t));
		at.upper = lowest;
		at.lower = lowest - 1;
		quadrants_tile(&s->q, &at);
		nest_else(n);
	}
	for (int rows = parts_first(n, &s->parts, t); rows; rows = parts_next(n, &s->parts, rows)) {
		at.upper = at.lower = rows;
		quadrants_tile(&s->q, &at);
	}
	if (odd)
		nest_close(n);
}

static struct quadrants quadrants_of(struct strassen *s)
{
	int64_t rows = (s->p.m + 1) / 2, mc = s->k[MC] * s->k[MR];
	struct quadrants q = {.n = s->n,
			      .rows = rows,
			      .depth = s->p.k / 2,
			      .columns = s->p.n / 2,
			      .pitch = operand_pitch(s->n, s->p.n),
			      .width = s->k[NV] * s->k[VL],
			      .block = mc && mc < rows ? mc : rows,
			      .highest = parts_highest(&s->parts)};

	q.panels = ceil_div(q.columns, q.width);
	return q;
}

static int strassen_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct strassen s = {.n = n, .k = k, .order = reorder_of(n, w, k[VL])};
	int t = -1, j;

	if (!applies(w, &s.p))
		return err_set(e, "strassen does not apply to this workload");
	s.parts.split = row_split((s.p.m + 1) / 2, k[MR]);
	s.q = quadrants_of(&s);
	declare(&s);
	if (s.p.strided)
		s.q.src = product_gather(n, &s.p, s.q.src, (int)k[VL]);
	open_blocks(&s);
	sums(&s);
	if (!k[ORDER])
		t = block_units(n, &s.rows, "t");
	j = block_units(n, &s.columns, "j");
	if (k[ORDER])
		t = block_units(n, &s.rows, "t");
	tile(&s, t, j);
	while (n->depth)
		nest_close(n);
	reorder_finish(&s.order, 0);
	return 0;
}

const struct algo algo_strassen = {
	.name = "strassen",
	.summary = "Matrix product of seven half-sized products; matmul and 1x1 convolution.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.uneven = 1,
	.pitches = 1,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = strassen_build,
};
