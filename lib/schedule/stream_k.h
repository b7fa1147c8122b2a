/* A product whose tiles do not fill whole waves of blocks: a fixed number of blocks shares the
 * chunks of the last tiles evenly, wherever a tile ends (Osama et al., "Stream-K: Work-centric
 * parallel decomposition for dense matrix-matrix multiplication on the GPU", PPoPP 2023).
 *
 * This is the paper's hybrid (section 5.2, "two-tile"). Each block has as many whole tiles as all
 * can have, but for one. The tiles that are left, less than two for each block, have consecutive
 * chunks, of which each block takes a stretch. Where there are fewer tiles than blocks, all are
 * shared so. Neighbouring blocks compute neighbouring whole tiles at a time, which share rows or
 * columns in the second cache.
 *
 * A tile that one block has as a whole goes to the result at once. Of others each block leaves its
 * part of the sum in the team's memory, and a second phase adds the parts up. The paper's blocks
 * wait for each other instead; phases need no waiting within a kernel. A block has at most two
 * parts: one that continues a tile that the blocks before it began, and one that begins a tile.
 */
#ifndef TL_SCHEDULE_STREAM_K_H
#define TL_SCHEDULE_STREAM_K_H

#include "lib/schedule/implicit.h"
#include "lib/schedule/range.h"

#define STREAM_K_HELP                                                                              \
	"Blocks that compute whole tiles first and share the chunks of the last tiles evenly; "    \
	"0: a block for each tile."

struct stream_k {
	const struct implicit *p;
	int64_t blocks; /* 0: each block has a tile. stream_k_declare() leaves those with work. */
	int by_rows, threads;
	/* Set by stream_k_declare(): */
	int64_t chunks, tiles;		 /* of a tile; in all */
	int64_t whole;			 /* tiles that each block has for itself */
	int64_t shared;			 /* the first tiles, which the blocks share */
	int64_t each;			 /* chunks of a block's stretch of these */
	int buffer;			 /* parts, [block][continues, begins][row][column] */
	int slot;			 /* of the open tile's part: a variable */
	struct affine row, column, done; /* of the open tile: where it begins; chunks here */
};

/* Goes through the knob. */
void stream_k_range(struct range *r, int knob);
/* Once the block's sizes are set. ks: the parts of the sum by the other knob. */
void stream_k_need(struct range *r, const struct implicit *p, int64_t blocks, int64_t ks);
void stream_k_declare(struct nest *n, struct stream_k *s);
/* Opens the loop over blocks, and that over a block's tiles: the open one, and its chunks. There
 * is at least one. *batch is a variable. */
void stream_k_open(struct nest *n, struct stream_k *s, int *batch, struct affine *row,
		   struct affine *panel, struct affine *first, struct affine *end);
/* In a loop over threads: four columns of a row, a vector, to the result or to the parts. */
void stream_k_leave(struct nest *n, const struct stream_k *s, int batch, struct affine row,
		    struct affine column, const struct expr *x);
/* The second phase: everything must be closed. */
void stream_k_finish(struct nest *n, const struct stream_k *s);

#endif
