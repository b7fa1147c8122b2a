/* depthwise_threads: depthwise convolution on a target with blocks of threads.
 *
 * A thread computes a few pixels of a few rows, for a vector of channels, and sums their taps in
 * registers. It goes through the rows of the image that these need. It loads a row once, for all
 * pixels and rows of output that it is a tap of, and a row of weights once for all pixels. What
 * lies outside the image is loaded as zero, without a branch, so that loads need not wait for each
 * other. In nhwc a thread's pixels are side by side, and have columns in common. In nchw the
 * neighbouring pixels are the neighbouring threads', so that a warp reads whole sectors.
 *
 * depthwise_threads: a thread sums pixels pixels of rows rows of output, in nhwc for four channels
 * (vl=4), in f32, tf32, bf16 or f16. It loads a row of the image once for all of these, and a row
 * of weights once for all pixels. What lies outside the image is loaded as zero, without a branch.
 * resident says for how many blocks a processor is to have registers (nest_resident(), the second
 * of CUDA's launch bounds). Without it NVRTC takes as few registers as it can: of 19 loads for a
 * pixel of 3x3 it puts 5 before the first multiply-add, and the others among them, and a thread
 * waits for memory several times. With it all 19 come first. Blocks read what they share with
 * their neighbours through the first cache.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/conv.h"
#include "lib/schedule/range.h"
#include "lib/schedule/share.h"

enum { THREADS, PIXELS, ROWS, VL, RESIDENT, UNROLL };
enum { KNOBS = UNROLL + 1, LANES = 4, PROCESSOR_THREADS = 2048 };
/* Registers of a thread; loads in the text; loops in the text, two each; columns of a kernel. */
enum { MOST_REGISTERS = 200, MOST_LOADS = 200, MOST_LOOPS = 80, MOST_ACROSS = 64 };

static const struct knob knobs[KNOBS] = {
	[THREADS] = {"threads", 128, "Threads of a block."},
	[PIXELS] = {"pixels", 1, "Pixels of a row that a thread computes."},
	[ROWS] = {"rows", 1, "Rows of output in which a thread computes so many pixels."},
	[VL] = {"vl", 1, "Channels that a thread computes: 1, or in nhwc 4 where they divide all."},
	[RESIDENT] = {"resident", 1,
		      "Blocks that a processor is to have registers for: few let the compiler "
		      "load more before it multiplies."},
	[UNROLL] = {"unroll", 1,
		    "Unrolling of the loop over kernel rows, asked of the compiler, for one row."},
};

/* All functions that build the nest read and fill this. */
struct state {
	struct nest *n;
	struct conv c;
	enum elem elem;
	int nchw, lanes, unroll;
	int64_t pixels, rows;	  /* a thread's: of a row of output; rows of output */
	int64_t steps, row_steps; /* threads side by side for a row, and for all rows */
	int64_t apart;		  /* columns from a pixel to the thread's next one */
	int64_t by_pixel, by_tap; /* from a column to that of the next pixel, or tap: registers */
	int64_t columns;	  /* registers of them */
	int64_t window;		  /* rows of the image, as they lie with padding around it */
	int64_t held;		  /* rows of weights that are needed at a time */
	int64_t vectors, padded;  /* of channels; channels */
	int src, weights;	  /* buffers */
	int acc, in, weight;	  /* registers */
	struct brgemm_out out;
	/* The thread's place: its image, first row and column of output, and first channel. */
	struct affine image, row, column, channel;
	struct affine at; /* of the first tap of the first pixel, be it there or not */
	struct affine column_in[MOST_LOADS]; /* by register: is the column in the image? */
};

static int is_depthwise(const struct workload *w, struct conv *c)
{
	return conv_of(w, c) && c->ic == 1 && c->oc == 1 && c->g > 1 && c->kw <= MOST_ACROSS;
}

/* Pixels have columns in common, or each has its own, whatever takes fewer registers. */
static void set_columns(struct state *s)
{
	const struct conv *c = &s->c;
	int64_t span = (s->pixels - 1) * c->sw + (c->kw - 1) * c->dw + 1;
	int in_common = !s->nchw && span <= s->pixels * c->kw;

	s->apart = s->nchw ? s->steps : 1;
	s->by_pixel = in_common ? c->sw : c->kw;
	s->by_tap = in_common ? c->dw : 1;
	s->columns = in_common ? span : s->pixels * c->kw;
}

static struct state state_of(const struct workload *w, const struct conv *c, const int64_t *k)
{
	struct state s = {.c = *c,
			  .elem = elem_of(w->dtype.src),
			  .nchw = w->layout == LAYOUT_NCHW,
			  .lanes = (int)k[VL],
			  .unroll = (int)k[UNROLL],
			  .pixels = k[PIXELS],
			  .rows = k[ROWS]};

