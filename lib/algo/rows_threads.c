/* rows_threads: softmax and normalizations on a target with blocks of threads.
 *
 * A group of a block's threads computes a row. Neighbouring threads have neighbouring vectors. What
 * a row has in common, its maximum or a sum, goes through the block's memory (join.h). The row
 * stays in the threads' registers, or is read once more for each of these numbers and for the
 * result.
 *
 * rows_threads computes softmax and the normalizations. A group of a block's threads computes a
 * row. The maximum and the sums of a row go through the block's memory (lib/schedule/join.h). With
 * keep=1 the row stays in the threads' registers, so that it is read once. Without, it is read
 * again for each of these numbers, and a row may have any length.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/join.h"
#include "lib/schedule/operand.h"
#include "lib/schedule/range.h"
#include "lib/tile/activation.h"

enum { THREADS, ROWS, VL, KEEP, FAN, UNROLL };
enum { KNOBS = UNROLL + 1, LANES = 4, WARP = 32, MOST_THREADS = 1024, MOST_KEPT = 64 };
enum { SECTOR = 8 /* values that memory moves together */ };

static const struct knob knobs[KNOBS] = {
	[THREADS] = {"threads", 32, "Threads of a row: a power of two."},
	[ROWS] = {"rows", 4, "Rows of a block."},
	[VL] = {"vl", 1, "Values that a thread reads at once: 1, or 4 where they divide a row."},
	[KEEP] = {"keep", 0, "1: a row stays in the threads' registers, and is read once."},
	[FAN] = {"fan", 2, "Numbers that a thread joins in a step of a sum over threads."},
	[UNROLL] = {"unroll", 1,
		    "Unrolling of the loop over a row that is not kept, asked of the compiler."},
};

/* ---- knobs ---- */

static int applies(const struct workload *w)
{
	return w->op == &op_softmax || w->op == &op_layer_norm || w->op == &op_rms_norm;
}

static int64_t vectors_of_thread(int64_t columns, const int64_t *k)
{
	return ceil_div(columns / k[VL], k[THREADS]);
}

/* Memory moves sectors: fewer threads read them whole only where a row is as short. */
static void list_threads(struct range *r, int64_t columns)
{
	int any = 0;

	for (int64_t t = 1; t <= MOST_THREADS && t < 2 * columns; t *= 2)
		if (t >= SECTOR || t >= columns / 2) {
			range_more(r, THREADS, t);
			any = 1;
		}
	if (!any)
		range_more(r, THREADS, 1);
}

static void check(struct range *r, int64_t columns)
{
	const int64_t *k = r->knob, threads = k[THREADS];

	range_need(r, threads >= 1 && threads <= MOST_THREADS && !(threads & (threads - 1)),
		   "the threads of a row are no power of two, or more than 1024");
	range_need(r, k[VL] == 1 || columns % LANES == 0, "a row is no number of whole vectors");
	if (r->why)
		return;
	range_need(r, threads < 2 * (columns / k[VL]), "some threads of a row would have none");
	range_need(r,
		   threads * k[ROWS] >= WARP && threads * k[ROWS] <= MOST_THREADS &&
			   threads * k[ROWS] % WARP == 0,
		   "a block's threads are no whole number of warps, or more than 1024");
	range_need(r, k[FAN] == 2 || k[FAN] <= threads,
		   "another value of fan gives the same program");
	range_need(r, !k[KEEP] || vectors_of_thread(columns, k) * k[VL] <= MOST_KEPT,
		   "a thread has no registers for its part of a row");
	range_need(r, k[UNROLL] == 1 || (!k[KEEP] && k[UNROLL] <= vectors_of_thread(columns, k)),
		   "another value of unroll gives the same program");
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {1, 2, 4, 8, 16, 32, 64, 128, 0}, lanes[] = {1, LANES, 0};
	static const int fan[] = {2, 4, 8, 16, 32, 0}, unroll[] = {1, 2, 4, 8, 0};
	int64_t columns = w->dim[ROWS_C];

	if (!applies(w))
		return 0;
	if (r->space)
		list_threads(r, columns);
	range_values(r, ROWS, rows, WARP > w->dim[ROWS_R] ? WARP : 128);
	range_values(r, VL, lanes, columns % LANES ? 1 : LANES);
	range_flags(r, KEEP, KEEP);
	range_values(r, FAN, fan, columns);
	range_values(r, UNROLL, unroll, 8);
	if (r->knob && !r->why)
		check(r, columns);
	return 1;
}

/* ---- the nest ---- */

typedef const struct expr *value;

/* The parts of the nest share these. */
struct state {
	struct nest *n;
	const int64_t *k;
	int64_t rows, columns, vectors; /* vectors: of a row */
	int lanes, threads;		/* threads: of a block */
	int src, scale;			/* scale: -1 if there is none */
	struct brgemm_out out;
	int kept, sum, x; /* registers: of the row; what is gathered; a value */
	struct join first, second;
	int factor; /* a scalar register */
	int block;  /* variable */
};

