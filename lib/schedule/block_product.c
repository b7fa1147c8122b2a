#include "lib/schedule/block_product.h"

#include "lib/schedule/share.h"
#include "lib/space/knob.h"

enum { LANES = BLOCK_LANES };

int64_t block_threads(int64_t bm, int64_t bn, int64_t tm, int64_t tn)
{
	return bm / tm * (bn / tn);
}

/* Elements of a stage. */
static int64_t left_stage(int64_t bm, int64_t bk)
{
	return bk * (bm + BLOCK_PAD);
}

int64_t block_bytes(int64_t bm, int64_t bn, int64_t bk, int64_t stages)
{
	return (int64_t)sizeof(float) * stages * (left_stage(bm, bk) + bk * bn);
}

void block_declare(struct nest *n, struct block_product *s)
{
	const struct implicit *p = s->p;

	s->threads = (int)block_threads(p->bm, p->bn, s->tm, s->tn);
	s->down = (int)p->bm / s->tm;
	s->across = (int)p->bn / s->tn;
	s->together = s->tm % LANES || p->nchw ? 1 : LANES;
	s->left_units = (int)(p->bm * p->bk) / p->src_lanes;
	s->right_units = (int)(p->bk * p->bn) / p->weights_lanes;
	s->left = nest_block(n, "left", left_stage(p->bm, p->bk) * s->stages);
	s->right = nest_block(n, "right", p->bk * p->bn * s->stages);
	s->acc = nest_reg(n, "acc", ELEM_F32, LANES, s->tm, s->tn / LANES);
	s->a = nest_reg(n, "a", ELEM_F32, s->together, s->tm / s->together, 1);
	s->b = nest_reg(n, "b", ELEM_F32, LANES, s->tn / LANES, 1);
	s->from_left = nest_reg(n, "x", ELEM_F32, p->src_lanes,
				(int)ceil_div(s->left_units, s->threads), 1);
	s->from_right = nest_reg(n, "y", ELEM_F32, p->weights_lanes,
				 (int)ceil_div(s->right_units, s->threads), 1);
}

/* ---- chunks ---- */

/* Of the left side: neighbours read neighbouring channels, or, where these are apart, rows. */
static void left_unit(struct nest *n, const struct implicit *p, struct affine unit,
		      struct affine *row, struct affine *k)
{
	int64_t by = p->nchw ? p->bm : p->bk / p->src_lanes;
	struct affine low = af_var(nest_let_mod(n, "low", unit, by));
	struct affine high = af_var(nest_let_div(n, "high", unit, by));

	*row = p->nchw ? low : high;
	*k = af_mul(p->nchw ? high : low, p->src_lanes);
}

static void right_unit(struct nest *n, const struct implicit *p, struct affine unit,
		       struct affine *k, struct affine *column)
{
	int64_t columns = p->bn / p->weights_lanes;

	*k = af_var(nest_let_div(n, "k", unit, columns));
	*column = af_mul(af_var(nest_let_mod(n, "j", unit, columns)), p->weights_lanes);
}

void block_fetch(struct nest *n, const struct block_product *s, int thread,
		 const struct implicit_chunk *c)
{
	const int depth = n->depth;
	struct affine unit, i, x, y;

	unit = share_units(n, LOOP_UNROLL, thread, s->threads, s->left_units, &i);
	left_unit(n, s->p, unit, &x, &y);
	implicit_source(n, s->p, c, s->batch, af_add(s->row, x), y, s->from_left, i);
	nest_close_to(n, depth);
	unit = share_units(n, LOOP_UNROLL, thread, s->threads, s->right_units, &i);
	right_unit(n, s->p, unit, &x, &y);
	implicit_right(n, s->p, c, s->batch, s->panel, x, y, s->from_right, i);
	nest_close_to(n, depth);
}

/* Element (k, i) of a side in a stage: each value of k has a row there. */
static struct affine left_at(const struct block_product *s, struct affine stage, struct affine k,
			     struct affine i)
{
	return af_sum(af_mul(stage, left_stage(s->p->bm, s->p->bk)),
		      af_mul(k, s->p->bm + BLOCK_PAD), i);
}

static struct affine right_at(const struct block_product *s, struct affine stage, struct affine k,
			      struct affine i)
{
	return af_sum(af_mul(stage, s->p->bk * s->p->bn), af_mul(k, s->p->bn), i);
}

