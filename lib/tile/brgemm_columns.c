#include "lib/tile/brgemm_columns.h"

#include <stddef.h>

#include "lib/tile/activation.h"
#include "lib/tile/post.h"
#include "lib/tile/row_split.h"
#include "lib/tile/tile.h"

enum { MOST_VALUES = 32 * 16 }; /* of a tile */

struct affine brgemm_acc_at(const struct brgemm *g, struct affine row, int vec)
{
	return af_add(af_mul(row, g->nv), af_var(vec));
}

const struct affine *brgemm_lanes_left(struct nest *n, const struct brgemm *g,
				       const struct affine *columns, int vec)
{
	if (!columns)
		return NULL;
	return nest_keep(n, af_sub(*columns, af_mul(af_var(vec), g->lanes)));
}

void brgemm_open_tile(struct nest *n, const struct brgemm *g, int rows, int *row, int *vec)
{
	*row = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	*vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
}

void brgemm_close_tile(struct nest *n)
{
	nest_close(n);
	nest_close(n);
}

void brgemm_prefetch_panel(struct nest *n, const struct brgemm *g)
{
	const int64_t elements = (int64_t)BRGEMM_LINE * g->tile->group;
	int line;

	if (!g->next_lines)
		return;
	line = nest_for(n, LOOP_UNROLL, "l", af(0), af(g->next_lines));
	nest_prefetch_far(n, g->next_from, af_add(g->next, af_mul(af_var(line), elements)));
	nest_close(n);
}

static struct affine c_index(const struct brgemm *g, const struct brgemm_out *o, struct affine row,
			     int vec)
{
	return af_sum(o->c_at, af_scale(row, o->c_row), af_mul(af_var(vec), g->lanes));
}

static void load_columns(struct nest *n, const struct brgemm *g, int rows,
			 const struct brgemm_out *o, int onto)
{
	const struct expr *x;
	int row, vec;

	brgemm_open_tile(n, g, rows, &row, &vec);
	x = ex_load(n, o->c, g->lanes, c_index(g, o, af_var(row), vec),
		    brgemm_lanes_left(n, g, o->valid, vec));
	if (onto)
		x = ex_op(n, EXPR_ADD, ex_reg(n, g->acc, brgemm_acc_at(g, af_var(row), vec)), x,
			  NULL);
	nest_store(n, g->acc, brgemm_acc_at(g, af_var(row), vec), NULL, x);
	brgemm_close_tile(n);
}

static void store_value(struct nest *n, const struct brgemm *g, struct affine row, int vec,
			const struct expr *x, const struct brgemm_out *o, enum brgemm_stage stage)
{
	int adds = o->adds && (stage == BRGEMM_WHOLE || !post_adds_first(o->npost, o->post));
	struct affine at = c_index(g, o, row, vec);
	const struct affine *valid = brgemm_lanes_left(n, g, o->valid, vec);
	struct post_values with = {.is_whole = o->makes_whole,
				   .result = n->buffer[nest_base(n, o->c)].elem};

	if (o->scale >= 0)
		with.scale = ex_load(n, o->scale, g->lanes,
				     af_add(o->scale_at, af_mul(af_var(vec), g->lanes)), NULL);
	if (o->shift >= 0)
		with.shift = ex_load(n, o->shift, g->lanes,
				     af_add(o->shift_at, af_mul(af_var(vec), g->lanes)), NULL);
	if (stage != BRGEMM_PARTIAL) {
		if (o->bias >= 0)
			with.bias =
				ex_load(n, o->bias, g->lanes,
					af_add(o->bias_at, af_mul(af_var(vec), g->lanes)), NULL);
		if (adds)
			with.add = ex_load(n, o->c, g->lanes, at, valid);
		if (post_has(o->npost, o->post, POST_MUL))
			with.mul = ex_load(n, o->mul, g->lanes, at, valid);
		x = post_apply(n, x, o->npost, o->post, &with);
	}
	nest_store(n, o->c, at, valid, x);
}

