/* strassen: a matrix product of 7 products of half the size in each direction instead of 8, in
 * Winograd's form, which has the fewest additions (Strassen, "Gaussian elimination is not optimal",
 * 1969; Higham, "Accuracy and Stability of Numerical Algorithms", chapter 23). For matmul by a
 * constant right side, and 1x1 convolution on nhwc as one; where its stride is larger, a phase
 * gathers the pixels first.
 *
 * Of the left side, the sums S of its quadrants are made on the clock, for a block of rows of the
 * upper half and those of the lower half, in the thread's workspace; the other quadrants are read
 * in place. Of the right side, all sums are prepared. The four quadrants of the result that belong
 * together come from one register tile, one after the other: products that several of them share
 * wait in a workspace that stays in the first cache. An odd last row has a half of its own, with
 * zeros below.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/product.h"
#include "lib/schedule/range.h"
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

/* The left sides of the products: quadrants A11, A12, A22 of the left side itself, and sums S1 =
 * A21 + A22, S2 = S1 - A11, S3 = A11 - A21, S4 = A12 - S2. */
enum left { S1, S2, S3, S4, SUMS, A11 = SUMS, A12, A22 };
/* The right sides, each by quadrants 11, 12, 21, 22: T1 = B12 - B11, T2 = B22 - T1, T3 = B22 - B12,
 * T4 = B21 - T2. */
enum right { B11, B21, T2, T3, T4, T1, B22, PRODUCTS };
enum { QUADRANTS = 4 };
static const double right_sides[PRODUCTS][QUADRANTS] = {
	[B11] = {1},	       [B21] = {0, 0, 1}, [T2] = {1, -1, 0, 1}, [T3] = {0, -1, 0, 1},
	[T4] = {-1, 1, 1, -1}, [T1] = {-1, 1},	  [B22] = {0, 0, 0, 1},
};
enum { KEPT = 3 }; /* tiles that wait */

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
	if (!range_register_tile(r, 4, (p.m + 1) / 2, rows, brgemm_fits))
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

/* What the parts of the nest share. */
struct strassen {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct product p;
	int64_t upper, k2, n2;	    /* rows of the upper half, half of k and n */
	int64_t nr, tiles;	    /* columns of a tile, tiles of columns in a half */
	int64_t block;		    /* rows of a block, at most */
	struct parts parts;	    /* of the upper rows */
	struct block rows, columns; /* of tiles */
	int src, weights, sums, kept;
	struct affine first; /* row of the block */
	struct brgemm g;
	struct brgemm_out out;
};

static void declare_weights(struct strassen *s)
{
	struct packing p = {.rank = 4};
	int i = s->p.transposed ? 2 : 0, j = 2 - i, k2 = i + 1, n2 = j + 1;
	struct packing_map *m;

	p.extent[i] = p.extent[j] = 2;
	p.extent[k2] = s->k2;
	p.extent[n2] = s->n2;
	m = packing_map(&p, i, j, PRODUCTS, QUADRANTS);
	for (int r = 0; r < PRODUCTS; r++)
		for (int c = 0; c < QUADRANTS; c++)
			m->m[r][c] = right_sides[r][c];
	packing_axis(&p, n2, s->tiles, s->nr);
	packing_axis(&p, i, PRODUCTS, 1);
	packing_axis(&p, k2, s->k2, 1);
	packing_axis(&p, n2, s->nr, 1);
	s->weights = nest_packed(s->n, "B", TENSOR_WEIGHTS, &p);
}

static void declare(struct strassen *s)
{
	const struct extent bias[] = {{2, 2}, {s->n2, s->tiles * s->nr}};
	const struct product *p = &s->p;
	struct nest *n = s->n;
	int highest = parts_highest(&s->parts);

	s->src = nest_arg(n, "src", TENSOR_SRC,
			  p->strided ? p->mb * p->ih * p->iw * p->k : p->m * p->k, 0);
	declare_weights(s);
	operand_out(n, s->w, operand_bias(n, s->w, 2, bias), p->m * p->n, &s->out);
	s->out.c_row = af(p->n);
	s->sums = nest_work(n, "S", SUMS * s->block * s->k2);
	s->kept = nest_work(n, "P", KEPT * highest * s->nr);
	s->parts.rest = nest_const(n, "rest", s->parts.split.rest);
	brgemm_registers(n, &s->g, (int)s->k[VL], highest, (int)s->k[NV]);
	s->g.unroll = (int)s->k[UNROLL];
	s->g.b_k = af(s->nr);
	s->g.k = af(s->k2);
}

