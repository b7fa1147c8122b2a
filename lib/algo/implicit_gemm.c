/* implicit_gemm: convolutions and products on a target with blocks of threads.
 *
 * A block of threads computes a block of the result, bm rows by bn columns (block_product.h). With
 * two stages the next chunk of the sum is on its way while one is multiplied. Where the result has
 * few blocks for many processors, the sum is split, too, and where blocks do not fill whole waves,
 * they may share the last ones evenly (split_sum.h).
 *
 * implicit_gemm computes any convolution or product as one product, whose left side it reads in
 * place. The right side is packed in panels, with one chunk of bk x bn behind the other, so that
 * its copies are whole vectors side by side. A block's memory holds the left side transposed, so
 * that a thread reads both sides by vectors of four. Neighbouring threads read neighbouring
 * channels, and in nchw neighbouring pixels. stages=2 fetches the next chunk before a chunk is
 * multiplied. ks splits the sum among blocks, and a second kernel adds up their parts. stream_k is
 * for results whose tiles do not fill whole waves of blocks: so many blocks compute whole tiles
 * first, and share the chunks of the last tiles, less than two for each block, evenly (stream K,
 * lib/schedule/stream_k.h). Of a tile that several blocks share each leaves a part, and a second
 * kernel adds the parts up; so no block waits for another. A block's whole tiles come in the order
 * of the grid, so that those which run at a time share rows or columns in the second cache.
 */
#include "lib/algo/algo.h"
#include "lib/nest/nest.h"
#include "lib/schedule/block_sum.h"

enum { STREAM_K = BLOCK_SUM_KNOBS };
enum { KNOBS = STREAM_K + 1 };

static const struct knob knobs[KNOBS] = {
	BLOCK_SUM_ROWS("Rows of a block.", "Columns of a block.", "Values of the sum in a chunk."),
	[STREAM_K] = {"stream_k", 0, STREAM_K_HELP},
};

static int ranges(const struct workload *w, struct range *r)
{
	struct implicit p;

	if (!implicit_of(w, &p) || (p.is_conv && p.k == 1 && p.n == 1))
		return 0;
	block_sum_ranges(r, &p);
	stream_k_range(r, STREAM_K);
	if (!r->knob || r->why)
		return 1;
	p.bm = r->knob[BLOCK_BM];
	p.bn = r->knob[BLOCK_BN];
	p.bk = r->knob[BLOCK_BK];
	stream_k_need(r, &p, r->knob[STREAM_K], r->knob[BLOCK_KS]);
	return 1;
}

static int build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e)
{
	struct block_sum s = {.n = n, .k = k, .split.stream_k = k[STREAM_K]};
	struct block_part x;

	if (!implicit_of(w, &s.p))
		return err_set(e, "implicit_gemm does not apply to this workload");
	block_sum_sizes(&s);
	implicit_declare(n, w, &s.p);
	block_sum_declare(&s);
	block_sum_chunks(&s);
	block_each(n, &s.block, nest_for_threads(n, "t", s.block.threads), &x);
	split_sum_leave(n, &s.split, s.block.batch, x.row, x.column, x.x);
	nest_close_to(n, 0);
	split_sum_finish(n, &s.split);
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