int brgemm_waits(const struct brgemm_out *o)
{
	for (int i = 0; i < o->npost; i++)
		if (activation_waits(&o->post[i]))
			return 1;
	return 0;
}

/* Where the value of a row and vector lies, if sums are put down in memory. */
static struct affine memory_at(const struct brgemm *g, struct affine row, int vec)
{
	return af_mul(brgemm_acc_at(g, af_add(g->line, row), vec), g->lanes);
}

/* Returns what is stored: single precision, unless the sum itself is the result. */
static const struct expr *acc_value(struct nest *n, const struct brgemm *g, int row, int vec,
				    const struct brgemm_out *o)
{
	const struct affine at = brgemm_acc_at(g, af_var(row), vec);
	const int is_as_it_is = !o->npost && n->buffer[nest_base(n, o->c)].elem == ELEM_S32;

	if (g->tile->end)
		return ex_load_as(n, is_as_it_is ? ELEM_S32 : ELEM_F32, g->acc, g->lanes,
				  memory_at(g, af_var(row), vec), NULL);
	return is_as_it_is ? ex_reg_as_is(n, g->acc, at) : ex_reg(n, g->acc, at);
}

/* ---- tiles whose post-ops wait ---- */

/* Where such a tile is before its post-ops. */
static int pending_of(struct nest *n, const struct brgemm *g)
{
	static const char name[] = "pending";

	return g->tile->end ? g->acc : nest_near(n, name, MOST_VALUES);
}

/* So many groups of so many rows from row `from` on. */
static void finish_groups(struct nest *n, const struct brgemm *g, int from, int groups, int rows,
			  const struct brgemm_out *o, enum brgemm_stage stage)
{
	int group, m, vec;
	struct affine row;

	if (!groups)
		return;
	group = g->over.pitch ? -1 : nest_for(n, LOOP_SERIAL, "g", af(0), af(groups));
	m = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	nest_jam(n);
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	if (g->nv <= ACTIVATION_JAM)
		nest_jam(n);
	row = af_add(af(from), af_var(m));
	if (group >= 0)
		row = af_add(row, af_mul(af_var(group), rows));
	store_value(n, g, row, vec,
		    ex_load(n, pending_of(n, g), g->lanes, memory_at(g, row, vec), NULL), o, stage);
	brgemm_close_tile(n);
	if (group >= 0)
		nest_close(n);
}

/* Says how many rows are finished at a time. */
static int group_rows(const struct brgemm *g)
{
	return g->nv < ACTIVATION_JAM ? ACTIVATION_JAM / g->nv : 1;
}

/* The chains of a few rows' values overlap, and code for them is enough for all rows. */
static void finish_waiting(struct nest *n, const struct brgemm *g, int rows,
			   const struct brgemm_out *o, enum brgemm_stage stage)
{
	struct row_split s = row_split(rows, group_rows(g));
	int row, vec;

	if (!g->tile->end) {
		brgemm_open_tile(n, g, rows, &row, &vec);
		nest_store(n, pending_of(n, g), memory_at(g, af_var(row), vec), NULL,
			   acc_value(n, g, row, vec, o));
		brgemm_close_tile(n);
	}
	finish_groups(n, g, 0, (int)s.rest, s.rows + 1, o, stage);
	finish_groups(n, g, (int)s.rest * (s.rows + 1), (int)(s.tiles - s.rest), s.rows, o, stage);
}

static void store_rows(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *o,
		       enum brgemm_stage stage)
{
	int row, vec;

	if (stage != BRGEMM_PARTIAL && brgemm_waits(o)) {
		finish_waiting(n, g, rows, o, stage);
		return;
	}
	brgemm_open_tile(n, g, rows, &row, &vec);
	store_value(n, g, af_var(row), vec, acc_value(n, g, row, vec, o), o, stage);
	brgemm_close_tile(n);
}