void block_put(struct nest *n, const struct block_product *s, int thread, struct affine stage)
{
	const int depth = n->depth;
	struct affine i, row, k, column;
	const struct expr *x;
	struct affine unit;
	int lane;

	unit = share_units(n, LOOP_UNROLL, thread, s->threads, s->left_units, &i);
	left_unit(n, s->p, unit, &row, &k);
	lane = nest_for(n, LOOP_UNROLL, "l", af(0), af(s->p->src_lanes));
	x = ex_reg(n, s->from_left, i);
	nest_store(n, s->left, left_at(s, stage, af_add(k, af_var(lane)), row), NULL,
		   s->p->src_lanes > 1 ? ex_pick(n, x, af_var(lane)) : x);
	nest_close_to(n, depth);
	unit = share_units(n, LOOP_UNROLL, thread, s->threads, s->right_units, &i);
	right_unit(n, s->p, unit, &k, &column);
	nest_store(n, s->right, right_at(s, stage, k, column), NULL, ex_reg(n, s->from_right, i));
	nest_close_to(n, depth);
}

/* ---- a thread's tile ---- */

/* The thread's first row and column: neighbours are in the same row, or, where the channels of a
 * pixel are apart, in the same column. */
static void place(struct nest *n, const struct block_product *s, int thread, struct affine *row,
		  struct affine *column)
{
	int64_t by = s->p->nchw ? s->down : s->across;
	struct affine low = af_var(nest_let_mod(n, "low", af_var(thread), by));
	struct affine high = af_var(nest_let_div(n, "high", af_var(thread), by));

	*row = af_mul(s->p->nchw ? low : high, s->together);
	*column = af_mul(s->p->nchw ? high : low, LANES);
}

/* Loops over the tile's rows: groups of those that lie side by side, the groups as far apart as all
 * threads' are together; and over its columns, four by four. */
static struct affine each_group(struct nest *n, const struct block_product *s)
{
	return af_var(nest_for(n, LOOP_UNROLL, "t", af(0), af(s->tm / s->together)));
}

static struct affine each_of_group(struct nest *n, const struct block_product *s)
{
	return af_var(nest_for(n, LOOP_UNROLL, "l", af(0), af(s->together)));
}

static struct affine each_vector(struct nest *n, const struct block_product *s)
{
	return af_var(nest_for(n, LOOP_UNROLL, "j", af(0), af(s->tn / LANES)));
}

static struct affine group_row(const struct block_product *s, struct affine group)
{
	return af_mul(group, (int64_t)s->together * s->down);
}

static struct affine vector_column(const struct block_product *s, struct affine vector)
{
	return af_mul(vector, (int64_t)LANES * s->across);
}

static struct affine acc_at(const struct block_product *s, struct affine group, struct affine row,
			    struct affine vector)
{
	return af_sum(af_mul(af_add(af_mul(group, s->together), row), s->tn / LANES), vector);
}

void block_clear(struct nest *n, const struct block_product *s)
{
	int i = nest_for(n, LOOP_UNROLL, "i", af(0), af((int64_t)s->tm * s->tn / LANES));

	nest_store(n, s->acc, af_var(i), NULL, ex_const(n, ELEM_F32, LANES, 0));
	nest_close(n);
}

void block_multiply(struct nest *n, const struct block_product *s, int thread, struct affine stage)
{
	const int depth = n->depth;
	struct affine row, column, k, group, of_group, vector, at;
	const struct expr *a;

	place(n, s, thread, &row, &column);
	k = af_var(nest_for(n, LOOP_SERIAL, "k", af(0), af(s->p->bk)));
	nest_unroll_hint(n, s->unroll);
	group = each_group(n, s);
	at = left_at(s, stage, k, af_add(row, group_row(s, group)));
	nest_store(n, s->a, group, NULL, ex_load(n, s->left, s->together, at, NULL));
	nest_close(n);
	vector = each_vector(n, s);
	at = right_at(s, stage, k, af_add(column, vector_column(s, vector)));
	nest_store(n, s->b, vector, NULL, ex_load(n, s->right, LANES, at, NULL));
	nest_close(n);
	group = each_group(n, s);
	of_group = each_of_group(n, s);
	a = ex_reg(n, s->a, group);
	a = s->together > 1 ? ex_spread(n, a, LANES, 1, of_group) : ex_bcast(n, LANES, a);
	vector = each_vector(n, s);
	at = acc_at(s, group, of_group, vector);
	nest_store(n, s->acc, at, NULL,
		   ex_op(n, EXPR_FMA, a, ex_reg(n, s->b, vector), ex_reg(n, s->acc, at)));
	nest_close_to(n, depth);
}

void block_each(struct nest *n, const struct block_product *s, int thread, struct block_part *x)
{
	struct affine row, column, group, of_group, vector;

	place(n, s, thread, &row, &column);
	group = each_group(n, s);
	of_group = each_of_group(n, s);
	x->row = af_var(nest_let(n, "row", af_sum(s->row, row, group_row(s, group), of_group)));
	vector = each_vector(n, s);
	x->column = af_sum(af_mul(s->panel, s->p->bn), column, vector_column(s, vector));
	x->x = ex_reg(n, s->acc, acc_at(s, group, of_group, vector));
}