static void open_blocks(struct strassen *s)
{
	int64_t tiles = s->parts.split.tiles, mc = s->k[MC] ? s->k[MC] : tiles;
	int64_t nc = s->k[NC] ? s->k[NC] : s->tiles;

	s->rows = (struct block){"ib", "t", af(tiles), af(mc), af(ceil_div(tiles, mc)), -1, -1};
	s->columns =
		(struct block){"jb", "j", af(s->tiles), af(nc), af(ceil_div(s->tiles, nc)), -1, -1};
	block_share(s->n, &s->rows, &s->columns, (int)s->k[PAR]);
	s->first = af_var(nest_let(s->n, "row", parts_row(s->n, &s->parts, s->rows.lo)));
}

/* ---- sums of the left side ---- */

static const struct expr *quadrant(const struct strassen *s, struct affine at, int lower, int right)
{
	return ex_load(s->n, s->src, (int)s->k[VL],
		       af_add(at, af(lower * s->upper * s->p.k + right * s->k2)), NULL);
}

/* A vector of each sum. lower: is there a row of the lower half? Else its place is taken by zeros.
 */
static void put_sums(const struct strassen *s, int row, struct affine column, int lower)
{
	int lanes = (int)s->k[VL], r;
	struct affine from = af_add(af_mul(af_var(row), s->p.k), column);
	struct affine to = af_add(af_mul(af_sub(af_var(row), s->first), s->k2), column);
	struct nest *n = s->n;
	const struct expr *x[SUMS];

	r = nest_reg(n, "s", ELEM_F32, lanes, SUMS, 1);
	if (lower) {
		x[S1] = ex_op(n, EXPR_ADD, quadrant(s, from, 1, 0), quadrant(s, from, 1, 1), NULL);
		x[S3] = ex_op(n, EXPR_SUB, quadrant(s, from, 0, 0), quadrant(s, from, 1, 0), NULL);
	} else {
		x[S1] = ex_const(n, ELEM_F32, lanes, 0);
		x[S3] = quadrant(s, from, 0, 0);
	}
	x[S2] = ex_op(n, EXPR_SUB, ex_reg(n, r, af(S1)), quadrant(s, from, 0, 0), NULL);
	x[S4] = ex_op(n, EXPR_SUB, quadrant(s, from, 0, 1), ex_reg(n, r, af(S2)), NULL);
	for (int i = S1; i <= S4; i++)
		nest_store(n, r, af(i), NULL, x[i]);
	for (int i = S1; i <= S4; i++)
		nest_store(n, s->sums, af_add(to, af(i * s->block * s->k2)), NULL,
			   ex_reg(n, r, af(i)));
}

static void put_row(const struct strassen *s, int row, int lower)
{
	int v = nest_for(s->n, LOOP_SERIAL, "v", af(0), af(s->k2 / s->k[VL]));

	put_sums(s, row, af_mul(af_var(v), s->k[VL]), lower);
	nest_close(s->n);
}

static void put_block(const struct strassen *s)
{
	struct nest *n = s->n;
	struct affine end = parts_row(n, &s->parts, s->rows.hi);
	int row = nest_for(n, LOOP_SERIAL, "row", s->first, end), odd = s->p.m % 2;

	if (odd)
		nest_if_less(n, af_var(row), af(s->upper - 1));
	put_row(s, row, 1);
	if (odd) {
		nest_else(n);
		put_row(s, row, 0);
		nest_close(n);
	}
	nest_close(n);
}

/* ---- a register tile ---- */

/* A register tile: its rows of the upper half and the lower; its rows of the left side and of the
 * sums, its panel of the right side, its bias and its first quadrant of the result, as views. */
struct place {
	int upper, lower;
	int a, s, b, bias, c;
	const struct affine *valid;
};

static struct place place_of(const struct strassen *s, int t, int j)
{
	struct nest *n = s->n;
	struct affine row = af_var(nest_let(n, "row", parts_row(n, &s->parts, t)));
	struct affine column = af_mul(af_var(j), s->nr);
	struct affine sums = af_mul(af_sub(row, s->first), s->k2);
	struct place at = {.bias = -1};

	at.a = nest_view(n, "A", s->src, af_mul(row, s->p.k));
	at.s = nest_view(n, "S", s->sums, sums);
	at.b = nest_view(n, "B", s->weights, af_mul(af_var(j), PRODUCTS * s->k2 * s->nr));
	at.c = nest_view(n, "C", s->out.c, af_add(af_mul(row, s->p.n), column));
	if (s->out.bias >= 0)
		at.bias = nest_view(n, "bias", s->out.bias, column);
	if (s->n2 % s->nr)
		at.valid = nest_keep(n, af_sub(af(s->n2), column));
	return at;
}

