#include "lib/tile/brgemm.h"

#include <stddef.h>

#include "lib/space/isa.h"
#include "lib/space/knob.h"
#include "lib/tile/brgemm_columns.h"
#include "lib/tile/post.h"
#include "lib/tile/tile.h"

enum { LINE = 16 }; /* elements of a cache line */

/* Sums, vectors of the right side, and a broadcast where it is no operand. */
static int64_t registers_of(const struct isa *isa, int64_t nv, int64_t rows)
{
	return rows * nv + nv + !isa->folds;
}

void brgemm_registers(struct nest *n, struct brgemm *g, int lanes, int max_rows, int nv)
{
	if (!g->tile)
		g->tile = &tile_fma;
	g->lanes = lanes;
	g->nv = nv;
	g->b_vector = (int64_t)lanes * g->tile->group;
	if (!g->depth)
		g->depth = g->tile->group;
	if (g->tile->registers) {
		g->tile->registers(n, g, max_rows);
		return;
	}
	g->holds_left =
		registers_of(isa_of_lanes(lanes), nv, max_rows) > isa_of_lanes(lanes)->vregs;
	g->acc = nest_reg(n, "acc", g->tile->sum, lanes, max_rows, nv);
	g->areg = nest_reg(n, "a", g->tile->left, lanes, max_rows, 1);
	g->breg = nest_reg(n, "b", g->tile->right, lanes, 1, nv);
}

void brgemm_zero(struct nest *n, const struct brgemm *g, int rows)
{
	int row, vec;

	brgemm_open_tile(n, g, rows, &row, &vec);
	nest_store(n, g->acc, brgemm_acc_at(g, af_var(row), vec), NULL,
		   ex_const(n, g->tile->sum, g->lanes, 0));
	brgemm_close_tile(n);
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

static int is_straight(const struct brgemm *g)
{
	return g->straight.taps > 0;
}

/* Loops over taps and k. */
static void multiply(struct nest *n, const struct brgemm *of, int rows)
{
	int straight = is_straight(of), k;
	enum loop_kind kind = straight ? LOOP_UNROLL : LOOP_SERIAL;
	struct affine a_at = of->a_at, b_at = of->b_at;
	struct brgemm g = *of;

	g.next_from = g.b;
	for (int t = 0; t < g.ntaps; t++) {
		int tap = straight ? nest_for(n, kind, "t", af(0), af(g.straight.taps))
				   : nest_for(n, kind, "t", g.tap[t].lo, g.tap[t].n);

		a_at = af_add(a_at, af_scale(af_var(tap), g.tap[t].a_step));
		b_at = af_add(b_at, af_scale(af_var(tap), g.tap[t].b_step));
		g.next = af_add(g.next, af_mul(af_var(tap), g.next_tap[t]));
	}
	if (!straight) {
		a_at = view_at(n, "A", &g.a, a_at);
		b_at = view_at(n, "B", &g.b, b_at);
	}
	if (g.next_lines)
		g.next = view_at(n, "next", &g.next_from, g.next);
	k = nest_for(n, kind, "k", g.first_k, straight ? af(g.straight.k) : g.k);
	if (!straight)
		nest_unroll_hint(n, g.unroll);
	g.next = af_add(g.next, af_mul(af_var(k), g.next_step));
	g.tile->step(n, &g, rows, af_add(a_at, af_mul(af_var(k), g.depth)),
		     af_add(b_at, af_scale(af_var(k), g.b_k)));
	nest_close(n);
	for (int t = 0; t < g.ntaps; t++)
		nest_close(n);
}

static void multiply_part(struct nest *n, const struct brgemm *of, const struct brgemm_part *p)
{
	struct brgemm g = *of;

	g.first_row = p->from;
	if (of->is_of_k) {
		g.first_k = af(p->lo);
		g.k = af(p->hi);
		g.straight.k = (int)p->hi;
	} else {
		g.tap[g.ntaps - 1].lo = af(p->lo);
		g.tap[g.ntaps - 1].n = af(p->hi);
	}
	multiply(n, &g, p->to);
}

void brgemm_multiply(struct nest *n, const struct brgemm *g, int rows)
{
	if (!g->nparts)
		multiply(n, g, rows);
	for (int i = 0; i < g->nparts; i++)
		multiply_part(n, g, &g->part[i]);
}

void brgemm_out_view(struct nest *n, struct brgemm_out *o, struct affine at)
{
	o->c = nest_view(n, "C", o->c, at);
	if (post_has(o->npost, o->post, POST_MUL))
		o->mul = nest_view(n, "mul", o->mul, at);
}

int brgemm_begins_with_add(const struct brgemm_out *o)
{
	return o->adds && !o->is_whole && post_adds_first(o->npost, o->post);
}

int brgemm_out_take_bias(struct brgemm_out *o)
{
	int bias = o->bias;

	if (!post_bias_first(o->npost, o->post) || brgemm_begins_with_add(o))
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
	if (o->scale >= 0)
		v.scale_at = view_at(n, "scale", &v.scale, o->bias_at);
	if (o->shift >= 0)
		v.shift_at = view_at(n, "shift", &v.shift, o->bias_at);
	return v;
}

/* All rows begin with the bias, which is loaded once. */
static void begin_with_bias(struct nest *n, const struct brgemm *g, int rows, int bias,
			    struct affine at)
{
	int row, vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));

	nest_store(n, g->acc, brgemm_acc_at(g, af(0), vec), NULL,
		   ex_load_as(n, g->tile->sum, bias, g->lanes,
			      af_add(at, af_mul(af_var(vec), g->lanes)), NULL));
	nest_close(n);
	row = nest_for(n, LOOP_UNROLL, "m", af(1), af(rows));
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	nest_store(n, g->acc, brgemm_acc_at(g, af_var(row), vec), NULL,
		   ex_reg_as_is(n, g->acc, brgemm_acc_at(g, af(0), vec)));
	brgemm_close_tile(n);
}

