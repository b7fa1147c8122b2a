/* dequantize: matmul by weights of 4 or 8 bits that stand for reals by the scales of their groups
 * (workload_group()), as language models have them (Frantar et al., "GPTQ", ICLR 2023).
 *
 * A product of few rows reads hardly anything but its weights, so they stay packed until they are
 * in registers. Two values of k, or two times four, share each byte. The sum of a group is
 * multiplied by its scale once: sum of a * (w - zero) * scale = scale * (sum of a * w - zero * sum
 * of a).
 *
 * With the knob digits, a phase before makes whole numbers of the left side
 * (lib/schedule/digits.h), and an instruction sums four products of such with weights as they are.
 * Where there is none, weights of 4 bits have vpmaddubsw, whose sums of two products have room in
 * 16 bits then. Else weights become single precision, one after the other.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block.h"
#include "lib/schedule/digits.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/product.h"
#include "lib/schedule/range.h"
#include "lib/schedule/weight_groups.h"
#include "lib/tile/brgemm.h"

enum { VL, NV, MR, NC, UNROLL, STREAMS, FETCH, DIGIT, KNOBS };

static const struct knob knobs[KNOBS] = {
	[VL] = {"vl", 8, "Lanes of a vector."},
	[NV] = {"nv", 1, "Vectors in a row of the register tile."},
	[MR] = {"mr", 1, "Rows of the register tile, at most, in near-equal parts."},
	[NC] = {"nc", 0, "Register tiles of columns in a block; 0: all."},
	[UNROLL] = {"unroll", 1,
		    "Steps of 16 values of k that are written one after the other; as many as a "
		    "group has: groups are straight runs."},
	[STREAMS] = {"streams", 0,
		     "1: each vector of a register tile has a panel of its own, so that the tile "
		     "reads several streams of memory."},
	[FETCH] = {"fetch", 0,
		   "Steps of 16 values of k ahead of which weights are prefetched; 0: none."},
	[DIGIT] = {"digits", 0,
		   "1: the left side is made whole numbers, three digits of 8 bits each."},
};

/* The register tile, its sums of a group, and what is unpacked of the weights. */
static int64_t registers_of(const int64_t *k)
{
	enum { SPARE = 5, SPARE_OF_PAIRS = 4 };
	const int64_t tile = k[MR] * k[NV];

	if (k[DIGIT] && k[VL] != DIGITS_LANES)
		return (1 + DIGITS) * tile + 2 * k[NV] + SPARE_OF_PAIRS;
	return (k[DIGIT] ? (1 + DIGITS) * tile : 2 * tile) + 2 * k[NV] + SPARE;
}

/* Weights of 4 bits make sums of two products in 16 bits, which processors without the instruction
 * for four have, too. */
static int pays_digits(const struct workload *w, const struct limits *m)
{
	return m->dots >> DTYPE_U8 & 1 ||
	       (dtype_bits(w->dtype.wei) == 4 && m->lanes == DIGITS_LANES / 2);
}

static void fetch_range(struct range *r)
{
	enum { MOST = 1024 };

	range_need(r, !r->knob || (r->knob[FETCH] >= 0 && r->knob[FETCH] <= MOST),
		   "a knob is outside its range");
	for (int steps = 0; steps <= 64; steps = steps ? 2 * steps : 16)
		range_more(r, FETCH, steps);
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {1, 2, 3, 4, 5, 6, 8, 0};
	static const int blocks[] = {1, 2, 4, 8, 16, 32, 0};
	static const int steps[] = {1, 2, 4, 8, 16, 0};
	const int64_t group = workload_group(w);
	struct product p;

	if (!group || group % WEIGHT_STEP || !product_of(w, &p))
		return 0;
	if (!range_register_tile(r, 4, p.m, rows, brgemm_fits))
		return 1;
	range_lanes(r, w);
	range_blocks(r, NC, p.n, r->columns, blocks);
	range_values(r, UNROLL, steps, group / WEIGHT_STEP);
	product_streams(r, STREAMS, w, &p);
	fetch_range(r);
	range_flags(r, DIGIT, DIGIT);
	if (r->space && !pays_digits(w, r->machine))
		range_only(r, DIGIT, 0, NULL);
	if (!r->knob)
		return 1;
	range_need(r,
		   !r->knob[DIGIT] || r->knob[VL] == DIGITS_LANES ||
			   (r->knob[VL] == DIGITS_LANES / 2 && dtype_bits(w->dtype.wei) == 4),
		   "products of digits are of vectors of 16 lanes, or of 8 by weights of 4 bits");
	range_need(r, group / WEIGHT_STEP % r->knob[UNROLL] == 0,
		   "a group has no whole number of such steps");
	range_registers(r, registers_of(r->knob));
	return 1;
}

