/* depthwise_threads: depthwise convolution on a target with blocks of threads.
 *
 * A thread computes a few pixels of a row, and sums their taps in registers. In nhwc it does so for
 * the four channels of a vector. Each multiply-add takes one load; neighbouring threads load mostly
 * the same values, which the first cache holds.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/conv.h"
#include "lib/schedule/range.h"
#include "lib/schedule/share.h"

enum { THREADS, PIXELS, UNROLL };
enum { KNOBS = UNROLL + 1, LANES = 4 };

static const struct knob knobs[KNOBS] = {
	[THREADS] = {"threads", 128, "Threads of a block."},
	[PIXELS] = {"pixels", 1, "Pixels of a row that a thread computes."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over kernel rows, asked of the compiler."},
};

static int is_depthwise(const struct workload *w, struct conv *c)
{
	return conv_of(w, c) && c->ic == 1 && c->oc == 1 && c->g > 1;
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int threads[] = {64, 32, 128, 256, 512, 0}, pixels[] = {1, 2, 3, 4, 6, 8, 0};
	static const int unroll[] = {1, 2, 3, 5, 7, 0};
	struct conv c;

	if (!is_depthwise(w, &c))
		return 0;
	range_values(r, THREADS, threads, 512);
	range_values(r, PIXELS, pixels, c.ow);
	range_values(r, UNROLL, unroll, c.kh);
	if (r->knob)
		range_need(r, r->knob[UNROLL] <= c.kh,
			   "the loop over kernel rows is unrolled more often than there are rows");
	return 1;
}

/* What the parts of the nest share. */
struct state {
	struct nest *n;
	struct conv c;
	int nchw, lanes;
	int64_t pixels, steps, vectors, padded; /* a thread's, of a row; of channels; channels */
	int src, weights, acc, weight;
	struct brgemm_out out;
	/* The thread's place. */
	struct affine image, row, step, channel;
};

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

static void declare(struct state *s, const struct workload *w)
{
	struct extent bias = {s->c.g, s->padded};

	s->src = nest_arg(s->n, "src", TENSOR_SRC, workload_size(w, TENSOR_SRC), 0);
	s->weights = packed_weights(s);
	operand_out(s->n, w, operand_bias(s->n, w, 1, &bias), workload_size(w, TENSOR_DST),
		    &s->out);
	s->acc = nest_reg(s->n, "acc", ELEM_F32, s->lanes, (int)s->pixels, 1);
	s->weight = nest_reg(s->n, "weight", ELEM_F32, s->lanes, 1, 1);
}

/* Neighbouring threads have neighbouring channels, or, where these are apart, pixels. */
static void open_threads(struct state *s, int64_t threads)
{
	int64_t units = s->c.mb * s->c.oh * s->steps * s->vectors;
	struct affine unit = share_grid(s->n, (int)threads, units);

	if (!s->nchw)
		s->channel = share_place(s->n, "c", &unit, s->vectors);
	s->step = share_place(s->n, "x", &unit, s->steps);
	s->row = share_place(s->n, "oh", &unit, s->c.oh);
	if (s->nchw)
		s->channel = share_place(s->n, "c", &unit, s->vectors);
	s->image = unit;
	s->channel = af_mul(s->channel, s->lanes);
}

/* Column of the thread's pixel p: side by side, or as far apart as a row has threads. */
static struct affine column(const struct state *s, struct affine p)
{
	return s->nchw ? af_add(s->step, af_mul(p, s->steps))
		       : af_add(af_mul(s->step, s->pixels), p);
}

static struct affine element(const struct state *s, struct affine row, struct affine column,
			     int64_t h, int64_t w)
{
	if (s->nchw)
		return af_sum(af_mul(s->image, s->c.g * h * w), af_mul(s->channel, h * w),
			      af_mul(row, w), column);
	return af_sum(af_mul(s->image, h * w * s->c.g), af_mul(row, w * s->c.g),
		      af_mul(column, s->c.g), s->channel);
}

/* Opens a branch for what lies in [0, end), where it may lie elsewhere. */
static struct affine inside(struct nest *n, const char *name, struct affine i, int64_t end,
			    int padded)
{
	i = af_var(nest_let(n, name, i));
	if (padded) {
		nest_if_less(n, af(-1), i);
		nest_if_less(n, i, af(end));
	}
	return i;
}

static struct affine each_pixel(struct state *s)
{
	return af_var(nest_for(s->n, LOOP_UNROLL, "p", af(0), af(s->pixels)));
}

static void sum(struct state *s, int unroll)
{
	const struct conv *c = &s->c;
	struct nest *n = s->n;
	const int depth = n->depth;
	struct affine p, kh, kw, ih, iw;

	p = each_pixel(s);
	nest_store(n, s->acc, p, NULL, ex_const(n, ELEM_F32, s->lanes, 0));
	nest_close(n);
	kh = af_var(nest_for(n, LOOP_SERIAL, "kh", af(0), af(c->kh)));
	nest_unroll_hint(n, unroll);
	ih = inside(n, "ih", af_sum(af_mul(s->row, c->sh), af_mul(kh, c->dh), af(-c->ph)), c->ih,
		    c->padded);
	kw = af_var(nest_for(n, LOOP_UNROLL, "kw", af(0), af(c->kw)));
	nest_store(n, s->weight, af(0), NULL,
		   ex_load(n, s->weights, s->lanes,
			   af_sum(af_mul(kh, c->kw * s->padded), af_mul(kw, s->padded), s->channel),
			   NULL));
	p = each_pixel(s);
	/* A pixel beyond the row's end may read inside the image or outside. Its sum is not stored.
	 */
	iw = inside(n, "iw", af_sum(af_mul(column(s, p), c->sw), af_mul(kw, c->dw), af(-c->pw)),
		    c->iw, c->padded || c->ow % s->pixels);
	nest_store(n, s->acc, p, NULL,
		   ex_op(n, EXPR_FMA,
			 ex_load(n, s->src, s->lanes, element(s, ih, iw, c->ih, c->iw), NULL),
			 ex_reg(n, s->weight, af(0)), ex_reg(n, s->acc, p)));
	nest_close_to(n, depth);
}

static void store(struct state *s)
{
	struct nest *n = s->n;
	const int depth = n->depth;
	struct affine p = each_pixel(s), x = column(s, p);

	if (s->c.ow % s->pixels)
		nest_if_less(n, x, af(s->c.ow));
	operand_store(n, &s->out, ex_reg(n, s->acc, p), element(s, s->row, x, s->c.oh, s->c.ow),
		      s->channel, NULL);
	nest_close_to(n, depth);
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct state s = {.n = n, .nchw = w->layout == LAYOUT_NCHW, .pixels = k[PIXELS]};

	if (!is_depthwise(w, &s.c))
		return err_set(e, "depthwise_threads does not apply to this workload");
	s.lanes = s.nchw || s.c.g % LANES ? 1 : LANES;
	s.vectors = s.c.g / s.lanes;
	s.padded = ceil_div(s.c.g, LANES) * LANES;
	s.steps = ceil_div(s.c.ow, s.pixels);
	declare(&s, w);
	open_threads(&s, k[THREADS]);
	sum(&s, (int)k[UNROLL]);
	store(&s);
	nest_close_to(n, 0);
	return 0;
}

const struct algo algo_depthwise_threads = {
	.name = "depthwise_threads",
	.summary = "Depthwise convolution by blocks of threads; pixels and channels in registers.",
	.needs = TARGET_BLOCKS,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = build,
};
