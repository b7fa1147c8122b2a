#include "lib/tile/brgemm.h"

#include <stddef.h>

#include "lib/space/isa.h"
#include "lib/space/knob.h"
#include "lib/tile/activation.h"
#include "lib/tile/post.h"

enum { LINE = 16 };		/* elements of a cache line */
enum { MOST_VALUES = 32 * 16 }; /* of a tile */

void brgemm_registers(struct nest *n, struct brgemm *g, int lanes, int max_rows, int nv)
{
	g->lanes = lanes;
	g->nv = nv;
	g->b_vector = lanes;
	g->acc = nest_reg(n, "acc", ELEM_F32, lanes, max_rows, nv);
	g->areg = nest_reg(n, "a", ELEM_F32, lanes, max_rows, 1);
	g->breg = nest_reg(n, "b", ELEM_F32, lanes, 1, nv);
}

/* Register number of acc[row, vector]. */
static struct affine acc_at(const struct brgemm *g, struct affine row, int vec)
{
	return af_add(af_mul(row, g->nv), af_var(vec));
}

/* Valid lanes of vector vec where `columns` are left from the tile's first column on; NULL if all
 * are. */
static const struct affine *lanes_left(struct nest *n, const struct brgemm *g,
				       const struct affine *columns, int vec)
{
	if (!columns)
		return NULL;
	return nest_keep(n, af_sub(*columns, af_mul(af_var(vec), g->lanes)));
}

static void open_tile(struct nest *n, const struct brgemm *g, int rows, int *row, int *vec)
{
	*row = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	*vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
}

static void close_tile(struct nest *n)
{
	nest_close(n);
	nest_close(n);
}

void brgemm_zero(struct nest *n, const struct brgemm *g, int rows)
{
	int row, vec;

	open_tile(n, g, rows, &row, &vec);
	nest_store(n, g->acc, acc_at(g, af_var(row), vec), NULL,
		   ex_const(n, ELEM_F32, g->lanes, 0));
	close_tile(n);
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

	open_tile(n, g, rows, &row, &vec);
	x = ex_load(n, o->c, g->lanes, c_index(g, o, af_var(row), vec),
		    lanes_left(n, g, o->valid, vec));
	if (onto)
		x = ex_op(n, EXPR_ADD, ex_reg(n, g->acc, acc_at(g, af_var(row), vec)), x, NULL);
	nest_store(n, g->acc, acc_at(g, af_var(row), vec), NULL, x);
	close_tile(n);
}

/* The place of something is computed once, not at each of its loads and stores, which would be most
 * of what a compiler has to do. What is left to add in each: a constant. */
static struct affine view_at(struct nest *n, const char *name, int *buffer, struct affine at)
{
	if (!at.n)
		return at;
	*buffer = nest_view(n, name, *buffer, at);
	return af(0);
}

/* acc += A[.., k] * B[k], with the products of a row side by side. */
static void multiply_step(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
			  struct affine b_at)
{
	int row, vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));

	nest_store(n, g->breg, af_var(vec), NULL,
		   ex_load(n, g->b, g->lanes, af_add(b_at, af_mul(af_var(vec), g->b_vector)),
			   lanes_left(n, g, g->b_valid, vec)));
	nest_close(n);

	row = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	nest_store(
		n, g->areg, af_var(row), NULL,
		ex_bcast(n, g->lanes,
			 ex_load(n, g->a, 1, af_add(a_at, af_scale(af_var(row), g->a_row)), NULL)));
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	nest_store(n, g->acc, acc_at(g, af_var(row), vec), NULL,
		   ex_op(n, EXPR_FMA, ex_reg(n, g->areg, af_var(row)),
			 ex_reg(n, g->breg, af_var(vec)),
			 ex_reg(n, g->acc, acc_at(g, af_var(row), vec))));
	close_tile(n);
}

static int is_straight(const struct brgemm *g)
{
	return g->straight.taps > 0;
}

