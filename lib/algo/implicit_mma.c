/* implicit_mma: implicit GEMM (Chetlur et al., 2014, 3.2) by tensor cores; convolutions and
 * products on GPUs that have them.
 *
 * A block of warps computes a block of the result (warp_product.h). While a chunk of the sum is
 * multiplied the next ones are on their way to the block's memory. Where the result has few blocks
 * for many processors, the sum is split, too, and where blocks do not fill whole waves, they
 * may share the last ones evenly (split_sum.h). The type of the workload's elements says
 * how products are computed: in single precision three products of TF32 make one. Sums of whole
 * numbers are exact; they become single precision for the post-ops.
 *
 * implicit_mma is the same product by tensor cores. stages chunks lie in a block's memory: one is
 * multiplied, and the others are on their way (lib/schedule/warp_product.h). Rows there are 16
 * bytes longer than what they hold, so that the eight rows of a matrix begin in different banks;
 * or they are swizzled (swizzle=1, lib/space/swizzle.h), which needs no room, and which groups of
 * warps and bulk copies understand. bulk=1 copies a chunk of the weights, which are packed in that
 * order, by one instruction, on GPUs since compute capability 9.0; box=1 copies the left side
 * likewise. The sums leave by way of the block's memory, so that stores are vectors side by side
 * and post-ops work on four columns. In single precision each side is split into two parts of
 * TF32, and three products make one. Tensor cores cut off what does not fit when they add, so
 * their sums are those of one chunk, and are added up outside. With group=1 four warps multiply
 * together (wgmma), on GPUs of compute capability 9.0. A chunk's product begins before the threads
 * compute where the next copies go. With late=1 it goes on over the next barrier, until the next
 * chunk's product has begun, so that tensor cores have work all the time; the copies then go to
 * the stage of the chunk before the last, and one chunk less is on its way. The compiler must not
 * make such products wait, which it tells in its log; tests refuse that. It also multiplies whole
 * numbers of 8 bits, s8 or u8 by s8, with results s32 or f32. The source, the weights and the
 * result may have three types. Sums are exact whole numbers of 32 bits in the registers. They
 * become single precision when they are stored, for the post-ops. A result s32 is rounded to the
 * nearest.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block_sum.h"
#include "lib/schedule/implicit.h"
#include "lib/schedule/range.h"
#include "lib/schedule/split_sum.h"
#include "lib/schedule/warp_product.h"

enum { BM, BN, BK, WM, WN, STAGES, KS, ORDER, GROUP, SWIZZLE, BULK, BOX, STREAM_K, LATE };
enum { KNOBS = LATE + 1 };
enum {
	MOST_THREADS = 512,
	MOST_SUMS = 128, /* registers of a thread */
	MOST_BYTES = 227 << 10,
	MOST_COPIES = 32,
	MOST_WHOLE = 65536, /* products of 8 bits by 8 bits in a sum of 32 bits */
};

static const struct knob knobs[KNOBS] = {
	[BM] = {"bm", 64, "Rows of a block."},
	[BN] = {"bn", 64, "Columns of a block."},
	[BK] = {"bk", 32, "Values of the sum in a chunk."},
	[WM] = {"wm", 2, "Warps that share a block's rows."},
	[WN] = {"wn", 2, "Warps that share a block's columns."},
	[STAGES] = {"stages", 2,
		    "Chunks in a block's memory: one is multiplied, the others are on their way."},
	[KS] = {"ks", 1, BLOCK_KS_HELP},
	[ORDER] = {"order", 0, BLOCK_ORDER_HELP},
	[GROUP] = {"group", 0, "1: four warps multiply together, from the block's memory (wgmma)."},
	[SWIZZLE] = {"swizzle", 0,
		     "1: rows in the block's memory are swizzled; 0: they are apart."},
	[BULK] = {"bulk", 0, "1: weights are copied in bulk: swizzled, and a chunk at once."},
	[BOX] = {"box", 0, "1: the source is copied in boxes, by a tensor map: swizzled."},
	[STREAM_K] = {"stream_k", 0, STREAM_K_HELP},
	[LATE] = {"late", 0,
		  "1: a group's product goes on while the next begins; one chunk less is on its "
		  "way."},
};

static enum mma_kind kind_of(const struct workload *w)
{
	switch (w->dtype.src) {
	case DTYPE_TF32:
		return MMA_TF32;
	case DTYPE_BF16:
		return MMA_BF16;
	case DTYPE_F16:
		return MMA_F16;
	case DTYPE_S8:
		return MMA_S8;
	case DTYPE_U8:
		return MMA_U8;
	default:
		return MMA_TF32X3;
	}
}

/* What the knobs make of the workload. A right side that is no constant is transposed only where
 * that is needed: its elements are copied one by one then. */
