#include "lib/schedule/warp_product.h"

#include "lib/space/knob.h"

enum {
	LANES = 4,     /* of registers */
	ROW_BYTES = 16, /* that a row is longer than what it holds */
	OUT_PAD = 8,
};

int64_t warp_threads(int64_t down, int64_t across)
{
	return down * across * MMA_WARP;
}

static int64_t pad(const struct implicit *p)
{
	return ROW_BYTES / elem_size(p->elem);
}

/* Where the channels of a pixel are apart (nchw), pixels lie side by side in the block's memory,
 * too; of 16-bit elements two channels must. */
static int left_by_rows(const struct implicit *p)
{
	return !p->nchw || elem_is_narrow(p->elem);
}

static int right_by_rows(const struct implicit *p)
{
	return !p->by_columns;
}

/* Elements of a stage, and from one row of it to the next. */
static int64_t left_pitch(const struct implicit *p)
{
	return left_by_rows(p) ? p->bk + pad(p) : p->bm + 2 * pad(p);
}

static int64_t left_stage(const struct implicit *p)
{
	return left_pitch(p) * (left_by_rows(p) ? p->bm : p->bk);
}

static int64_t right_pitch(const struct implicit *p)
{
	return right_by_rows(p) ? p->bn + 2 * pad(p) : p->bk + pad(p);
}

static int64_t right_stage(const struct implicit *p)
{
	return right_pitch(p) * (right_by_rows(p) ? p->bk : p->bn);
}

/* Of what a warp's 16 rows leave. */
static int64_t out_pitch(const struct implicit *p, int64_t across)
{
	return p->bn / across + OUT_PAD;
}

int64_t warp_bytes(const struct implicit *p, int64_t down, int64_t across, int64_t stages)
{
	return stages * (left_stage(p) + right_stage(p)) * elem_size(p->elem) +
	       down * across * MMA_ROWS * out_pitch(p, across) * elem_size(ELEM_F32);
}

int64_t warp_sums(const struct implicit *p, enum mma_kind kind, int64_t down, int64_t across)
{
	return (p->bm / down) * (p->bn / across) / MMA_WARP * (kind == MMA_TF32X3 ? 2 : 1);
}

static int left_units(const struct implicit *p)
{
	return (int)(p->bm * p->bk) / implicit_source_lanes(p);
}

static int right_units(const struct implicit *p)
{
	return (int)(p->bn * p->bk) / implicit_right_lanes(p);
}

int64_t warp_copies(const struct implicit *p, int64_t threads)
{
	return ceil_div(left_units(p), threads) + ceil_div(right_units(p), threads);
}

void warp_declare(struct nest *n, struct warp_product *s)
{
	const struct implicit *p = s->p;

	s->threads = (int)warp_threads(s->down, s->across);
	s->tiles_down = (int)p->bm / s->down / MMA_ROWS;
	s->tiles_across = (int)p->bn / s->across / MMA_COLUMNS;
	s->left_by_rows = left_by_rows(p);
	s->right_by_rows = right_by_rows(p);
	s->left = nest_block(n, "left", left_stage(p) * s->stages);
	nest_elem(n, s->left, p->elem);
	s->right = nest_block(n, "right", right_stage(p) * s->stages);
	nest_elem(n, s->right, p->elem);
	s->out = nest_block(n, "out",
			    (int64_t)s->down * s->across * MMA_ROWS * out_pitch(p, s->across));
	s->acc = nest_reg(n, "acc", ELEM_F32, LANES, s->tiles_down, s->tiles_across);
	s->part = s->acc;
	if (s->kind == MMA_TF32X3)
		s->part = nest_reg(n, "part", ELEM_F32, LANES, s->tiles_down, s->tiles_across);
	s->row_of_out = nest_reg(n, "y", ELEM_F32, LANES, 1, 1);
}

/* ---- chunks ---- */

/* A loop over a thread's share of so many units; returns the unit. */
static struct affine each_unit(struct nest *n, const struct warp_product *s, int thread, int units)
{
	int turn = nest_for(n, LOOP_UNROLL, "i", af(0), af(ceil_div(units, s->threads)));
	int unit = nest_let(n, "u", af_add(af_mul(af_var(turn), s->threads), af_var(thread)));

	if (units % s->threads)
		nest_if_less(n, af_var(unit), af(units));
	return af_var(unit);
}

static struct affine left_at(const struct warp_product *s, struct affine stage, struct affine row,
			     struct affine k)
{
	struct affine long_way = s->left_by_rows ? row : k, short_way = s->left_by_rows ? k : row;