/* ---- tiles that run over the ends of lines ---- */

/* Stores rows of a line: `rows` at a time, so many times, from position `from` on. */
static void store_stretch(struct nest *n, const struct brgemm *of, const struct brgemm_out *to,
			  enum brgemm_stage stage, int line, struct affine from, int rows,
			  struct affine times)
{
	const int i = nest_for(n, LOOP_SERIAL, "rows", af(0), times);
	const struct affine at = af_add(from, af_mul(af_var(i), rows));
	struct brgemm_out o = *to;
	struct brgemm g = *of;

	g.line = af_sub(at, g.over.begin);
	o.c_at = af_sum(o.c_at, af_scale(af_var(line), o.c_line),
			af_scale(af_sub(at, af_mul(af_var(line), g.over.pitch)), o.c_row));
	store_rows(n, &g, rows, &o, stage);
	nest_close(n);
}

/* Goes through the lines that the tile has positions of, and stores the pixels of each: a few at a
 * time, then what is left one by one. */
static void store_over(struct nest *n, const struct brgemm *g, const struct brgemm_out *o,
		       enum brgemm_stage stage)
{
	const struct brgemm_over *v = &g->over;
	const int few = group_rows(g), first = nest_let_div(n, "first", v->from, v->pitch),
		  last = nest_let_div(n, "last", af_sub(v->end, af(1)), v->pitch),
		  line = nest_for(n, LOOP_SERIAL, "line", af_var(first),
				  af_add(af_var(last), af(1)));
	const struct affine at = af_mul(af_var(line), v->pitch);
	struct affine from, to, rows, done;

	from = af_mul(af_var(nest_let_min(n, "from", af_mul(v->from, -1), af_mul(at, -1))), -1);
	to = af_var(nest_let_min(n, "to", v->end, af_add(at, af(v->width))));
	rows = af_mul(af_var(nest_let_min(n, "none", af(0), af_sub(from, to))), -1);
	done = af_var(nest_let_div(n, "few", rows, few));
	store_stretch(n, g, o, stage, line, from, few, done);
	done = af_mul(done, few);
	if (few > 1)
		store_stretch(n, g, o, stage, line, af_add(from, done), 1, af_sub(rows, done));
	nest_close(n);
}

static void store_columns(struct nest *n, const struct brgemm *g, int rows,
			  const struct brgemm_out *o, enum brgemm_stage stage)
{
	if (g->over.pitch)
		store_over(n, g, o, stage);
	else
		store_rows(n, g, rows, o, stage);
}

/* The last tile of a row may have fewer columns than the others: it alone is masked. A masked store
 * of AVX2 is microcoded on AMD's Zen 1 to 3 (Fog, "Instruction tables"). */
static void open_whole(struct nest *n, const struct brgemm *g, const struct affine *valid)
{
	nest_if_less(n, af((int64_t)g->nv * g->lanes - 1), *valid);
}

void brgemm_load_columns(struct nest *n, const struct brgemm *g, int rows,
			 const struct brgemm_out *o, int onto)
{
	struct brgemm_out whole = *o;

	whole.valid = NULL;
	if (o->valid)
		open_whole(n, g, o->valid);
	load_columns(n, g, rows, &whole, onto);
	if (!o->valid)
		return;
	nest_else(n);
	load_columns(n, g, rows, o, onto);
	nest_close(n);
}

void brgemm_store_columns(struct nest *n, const struct brgemm *g, int rows,
			  const struct brgemm_out *o, enum brgemm_stage stage)
{
	struct brgemm_out whole = *o;

	whole.valid = NULL;
	if (o->valid)
		open_whole(n, g, o->valid);
	store_columns(n, g, rows, &whole, stage);
	if (!o->valid)
		return;
	nest_else(n);
	store_columns(n, g, rows, o, stage);
	nest_close(n);
}
