#include "lib/schedule/weight_groups.h"

#include <stddef.h>

enum { FOUR = 4, TERMS = 2 };

/* Columns of a panel. */
static int64_t panel(const struct weight_groups *b)
{
	return b->apart ? b->lanes : b->lanes * b->nv;
}

/* Values of k side by side, and values of k in the bytes of a column that stand together. */
static int64_t beside(const struct weight_groups *b)
{
	return b->fours ? FOUR : 1;
}

static int64_t unit(const struct weight_groups *b)
{
	return beside(b) * b->halves;
}

/* [panel][k / unit][column][beside]: a dimension of two values of k becomes one byte. */
static int pack_weights(struct nest *n, const struct weight_groups *b)
{
	const int64_t k = b->w->dim[MATMUL_K], columns = b->tiles * b->lanes * b->nv;
	struct packing p = {.rank = 4,
			    .extent = {k / unit(b), b->halves, beside(b), b->w->dim[MATMUL_N]}};
	struct packing_map *m;

	packing_axis(&p, 3, columns / panel(b), panel(b));
	packing_axis(&p, 0, k / unit(b), 1);
	packing_axis(&p, 3, panel(b), 1);
	packing_axis(&p, 2, beside(b), 1);
	if (b->halves > 1) {
		m = packing_map(&p, 1, 1, 1, b->halves);
		m->m[0][0] = 1;
		m->m[0][1] = 16;
	}
	return nest_packed(n, "B", TENSOR_WEIGHTS, &p);
}

/* [panel][group][column] */
static int pack_numbers(struct nest *n, const struct weight_groups *b, const char *name,
			enum tensor_role role)
{
	const int64_t groups = b->w->dim[MATMUL_K] / b->group;
	const int64_t columns = b->tiles * b->lanes * b->nv;
	struct packing p = {.rank = 2, .extent = {groups, b->w->dim[MATMUL_N]}};

	packing_axis(&p, 1, columns / panel(b), panel(b));
	packing_axis(&p, 0, groups, 1);
	packing_axis(&p, 1, panel(b), 1);
	return nest_packed(n, name, role, &p);
}

void weight_groups_declare(struct nest *n, struct weight_groups *b)
{
	b->group = workload_group(b->w);
	b->halves = 8 / dtype_bits(b->w->dtype.wei);
	b->packed = pack_weights(n, b);
	nest_elem(n, b->packed, ELEM_U8);
	b->scales = pack_numbers(n, b, "scales", TENSOR_SCALE);
	b->zeros = -1;
	b->middle = dtype_middle(b->w->dtype.wei);
	if (!workload_has_post(b->w, POST_ZEROS))
		return;
	b->middle = 0;
	b->zeros = pack_numbers(n, b, "zeros", TENSOR_ZEROS);
	nest_elem(n, b->zeros, ELEM_U8);
}

void weight_groups_registers(struct nest *n, struct weight_groups *b, int rows)
{
	const int lanes = (int)b->lanes, nv = (int)b->nv;
	const enum elem bytes = b->fours ? ELEM_U8X4 : ELEM_S32;

	b->sum = nest_reg(n, "sum", b->fours ? ELEM_S32 : ELEM_F32, lanes,
			  b->fours ? rows * DIGITS : rows, nv);
	b->bytes = nest_reg(n, "bytes", bytes, lanes, 1, nv);
	b->half = nest_reg(n, "half", bytes, lanes, 1, nv);
	if (b->fours) {
		b->digit = nest_reg(n, "digit", ELEM_S8X4, lanes, 1, 1);
		b->term = nest_reg(n, "term", ELEM_F32, lanes, 1, TERMS);
	} else if (b->zeros >= 0) {
		b->zero = nest_reg(n, "zero", ELEM_F32, lanes, 1, nv);
	}
}

/* Where vector `vec` of the tile's columns is, in rows of panels that have so many. */
static struct affine panel_at(const struct weight_groups *b, const struct weight_tile *t,
			      struct affine vec, int64_t rows, struct affine row)
{
	const struct affine first = af_mul(af_var(t->tile), b->lanes * b->nv * rows);

	if (b->apart)
		return af_sum(first, af_mul(vec, b->lanes * rows), af_mul(row, b->lanes));
	return af_sum(first, af_mul(row, b->lanes * b->nv), af_mul(vec, b->lanes));
}

/* Vector vec of scales or zero points. */
static const struct expr *numbers(struct nest *n, const struct weight_groups *b,
				  const struct weight_tile *t, int buffer, int vec)
{
	return ex_load(
		n, buffer, (int)b->lanes,
		panel_at(b, t, af_var(vec), b->w->dim[MATMUL_K] / b->group, af_var(t->group)),
		NULL);
}