	return af_sum(af_mul(stage, left_stage(s->p)), af_mul(long_way, left_pitch(s->p)),
		      short_way);
}

static struct affine right_at(const struct warp_product *s, struct affine stage, struct affine k,
			      struct affine column)
{
	struct affine long_way = s->right_by_rows ? k : column;
	struct affine short_way = s->right_by_rows ? column : k;

	return af_sum(af_mul(stage, right_stage(s->p)), af_mul(long_way, right_pitch(s->p)),
		      short_way);
}

/* Neighbours copy neighbouring channels, or, where these are apart, rows. */
static void copy_left(struct nest *n, const struct warp_product *s, int thread,
		      const struct implicit_chunk *c, struct affine stage)
{
	const struct implicit *p = s->p;
	const int depth = n->depth, lanes = implicit_source_lanes(p);
	const int64_t by = p->nchw ? p->bm : p->bk / lanes;
	struct affine unit = each_unit(n, s, thread, left_units(p)), low, high, row, k;

	low = af_var(nest_let_mod(n, "low", unit, by));
	high = af_var(nest_let_div(n, "high", unit, by));
	row = p->nchw ? low : high;
	k = af_mul(p->nchw ? high : low, lanes);
	implicit_copy_source(n, p, c, s->batch, af_add(s->row, row), k, lanes, s->left,
			     left_at(s, stage, row, k));
	nest_close_to(n, depth);
}

/* Neighbours copy what lies side by side. */
static void copy_right(struct nest *n, const struct warp_product *s, int thread,
		       const struct implicit_chunk *c, struct affine stage)
{
	const struct implicit *p = s->p;
	const int depth = n->depth, lanes = implicit_right_lanes(p);
	const int by_k = p->packed && p->by_columns;
	const int64_t by = (by_k ? p->bk : p->bn) / lanes;
	struct affine unit = each_unit(n, s, thread, right_units(p)), low, high, k, column;

	low = af_mul(af_var(nest_let_mod(n, "low", unit, by)), lanes);
	high = af_var(nest_let_div(n, "high", unit, by));
	k = by_k ? low : high;
	column = by_k ? high : low;
	implicit_copy_right(n, p, c, s->batch, s->panel, k, column, lanes, s->right,
			    right_at(s, stage, k, column));
	nest_close_to(n, depth);
}

void warp_copy(struct nest *n, const struct warp_product *s, int thread,
	       const struct implicit_chunk *c, struct affine stage)
{
	copy_left(n, s, thread, c, stage);
	copy_right(n, s, thread, c, stage);
}

/* ---- a warp's tiles ---- */

static void clear(struct nest *n, const struct warp_product *s, int registers)
{
	int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(n->buffer[registers].size));

	(void)s;
	nest_store(n, registers, af_var(i), NULL, ex_const(n, ELEM_F32, LANES, 0));
	nest_close(n);
}

void warp_clear(struct nest *n, const struct warp_product *s)
{
	clear(n, s, s->acc);
}

/* The thread's warp, and its first row and column in the block. */
struct place {
	struct affine warp, lane, row, column;
};

static struct place place_of(struct nest *n, const struct warp_product *s, int thread)
{
	struct place w;
	int down, across;

	w.warp = af_var(nest_let_div(n, "warp", af_var(thread), MMA_WARP));
	w.lane = af_var(nest_let_mod(n, "lane", af_var(thread), MMA_WARP));
	down = nest_let_div(n, "down", w.warp, s->across);
	across = nest_let_mod(n, "across", w.warp, s->across);
	w.row = af_mul(af_var(down), s->p->bm / s->down);
	w.column = af_mul(af_var(across), s->p->bn / s->across);
	return w;
}

static struct mma_side left_side(const struct warp_product *s, struct affine stage,
				 struct affine row, struct affine k)
{
	const int pair = mma_pair(s->kind);

	return (struct mma_side){.buffer = s->left,
				 .at = left_at(s, stage, row, k),
				 .step = s->left_by_rows ? left_pitch(s->p) : pair,
				 .k_step = s->left_by_rows ? pair : left_pitch(s->p)};
}

static struct mma_side right_side(const struct warp_product *s, struct affine stage,
				  struct affine k, struct affine column)
{
	const int pair = mma_pair(s->kind);

	return (struct mma_side){.buffer = s->right,
				 .at = right_at(s, stage, k, column),
				 .step = s->right_by_rows ? pair : right_pitch(s->p),
				 .k_step = s->right_by_rows ? right_pitch(s->p) : pair};
}