	s.steps = ceil_div(c->ow, s.pixels);
	s.row_steps = ceil_div(c->oh, s.rows);
	s.window = (s.rows - 1) * c->sh + (c->kh - 1) * c->dh + 1;
	s.held = (s.rows - 1) * c->sh / c->dh + 1;
	s.vectors = c->g / s.lanes;
	s.padded = ceil_div(c->g, LANES) * LANES;
	set_columns(&s);
	return s;
}

/* ---- knobs ---- */

static void check(struct range *r, const struct workload *w, const struct conv *c)
{
	const int64_t *k = r->knob;
	struct state s;

	range_need(r, k[VL] == 1 || (w->layout == LAYOUT_NHWC && c->g % LANES == 0),
		   "there are no whole vectors of channels side by side");
	if (r->why)
		return;
	s = state_of(w, c, k);
	range_need(r, k[THREADS] * k[RESIDENT] <= PROCESSOR_THREADS,
		   "a processor does not have so many blocks at a time");
	range_need(r, k[ROWS] == 1 || k[ROWS] <= c->oh, "a thread has more rows than there are");
	range_need(r, k[UNROLL] <= c->kh,
		   "the loop over kernel rows is unrolled more often than there are rows");
	range_need(r, k[ROWS] == 1 || k[UNROLL] == 1,
		   "another value of unroll gives the same program");
	range_need(r, s.lanes * (s.rows * s.pixels + s.columns + s.held * c->kw) <= MOST_REGISTERS,
		   "the sums, columns and weights need more registers than a thread has");
	range_need(r, k[ROWS] == 1 || s.window * s.columns <= MOST_LOADS,
		   "a thread would load too much of the image");
	range_need(r, k[ROWS] == 1 || s.rows * c->kh <= MOST_LOOPS,
		   "a thread would have too many rows of taps");
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int threads[] = {128, 32, 64, 256, 512, 0}, pixels[] = {1, 2, 3, 4, 7, 8, 0};
	static const int rows[] = {1, 2, 3, 4, 7, 8, 0}, lanes[] = {1, LANES, 0};
	static const int resident[] = {1, 4, 8, 0}, unroll[] = {1, 2, 3, 5, 7, 0};
	struct conv c;

	if (!is_depthwise(w, &c))
		return 0;
	range_values(r, THREADS, threads, 512);
	range_values(r, PIXELS, pixels, c.ow);
	range_values(r, ROWS, rows, c.oh);
	range_values(r, VL, lanes, w->layout == LAYOUT_NCHW || c.g % LANES ? 1 : LANES);
	range_values(r, RESIDENT, resident, 8);
	range_values(r, UNROLL, unroll, c.kh);
	if (r->knob && !r->why)
		check(r, w, &c);
	return 1;
}

/* ---- operands and places ---- */

static int packed_weights(struct state *s)
{
	struct packing w = {
		.rank = 5,
		.extent = {s->c.g, 1, 1, s->c.kh, s->c.kw},
		.naxes = 3,
		.axis = {{3, s->c.kh, 1}, {4, s->c.kw, 1}, {0, s->padded, 1}},
	};

	return nest_packed(s->n, "w", TENSOR_WEIGHTS, &w);
}

/* All tensors are of the workload's type, but the bias is packed in single precision. */
static void declare(struct state *s, const struct workload *w)
{
	struct nest *n = s->n;
	struct extent bias = {s->c.g, s->padded};

	s->src = nest_arg(n, "src", TENSOR_SRC, workload_size(w, TENSOR_SRC), 0);
	s->weights = packed_weights(s);
	operand_out(n, w, operand_bias(n, w, 1, &bias), workload_size(w, TENSOR_DST), &s->out);
	for (int i = 0; i < n->nbuffers; i++)
		if (i == s->weights || n->buffer[i].kind == BUFFER_ARG)
			nest_elem(n, i, s->elem);
	s->acc = nest_reg(n, "acc", ELEM_F32, s->lanes, (int)s->rows, (int)s->pixels);
	s->in = nest_reg(n, "in", ELEM_F32, s->lanes, (int)s->columns, 1);
	s->weight = nest_reg(n, "weight", ELEM_F32, s->lanes, (int)s->held, (int)s->c.kw);
}

/* Returns where an element of the source or the result lies, counted from the first element of its
 * image. A row has w columns. */
static struct affine place(const struct state *s, struct affine row, struct affine column,
			   int64_t w)
{
	return s->nchw ? af_add(af_mul(row, w), column)
		       : af_mul(af_add(af_mul(row, w), column), s->c.g);
}

static struct affine image_and_channel(const struct state *s, int64_t h, int64_t w)
{
	return af_add(af_mul(s->image, s->c.g * h * w), af_mul(s->channel, s->nchw ? h * w : 1));
}