/* Loops over taps and k. */
void brgemm_multiply(struct nest *n, const struct brgemm *of, int rows)
{
	int straight = is_straight(of), k;
	enum loop_kind kind = straight ? LOOP_UNROLL : LOOP_SERIAL;
	struct affine a_at = of->a_at, b_at = of->b_at;
	struct brgemm g = *of;

	for (int t = 0; t < g.ntaps; t++) {
		int tap = straight ? nest_for(n, kind, "t", af(0), af(g.straight.taps))
				   : nest_for(n, kind, "t", g.tap[t].lo, g.tap[t].n);

		a_at = af_add(a_at, af_scale(af_var(tap), g.tap[t].a_step));
		b_at = af_add(b_at, af_scale(af_var(tap), g.tap[t].b_step));
	}
	if (!straight) {
		a_at = view_at(n, "A", &g.a, a_at);
		b_at = view_at(n, "B", &g.b, b_at);
	}
	k = nest_for(n, kind, "k", af(0), straight ? af(g.straight.k) : g.k);
	if (!straight)
		nest_unroll_hint(n, g.unroll);
	multiply_step(n, &g, rows, af_add(a_at, af_var(k)),
		      af_add(b_at, af_scale(af_var(k), g.b_k)));
	nest_close(n);
	for (int t = 0; t < g.ntaps; t++)
		nest_close(n);
}

/* What a tile is when it is stored: a partial sum; finished, begun with the tensor that is added
 * where it may be (begin_tile()); or whole, and that tensor is still to be added. */
enum stage { PARTIAL, FINISHED, WHOLE };

static void store_value(struct nest *n, const struct brgemm *g, struct affine row, int vec,
			const struct expr *x, const struct brgemm_out *o, enum stage stage)
{
	int adds = o->adds && (stage == WHOLE || !post_adds_first(o->npost, o->post));
	struct affine at = c_index(g, o, row, vec);
	const struct affine *valid = lanes_left(n, g, o->valid, vec);
	struct post_values with = {0};

	if (stage != PARTIAL) {
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

static int waits(const struct brgemm_out *o)
{
	for (int i = 0; i < o->npost; i++)
		if (activation_waits(&o->post[i]))
			return 1;
	return 0;
}

static const struct expr *acc_value(struct nest *n, const struct brgemm *g, int row, int vec)
{
	return ex_reg(n, g->acc, acc_at(g, af_var(row), vec));
}

/* ---- tiles whose post-ops wait ---- */

/* Where such a tile is before its post-ops. */
static int pending_of(struct nest *n)
{
	static const char name[] = "pending";

	return nest_near(n, name, MOST_VALUES);
}

static struct affine pending_at(const struct brgemm *g, struct affine row, int vec)
{
	return af_mul(acc_at(g, row, vec), g->lanes);
}

/* So many groups of so many rows from row `from` on. */
static void finish_groups(struct nest *n, const struct brgemm *g, int from, int groups, int rows,
			  const struct brgemm_out *o, enum stage stage)
{
	int group, m, vec;
	struct affine row;

	if (!groups)
		return;
	group = nest_for(n, LOOP_SERIAL, "g", af(0), af(groups));
	m = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	nest_jam(n);
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	if (g->nv <= ACTIVATION_JAM)
		nest_jam(n);
	row = af_sum(af(from), af_mul(af_var(group), rows), af_var(m));
	store_value(n, g, row, vec,
		    ex_load(n, pending_of(n), g->lanes, pending_at(g, row, vec), NULL), o, stage);
	close_tile(n);
	nest_close(n);
}

/* The chains of a few rows' values overlap, and code for them is enough for all rows. */
static void finish_waiting(struct nest *n, const struct brgemm *g, int rows,
			   const struct brgemm_out *o, enum stage stage)
{
	struct row_split s = row_split(rows, g->nv < ACTIVATION_JAM ? ACTIVATION_JAM / g->nv : 1);
	int pending = pending_of(n), row, vec;

	open_tile(n, g, rows, &row, &vec);
	nest_store(n, pending, pending_at(g, af_var(row), vec), NULL, acc_value(n, g, row, vec));
	close_tile(n);
	finish_groups(n, g, 0, (int)s.rest, s.rows + 1, o, stage);
	finish_groups(n, g, (int)s.rest * (s.rows + 1), (int)(s.tiles - s.rest), s.rows, o, stage);
}

static void store_columns(struct nest *n, const struct brgemm *g, int rows,
			  const struct brgemm_out *o, enum stage stage)
{
	int row, vec;

	if (stage != PARTIAL && waits(o)) {
		finish_waiting(n, g, rows, o, stage);
		return;
	}
	open_tile(n, g, rows, &row, &vec);
	store_value(n, g, af_var(row), vec, acc_value(n, g, row, vec), o, stage);
	close_tile(n);
}

/* The last tile of a row may have fewer columns than the others: it alone is masked. A masked store
 * of AVX2 is microcoded on AMD's Zen 1 to 3 (Fog, "Instruction tables"). */
static void open_whole(struct nest *n, const struct brgemm *g, const struct affine *valid)
{
	nest_if_less(n, af((int64_t)g->nv * g->lanes - 1), *valid);
}

static void load_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *o,
		      int onto)
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

static void store_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *o,
		       enum stage stage)
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