/* Tensor cores cut off what does not fit when they add. So sums in single precision are theirs for
 * a chunk alone, and are added up outside (Ootomo and Yokota, section 3). */
static void add_part(struct nest *n, const struct warp_product *s)
{
	struct affine i;

	if (s->part == s->acc)
		return;
	i = af_var(nest_for(n, LOOP_UNROLL, "i", af(0), af(n->buffer[s->acc].size)));
	nest_store(n, s->acc, i, NULL,
		   ex_op(n, EXPR_ADD, ex_reg(n, s->acc, i), ex_reg(n, s->part, i), NULL));
	nest_close(n);
}

void warp_multiply(struct nest *n, const struct warp_product *s, int thread, struct affine stage)
{
	const int depth = mma_depth(s->kind);
	struct place w = place_of(n, s, thread);
	struct affine k;
	struct mma m = {.kind = s->kind, .down = s->tiles_down, .across = s->tiles_across};

	if (s->part != s->acc)
		clear(n, s, s->part);
	k = af_mul(af_var(nest_for(n, LOOP_SERIAL, "k", af(0), af(s->p->bk / depth))), depth);
	nest_unroll_hint(n, (int)s->p->bk / depth);
	m.a = left_side(s, stage, w.row, k);
	m.b = right_side(s, stage, k, w.column);
	nest_mma(n, s->part, af(0), &m);
	nest_close(n);
	add_part(n, s);
}

/* ---- the sums ---- */

static struct affine out_at(const struct warp_product *s, struct affine warp, struct affine row,
			    struct affine column)
{
	int64_t pitch = out_pitch(s->p, s->across);

	return af_sum(af_mul(warp, MMA_ROWS * pitch), af_mul(row, pitch), column);
}

/* The warp's tiles `down` of its sums, to the block's memory. */
static void leave_rows(struct nest *n, const struct warp_product *s, struct affine down)
{
	const int depth = n->depth, thread = nest_for_threads(n, "t", s->threads);
	struct place w = place_of(n, s, thread);
	struct affine row = af_var(nest_let_div(n, "r", w.lane, 4));
	struct affine column = af_mul(af_var(nest_let_mod(n, "c", w.lane, 4)), 2);
	struct affine tile, below, beside;

	tile = af_var(nest_for(n, LOOP_UNROLL, "j", af(0), af(s->tiles_across)));
	below = af_var(nest_for(n, LOOP_UNROLL, "h", af(0), af(2)));
	beside = af_var(nest_for(n, LOOP_UNROLL, "l", af(0), af(2)));
	nest_store(n, s->out,
		   out_at(s, w.warp, af_add(row, af_mul(below, MMA_ROWS / 2)),
			  af_sum(af_mul(tile, MMA_COLUMNS), column, beside)),
		   NULL,
		   ex_pick(n,
			   ex_reg(n, s->acc, af_add(af_mul(down, s->tiles_across), tile)),
			   af_add(af_mul(below, 2), beside)));
	nest_close_to(n, depth);
}

void warp_each(struct nest *n, const struct warp_product *s, struct warp_part *x)
{
	const int64_t vectors = s->p->bn / s->across / LANES, units = MMA_ROWS * vectors;
	struct affine down, turn, unit, low, high, row, column;
	struct place w;
	int thread;

	down = af_var(nest_for(n, LOOP_UNROLL, "i", af(0), af(s->tiles_down)));
	leave_rows(n, s, down);
	thread = nest_for_threads(n, "t", s->threads);
	w = place_of(n, s, thread);
	turn = af_var(nest_for(n, LOOP_UNROLL, "v", af(0), af(units / MMA_WARP)));
	unit = af_add(af_mul(turn, MMA_WARP), w.lane);
	low = af_var(nest_let_mod(n, "low", unit, s->p->nchw ? MMA_ROWS : vectors));
	high = af_var(nest_let_div(n, "high", unit, s->p->nchw ? MMA_ROWS : vectors));
	row = s->p->nchw ? low : high;
	column = af_mul(s->p->nchw ? high : low, LANES);
	nest_store(n, s->row_of_out, af(0), NULL,
		   ex_load(n, s->out, LANES, out_at(s, w.warp, row, column), NULL));
	x->row = af_var(nest_let(n, "row",
				 af_sum(s->row, w.row, af_mul(down, MMA_ROWS), row)));
	x->column = af_sum(af_mul(s->panel, s->p->bn), w.column, column);
	x->x = ex_reg(n, s->row_of_out, af(0));
}
