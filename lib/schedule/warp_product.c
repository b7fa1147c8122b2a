#include "lib/schedule/warp_product.h"

#include "lib/schedule/share.h"
#include "lib/space/knob.h"

enum {
	LANES = 4,	/* of registers */
	ROW_BYTES = 16, /* that a row is longer than what it holds */
	OUT_PAD = 8,
};

/* ---- the block's memory ---- */

static int64_t pad(const struct implicit *p)
{
	return ROW_BYTES / elem_size(p->elem);
}

/* A side of so many rows, or columns. */
static struct warp_side side_of(const struct warp_product *s, enum warp_layout layout, int64_t rows)
{
	const int core = mma_core(s->kind);
	struct warp_side x = {.layout = layout};

	switch (layout) {
	case WARP_BY_VALUES:
		x.pitch = s->p->bk + (s->swizzle ? 0 : pad(s->p));
		x.stage = x.pitch * rows;
		break;
	case WARP_BY_ROWS:
		x.pitch = rows + 2 * pad(s->p);
		x.stage = x.pitch * s->p->bk;
		break;
	case WARP_IN_CORES:
		x.pitch = (rows + 1) * core;
		x.stage = x.pitch * (s->p->bk / core);
		break;
	}
	return x;
}

/* Where a side could lie by rows. */
static enum warp_layout layout_of(const struct warp_product *s, int by_rows)
{
	if (s->swizzle)
		return WARP_BY_VALUES;
	return s->group ? WARP_IN_CORES : by_rows ? WARP_BY_ROWS : WARP_BY_VALUES;
}

/* Where the channels of a pixel are apart (nchw), pixels lie side by side in the block's memory,
 * too; of elements of less than 32 bits as many channels must as fill these. */
static struct warp_side left_of(const struct warp_product *s)
{
	const int by_rows = s->p->nchw && mma_pair(s->kind) == 1;

	return side_of(s, layout_of(s, by_rows), s->p->bm);
}

static struct warp_side right_of(const struct warp_product *s)
{
	return side_of(s, layout_of(s, !s->p->by_columns), s->p->bn);
}

/* Of value k of row i, in a stage. */
static struct affine side_at(struct nest *n, const struct warp_product *s,
			     const struct warp_side *x, struct affine stage, struct affine i,
			     struct affine k)
{
	const int core = mma_core(s->kind);
	struct affine at = af_mul(stage, x->stage);

	if (x->layout == WARP_BY_VALUES)
		return af_sum(at, af_mul(i, x->pitch), k);
	if (x->layout == WARP_BY_ROWS)
		return af_sum(at, af_mul(k, x->pitch), i);
	return af_sum(at, af_mul(af_var(nest_let_div(n, "core", k, core)), x->pitch),
		      af_mul(i, core), af_var(nest_let_mod(n, "rest", k, core)));
}

/* From row i and value k on, for tiles. */
static struct mma_side side_from(struct nest *n, const struct warp_product *s,
				 const struct warp_side *x, struct affine stage, struct affine i,
				 struct affine k)
{
	const int pair = mma_pair(s->kind), core = mma_core(s->kind);
	struct mma_side m = {.buffer = x->buffer, .at = side_at(n, s, x, stage, i, k), .row = core};

	if (s->group && s->swizzle) {
		m.row = x->pitch;
		m.step = MMA_CORE * x->pitch;
		m.k_step = core;
		return m;
	}
	m.step = x->layout == WARP_BY_VALUES ? x->pitch
		 : x->layout == WARP_BY_ROWS ? pair
					     : (int64_t)MMA_CORE * core;
	m.k_step = x->layout == WARP_BY_VALUES ? pair : x->pitch;
	return m;
}

/* Of what a warp's 16 rows leave. */
static int64_t out_pitch(const struct warp_product *s)
{
	return s->p->bn / s->across + OUT_PAD;
}

static int64_t out_size(const struct warp_product *s)
{
	return (int64_t)s->down * s->across * MMA_ROWS * out_pitch(s);
}

int64_t warp_threads(const struct warp_product *s)
{
	return (int64_t)s->down * s->across * MMA_WARP;
}