/* Vector vec of the bytes of unit i of the open step, `ahead` steps further on. */
static struct affine bytes_at(const struct weight_groups *b, const struct weight_tile *t,
			      struct affine vec, struct affine i, int64_t ahead)
{
	const int64_t units = WEIGHT_STEP / unit(b);
	struct affine row = af_add(af_mul(af_var(t->group), b->group / unit(b)),
				   af_mul(af_add(af_var(t->step), af(ahead)), units));

	return af_mul(panel_at(b, t, vec, b->w->dim[MATMUL_K] / unit(b), af_add(row, i)),
		      beside(b));
}

static struct affine sum_at(const struct weight_groups *b, struct affine row, int digit, int vec)
{
	const int each = b->fours ? DIGITS : 1;

	return af_sum(af_mul(row, each * b->nv), af(digit * b->nv), af_var(vec));
}

void weight_groups_begin(struct nest *n, const struct weight_groups *b, const struct weight_tile *t)
{
	int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(t->rows * (b->fours ? DIGITS : 1) * b->nv));
	int vec;

	nest_store(n, b->sum, af_var(i), NULL,
		   ex_const(n, n->buffer[b->sum].elem, (int)b->lanes, 0));
	nest_close(n);
	if (b->fours || b->zeros < 0)
		return;
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->nv));
	nest_store(n, b->zero, af_var(vec), NULL, numbers(n, b, t, b->zeros, vec));
	nest_close(n);
}

static void prefetch(struct nest *n, const struct weight_groups *b, const struct weight_tile *t)
{
	enum { LINE = 64 };
	const int64_t bytes = b->lanes * (WEIGHT_STEP / b->halves); /* of a vector of columns */
	int line, vec;

	if (!b->fetch)
		return;
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->apart ? b->nv : 1));
	line = nest_for(n, LOOP_UNROLL, "l", af(0), af((b->apart ? bytes : bytes * b->nv) / LINE));
	nest_prefetch(
		n, b->packed,
		af_add(bytes_at(b, t, af_var(vec), af(0), b->fetch), af_mul(af_var(line), LINE)));
	nest_close(n);
	nest_close(n);
}

/* Loads the bytes of unit i. */
static void load_bytes(struct nest *n, const struct weight_groups *b, const struct weight_tile *t,
		       int i)
{
	const int lanes = (int)b->lanes, vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->nv));
	const struct affine at = bytes_at(b, t, af_var(vec), af_var(i), 0);

	nest_store(n, b->bytes, af_var(vec), NULL,
		   b->fours ? ex_load_groups(n, b->packed, ELEM_U8X4, lanes, at)
			    : ex_load_whole(n, b->packed, lanes, at, NULL));
	nest_close(n);
}

/* Half of each byte, in the registers that are returned; of 8 bits: all of it. */
static int halve(struct nest *n, const struct weight_groups *b, int upper)
{
	int vec;

	if (b->halves == 1)
		return b->bytes;
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->nv));
	nest_store(n, b->half, af_var(vec), NULL,
		   ex_op(n, upper ? EXPR_HIGH4 : EXPR_LOW4, ex_reg_as_is(n, b->bytes, af_var(vec)),
			 NULL, NULL));
	nest_close(n);
	return b->half;
}

void weight_groups_multiply(struct nest *n, const struct weight_groups *b,
			    const struct weight_tile *t, const struct brgemm *g, int src)
{
	const int lanes = (int)b->lanes;
	const int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(WEIGHT_STEP / unit(b)));
	const struct affine k =
		af_sum(af_mul(af_var(t->group), b->group), af_mul(af_var(t->step), WEIGHT_STEP),
		       af_mul(af_var(i), unit(b)));
	int row, vec, from;

	prefetch(n, b, t);
	load_bytes(n, b, t, i);
	for (int upper = 0; upper < b->halves; upper++) {
		from = halve(n, b, upper);
		vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->nv));
		nest_store(n, g->breg, af_var(vec), NULL,
			   ex_op(n, EXPR_SUB, ex_load(n, from, lanes, af_var(vec), NULL),
				 b->zeros >= 0 ? ex_reg(n, b->zero, af_var(vec))
					       : ex_const(n, ELEM_F32, lanes, (double)b->middle),
				 NULL));
		nest_close(n);
		row = nest_for(n, LOOP_UNROLL, "m", af(0), af(t->rows));
		nest_store(n, g->areg, af_var(row), NULL,
			   ex_bcast(n, lanes,
				    ex_load(n, src, 1,
					    af_sum(af_mul(af_add(t->row, af_var(row)),
							  b->w->dim[MATMUL_K]),
						   k, af(upper)),
					    NULL)));
		vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->nv));
		nest_store(n, b->sum, sum_at(b, af_var(row), 0, vec), NULL,
			   ex_op(n, EXPR_FMA, ex_reg(n, g->areg, af_var(row)),
				 ex_reg(n, g->breg, af_var(vec)),
				 ex_reg(n, b->sum, sum_at(b, af_var(row), 0, vec))));
		nest_close(n);
		nest_close(n);
	}
	nest_close(n);
}

