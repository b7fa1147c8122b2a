/* A block of threads computes a block of image tiles by output channels, all of a tile's values
 * (tile_threads.h). For each chunk of input channels its threads transform the tiles' inputs into
 * the block's memory, beside the weights. A thread multiplies a register tile for one of the
 * values. In the end the products take the chunks' place in memory, and the threads transform them
 * back.
 */
#ifndef TL_SCHEDULE_TILE_BLOCK_H
#define TL_SCHEDULE_TILE_BLOCK_H

#include "lib/schedule/tile_threads.h"

struct tile_block {
	struct tile_threads s;
	/* Set before tile_block_declare(): tiles, output channels and input channels of a block and
	 * a chunk, a thread's register tile (multiples of 4), stages, and how often the loop over a
	 * chunk is unrolled. */
	int64_t bm, bn, bk;
	int tm, tn, stages, unroll;
	int values, down, across;      /* of a tile; a value's register tiles in a block */
	int weights, memory;	       /* buffers */
	int acc, a, b, fetched, right; /* registers */
	struct affine tile, panel;     /* of the open block */
	int q;			       /* variable: the open chunk */
};

int64_t tile_block_threads(const struct tile_block *b);
int64_t tile_block_bytes(const struct tile_block *b);
/* Registers that the nest names, at least. */
int64_t tile_block_registers(const struct tile_block *b);
void tile_block_declare(struct tile_block *b);
/* In the loops over blocks, with tile and panel set: everything. */
void tile_block_compute(struct tile_block *b);

#endif
