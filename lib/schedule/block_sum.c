#include "lib/schedule/block_sum.h"

#include "lib/schedule/staged.h"

enum { WARP = 32 };
enum { MOST_THREADS = 1024, MOST_REGISTERS = 200, MOST_BYTES = 227 << 10, MOST_COPIES = 16 };

/* ---- knobs ---- */

/* What any GPU of today has (NVIDIA, "CUDA C++ Programming Guide", "Compute capabilities"). */
static void need(struct range *r, const struct implicit *p)
{
	const int64_t *k = r->knob;
	int64_t threads = block_threads(k[BLOCK_BM], k[BLOCK_BN], k[BLOCK_TM], k[BLOCK_TN]);
	int64_t copies = k[BLOCK_BM] * k[BLOCK_BK] / p->src_lanes +
			 k[BLOCK_BK] * k[BLOCK_BN] / p->weights_lanes;

	range_need(r, threads >= WARP && threads <= MOST_THREADS && threads % WARP == 0,
		   "a block's threads are no whole number of warps, or more than 1024");
	range_need(r, (k[BLOCK_TM] + 2) * (k[BLOCK_TN] + 4) <= MOST_REGISTERS,
		   "the register tile needs more registers than a thread has");
	range_need(r,
		   block_bytes(k[BLOCK_BM], k[BLOCK_BN], k[BLOCK_BK], k[BLOCK_STAGES]) <=
			   MOST_BYTES,
		   "the chunks do not fit in a block's memory");
	range_need(r, copies <= MOST_COPIES * threads, "a thread would copy too much of a chunk");
	range_need(r,
		   (k[BLOCK_KS] - 1) * ceil_div(implicit_chunks(p), k[BLOCK_KS]) <
			   implicit_chunks(p),
		   "some of so many parts of the sum would be empty");
}

void block_sum_ranges(struct range *r, const struct implicit *p)
{
	static const int rows[] = {16, 32, 64, 128, 256, 0}, columns[] = {32, 64, 128, 256, 0};
	static const int chunk[] = {4, 8, 16, 32, 0}, down[] = {1, 2, 4, 8, 16, 0};
	static const int across[] = {4, 8, 16, 0}, parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 0};
	static const int stages[] = {1, 2, 0}, unroll[] = {1, 2, 4, 8, 16, 32, 0};
	struct implicit of_chunk = *p;

	range_values(r, BLOCK_BM, rows, 2 * p->m - 1);
	range_values(r, BLOCK_BN, columns, 2 * p->n - 1);
	range_values(r, BLOCK_BK, chunk, 2 * p->k - 1);
	range_values(r, BLOCK_TM, down, 16);
	range_values(r, BLOCK_TN, across, 16);
	range_values(r, BLOCK_STAGES, stages, 2);
	range_values(r, BLOCK_KS, parts, p->k * p->taps / 32);
	range_flags(r, BLOCK_ORDER, BLOCK_ORDER);
	range_values(r, BLOCK_UNROLL, unroll, 32);
	if (!r->knob || r->why)
		return;
	of_chunk.bk = r->knob[BLOCK_BK];
	range_need(r, r->knob[BLOCK_UNROLL] <= of_chunk.bk,
		   "a chunk is unrolled more often than it has values");
	need(r, &of_chunk);
}

/* ---- the nest ---- */

void block_sum_sizes(struct block_sum *s)
{
	s->p.bm = s->k[BLOCK_BM];
	s->p.bn = s->k[BLOCK_BN];
	s->p.bk = s->k[BLOCK_BK];
}

void block_sum_declare(struct block_sum *s)
{
	s->block = (struct block_product){.p = &s->p,
					  .tm = (int)s->k[BLOCK_TM],
					  .tn = (int)s->k[BLOCK_TN],
					  .stages = (int)s->k[BLOCK_STAGES],
					  .unroll = (int)s->k[BLOCK_UNROLL]};
	block_declare(s->n, &s->block);
	s->split.p = &s->p;
	s->split.ks = s->k[BLOCK_KS];
	s->split.by_rows = s->k[BLOCK_ORDER] == 0;
	s->split.threads = s->block.threads;
	split_sum_declare(s->n, &s->split);
}

static void open_chunk(void *arg, int q)
{
	struct block_sum *s = arg;

	s->chunk = implicit_chunk(s->n, &s->p, q);
}

static void fetch(void *arg, int thread)
{
	struct block_sum *s = arg;

	block_fetch(s->n, &s->block, thread, &s->chunk);
}

static void put(void *arg, int thread, struct affine stage)
{
	struct block_sum *s = arg;

	block_put(s->n, &s->block, thread, stage);
}

static void multiply(void *arg, int thread, struct affine stage)
{
	struct block_sum *s = arg;

	block_multiply(s->n, &s->block, thread, stage);
}

void block_sum_chunks(struct block_sum *s)
{
	struct staged chunks = {.n = s->n,
				.threads = s->block.threads,
				.stages = s->k[BLOCK_STAGES],
				.open = open_chunk,
				.fetch = fetch,
				.put = put,
				.multiply = multiply,
				.arg = s};

	split_sum_open(s->n, &s->split, &s->block.batch, &s->block.row, &s->block.panel,
		       &chunks.first, &chunks.end);
	nest_for_threads(s->n, "t", s->block.threads);
	block_clear(s->n, &s->block);
	nest_close(s->n);
	staged_run(&chunks);
}
