/* A block of threads computes a block of a product. For each chunk of the sum its threads copy
 * parts of both sides into the block's memory, the left side transposed. Then each thread reads
 * both by vectors, and multiplies a tile in its registers (Volkov and Demmel, "Benchmarking GPUs to
 * tune dense linear algebra", SC 2008).
 */
#ifndef TL_SCHEDULE_BLOCK_PRODUCT_H
#define TL_SCHEDULE_BLOCK_PRODUCT_H

#include "lib/schedule/implicit.h"

enum { BLOCK_LANES = 4, BLOCK_PAD = 4 };

struct block_product {
	const struct implicit *p;
	/* Set before block_declare(): a thread's tile, stages (chunks that lie in the block's
	 * memory at a time), and how often the loop over a chunk is unrolled. */
	int tm, tn, stages, unroll;
	int threads, down, across;   /* of the block: in all, and its tiles by rows and columns */
	int together;		     /* rows of a tile that lie side by side: 4 or 1 */
	int left_units, right_units; /* vectors of a chunk */
	int left, right;	     /* memory of the block */
	int acc, a, b, from_left, from_right; /* registers */
	/* Set before the steps below: the variable of the batch, the block's first row, its panel.
	 */
	int batch;
	struct affine row, panel;
};

/* Threads of a block. */
int64_t block_threads(int64_t bm, int64_t bn, int64_t tm, int64_t tn);
/* Bytes of memory that a block of so many stages takes. */
int64_t block_bytes(int64_t bm, int64_t bn, int64_t bk, int64_t stages);
void block_declare(struct nest *n, struct block_product *s);

/* Steps of a thread, in a loop over threads: the sums begin with 0; the chunk comes into the
 * thread's registers, and from there into a stage; the chunk of a stage is multiplied. */
void block_clear(struct nest *n, const struct block_product *s);
void block_fetch(struct nest *n, const struct block_product *s, int thread,
		 const struct implicit_chunk *c);
void block_put(struct nest *n, const struct block_product *s, int thread, struct affine stage);
void block_multiply(struct nest *n, const struct block_product *s, int thread, struct affine stage);

/* Goes through the thread's tile, four columns at a time: x holds for the body behind
 * block_each(), whose loops the caller closes. */
struct block_part {
	struct affine row, column; /* of the result */
	const struct expr *x;
};
void block_each(struct nest *n, const struct block_product *s, int thread, struct block_part *x);

#endif
