/* winograd_threads: convolution of unit stride by minimal filtering (lib/tile/toom.h) on a target
 * with blocks of threads, in three phases.
 *
 * The output is cut into tiles of m x m pixels (m x 1, 1 x m). Threads transform the inputs of the
 * tiles (tile_threads.h). Blocks of threads multiply what comes out by transformed weights, which
 * are prepared: a product of matrices, of tiles and channels, for each of a tile's values
 * (block_sum.h). Threads transform the products back (Lavin and Gray, "Fast algorithms for
 * convolutional neural networks", CVPR 2016). Where a product has few blocks for many processors,
 * its sum is split, and the last phase adds up the parts.
 *
 * winograd_threads has three phases. Threads transform the inputs of image tiles in their
 * registers (lib/schedule/tile_threads.h, with the transforms of the processor's winograd). Blocks
 * multiply the values of all tiles by the transformed weights, as implicit_gemm would
 * (lib/schedule/block_sum.h). Threads transform the products back, and add up the parts where ks
 * splits the sum. What the phases leave for each other stays in the team's memory.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block_sum.h"
#include "lib/schedule/tile_threads.h"

enum { M = BLOCK_SUM_KNOBS, VL };
enum { KNOBS = VL + 1, LANES = 4, MOST_REGISTERS = 200 };

static const struct knob knobs[KNOBS] = {
	BLOCK_SUM_ROWS("Rows of a block: image tiles.", "Columns of a block: output channels.",
		       "Input channels in a chunk."),
	[M] = {"m", 4, "Output pixels along each side of an image tile: 2 to 8, as taps allow."},
	[VL] = {"vl", 1, "Channels that a thread transforms: 1, or in nhwc 4."},
};

/* Of tiles and channels, for each value. */
static struct implicit product_of(const struct tile_threads *s)
{
	return (struct implicit){.b = tile_threads_values(s),
				 .m = tile_threads_tiles(s),
				 .n = s->c.oc,
				 .k = s->c.ic,
				 .taps = 1,
				 .packed = 1,
				 .src_lanes = s->c.ic % LANES ? 1 : LANES,
				 .weights_lanes = LANES};
}

static int ranges(const struct workload *w, struct range *r)
{
	static const int lanes[] = {1, LANES, 0};
	struct tile_threads s;
	struct implicit p;
	struct conv c;
	int64_t m;

	if (!tile_threads_applies(w, &c))
		return 0;
	for (m = TILE_LARGEST; r->space && m >= 2; m--)
		if (tile_threads_has(&c, m))
			range_more(r, M, m);
	m = r->knob ? r->knob[M] : tile_threads_smallest(&c);
	if (!tile_threads_has(&c, m)) {
		range_need(r, 0, "there is no such image tile for the kernel's taps");
		return 1;
	}
	s = tile_threads_of(w, &c, m);
	p = product_of(&s);
	block_sum_ranges(r, &p);
	range_values(r, VL, lanes, s.nchw || c.ic % LANES || c.oc % LANES ? 1 : LANES);
	if (!r->knob || r->why)
		return 1;
	range_need(r, r->knob[VL] == 1 || !(s.nchw || c.ic % LANES || c.oc % LANES),
		   "a vector of channels is not side by side");
	range_need(r, tile_threads_registers(&s.g, r->knob[VL]) <= MOST_REGISTERS,
		   "the transform needs more registers than a thread has");
	return 1;
}

/* The products of a block stay in the team's memory. */
static void multiply(struct block_sum *sum)
{
	struct block_part x;

	block_sum_chunks(sum);
	block_each(sum->n, &sum->block, nest_for_threads(sum->n, "t", sum->block.threads), &x);
	split_sum_leave(sum->n, &sum->split, sum->block.batch, x.row, x.column, x.x);
	nest_close_to(sum->n, 0);
}

static struct tile_products products(const struct block_sum *sum)
{
	const struct partial *p = &sum->split.partial;

	return (struct tile_products){.buffer = p->buffer,
				      .value_step = partial_rows(p) * partial_columns(p),
				      .sums = p->ways,
				      .sum_step = sum->p.b * partial_rows(p) * partial_columns(p)};
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct block_sum sum = {.n = n, .k = k, .split.keeps = 1};
	struct tile_threads s;
	struct extent bias;
	struct conv c;

	if (!tile_threads_applies(w, &c))
		return err_set(e, "winograd_threads does not apply to this workload");
	s = tile_threads_of(w, &c, k[M]);
	s.n = n;
	sum.p = product_of(&s);
	block_sum_sizes(&sum);
	s.src = nest_arg(n, "src", TENSOR_SRC, workload_size(w, TENSOR_SRC), 0);
	sum.p.weights = tile_threads_weights(n, &c, &s.g, sum.p.bn, sum.p.bk, 0);
	bias = (struct extent){c.oc, c.oc};
	operand_out(n, w, operand_bias(n, w, 1, &bias), workload_size(w, TENSOR_DST), &s.out);
	sum.p.src = nest_team(n, "V", sum.p.b * sum.p.m * c.ic);
	block_sum_declare(&sum);
	s.threads = sum.block.threads;
	tile_threads_inputs(&s, (int)k[VL], sum.p.src);
	nest_sync(n);
	multiply(&sum);
	nest_sync(n);
	tile_threads_outputs(&s, (int)k[VL], products(&sum), partial_columns(&sum.split.partial));
	return 0;
}

const struct algo algo_winograd_threads = {
	.name = "winograd_threads",
	.summary = "Convolution by minimal filtering of tiles of output pixels (Winograd), by "
		   "blocks of threads.",
	.needs = TARGET_BLOCKS,
	.rev = 1,
	.nknobs = KNOBS,
	.knob = knobs,
	.ranges = ranges,
	.build = build,
};