/* Of a side's stages. */
static int64_t side_bytes(const struct warp_product *s, struct warp_side x)
{
	const int64_t bytes = s->stages * x.stage * elem_size(s->p->elem);

	return s->swizzle ? ceil_div(bytes, SWIZZLE_ALIGN) * SWIZZLE_ALIGN : bytes;
}

int64_t warp_bytes(const struct warp_product *s)
{
	return side_bytes(s, left_of(s)) + side_bytes(s, right_of(s)) +
	       out_size(s) * elem_size(ELEM_F32) + (s->bulk || s->box ? NEST_BULK_BYTES : 0);
}

int64_t warp_sums(const struct warp_product *s)
{
	return (s->p->bm / s->down) * (s->p->bn / s->across) / MMA_WARP *
	       (s->kind == MMA_TF32X3 ? 2 : 1);
}

static int left_units(const struct implicit *p)
{
	return (int)(p->bm * p->bk) / implicit_source_lanes(p);
}

static int right_units(const struct implicit *p)
{
	return (int)(p->bn * p->bk) / implicit_right_lanes(p);
}

int64_t warp_copies(const struct warp_product *s)
{
	int64_t threads = warp_threads(s);

	return (s->box ? 1 : ceil_div(left_units(s->p), threads)) +
	       (s->bulk ? 1 : ceil_div(right_units(s->p), threads));
}

static void declare_side(struct nest *n, const struct warp_product *s, const char *name,
			 struct warp_side *x, enum elem elem)
{
	x->buffer = nest_block(n, name, x->stage * s->stages);
	nest_elem(n, x->buffer, elem);
	if (s->swizzle)
		nest_swizzle(n, x->buffer, x->pitch);
}

void warp_declare(struct nest *n, struct warp_product *s)
{
	const struct implicit *p = s->p;

	s->threads = (int)warp_threads(s);
	s->tiles_down = (int)p->bm / s->down / MMA_ROWS;
	s->tiles_across = (int)p->bn / s->across / MMA_COLUMNS;
	s->left = left_of(s);
	s->right = right_of(s);
	declare_side(n, s, "left", &s->left, p->elem);
	declare_side(n, s, "right", &s->right, p->right);
	if (s->bulk)
		nest_swizzle(n, p->weights, s->right.pitch);
	if (s->box)
		s->boxes = implicit_box(n, p);
	s->out = nest_block(n, "out", out_size(s));
	s->acc = nest_reg(n, "acc", mma_sum(s->kind), LANES, s->tiles_down, s->tiles_across);
	s->part = s->acc;
	if (s->kind == MMA_TF32X3)
		s->part = nest_reg(n, "part", ELEM_F32, LANES, s->tiles_down, s->tiles_across);
	s->row_of_out = nest_reg(n, "y", ELEM_F32, LANES, 1, 1);
}

/* ---- chunks ---- */

/* Neighbours copy neighbouring channels, or, where these are apart, rows. */
static void copy_left(struct nest *n, const struct warp_product *s, int thread,
		      const struct implicit_chunk *c, struct affine stage)
{
	const struct implicit *p = s->p;
	const int depth = n->depth, lanes = implicit_source_lanes(p);
	const int64_t by = p->nchw ? p->bm : p->bk / lanes;
	struct shared_unit u;
	struct affine row, k;

	if (s->box) {
		implicit_copy_box(n, p, c, s->batch, s->row, s->boxes, s->left.buffer,
				  af_mul(stage, s->left.stage));
		return;
	}
	u = share_rows(n, thread, s->threads, left_units(p), by);
	row = p->nchw ? u.low : u.high;
	k = af_mul(p->nchw ? u.high : u.low, lanes);
	implicit_copy_source(n, p, c, s->batch, af_add(s->row, row), k, lanes, s->left.buffer,
			     side_at(n, s, &s->left, stage, row, k));
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
	struct shared_unit u;
	struct affine low, k, column;

	if (s->bulk) {
		implicit_copy_chunk(n, p, c, s->batch, s->panel, s->right.buffer,
				    af_mul(stage, s->right.stage));
		return;
	}
	u = share_rows(n, thread, s->threads, right_units(p), by);
	low = af_mul(u.low, lanes);
	k = by_k ? low : u.high;
	column = by_k ? u.high : low;
	implicit_copy_right(n, p, c, s->batch, s->panel, k, column, lanes, s->right.buffer,
			    side_at(n, s, &s->right, stage, column, k));
	nest_close_to(n, depth);
}

