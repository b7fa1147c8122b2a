/* Products of which k is split among threads, for results too small to occupy all of them: each
 * part of k makes a sum of its own in the team's memory, and a second phase adds the parts up.
 *
 * Sums lie as [part][batch][row][column], columns padded to whole tiles.
 */
#ifndef TL_SCHEDULE_SPLIT_H
#define TL_SCHEDULE_SPLIT_H

#include "lib/schedule/block.h"
#include "lib/schedule/product.h"
#include "lib/schedule/range.h"

struct split {
	int64_t ways;	       /* parts of k */
	int64_t b, m, columns; /* extents of the sums; columns in whole tiles */
	int buffer;	       /* of the team */
	int parts;	       /* symbol: ways */
	int part, batch, row;  /* symbols: steps of the sums' extents */
};
/* A knob: parts of k. */
void split_range(struct range *r, int knob, const struct product *p);

/* Fills in the buffer and the symbols. */
void split_declare(struct nest *n, struct split *s);
/* The part of k that the variable `part` says, of `size` values or what is left of the extent
 * (a symbol). */
struct chunk split_open(struct nest *n, int part, int64_t size, int extent);
/* A tile of one product, in place of brgemm_tile(): part and batch are variables. */
void split_tile(struct nest *n, const struct split *s, const struct brgemm *g, int rows, int part,
		int batch, struct affine row, struct affine column);

/* What the second phase goes over: all tiles of the result. */
struct split_result {
	const struct parts *parts;    /* rows of tiles */
	struct affine rows, columns;  /* tiles */
	int batches;		      /* symbol */
	int n, step;		      /* symbols: columns of the result, elements of a batch */
	const struct brgemm_out *out; /* of the whole result: places of a tile are filled in */
};
/* The second phase: everything must be closed. */
void split_finish(struct nest *n, const struct split *s, const struct brgemm *g,
		  const struct split_result *r);

#endif
