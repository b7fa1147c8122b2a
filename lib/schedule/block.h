/* Loops over the parts of an extent: blocks that threads share, chunks of what is summed over, and
 * register tiles in near-equal parts.
 *
 * Sizes and counts are a constant or one symbol each, as the algorithm likes. The caller
 * closes the loops that it opens with these functions.
 */
#ifndef TL_SCHEDULE_BLOCK_H
#define TL_SCHEDULE_BLOCK_H

#include "lib/nest/nest.h"
#include "lib/tile/brgemm.h"

/* Stretches of an extent, `size` units each, the last one shorter. */
struct block {
	const char *loop, *name;       /* of the loop over blocks, and of lo and hi */
	struct affine extent, size, n; /* units in all, units of a block, how many blocks */
	int lo, hi;		       /* variables: the open block has units [lo, hi) */
};

/* By constants; size 0 is all. */
struct block block_of(const char *loop, const char *name, int64_t extent, int64_t size);
/* One iteration space for the threads: the blocks of a by those of b, b innermost unless a is to
 * be. */
void block_share(struct nest *n, struct block *a, struct block *b, int a_innermost);
/* A loop over the units of the open block: its variable. */
int block_units(struct nest *n, const struct block *b, const char *name);

/* What is summed over, all at once or chunk by chunk. */
struct chunk {
	int loop;	     /* variable; -1: all at once */
	int count;	     /* symbol: how many */
	struct affine k0, k; /* the first one of the open chunk, how many it has */
};
/* In chunks of size; size 0 or the extent: all at once. extent is the symbol of the extent. */
struct chunk chunk_open(struct nest *n, int64_t size, int extent);

/* Rows of register tiles in near-equal parts, which have two bodies; rest is the split's, as a
 * symbol. */
struct parts {
	struct row_split split;
	int rest;
};
int parts_highest(const struct parts *p);
/* The first row of tile t (a variable). */
struct affine parts_row(struct nest *n, const struct parts *p, int t);
/* The bodies for tile t, each of so many rows:
 *	for (int rows = parts_first(n, p, t); rows; rows = parts_next(n, p, rows)) */
int parts_first(struct nest *n, const struct parts *p, int t);
int parts_next(struct nest *n, const struct parts *p, int rows);

/* The register tiles whose rows are tile t: a body for each of the two heights, and in it, where
 * columns are walked innermost, the loop over their tiles. What depends on the row alone stands
 * outside of that loop. The first fields are set before, the others hold for the body:
 *	for (struct sweep x = {..}; sweep_next(n, &x);)
 *		body */
struct sweep {
	const struct parts *parts;
	int t;			       /* variable */
	const struct block *innermost; /* its units are the tiles of columns; NULL: j is open */
	int j;			       /* variable: the tile of columns */
	struct affine row;	       /* the first one */
	int rows;
};
int sweep_next(struct nest *n, struct sweep *x);

/* Prefetching what the next tile of the innermost loop touches: it is beside this one, in the next
 * columns, or below it, `rows` further on, where A's rows are prefetched if they are read in place.
 * Tile registers prefetch the right side by a page instead, for a processor reads ahead within one
 * by itself. */
void block_look_ahead(struct brgemm *g, const struct brgemm_out *o, int beside, int rows,
		      int in_place);

/* While the row tiles of a block multiply a panel of the right side, the next panel is prefetched,
 * a share of it by each step of each tile: whole lines, or a part of one, so that all of the panel
 * is fetched by the end, and little after it. */
struct panel_ahead {
	struct affine at;   /* the next panel */
	int64_t elements;   /* that it has */
	struct affine tile; /* the open row tile's number in the block */
	int64_t tiles;	    /* row tiles of a block */
	int64_t steps;	    /* of each */
};
void block_panel_ahead(struct brgemm *g, const struct panel_ahead *p);

#endif