void warp_copy(struct nest *n, const struct warp_product *s, int thread,
	       const struct implicit_chunk *c, struct affine stage)
{
	copy_left(n, s, thread, c, stage);
	copy_right(n, s, thread, c, stage);
}

/* ---- a warp's tiles ---- */

static void clear(struct nest *n, int registers)
{
	int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(n->buffer[registers].size));

	nest_store(n, registers, af_var(i), NULL, ex_const(n, ELEM_F32, LANES, 0));
	nest_close(n);
}

void warp_clear(struct nest *n, const struct warp_product *s)
{
	clear(n, s->acc);
}

/* The thread's warp, and its first row and column in the block. A group of warps begins at
 * group_row, and each of its tiles has 16 rows of each warp. */
struct place {
	struct affine warp, lane, group_row, row, column;
};

static struct place place_of(struct nest *n, const struct warp_product *s, int thread)
{
	const int64_t rows = s->p->bm / s->down; /* of a warp */
	struct place w;
	int down, across, of_group;

	w.warp = af_var(nest_let_div(n, "warp", af_var(thread), MMA_WARP));
	w.lane = af_var(nest_let_mod(n, "lane", af_var(thread), MMA_WARP));
	if (!s->group) {
		down = nest_let_div(n, "down", w.warp, s->across);
		across = nest_let_mod(n, "across", w.warp, s->across);
		w.row = w.group_row = af_mul(af_var(down), rows);
	} else { /* four warps in a row are a group */
		of_group = nest_let_mod(n, "g", w.warp, MMA_GROUP);
		down = nest_let_div(n, "group", w.warp, MMA_GROUP);
		across = nest_let_mod(n, "across", af_var(down), s->across);
		down = nest_let_div(n, "down", af_var(down), s->across);
		w.group_row = af_mul(af_var(down), rows * MMA_GROUP);
		w.row = af_add(w.group_row, af_mul(af_var(of_group), MMA_ROWS));
	}
	w.column = af_mul(af_var(across), s->p->bn / s->across);
	return w;
}

/* From one of a warp's tiles to the next. */
static int rows_apart(const struct warp_product *s)
{
	return s->group ? MMA_GROUP * MMA_ROWS : MMA_ROWS;
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
	const int depth = mma_depth(s->kind), steps = (int)s->p->bk / depth, all = n->depth;
	struct place w = place_of(n, s, thread);
	struct affine k = af(0);
	struct mma m = {.kind = s->kind,
			.group = s->group,
			.late = s->late,
			.steps = s->group ? steps : 1,
			.down = s->tiles_down,
			.across = s->tiles_across};

	if (s->part != s->acc)
		clear(n, s->part);
	if (!s->group) {
		k = af_mul(af_var(nest_for(n, LOOP_SERIAL, "k", af(0), af(steps))), depth);
		nest_unroll_hint(n, steps);
	}
	m.a = side_from(n, s, &s->left, stage, w.group_row, k);
	m.b = side_from(n, s, &s->right, stage, w.column, k);
	nest_mma(n, s->part, af(0), &m);
	nest_close_to(n, all);
	add_part(n, s);
}

void warp_end(struct nest *n, const struct warp_product *s)
{
	struct mma m = {.kind = s->kind,
			.group = s->group,
			.down = s->tiles_down,
			.across = s->tiles_across};

	m.a = side_from(n, s, &s->left, af(0), af(0), af(0));
	m.b = side_from(n, s, &s->right, af(0), af(0), af(0));
	nest_mma(n, s->part, af(0), &m);
}

/* ---- the sums ---- */

static struct affine out_at(const struct warp_product *s, struct affine warp, struct affine row,
			    struct affine column)
{
	int64_t pitch = out_pitch(s);

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
		   ex_pick(n, ex_reg(n, s->acc, af_add(af_mul(down, s->tiles_across), tile)),
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
	x->row =
		af_var(nest_let(n, "row", af_sum(s->row, w.row, af_mul(down, rows_apart(s)), row)));
	x->column = af_sum(af_mul(s->panel, s->p->bn), w.column, column);
	x->x = ex_reg(n, s->row_of_out, af(0));
}