/* Neighbouring threads have neighbouring channels, or, where these are apart, pixels. */
static void open_threads(struct state *s, int64_t threads)
{
	int64_t units = s->c.mb * s->row_steps * s->steps * s->vectors;
	struct affine unit = share_grid(s->n, (int)threads, units), row, column;

	if (!s->nchw)
		s->channel = share_place(s->n, "c", &unit, s->vectors);
	s->column = af_mul(share_place(s->n, "x", &unit, s->steps), s->nchw ? 1 : s->pixels);
	s->row = af_mul(share_place(s->n, "y", &unit, s->row_steps), s->rows);
	if (s->nchw)
		s->channel = share_place(s->n, "c", &unit, s->vectors);
	s->image = unit;
	s->channel = af_mul(s->channel, s->lanes);
	row = af_add(af_mul(s->row, s->c.sh), af(-s->c.ph));
	column = af_add(af_mul(s->column, s->c.sw), af(-s->c.pw));
	s->at = af_var(nest_let(
		s->n, "at",
		af_add(image_and_channel(s, s->c.ih, s->c.iw), place(s, row, column, s->c.iw))));
}

/* ---- the image ---- */

/* Columns from the thread's first one to what a register has. */
static int64_t column_of(const struct state *s, int64_t i)
{
	if (s->by_tap == 1 && s->by_pixel == s->c.kw)
		return i / s->c.kw * s->apart * s->c.sw + i % s->c.kw * s->c.dw;
	return i;
}

/* Does any pixel have a tap in the column of the register? */
static int is_read(const struct state *s, int64_t i)
{
	for (int64_t p = 0; p < s->pixels; p++) {
		int64_t tap = i - p * s->by_pixel;

		if (tap >= 0 && tap % s->by_tap == 0 && tap / s->by_tap < s->c.kw)
			return 1;
	}
	return 0;
}

/* Asks of each column whether it is in the image, where for some thread it is not. */
static void find_columns(struct state *s)
{
	const struct conv *c = &s->c;
	int64_t last = (s->steps - 1) * (s->nchw ? 1 : s->pixels) * c->sw - c->pw;

	for (int64_t i = 0; i < s->columns; i++) {
		int64_t x = column_of(s, i);

		s->column_in[i] = af(1);
		if (is_read(s, i) && (x < c->pw || last + x >= c->iw))
			s->column_in[i] = af_var(nest_let_in(
				s->n, "column_in", af_add(af_mul(s->column, c->sw), af(x - c->pw)),
				af(c->iw)));
	}
}

/* Is row i of the window in the image? So far below the first one may i lie, and beyond it. */
static struct affine row_in(struct state *s, struct affine i, int64_t least, int64_t most)
{
	const struct conv *c = &s->c;
	int64_t last = (s->row_steps - 1) * s->rows * c->sh - c->ph;

	if (least >= c->ph && last + most < c->ih)
		return af(1);
	return af_var(nest_let_in(s->n, "row_in", af_sum(af_mul(s->row, c->sh), i, af(-c->ph)),
				  af(c->ih)));
}

static int is_one(const struct affine *a)
{
	return !a->n && a->c == 1;
}

/* 1 if both row and column are in the image: as if a row outside had no columns. */
static struct affine both_in(struct state *s, struct affine row, int64_t i)
{
	const struct conv *c = &s->c;
	struct affine column = af_add(af_mul(s->column, c->sw), af(column_of(s, i) - c->pw));

	if (is_one(&s->column_in[i]))
		return row;
	if (is_one(&row))
		return s->column_in[i];
	return af_var(nest_let_in(s->n, "in", column, af_mul(row, c->iw)));
}

/* Loads row i of the window. */
static void load_row(struct state *s, struct affine i, struct affine row)
{
	struct nest *n = s->n;

	for (int64_t j = 0; j < s->columns; j++) {
		struct affine in, at = af_add(s->at, place(s, i, af(column_of(s, j)), s->c.iw));

		if (!is_read(s, j))
			continue;
		in = af_mul(both_in(s, row, j), s->lanes);
		nest_store(n, s->in, af(j), NULL,
			   ex_load(n, s->src, s->lanes, at, in.n ? nest_keep(n, in) : NULL));
	}
}

/* ---- sums ---- */

static struct affine each(struct state *s, const char *name, int64_t turns)
{
	return af_var(nest_for(s->n, LOOP_UNROLL, name, af(0), af(turns)));
}

