#include "lib/schedule/block_sum.h"

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

void block_sum_declare(struct block_sum *s, int partial)
{
	s->block = (struct block_product){.p = &s->p,
					  .tm = (int)s->k[BLOCK_TM],
					  .tn = (int)s->k[BLOCK_TN],
					  .stages = (int)s->k[BLOCK_STAGES],
					  .unroll = (int)s->k[BLOCK_UNROLL]};
	block_declare(s->n, &s->block);
	s->partial =
		(struct partial){.p = &s->p, .ways = s->k[BLOCK_KS], .threads = s->block.threads};
	if (partial)
		partial_declare(s->n, &s->partial);
}

/* The chunks of the open part. */
struct part {
	struct affine first, end;
};

static int open_threads(struct block_sum *s)
{
	return nest_for_threads(s->n, "t", s->block.threads);
}

static void copy(struct block_sum *s, int thread, const struct implicit_chunk *c)
{
	block_fetch(s->n, &s->block, thread, c);
	block_put(s->n, &s->block, thread, af(0));
}

/* One chunk after the other: copied, then multiplied. */
static void in_one_stage(struct block_sum *s, const struct part *x)
{
	struct nest *n = s->n;
	struct implicit_chunk c;
	int q, thread;

	q = nest_for(n, LOOP_SERIAL, "q", x->first, x->end);
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
static void in_two_stages(struct block_sum *s, const struct part *x)
{
	struct nest *n = s->n;
	struct implicit_chunk c;
	int q, next, stage, thread;

	q = nest_let(n, "q", x->first);
	c = implicit_chunk(n, &s->p, q);
	thread = open_threads(s);
	copy(s, thread, &c);
	nest_close(n);
	q = nest_for(n, LOOP_SERIAL, "q", x->first, x->end);
	next = nest_let(n, "next", af_add(af_var(q), af(1)));
	stage = nest_let_mod(n, "stage", af_sub(af_var(q), x->first), 2);
	c = implicit_chunk(n, &s->p, next);
	thread = open_threads(s);
	nest_if_less(n, af_var(next), x->end);
	block_fetch(n, &s->block, thread, &c);
	nest_close(n);
	block_multiply(n, &s->block, thread, af_var(stage));
	nest_if_less(n, af_var(next), x->end);
	block_put(n, &s->block, thread, af_sub(af(1), af_var(stage)));
	nest_close(n);
	nest_close(n);
	nest_close(n);
}

void block_sum_chunks(struct block_sum *s)
{
	struct part x;

	s->part = implicit_blocks(s->n, &s->p, s->k[BLOCK_KS], s->k[BLOCK_ORDER] == 0,
				  &s->block.batch, &s->block.row, &s->block.panel);
	implicit_part(s->n, &s->p, s->k[BLOCK_KS], s->part, &x.first, &x.end);
	open_threads(s);
	block_clear(s->n, &s->block);
	nest_close(s->n);
	if (s->k[BLOCK_STAGES] > 1)
		in_two_stages(s, &x);
	else
		in_one_stage(s, &x);
}