static void multiply(struct strassen *s, const struct place *at, enum left l, enum right r)
{
	int sum = l < SUMS, lower = l == A22 ? 1 : 0, right = l != A11;

	s->g.a = sum ? at->s : at->a;
	s->g.a_at = af(sum ? l * s->block * s->k2 : lower * s->upper * s->p.k + right * s->k2);
	s->g.a_row = af(sum ? s->k2 : s->p.k);
	s->g.b = at->b;
	s->g.b_at = af(r * s->k2 * s->nr);
	brgemm_multiply(s->n, &s->g, lower ? at->lower : at->upper);
}

static struct brgemm_out kept(const struct strassen *s, int i)
{
	return (struct brgemm_out){.c = s->kept,
				   .c_at = af(i * parts_highest(&s->parts) * s->nr),
				   .c_row = af(s->nr),
				   .bias = -1};
}

static void finish(struct strassen *s, const struct place *at, int lower, int right)
{
	struct brgemm_out o = s->out;

	o.c = at->c;
	o.c_at = af(lower * s->upper * s->p.n + right * s->n2);
	o.bias = at->bias;
	o.bias_at = af(right * s->tiles * s->nr);
	o.valid = at->valid;
	brgemm_finish(s->n, &s->g, lower ? at->lower : at->upper, &o);
}

/* With P = A11 B11, U = P + S2 T2, V = U + S3 T3 and Q = S1 T1 the quadrants are P + A12 B21, U + Q
 * + S4 B22; V + A22 T4, V + Q. */
static void tile(struct strassen *s, const struct place *at)
{
	const struct brgemm_out p = kept(s, 0), v = kept(s, 1), q = kept(s, 2);
	const struct brgemm *g = &s->g;
	struct nest *n = s->n;
	int rows = at->upper;

	brgemm_zero(n, g, rows);
	multiply(s, at, A11, B11);
	brgemm_keep(n, g, rows, &p);
	multiply(s, at, A12, B21);
	finish(s, at, 0, 0);
	brgemm_load(n, g, rows, &p);
	multiply(s, at, S2, T2);
	brgemm_keep(n, g, rows, &p);
	multiply(s, at, S3, T3);
	brgemm_keep(n, g, rows, &v);
	multiply(s, at, A22, T4);
	finish(s, at, 1, 0);
	brgemm_zero(n, g, rows);
	multiply(s, at, S1, T1);
	brgemm_keep(n, g, rows, &q);
	brgemm_add(n, g, rows, &v);
	finish(s, at, 1, 1);
	brgemm_load(n, g, rows, &q);
	brgemm_add(n, g, rows, &p);
	multiply(s, at, S4, B22);
	finish(s, at, 0, 1);
}

static void tiles(struct strassen *s, int t, int j)
{
	struct nest *n = s->n;
	int64_t last = s->parts.split.tiles - 1;
	int odd = s->p.m % 2, lowest = s->parts.split.rows;
	struct place at = place_of(s, t, j);

	if (odd) {
		nest_if_less(n, af(last - 1), af_var(t));
		at.upper = lowest;
		at.lower = lowest - 1;
		tile(s, &at);
		nest_else(n);
	}
	for (int rows = parts_first(n, &s->parts, t); rows; rows = parts_next(n, &s->parts, rows)) {
		at.upper = at.lower = rows;
		tile(s, &at);
	}
	if (odd)
		nest_close(n);
}

static int strassen_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct strassen s = {.n = n, .w = w, .k = k};
	int64_t mc = k[MC];
	int t = -1, j;

	if (!applies(w, &s.p))
		return err_set(e, "strassen does not apply to this workload");
	s.upper = (s.p.m + 1) / 2;
	s.k2 = s.p.k / 2;
	s.n2 = s.p.n / 2;
	s.parts.split = row_split(s.upper, k[MR]);
	s.nr = k[NV] * k[VL];
	s.tiles = ceil_div(s.n2, s.nr);
	s.block = mc && mc * k[MR] < s.upper ? mc * k[MR] : s.upper;
	declare(&s);
	if (s.p.strided)
		s.src = product_gather(n, &s.p, s.src, (int)k[VL]);
	open_blocks(&s);
	put_block(&s);
	if (!k[ORDER])
		t = block_units(n, &s.rows, "t");
	j = block_units(n, &s.columns, "j");
	if (k[ORDER])
		t = block_units(n, &s.rows, "t");
	tiles(&s, t, j);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_strassen = {
	.name = "strassen",
	.summary = "Matrix product of seven half-sized products; matmul and 1x1 convolution.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = strassen_build,
};