/* The parts of the nest share these. */
struct dequantize {
	struct nest *n;
	const struct workload *w;
	const int64_t *k;
	struct product p;
	struct parts parts;
	int64_t nr, tiles, nc;
	int src;
	struct block rows, columns; /* of tiles */
	struct weight_groups b;	    /* the right side */
	struct digits a;	    /* the left side, with the knob */
	struct brgemm g;
	struct brgemm_out out;
	int vn;
};

static void declare(struct dequantize *s)
{
	const struct extent columns = {s->p.n, s->tiles * s->nr};
	const int64_t *k = s->k;
	struct nest *n = s->n;

	s->vn = nest_param(n, "N", s->p.n);
	s->out.c_row = af_var(s->vn);
	s->parts.rest = nest_const(n, "rest", s->parts.split.rest);
	s->src = nest_arg(n, "src", TENSOR_SRC, s->p.m * s->p.k, 0);
	s->b = (struct weight_groups){.w = s->w,
				      .lanes = k[VL],
				      .nv = k[NV],
				      .tiles = s->tiles,
				      .apart = (int)k[STREAMS],
				      .fours = (int)k[DIGIT],
				      .fetch = k[FETCH]};
	operand_out(n, s->w, operand_bias(n, s->w, 1, &columns), s->p.m * s->p.n, &s->out);
	operand_types(n, s->w);
	weight_groups_declare(n, &s->b);
	brgemm_registers(n, &s->g, (int)k[VL], parts_highest(&s->parts), (int)k[NV]);
	weight_groups_registers(n, &s->b, parts_highest(&s->parts));
}

static void tile(struct dequantize *s, int row_tile_rows, struct affine row, int j)
{
	const int64_t group = s->b.group, steps = group / WEIGHT_STEP;
	struct nest *n = s->n;
	struct weight_tile t = {.rows = row_tile_rows, .row = row, .tile = j};

	brgemm_zero(n, &s->g, t.rows);
	t.group = nest_for(n, LOOP_SERIAL, "q", af(0), af(s->p.k / group));
	weight_groups_begin(n, &s->b, &t);
	if (steps == s->k[UNROLL]) {
		t.step = nest_for(n, LOOP_UNROLL, "c", af(0), af(steps));
	} else {
		t.step = nest_for(n, LOOP_SERIAL, "c", af(0), af(steps));
		nest_unroll_hint(n, (int)s->k[UNROLL]);
	}
	if (s->k[DIGIT])
		weight_groups_dot(n, &s->b, &t, &s->a);
	else
		weight_groups_multiply(n, &s->b, &t, &s->g, s->src);
	nest_close(n);
	weight_groups_end(n, &s->b, &t, &s->g, s->k[DIGIT] ? &s->a : NULL);
	nest_close(n);
	operand_place(n, s->vn, s->nr, row, af_mul(af_var(j), s->nr), &s->out);
	brgemm_finish(n, &s->g, t.rows, &s->out);
}

static int dequantize_build(const struct workload *w, const int64_t *k, struct nest *n,
			    struct err *e)
{
	struct dequantize s = {.n = n, .w = w, .k = k};
	struct sweep x = {.parts = &s.parts};

	if (!workload_group(w) || !product_of(w, &s.p))
		return err_set(e, "dequantize does not apply to this workload");
	s.parts.split = row_split(s.p.m, k[MR]);
	s.nr = k[VL] * k[NV];
	s.tiles = ceil_div(s.p.n, s.nr);
	declare(&s);
	if (k[DIGIT]) {
		s.a = (struct digits){.rows = s.p.m,
				      .lanes = (int)k[VL],
				      .k = s.p.k,
				      .group = s.b.group,
				      .middle = (double)s.b.middle};
		digits_make(n, &s.a, s.src);
	}
	s.rows = block_of("ib", "t", s.parts.split.tiles, 0);
	s.columns = block_of("jb", "j", s.tiles, k[NC]);
	block_share(n, &s.rows, &s.columns, 0);
	x.j = block_units(n, &s.columns, "j");
	for (x.t = block_units(n, &s.rows, "t"); sweep_next(n, &x);)
		tile(&s, x.rows, x.row, x.j);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct algo algo_dequantize = {
	.name = "dequantize",
	.summary = "Matrix product by weights of 4 or 8 bits, whose groups have scales.",
	.needs = TARGET_VECTORS | TARGET_TEAM,
	.dequantizes = 1,
	.rev = 2,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = dequantize_build,
};