static void set_sizes(const struct workload *w, const int64_t *k, struct implicit *p,
		      struct warp_product *s)
{
	p->bm = k[BM];
	p->bn = k[BN];
	p->bk = k[BK];
	p->by_columns = p->packed || mma_pair(kind_of(w)) > 1 || k[GROUP] || k[SWIZZLE];
	*s = (struct warp_product){.p = p,
				   .kind = kind_of(w),
				   .group = (int)k[GROUP],
				   .down = (int)k[WM],
				   .across = (int)k[WN],
				   .stages = (int)k[STAGES],
				   .swizzle = (int)k[SWIZZLE],
				   .bulk = (int)k[BULK],
				   .box = (int)k[BOX],
				   .late = (int)k[LATE]};
}

static int by_groups(enum mma_kind kind)
{
	return kind != MMA_TF32X3 && mma_sum(kind) == ELEM_F32;
}

/* Weights may be of another type than the source: those that this kind has on the right. */
static int multiplies(enum mma_kind kind, const struct implicit *p)
{
	return p->elem == mma_elem(kind, 0) && p->right == mma_elem(kind, 1);
}

static void need_block(struct range *r, const struct warp_product *s)
{
	const struct implicit *p = s->p;
	const int64_t ks = r->knob[KS];

	range_need(r, p->bk % mma_depth(s->kind) == 0,
		   "a chunk is no whole number of the tensor cores' steps");
	range_need(r, mma_sum(s->kind) == ELEM_F32 || p->k * p->taps <= MOST_WHOLE,
		   "a sum of whole numbers may be larger than 32 bits hold");
	range_need(r, !s->swizzle || swizzle_has_row(p->bk * elem_size(p->elem)),
		   "a chunk's values of a row do not fill 32, 64 or 128 bytes, to be swizzled");
	range_need(r, !s->bulk || (s->swizzle && p->packed),
		   "weights can be copied in bulk where they are constant and swizzled");
	if (s->box) {
		const char *why = implicit_box_refusal(p);

		range_need(r, s->swizzle, "boxes are copied to swizzled rows");
		range_need(r, !why, why);
	}
	range_need(r, !s->late || (s->group && s->stages >= 3),
		   "products are late by groups of warps, with three chunks or more in memory");
	range_need(r, warp_sums(s) <= MOST_SUMS, "the sums need more registers than a thread has");
	range_need(r, warp_bytes(s) <= MOST_BYTES, "the chunks do not fit in a block's memory");
	range_need(r, warp_copies(s) <= MOST_COPIES, "a thread would copy too much of a chunk");
	range_need(r, (ks - 1) * ceil_div(implicit_chunks(p), ks) < implicit_chunks(p),
		   "some of so many parts of the sum would be empty");
	stream_k_need(r, p, r->knob[STREAM_K], ks);
}

static void need(struct range *r, const struct warp_product *s)
{
	range_need(r, warp_threads(s) <= MOST_THREADS, "a block has more than 512 threads");
	range_need(r,
		   s->p->bm % (s->down * MMA_ROWS) == 0 &&
			   s->p->bn % (s->across * 2 * MMA_COLUMNS) == 0,
		   "a warp has no whole tiles of 16 rows by 16 columns");
	range_need(r, !s->group || by_groups(s->kind),
		   "a group of warps does not split single precision, nor multiply whole numbers "
		   "here");
	range_need(r, !s->group || s->down % MMA_GROUP == 0,
		   "a block's warps are no whole groups of four");
	if (!r->why)
		need_block(r, s);
}

static void no_groups(struct range *r)
{
	range_only(r, GROUP, 0, NULL);
	range_only(r, LATE, 0, NULL);
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {16, 32, 64, 128, 256, 0}, columns[] = {16, 32, 64, 128, 256, 0};
	static const int chunk[] = {16, 32, 64, 0}, chunk_of_wholes[] = {32, 64, 128, 0};
	static const int warps[] = {1, 2, 4, 8, 0};
	static const int stages[] = {1, 2, 3, 4, 5, 0};
	static const int parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 0};
	const enum mma_kind kind = kind_of(w);
	struct warp_product s;
	struct implicit p;

	if (!implicit_of(w, &p) || (p.is_conv && p.k == 1 && p.n == 1) || !multiplies(kind, &p) ||
	    (r->machine && !(r->machine->mma & 1U << kind)))
		return 0;
	range_values(r, BM, rows, 2 * p.m - 1);
	range_values(r, BN, columns, 2 * p.n - 1);
	range_values(r, BK, mma_depth(kind) > 16 ? chunk_of_wholes : chunk, 2 * p.k - 1);
	range_values(r, WM, warps, 8);
	range_values(r, WN, warps, 8);
	range_values(r, STAGES, stages, 5);
	range_values(r, KS, parts, p.k * p.taps / 64);
	range_flags(r, ORDER, BOX);
	range_flags(r, LATE, LATE);
	if (!by_groups(kind) || (r->machine && !(r->machine->mma & 1U << MMA_GROUPS)))
		no_groups(r);
	if (!p.packed || (r->machine && !(r->machine->mma & 1U << MMA_BULK)))
		range_only(r, BULK, 0, NULL);
	if (p.nchw || (r->machine && !(r->machine->mma & 1U << MMA_BULK)))
		range_only(r, BOX, 0, NULL);
	stream_k_range(r, STREAM_K);
	if (!r->knob || r->why)
		return 1;
	set_sizes(w, r->knob, &p, &s);
	need(r, &s);
	return 1;
}