/* A thread's place: its row, and its first vector there. */
struct place {
	int thread;
	struct affine row, vector;
};

/* An open turn of a pass: a vector, and where it is kept. */
struct turn {
	struct affine kept, column, at;
};

static struct place open_threads(const struct state *s)
{
	struct nest *n = s->n;
	struct place p = {.thread = nest_for_threads(n, "t", s->threads)};
	int row = nest_let_div(n, "r", af_var(p.thread), s->k[THREADS]);

	p.row = af_add(af_mul(af_var(s->block), s->k[ROWS]), af_var(row));
	p.vector = af_var(nest_let_mod(n, "v", af_var(p.thread), s->k[THREADS]));
	return p;
}

/* Opens the loop over the thread's vectors of its row, and branches for those that there are. */
static struct turn each_vector(const struct state *s, const struct place *p)
{
	struct nest *n = s->n;
	int64_t turns = vectors_of_thread(s->columns, s->k);
	struct affine vector;
	struct turn t;

	if (s->rows % s->k[ROWS])
		nest_if_less(n, p->row, af(s->rows));
	t.kept = af_var(nest_for(n, s->k[KEEP] ? LOOP_UNROLL : LOOP_SERIAL, "i", af(0), af(turns)));
	if (!s->k[KEEP])
		nest_unroll_hint(n, (int)s->k[UNROLL]);
	vector = af_add(af_mul(t.kept, s->k[THREADS]), p->vector);
	if (s->vectors % s->k[THREADS])
		nest_if_less(n, vector, af(s->vectors));
	t.column = af_mul(vector, s->lanes);
	t.at = af_add(af_mul(p->row, s->columns), t.column);
	return t;
}

static value two(const struct state *s, enum expr_kind kind, value a, value b)
{
	return ex_op(s->n, kind, a, b, NULL);
}

static value number(const struct state *s, double v)
{
	return ex_const(s->n, ELEM_F32, 1, v);
}

static value wide(const struct state *s, int scalar)
{
	value x = ex_reg(s->n, scalar, af(0));

	return s->lanes > 1 ? ex_bcast(s->n, s->lanes, x) : x;
}

/* The turn's vector as the source has it. */
static value source(const struct state *s, const struct turn *t)
{
	return ex_load(s->n, s->src, s->lanes, t->at, NULL);
}

/* Computed once, and kept for the passes behind this one where rows are. */
static value keep(const struct state *s, const struct turn *t, value x)
{
	int to = s->k[KEEP] ? s->kept : s->x;
	struct affine at = s->k[KEEP] ? t->kept : af(0);

	nest_store(s->n, to, at, NULL, x);
	return ex_reg(s->n, to, at);
}

/* What the first pass read or the last one kept; or it is made again. */
typedef value again(const struct state *s, const struct turn *t);

static value kept_or(const struct state *s, const struct turn *t, again *make)
{
	return s->k[KEEP] ? ex_reg(s->n, s->kept, t->kept) : make(s, t);
}

static void begin(const struct state *s, double start)
{
	nest_store(s->n, s->sum, af(0), NULL, ex_const(s->n, ELEM_F32, s->lanes, start));
}

static void gather(const struct state *s, value x)
{
	nest_store(s->n, s->sum, af(0), NULL, x);
}

static value gathered(const struct state *s)
{
	return ex_reg(s->n, s->sum, af(0));
}

/* Ends a pass and its loop over threads: what they gathered is joined. depth: before the pass. */
static void finish(const struct state *s, const struct place *p, const struct join *j, int depth)
{
	nest_close_to(s->n, depth);
	join_put(j, p->thread, gathered(s));
	nest_close(s->n);
	join_steps(j);
}

static void set(const struct state *s, int scalar, value x)
{
	nest_store(s->n, scalar, af(0), NULL, x);
}

/* The turn's vector to the result, as so many times its factor. */
static void put(const struct state *s, const struct turn *t, value x)
{
	x = two(s, EXPR_MUL, x, wide(s, s->factor));
	if (s->scale >= 0)
		x = two(s, EXPR_MUL, x, ex_load(s->n, s->scale, s->lanes, t->column, NULL));
	operand_store(s->n, &s->out, x, t->at, t->column, NULL);
}

/* ---- softmax ---- */

static value power(const struct state *s, const struct turn *t)
{
	return activation_exp(s->n, two(s, EXPR_SUB, source(s, t), wide(s, s->first.to)));
}