/* To where rows of weights are held, in turn. */
static void load_weights(struct state *s, struct affine kh, int64_t to)
{
	const int64_t taps = s->c.kw;
	struct nest *n = s->n;
	struct affine kw = each(s, "kw", taps);

	nest_store(n, s->weight, af_add(kw, af(to * taps)), NULL,
		   ex_load(n, s->weights, s->lanes,
			   af_sum(af_mul(kh, taps * s->padded), af_mul(kw, s->padded), s->channel),
			   NULL));
	nest_close(n);
}

/* The loaded row times the weights that are held there, for row r of output. */
static void multiply(struct state *s, int64_t r, int64_t held)
{
	struct nest *n = s->n;
	struct affine kw = each(s, "kw", s->c.kw), p = each(s, "p", s->pixels);
	struct affine to = af_add(p, af(r * s->pixels));

	nest_store(n, s->acc, to, NULL,
		   ex_op(n, EXPR_FMA,
			 ex_reg(n, s->in, af_add(af_mul(p, s->by_pixel), af_mul(kw, s->by_tap))),
			 ex_reg(n, s->weight, af_add(kw, af(held * s->c.kw))),
			 ex_reg(n, s->acc, to)));
	nest_close(n);
	nest_close(n);
}

static void clear(struct state *s)
{
	nest_store(s->n, s->acc, each(s, "p", s->rows * s->pixels), NULL,
		   ex_const(s->n, ELEM_F32, s->lanes, 0));
	nest_close(s->n);
}

/* One row of output: the rows of the kernel are turns of a loop. */
static void sum_by_loop(struct state *s)
{
	const struct conv *c = &s->c;
	struct affine kh = af_var(nest_for(s->n, LOOP_SERIAL, "kh", af(0), af(c->kh))), i;

	nest_unroll_hint(s->n, s->unroll);
	i = af_mul(kh, c->dh);
	load_row(s, i, row_in(s, i, 0, (c->kh - 1) * c->dh));
	load_weights(s, kh, 0);
	multiply(s, 0, 0);
	nest_close(s->n);
}

/* The kernel's row in which row i of the window meets row r of output; -1: there is none. */
static int64_t kernel_row(const struct state *s, int64_t i, int64_t r)
{
	int64_t from = i - r * s->c.sh;

	return from < 0 || from % s->c.dh || from / s->c.dh >= s->c.kh ? -1 : from / s->c.dh;
}

static int is_row_read(const struct state *s, int64_t i)
{
	for (int64_t r = 0; r < s->rows; r++)
		if (kernel_row(s, i, r) >= 0)
			return 1;
	return 0;
}

/* Several rows of output. A row of the kernel is loaded when the first of them needs it. When the
 * last one has had it, another takes its place. */
static void sum_by_rows(struct state *s)
{
	for (int64_t i = 0; i < s->window; i++) {
		if (!is_row_read(s, i))
			continue;
		load_row(s, af(i), row_in(s, af(i), i, i));
		for (int64_t r = 0; r < s->rows; r++) {
			int64_t kh = kernel_row(s, i, r);

			if (kh < 0)
				continue;
			if (r == 0)
				load_weights(s, af(kh), kh % s->held);
			multiply(s, r, kh % s->held);
		}
	}
}

static void store(struct state *s)
{
	const struct conv *c = &s->c;
	struct nest *n = s->n;
	const int depth = n->depth;
	struct affine r = each(s, "r", s->rows), p, row = af_add(s->row, r), column;

	if (c->oh % s->rows)
		nest_if_less(n, row, af(c->oh));
	p = each(s, "p", s->pixels);
	column = af_add(s->column, af_mul(p, s->apart));
	if (c->ow % s->pixels)
		nest_if_less(n, column, af(c->ow));
	operand_store(n, &s->out, ex_reg(n, s->acc, af_add(af_mul(r, s->pixels), p)),
		      af_add(image_and_channel(s, c->oh, c->ow), place(s, row, column, c->ow)),
		      s->channel, NULL);
	nest_close_to(n, depth);
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct state s;
	struct conv c;

	if (!is_depthwise(w, &c))
		return err_set(e, "depthwise_threads does not apply to this workload");
	s = state_of(w, &c, k);
	s.n = n;
	nest_resident(n, (int)k[RESIDENT]);
	declare(&s, w);
	open_threads(&s, k[THREADS]);
	find_columns(&s);
	clear(&s);
	if (s.rows == 1)
		sum_by_loop(&s);
	else
		sum_by_rows(&s);
	store(&s);
	nest_close_to(n, 0);
	return 0;
}

const struct algo algo_depthwise_threads = {
	.name = "depthwise_threads",
	.summary = "Depthwise convolution by blocks of threads; pixels and channels in registers.",
	.needs = TARGET_BLOCKS,
	.types = 1U << DTYPE_TF32 | 1U << DTYPE_BF16 | 1U << DTYPE_F16,
	.rev = 2,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = build,
};