/* The parts of the nest share these. */
struct state {
	struct nest *n;
	const int64_t *k;
	struct implicit p;
	struct warp_product block;
	struct split_sum split;
	struct affine first, end; /* chunks of the block's sum */
};

static void declare(struct state *s, const struct workload *w)
{
	set_sizes(w, s->k, &s->p, &s->block);
	implicit_declare(s->n, w, &s->p);
	warp_declare(s->n, &s->block);
	s->split = (struct split_sum){.p = &s->p,
				      .ks = s->k[KS],
				      .stream_k = s->k[STREAM_K],
				      .by_rows = s->k[ORDER] == 0,
				      .threads = s->block.threads};
	split_sum_declare(s->n, &s->split);
}

static int open_threads(struct state *s)
{
	return nest_for_threads(s->n, "t", s->block.threads);
}

/* In a loop over threads: chunk q begins to come into its stage, unless it is behind the end. */
static void copy(struct state *s, int thread, int q, const struct implicit_chunk *c, int stage)
{
	nest_if_less(s->n, af_var(q), s->end);
	warp_copy(s->n, &s->block, thread, c, af_var(stage));
	nest_close(s->n);
}

static int stage_of(struct state *s, int q)
{
	return nest_let_mod(s->n, "stage", af_sub(af_var(q), s->first), s->k[STAGES]);
}

/* How many chunks are on their way while one is multiplied. */
static int64_t ahead(const struct state *s)
{
	return s->k[STAGES] - 1 - s->k[LATE];
}

/* The first chunks, but for one, or two, are on their way. */
static void begin_chunks(struct state *s)
{
	struct nest *n = s->n;

	for (int64_t i = 0; i < ahead(s); i++) {
		int q = nest_let(n, "q", af_add(s->first, af(i))), stage = stage_of(s, q);
		struct implicit_chunk c = implicit_chunk(n, &s->p, q);

		copy(s, open_threads(s), q, &c, stage);
		nest_close(n);
	}
}

/* Each turn waits for a chunk, and multiplies it. Then, or before, another one begins to come, into
 * the stage of the one that was multiplied in the turn before; or, where products are late, in the
 * turn before that. A group's product goes on meanwhile, so it begins first. */
static void all_chunks(struct state *s)
{
	struct nest *n = s->n;
	struct implicit_chunk c;
	int q, next, stage, next_stage, thread;

	q = nest_for(n, LOOP_SERIAL, "q", s->first, s->end);
	next = nest_let(n, "next", af_add(af_var(q), af(ahead(s))));
	stage = stage_of(s, q);
	next_stage = stage_of(s, next);
	c = implicit_chunk(n, &s->p, next);
	if (!ahead(s)) {
		copy(s, open_threads(s), next, &c, next_stage);
		nest_close(n);
	}
	open_threads(s);
	nest_wait(n, ahead(s) ? (int)ahead(s) - 1 : 0);
	nest_close(n);
	thread = open_threads(s);
	if (ahead(s) && !s->k[GROUP])
		copy(s, thread, next, &c, next_stage);
	warp_multiply(n, &s->block, thread, af_var(stage));
	if (ahead(s) && s->k[GROUP])
		copy(s, thread, next, &c, next_stage);
	nest_close(n);
	nest_close(n);
}

/* The warps' sums to the result, or to the partial sums. */
static void finish(struct state *s)
{
	struct nest *n = s->n;
	struct warp_part x;

	if (s->k[STREAM_K] || s->k[LATE]) {
		open_threads(s);
		if (s->k[STREAM_K]) /* the next tile's groups would add to those under way */
			nest_wait(n, 0);
		if (s->k[LATE])
			warp_end(n, &s->block);
		nest_close(n);
	}
	warp_each(n, &s->block, &x);
	split_sum_leave(n, &s->split, s->block.batch, x.row, x.column, x.x);
	nest_close_to(n, 0);
	split_sum_finish(n, &s->split);
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct state s = {.n = n, .k = k};

	if (!implicit_of(w, &s.p))
		return err_set(e, "implicit_mma does not apply to this workload");
	declare(&s, w);
	split_sum_open(n, &s.split, &s.block.batch, &s.block.row, &s.block.panel, &s.first, &s.end);
	open_threads(&s);
	warp_clear(n, &s.block);
	nest_close(n);
	begin_chunks(&s);
	all_chunks(&s);
	finish(&s);
	return 0;
}

const struct algo algo_implicit_mma = {
	.name = "implicit_mma",
	.summary = "Blocks of a matrix product by tensor cores; matmul and convolution on GPUs.",
	.needs = TARGET_BLOCKS | TARGET_MMA,
	.types = 1U << DTYPE_TF32 | 1U << DTYPE_BF16 | 1U << DTYPE_F16 | 1U << DTYPE_S8 |
		 1U << DTYPE_U8,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = build,
};
