/* A product in blocks, each of a block of threads (block_product.h): the loops over blocks and over
 * parts of the sum, the chunks of a part (staged.h), and the knobs that say so.
 */
#ifndef TL_SCHEDULE_BLOCK_SUM_H
#define TL_SCHEDULE_BLOCK_SUM_H

#include "lib/schedule/block_product.h"
#include "lib/schedule/range.h"
#include "lib/schedule/split_sum.h"

/* The first knobs of algorithms that have such a product. */
enum block_sum_knob {
	BLOCK_BM,
	BLOCK_BN,
	BLOCK_BK,
	BLOCK_TM,
	BLOCK_TN,
	BLOCK_STAGES,
	BLOCK_KS,
	BLOCK_ORDER,
	BLOCK_UNROLL,
	BLOCK_SUM_KNOBS
};

/* What they say of themselves, but for the block's sizes. */
#define BLOCK_TM_HELP "Rows of a thread's register tile."
#define BLOCK_TN_HELP "Columns of a thread's register tile."
#define BLOCK_STAGES_HELP "2: the next chunk is copied while one is multiplied."
#define BLOCK_KS_HELP "Parts of the sum that blocks share; they are added up at the end."
#define BLOCK_ORDER_HELP                                                                           \
	"0: blocks of the same rows run one after another; 1: those of the same columns do."
#define BLOCK_UNROLL_HELP "Unrolling of the loop over a chunk, asked of the compiler."
/* Their rows of an algorithm's knobs. */
#define BLOCK_SUM_ROWS(bm, bn, bk)                                                                 \
	[BLOCK_BM] = {"bm", 64, bm}, [BLOCK_BN] = {"bn", 64, bn}, [BLOCK_BK] = {"bk", 8, bk},      \
	[BLOCK_TM] = {"tm", 4, BLOCK_TM_HELP}, [BLOCK_TN] = {"tn", 4, BLOCK_TN_HELP},              \
	[BLOCK_STAGES] = {"stages", 1, BLOCK_STAGES_HELP}, [BLOCK_KS] = {"ks", 1, BLOCK_KS_HELP},  \
	[BLOCK_ORDER] = {"order", 0, BLOCK_ORDER_HELP},                                            \
	[BLOCK_UNROLL] = {"unroll", 1, BLOCK_UNROLL_HELP}

struct block_sum {
	struct nest *n;
	const int64_t *k; /* knobs */
	struct implicit p;
	struct block_product block;
	struct split_sum split;	     /* stream_k and keeps: set before everything, or 0 */
	struct implicit_chunk chunk; /* the open one */
};

/* Goes through these knobs. p: the product, but for the block's sizes. */
void block_sum_ranges(struct range *r, const struct implicit *p);
/* Once p is known: the block's sizes, which the right side is packed by. */
void block_sum_sizes(struct block_sum *s);
/* Declares what the block takes. */
void block_sum_declare(struct block_sum *s);
/* Opens the loops over blocks and parts, and sums the part's chunks into the threads' tiles. The
 * caller opens a loop over threads for what becomes of them, and closes everything. */
void block_sum_chunks(struct block_sum *s);

#endif
