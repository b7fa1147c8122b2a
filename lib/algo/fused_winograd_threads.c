/* fused_winograd_threads: winograd_threads as one kernel. A block of threads transforms the inputs
 * of its image tiles, multiplies all of their values, and transforms the products back, in
 * registers and in its own memory (tile_block.h). So nothing but the tensors moves through memory,
 * which pays where few channels are summed. But inputs are transformed once for each panel of
 * output channels.
 *
 * fused_winograd_threads does all this in one kernel, for few channels. Its blocks transform the
 * inputs of their tiles chunk by chunk, and keep the values and the weights in the block's memory.
 * A thread multiplies a register tile for one of the values. In the end the products take the
 * chunks' place in that memory, and the threads transform them back (lib/schedule/tile_block.h).
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block_sum.h"
#include "lib/schedule/range.h"
#include "lib/schedule/tile_block.h"

enum { BM, BN, BK, TM, TN, STAGES, ORDER, UNROLL, M };
enum { KNOBS = M + 1, WARP = 32 };
enum { MOST_THREADS = 1024, MOST_REGISTERS = 220, MOST_BYTES = 227 << 10 };

static const struct knob knobs[KNOBS] = {
	[BM] = {"bm", 16, "Rows of a block: image tiles."},
	[BN] = {"bn", 32, "Columns of a block: output channels."},
	[BK] = {"bk", 8, "Input channels in a chunk."},
	[TM] = {"tm", 4, BLOCK_TM_HELP},
	[TN] = {"tn", 4, BLOCK_TN_HELP},
	[STAGES] = {"stages", 1, BLOCK_STAGES_HELP},
	[ORDER] = {"order", 0, BLOCK_ORDER_HELP},
	[UNROLL] = {"unroll", 1, BLOCK_UNROLL_HELP},
	[M] = {"m", 2, "Output pixels along each side of an image tile: 2 to 8, as taps allow."},
};

static struct tile_block block_of(const struct workload *w, const struct conv *c, const int64_t *k)
{
	return (struct tile_block){.s = tile_threads_of(w, c, k[M]),
				   .bm = k[BM],
				   .bn = k[BN],
				   .bk = k[BK],
				   .tm = (int)k[TM],
				   .tn = (int)k[TN],
				   .stages = (int)k[STAGES],
				   .unroll = (int)k[UNROLL]};
}

static void check(struct range *r, const struct workload *w, const struct conv *c)
{
	struct tile_block b;
	int64_t threads;

	range_need(r, tile_threads_has(c, r->knob[M]),
		   "there is no such image tile for the kernel's taps");
	if (r->why)
		return;
	b = block_of(w, c, r->knob);
	threads = tile_block_threads(&b);
	range_need(r, threads >= WARP && threads <= MOST_THREADS && threads % WARP == 0,
		   "a block's threads are no whole number of warps, or more than 1024");
	if (r->why)
		return;
	range_need(r, tile_block_registers(&b) <= MOST_REGISTERS,
		   "a thread has no registers for its tile and its part of a chunk");
	range_need(r, tile_block_bytes(&b) <= MOST_BYTES, "a block's memory is too small");
	range_need(r, r->knob[UNROLL] <= b.bk, "a chunk is unrolled more often than it has values");
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int rows[] = {8, 16, 32, 64, 0}, columns[] = {16, 32, 64, 0};
	static const int chunk[] = {4, 8, 16, 0}, tile[] = {4, 8, 0}, stages[] = {1, 2, 0};
	static const int unroll[] = {1, 2, 4, 8, 16, 0};
	struct tile_threads smallest;
	struct conv c;

	if (!tile_threads_applies(w, &c))
		return 0;
	smallest = tile_threads_of(w, &c, tile_threads_smallest(&c));
	range_values(r, BM, rows, 2 * tile_threads_tiles(&smallest) - 1);
	range_values(r, BN, columns, 2 * c.oc - 1);
	range_values(r, BK, chunk, 2 * c.ic - 1);
	range_values(r, TM, tile, 8);
	range_values(r, TN, tile, 8);
	range_values(r, STAGES, stages, 2);
	range_flags(r, ORDER, ORDER);
	range_values(r, UNROLL, unroll, 16);
	for (int64_t m = 2; r->space && m <= TILE_LARGEST; m++)
		if (tile_threads_has(&c, m))
			range_more(r, M, m);
	if (r->knob && !r->why)
		check(r, w, &c);
	return 1;
}

static void open_blocks(struct tile_block *b, int by_columns)
{
	struct nest *n = b->s.n;
	int64_t rows = ceil_div(tile_threads_tiles(&b->s), b->bm);
	int64_t panels = ceil_div(b->s.c.oc, b->bn);
	int outer, inner;

	outer = nest_for(n, LOOP_PARALLEL, by_columns ? "j" : "i", af(0),
			 af(by_columns ? panels : rows));
	inner = nest_for(n, LOOP_PARALLEL, by_columns ? "i" : "j", af(0),
			 af(by_columns ? rows : panels));
	b->tile = af_mul(af_var(by_columns ? inner : outer), b->bm);
	b->panel = af_var(by_columns ? outer : inner);
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct tile_block b;
	struct extent bias;
	struct conv c;

	if (!tile_threads_applies(w, &c))
		return err_set(e, "fused_winograd_threads does not apply to this workload");
	b = block_of(w, &c, k);
	b.s.n = n;
	b.s.src = nest_arg(n, "src", TENSOR_SRC, workload_size(w, TENSOR_SRC), 0);
	b.weights = tile_threads_weights(n, &c, &b.s.g, b.bn, b.bk, 1);
	bias = (struct extent){c.oc, c.oc};
	operand_out(n, w, operand_bias(n, w, 1, &bias), workload_size(w, TENSOR_DST), &b.s.out);
	tile_block_declare(&b);
	open_blocks(&b, (int)k[ORDER]);
	tile_block_compute(&b);
	nest_close_to(n, 0);
	return 0;
}

const struct algo algo_fused_winograd_threads = {
	.name = "fused_winograd_threads",
	.summary = "Convolution by minimal filtering (Winograd) in one kernel, whose blocks of "
		   "threads transform, multiply and transform back.",
	.needs = TARGET_BLOCKS,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = build,
};
