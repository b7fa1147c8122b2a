/* implicit_gemm: convolutions and products on a target with blocks of threads.
 *
 * A block of threads computes a block of the result, bm rows by bn columns (block_product.h). With
 * two stages the next chunk of the sum is on its way while one is multiplied. Where the result has
 * few blocks for many processors, the sum is split, too (partial.h).
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block_product.h"
#include "lib/schedule/implicit.h"
#include "lib/schedule/partial.h"
#include "lib/schedule/range.h"

enum { BM, BN, BK, TM, TN, STAGES, KS, ORDER, UNROLL };
enum { KNOBS = UNROLL + 1, WARP = 32 };
enum { MOST_THREADS = 1024, MOST_REGISTERS = 200, MOST_BYTES = 227 << 10, MOST_COPIES = 16 };

static const struct knob knobs[KNOBS] = {
	[BM] = {"bm", 64, "Rows of a block."},
	[BN] = {"bn", 64, "Columns of a block."},
	[BK] = {"bk", 8, "Values of the sum in a chunk."},
	[TM] = {"tm", 4, "Rows of a thread's register tile."},
	[TN] = {"tn", 4, "Columns of a thread's register tile."},
	[STAGES] = {"stages", 1, "2: the next chunk is copied while one is multiplied."},
	[KS] = {"ks", 1, "Parts of the sum that blocks share; they are added up at the end."},
	[ORDER] = {"order", 0,
		   "Blocks that run together are of the same rows with 0, of the same columns "
		   "with 1."},
	[UNROLL] = {"unroll", 1, "Unrolling of the loop over a chunk, asked of the compiler."},
};

/* What any GPU of today has (NVIDIA, "CUDA C++ Programming Guide", "Compute capabilities"). */
static void need(struct range *r, const struct implicit *p)
{
	const int64_t *k = r->knob, threads = block_threads(k[BM], k[BN], k[TM], k[TN]);
	int64_t copies = k[BM] * k[BK] / p->src_lanes + k[BK] * k[BN] / p->weights_lanes;

	range_need(r, threads >= WARP && threads <= MOST_THREADS && threads % WARP == 0,
		   "a block's threads are no whole number of warps, or more than 1024");
	range_need(r, (k[TM] + 2) * (k[TN] + 4) <= MOST_REGISTERS,
		   "the register tile needs more registers than a thread has");
	range_need(r, block_bytes(k[BM], k[BN], k[BK], k[STAGES]) <= MOST_BYTES,
		   "the chunks do not fit in a block's memory");
	range_need(r, copies <= MOST_COPIES * threads, "a thread would copy too much of a chunk");
	range_need(r, (k[KS] - 1) * ceil_div(implicit_chunks(p), k[KS]) < implicit_chunks(p),
		   "some of so many parts of the sum would be empty");
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {16, 32, 64, 128, 256, 0}, columns[] = {32, 64, 128, 256, 0};
	static const int chunk[] = {4, 8, 16, 32, 0}, down[] = {1, 2, 4, 8, 16, 0};
	static const int across[] = {4, 8, 16, 0}, parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 0};
	static const int stages[] = {1, 2, 0}, unroll[] = {1, 2, 4, 8, 16, 32, 0};
	struct implicit p;

	if (!implicit_of(w, &p) || (p.is_conv && p.k == 1 && p.n == 1))
		return 0;
	range_values(r, BM, rows, 2 * p.m - 1);
	range_values(r, BN, columns, 2 * p.n - 1);
	range_values(r, BK, chunk, 2 * p.k - 1);
	range_values(r, TM, down, 16);
	range_values(r, TN, across, 16);
	range_values(r, STAGES, stages, 2);
	range_values(r, KS, parts, p.k * p.taps / 32);
	range_flags(r, ORDER, ORDER);
	range_values(r, UNROLL, unroll, 32);
	if (!r->knob || r->why)
		return 1;
	p.bk = r->knob[BK];
	range_need(r, r->knob[UNROLL] <= p.bk, "a chunk is unrolled more often than it has values");
	need(r, &p);
	return 1;
}

/* What the parts of the nest share. */
struct state {
	struct nest *n;
	const int64_t *k;
	struct implicit p;
	struct block_product block;
	struct partial partial;
	int part;		  /* variable */
	struct affine first, end; /* chunks of the open part */
};