void brgemm_out_view(struct nest *n, struct brgemm_out *o, struct affine at)
{
	o->c = nest_view(n, "C", o->c, at);
	if (post_has(o->npost, o->post, POST_MUL))
		o->mul = nest_view(n, "mul", o->mul, at);
}

int brgemm_out_take_bias(struct brgemm_out *o)
{
	int bias = o->bias;

	if (!post_bias_first(o->npost, o->post) || (o->adds && post_adds_first(o->npost, o->post)))
		return -1;
	o->post++;
	o->npost--;
	o->bias = -1;
	return bias;
}

static struct brgemm_out view_out(struct nest *n, const struct brgemm_out *o)
{
	struct brgemm_out v = *o;

	if (o->c_at.n) {
		brgemm_out_view(n, &v, o->c_at);
		v.c_at = af(0);
	}
	if (o->bias >= 0)
		v.bias_at = view_at(n, "bias", &v.bias, o->bias_at);
	return v;
}

/* All rows begin with the bias, which is loaded once. */
static void begin_with_bias(struct nest *n, const struct brgemm *g, int rows, int bias,
			    struct affine at)
{
	int row, vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));

	nest_store(n, g->acc, acc_at(g, af(0), vec), NULL,
		   ex_load(n, bias, g->lanes, af_add(at, af_mul(af_var(vec), g->lanes)), NULL));
	nest_close(n);
	row = nest_for(n, LOOP_UNROLL, "m", af(1), af(rows));
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	nest_store(n, g->acc, acc_at(g, af_var(row), vec), NULL,
		   ex_reg(n, g->acc, acc_at(g, af(0), vec)));
	close_tile(n);
}

/* The sum begins with the tensor that is added, where nothing comes before that but the bias: its
 * loads then overlap with the products, and chunks of k need no case of their own. Else with the
 * bias, or with zero. */
static void begin_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *o,
		       int bias)
{
	if (o->adds && post_adds_first(o->npost, o->post))
		load_tile(n, g, rows, o, 0);
	else if (bias >= 0)
		begin_with_bias(n, g, rows, bias, o->bias_at);
	else
		brgemm_zero(n, g, rows);
}

static int is_zero(struct affine a)
{
	return !a.n && !a.c;
}