static void softmax(const struct state *s)
{
	struct place p = open_threads(s);
	int depth = s->n->depth;
	struct turn t;
	value x;

	begin(s, -3.402823466e38);
	t = each_vector(s, &p);
	gather(s, two(s, EXPR_MAX, gathered(s), keep(s, &t, source(s, &t))));
	finish(s, &p, &s->first, depth);

	p = open_threads(s);
	join_get(&s->first, p.thread);
	begin(s, 0);
	t = each_vector(s, &p);
	x = two(s, EXPR_SUB, kept_or(s, &t, source), wide(s, s->first.to));
	gather(s, two(s, EXPR_ADD, gathered(s), keep(s, &t, activation_exp(s->n, x))));
	finish(s, &p, &s->second, depth);

	p = open_threads(s);
	join_get(&s->second, p.thread);
	set(s, s->factor, two(s, EXPR_DIV, number(s, 1), ex_reg(s->n, s->second.to, af(0))));
	t = each_vector(s, &p);
	put(s, &t, kept_or(s, &t, power));
}

/* ---- normalizations ---- */

static value above_mean(const struct state *s, const struct turn *t)
{
	return two(s, EXPR_SUB, source(s, t), wide(s, s->first.to));
}

static void mean(const struct state *s)
{
	struct place p = open_threads(s);
	int depth = s->n->depth;
	struct turn t;

	begin(s, 0);
	t = each_vector(s, &p);
	gather(s, two(s, EXPR_ADD, gathered(s), keep(s, &t, source(s, &t))));
	finish(s, &p, &s->first, depth);
}

/* Over the root of the mean of the squares: of the values, or of what they are above their mean,
 * so that nothing cancels. */
static void normalize(const struct state *s, int is_above_mean)
{
	const double share = 1.0 / (double)s->columns, epsilon = 1e-5;
	int mean_of = s->first.to, depth;
	struct place p;
	struct turn t;
	value x;

	if (is_above_mean)
		mean(s);
	p = open_threads(s);
	depth = s->n->depth;
	if (is_above_mean) {
		join_get(&s->first, p.thread);
		set(s, mean_of, two(s, EXPR_MUL, ex_reg(s->n, mean_of, af(0)), number(s, share)));
	}
	begin(s, 0);
	t = each_vector(s, &p);
	x = is_above_mean ? two(s, EXPR_SUB, kept_or(s, &t, source), wide(s, mean_of))
			  : source(s, &t);
	x = keep(s, &t, x);
	gather(s, ex_op(s->n, EXPR_FMA, x, x, gathered(s)));
	finish(s, &p, &s->second, depth);

	p = open_threads(s);
	join_get(&s->second, p.thread);
	x = two(s, EXPR_MUL, ex_reg(s->n, s->second.to, af(0)), number(s, share));
	x = ex_op(s->n, EXPR_SQRT, two(s, EXPR_ADD, x, number(s, epsilon)), NULL, NULL);
	set(s, s->factor, two(s, EXPR_DIV, number(s, 1), x));
	t = each_vector(s, &p);
	put(s, &t, kept_or(s, &t, is_above_mean ? above_mean : source));
}

/* ---- the whole ---- */

static void declare(struct state *s, const struct workload *w)
{
	const struct extent bias = {s->columns, s->columns};
	const struct join of_row = {.n = s->n,
				    .threads = s->threads,
				    .group = (int)s->k[THREADS],
				    .fan = (int)s->k[FAN],
				    .kind = EXPR_ADD};
	struct nest *n = s->n;

	s->src = nest_arg(n, "src", TENSOR_SRC, s->rows * s->columns, 0);
	s->scale = w->op == &op_softmax ? -1 : nest_arg(n, "scale", TENSOR_WEIGHTS, s->columns, 0);
	operand_out(n, w, operand_bias(n, w, 1, &bias), s->rows * s->columns, &s->out);
	if (s->k[KEEP])
		s->kept = nest_reg(n, "kept", ELEM_F32, s->lanes,
				   (int)vectors_of_thread(s->columns, s->k), 1);
	s->sum = nest_reg(n, "sum", ELEM_F32, s->lanes, 1, 1);
	s->x = nest_reg(n, "x", ELEM_F32, s->lanes, 1, 1);
	s->factor = nest_reg(n, "factor", ELEM_F32, 1, 1, 1);
	s->first = s->second = of_row;
	if (w->op == &op_softmax)
		s->first.kind = EXPR_MAX;
	join_declare(&s->first, "first");
	join_declare(&s->second, "second");
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct state s = {.n = n,
			  .k = k,
			  .rows = w->dim[ROWS_R],
			  .columns = w->dim[ROWS_C],
			  .lanes = (int)k[VL],
			  .threads = (int)(k[THREADS] * k[ROWS])};

	if (!applies(w))
		return err_set(e, "rows_threads does not apply to this workload");
	s.vectors = s.columns / s.lanes;
	declare(&s, w);
	s.block = nest_for(n, LOOP_PARALLEL, "b", af(0), af(ceil_div(s.rows, k[ROWS])));
	if (w->op == &op_softmax)
		softmax(&s);
	else
		normalize(&s, w->op == &op_layer_norm);
	nest_close_to(n, 0);
	return 0;
}

const struct algo algo_rows_threads = {
	.name = "rows_threads",
	.summary = "Softmax and normalizations, a row by a group of a block's threads.",
	.needs = TARGET_BLOCKS,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = build,
};