/* The sum begins with the tensor that is added, where nothing comes before that but the bias: its
 * loads then overlap with the products, and chunks of k need no case of their own. Else with the
 * bias, or with zero. */
static void begin_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *o,
		       int bias)
{
	if (g->tile->begin)
		g->tile->begin(n, g, rows, bias, o->bias_at);
	else if (brgemm_begins_with_add(o))
		brgemm_load_columns(n, g, rows, o, 0);
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
	brgemm_close_tile(n);
}

/* What the next tile reads first and writes. Out of the second-level cache these cost a tile of few
 * products a tenth of its time (docs/EXPERIMENTS.md). */
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
	return is_straight(g) && !brgemm_waits(o) && is_zero(g->a_next) && is_zero(g->c_next);
}

static void store_lines(struct nest *n, const struct brgemm *g, int rows,
			const struct brgemm_out *o)
{
	struct brgemm_out of_line = *o;
	struct brgemm from = *g;

	if (g->lines > 1) {
		from.line = af_var(nest_for(n, LOOP_SERIAL, "line", af(0), af(g->lines)));
		of_line.c_at = af_add(o->c_at, af_scale(from.line, o->c_line));
		from.line = af_mul(from.line, g->run ? g->run : rows);
	}
	brgemm_store_columns(n, &from, rows, &of_line,
			     o->is_whole || g->tile->end ? BRGEMM_WHOLE : BRGEMM_FINISHED);
	if (g->lines > 1)
		nest_close(n);
}

struct of_chunks {
	int chunk, bias;
	struct affine chunks;
};

/* Multiplies a chunk of k in tile registers. Partial sums wait in memory of their own. */
static void multiply_chunk(struct nest *n, const struct brgemm *g, int rows,
			   const struct brgemm_out *o, const struct of_chunks *c)
{
	nest_if_less(n, af_var(c->chunk), af(1));
	begin_tile(n, g, rows, o, c->bias);
	nest_else(n);
	g->tile->keep(n, g, rows, 1);
	nest_close(n);
	brgemm_multiply(n, g, rows);
	nest_if_less(n, af_add(af_var(c->chunk), af(1)), c->chunks);
	g->tile->keep(n, g, rows, 0);
	nest_else(n);
	g->tile->end(n, g, rows);
	store_lines(n, g, rows, o);
	nest_close(n);
}

void brgemm_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to,
		 int chunk, struct affine chunks)
{
	struct brgemm_out out = is_one_run(g, to) ? *to : view_out(n, to), *o = &out;
	int bias = brgemm_out_take_bias(o);

	if (is_one_run(g, to))
		o->scale_at = o->shift_at = o->bias_at;
	if (chunk < 0) {
		begin_tile(n, g, rows, o, bias);
		prefetch_next(n, g, rows, o);
		brgemm_multiply(n, g, rows);
		if (g->tile->end)
			g->tile->end(n, g, rows);
		store_lines(n, g, rows, o);
		return;
	}
	if (g->tile->keep) {
		multiply_chunk(n, g, rows, o, &(struct of_chunks){chunk, bias, chunks});
		return;
	}
	if (o->adds) {
		brgemm_load_columns(n, g, rows, o, 0);
	} else {
		nest_if_less(n, af_var(chunk), af(1));
		begin_tile(n, g, rows, o, bias);
		nest_else(n);
		brgemm_load_columns(n, g, rows, o, 0);
		nest_close(n);
	}
	prefetch_next(n, g, rows, o);
	brgemm_multiply(n, g, rows);
	nest_if_less(n, af_add(af_var(chunk), af(1)), chunks);
	brgemm_store_columns(n, g, rows, o, BRGEMM_PARTIAL);
	nest_else(n);
	brgemm_store_columns(n, g, rows, o, BRGEMM_FINISHED);
	nest_close(n);
}

void brgemm_load(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from)
{
	brgemm_load_columns(n, g, rows, from, 0);
}

void brgemm_add(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from)
{
	brgemm_load_columns(n, g, rows, from, 1);
}

void brgemm_keep(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to)
{
	brgemm_store_columns(n, g, rows, to, BRGEMM_PARTIAL);
}

void brgemm_finish(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to)
{
	struct brgemm_out o = view_out(n, to);

	brgemm_store_columns(n, g, rows, &o, BRGEMM_WHOLE);
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

int brgemm_fits(int64_t lanes, int64_t nv, int64_t rows, const char **why)
{
	const struct isa *isa = isa_of_lanes(lanes);

	*why = "a knob of the register tile is outside its range";
	if ((lanes != 1 && lanes != 4 && lanes != 8 && lanes != 16) || nv < 1 || nv > 16 ||
	    rows < 1 || rows > 32)
		return 0;
	*why = "the register tile needs more vector registers than there are";
	return registers_of(isa, nv, rows) <= isa->vregs;
}

int brgemm_fits_either_side(int64_t lanes, int64_t nv, int64_t rows, const char **why)
{
	enum { AVX2 = 8 };

	if (brgemm_fits(lanes, nv, rows, why))
		return 1;
	return lanes == AVX2 && rows > 0 && rows < nv &&
	       rows * nv + rows + 1 <= isa_of_lanes(AVX2)->vregs;
}