/* The beginnings of rows from `at` on; a row's other lines follow by the hardware's own means. */
static void prefetch_rows(struct nest *n, int buffer, struct affine at, struct affine row_step,
			  int rows, int64_t columns)
{
	int row = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	int line = nest_for(n, LOOP_UNROLL, "l", af(0), af(ceil_div(columns, LINE)));

	nest_prefetch(n, buffer,
		      af_sum(at, af_scale(af_var(row), row_step), af_mul(af_var(line), LINE)));
	close_tile(n);
}

/* What the next tile reads first and writes. Out of the second-level cache these cost a tile of few
 * products a tenth of its time (PERFORMANCE.md). */
static void prefetch_next(struct nest *n, const struct brgemm *g, int rows,
			  const struct brgemm_out *o)
{
	if (!is_zero(g->c_next))
		prefetch_rows(n, o->c, af_add(o->c_at, g->c_next), o->c_row, rows,
			      (int64_t)g->nv * g->lanes);
	if (!is_zero(g->a_next))
		prefetch_rows(n, nest_view(n, "next", g->a, af_add(g->a_at, g->a_next)), af(0),
			      g->a_row, rows, 2 * LINE);
}

/* Views would end it; its accesses are at constants from a few places anyway. */
static int is_one_run(const struct brgemm *g, const struct brgemm_out *o)
{
	return is_straight(g) && !waits(o) && is_zero(g->a_next) && is_zero(g->c_next);
}

void brgemm_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to,
		 int chunk, struct affine chunks)
{
	struct brgemm_out out = is_one_run(g, to) ? *to : view_out(n, to), *o = &out;
	int bias = brgemm_out_take_bias(o);

	if (chunk < 0) {
		begin_tile(n, g, rows, o, bias);
		prefetch_next(n, g, rows, o);
		brgemm_multiply(n, g, rows);
		store_tile(n, g, rows, o, FINISHED);
		return;
	}
	if (o->adds) {
		load_tile(n, g, rows, o, 0);
	} else {
		nest_if_less(n, af_var(chunk), af(1));
		begin_tile(n, g, rows, o, bias);
		nest_else(n);
		load_tile(n, g, rows, o, 0);
		nest_close(n);
	}
	prefetch_next(n, g, rows, o);
	brgemm_multiply(n, g, rows);
	nest_if_less(n, af_add(af_var(chunk), af(1)), chunks);
	store_tile(n, g, rows, o, PARTIAL);
	nest_else(n);
	store_tile(n, g, rows, o, FINISHED);
	nest_close(n);
}

void brgemm_load(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from)
{
	load_tile(n, g, rows, from, 0);
}

void brgemm_add(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from)
{
	load_tile(n, g, rows, from, 1);
}

void brgemm_keep(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to)
{
	store_tile(n, g, rows, to, PARTIAL);
}

void brgemm_finish(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to)
{
	struct brgemm_out o = view_out(n, to);

	store_tile(n, g, rows, &o, WHOLE);
}

int brgemm_may_look_ahead(int64_t elements, const struct limits *m)
{
	return elements * (int64_t)sizeof(float) > m->l2 / 2;
}

const char brgemm_cannot_chunk[] = "partial sums would overwrite the tensor that is added";

int brgemm_chunks(int npost, const struct post_op *post)
{
	return !post_has(npost, post, POST_ADD) || post_adds_first(npost, post);
}

struct row_split row_split(int64_t extent, int64_t max_rows)
{
	struct row_split s;

	s.tiles = (extent + max_rows - 1) / max_rows;
	s.rows = (int)(extent / s.tiles);
	s.rest = extent % s.tiles;
	return s;
}

int brgemm_fits(int64_t lanes, int64_t nv, int64_t rows, const char **why)
{
	const struct isa *isa = isa_of_lanes(lanes);

	*why = "a knob of the register tile is outside its range";
	if ((lanes != 1 && lanes != 4 && lanes != 8 && lanes != 16) || nv < 1 || nv > 16 ||
	    rows < 1 || rows > 32)
		return 0;
	*why = "the register tile needs more vector registers than there are";
	return rows * nv + nv + !isa->folds <= isa->vregs;
}