static const struct expr *dot(struct nest *n, const struct weight_groups *b, const struct expr *w,
			      const struct expr *digits, const struct expr *sum)
{
	return b->halves > 1 ? ex_dot_low(n, w, digits, sum) : ex_op(n, EXPR_DOT, w, digits, sum);
}

void weight_groups_dot(struct nest *n, const struct weight_groups *b, const struct weight_tile *t,
		       const struct digits *a)
{
	const int64_t steps = b->group / WEIGHT_STEP;
	const struct affine units = af_add(af_mul(af_var(t->group), steps), af_var(t->step));
	const int i = nest_for(n, LOOP_UNROLL, "i", af(0), af(WEIGHT_STEP / unit(b)));
	int row, vec, from;

	prefetch(n, b, t);
	load_bytes(n, b, t, i);
	for (int upper = 0; upper < b->halves; upper++) {
		const struct affine rest = af_add(af_mul(af_var(i), unit(b)), af(upper * FOUR));

		from = halve(n, b, upper);
		row = nest_for(n, LOOP_UNROLL, "m", af(0), af(t->rows));
		for (int digit = 0; digit < DIGITS; digit++) {
			nest_store(n, b->digit, af(0), NULL,
				   ex_bcast(n, (int)b->lanes,
					    ex_load_groups(n, a->values, ELEM_S8X4, 1,
							   digits_at(a, af_add(t->row, af_var(row)),
								     units, digit, rest))));
			vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->nv));
			nest_store(
				n, b->sum, sum_at(b, af_var(row), digit, vec), NULL,
				dot(n, b, ex_reg(n, from, af_var(vec)), ex_reg(n, b->digit, af(0)),
				    ex_reg_as_is(n, b->sum, sum_at(b, af_var(row), digit, vec))));
			nest_close(n);
		}
		nest_close(n);
	}
	nest_close(n);
}

/* Returns the sum of a group of digits in single precision; weights count from their zero point. */
static const struct expr *digits_sum(struct nest *n, const struct weight_groups *b,
				     const struct weight_tile *t, int row, int vec)
{
	const int lanes = (int)b->lanes;
	const struct expr *x = NULL, *step = ex_reg(n, b->term, af(0)),
			  *less = ex_reg(n, b->term, af(1));

	for (int digit = 0; digit < DIGITS; digit++) {
		const struct expr *sum = ex_reg(n, b->sum, sum_at(b, af_var(row), digit, vec));

		x = x ? ex_op(n, EXPR_FMA, sum, ex_const(n, ELEM_F32, lanes, digits_worth(digit)),
			      x)
		      : sum;
	}
	if (b->zeros < 0)
		return ex_op(n, EXPR_FMA, x, step, less);
	return ex_op(n, EXPR_FMA, numbers(n, b, t, b->zeros, vec), less,
		     ex_op(n, EXPR_MUL, x, step, NULL));
}

void weight_groups_end(struct nest *n, const struct weight_groups *b, const struct weight_tile *t,
		       const struct brgemm *g, const struct digits *a)
{
	const int row = nest_for(n, LOOP_UNROLL, "m", af(0), af(t->rows));
	struct affine at;
	int vec, term;

	if (a) {
		term = nest_for(n, LOOP_UNROLL, "term", af(0), af(TERMS));
		at = digits_term(a, af_add(t->row, af_var(row)), af_var(t->group));
		nest_store(n, b->term, af_var(term), NULL,
			   ex_bcast(n, (int)b->lanes,
				    ex_load(n, a->terms, 1, af_add(at, af_var(term)), NULL)));
		nest_close(n);
	}
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(b->nv));
	at = af_add(af_mul(af_var(row), g->nv), af_var(vec));
	nest_store(n, g->acc, at, NULL,
		   ex_op(n, EXPR_FMA,
			 a ? digits_sum(n, b, t, row, vec)
			   : ex_reg(n, b->sum, sum_at(b, af_var(row), 0, vec)),
			 numbers(n, b, t, b->scales, vec), ex_reg(n, g->acc, at)));
	nest_close(n);
	nest_close(n);
}