static void declare(struct state *s, const struct workload *w)
{
	s->p.bm = s->k[BM];
	s->p.bn = s->k[BN];
	s->p.bk = s->k[BK];
	implicit_declare(s->n, w, &s->p);
	s->block = (struct block_product){.p = &s->p,
					  .tm = (int)s->k[TM],
					  .tn = (int)s->k[TN],
					  .stages = (int)s->k[STAGES],
					  .unroll = (int)s->k[UNROLL]};
	block_declare(s->n, &s->block);
	s->partial = (struct partial){.p = &s->p, .ways = s->k[KS], .threads = s->block.threads};
	if (s->k[KS] > 1)
		partial_declare(s->n, &s->partial);
}

static int open_threads(struct state *s)
{
	return nest_for_threads(s->n, "t", s->block.threads);
}

static void copy(struct state *s, int thread, const struct implicit_chunk *c)
{
	block_fetch(s->n, &s->block, thread, c);
	block_put(s->n, &s->block, thread, af(0));
}

/* One chunk after the other: copied, then multiplied. */
static void in_one_stage(struct state *s)
{
	struct nest *n = s->n;
	struct implicit_chunk c;
	int q, thread;

	q = nest_for(n, LOOP_SERIAL, "q", s->first, s->end);
	c = implicit_chunk(n, &s->p, q);
	thread = open_threads(s);
	copy(s, thread, &c);
	nest_close(n);
	thread = open_threads(s);
	block_multiply(n, &s->block, thread, af(0));
	nest_close(n);
	nest_close(n);
}

/* The next chunk is fetched before one is multiplied, and put into the other stage after that. */
static void in_two_stages(struct state *s)
{
	struct nest *n = s->n;
	struct implicit_chunk c;
	int q, next, stage, thread;

	q = nest_let(n, "q", s->first);
	c = implicit_chunk(n, &s->p, q);
	thread = open_threads(s);
	copy(s, thread, &c);
	nest_close(n);
	q = nest_for(n, LOOP_SERIAL, "q", s->first, s->end);
	next = nest_let(n, "next", af_add(af_var(q), af(1)));
	stage = nest_let_mod(n, "stage", af_sub(af_var(q), s->first), 2);
	c = implicit_chunk(n, &s->p, next);
	thread = open_threads(s);
	nest_if_less(n, af_var(next), s->end);
	block_fetch(n, &s->block, thread, &c);
	nest_close(n);
	block_multiply(n, &s->block, thread, af_var(stage));
	nest_if_less(n, af_var(next), s->end);
	block_put(n, &s->block, thread, af_sub(af(1), af_var(stage)));
	nest_close(n);
	nest_close(n);
	nest_close(n);
}

/* The threads' tiles to the result, or to the partial sums. */
static void finish(struct state *s)
{
	struct nest *n = s->n;
	struct block_part x;

	block_each(n, &s->block, open_threads(s), &x);
	if (s->k[KS] > 1)
		partial_keep(n, &s->partial, s->part, s->block.batch, x.row, x.column, x.x);
	else
		implicit_store(n, &s->p, s->block.batch, x.row, x.column, x.x);
	nest_close_to(n, 0);
	if (s->k[KS] > 1)
		partial_finish(n, &s->partial);
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct state s = {.n = n, .k = k};

	if (!implicit_of(w, &s.p))
		return err_set(e, "implicit_gemm does not apply to this workload");
	declare(&s, w);
	s.part = implicit_blocks(n, &s.p, k[KS], k[ORDER] == 0, &s.block.batch, &s.block.row,
				 &s.block.panel);
	implicit_part(n, &s.p, k[KS], s.part, &s.first, &s.end);
	open_threads(&s);
	block_clear(n, &s.block);
	nest_close(n);
	if (k[STAGES] > 1)
		in_two_stages(&s);
	else
		in_one_stage(&s);
	finish(&s);
	return 0;
}

const struct algo algo_implicit_gemm = {
	.name = "implicit_gemm",
	.summary =
		"Blocks of a matrix product by blocks of threads; matmul and convolution on GPUs.",
	.needs = TARGET_BLOCKS,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = build,
};
