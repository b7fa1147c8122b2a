/* How blocks share a product: a block has a tile of the result; or several have parts of its sum
 * (split K, partial.h); or a fixed number of blocks shares all chunks (stream K, stream_k.h).
 */
#ifndef TL_SCHEDULE_SPLIT_SUM_H
#define TL_SCHEDULE_SPLIT_SUM_H

#include "lib/schedule/partial.h"
#include "lib/schedule/stream_k.h"

struct split_sum {
	/* Set before everything: */
	const struct implicit *p;
	int64_t ks;	  /* parts of a sum */
	int64_t stream_k; /* blocks that share all chunks; 0: another way. ks is 1 otherwise */
	int by_rows;	  /* blocks of the same rows run one after another */
	int keeps;	  /* sums are left as parts (partial.h) even if there is one of each */
	int threads;	  /* of a block */
	/* Set by the functions below: */
	struct partial partial;
	struct stream_k stream;
	int part; /* variable, but for stream K */
};

void split_sum_declare(struct nest *n, struct split_sum *s);
/* Opens the loops over blocks: what a block has of the result, and the chunks of its sum. *batch is
 * a variable. */
void split_sum_open(struct nest *n, struct split_sum *s, int *batch, struct affine *row,
		    struct affine *panel, struct affine *first, struct affine *end);
/* In a loop over threads: four columns of a row, a vector, to the result, or to the parts. */
void split_sum_leave(struct nest *n, const struct split_sum *s, int batch, struct affine row,
		     struct affine column, const struct expr *x);
/* Adds the parts up, if there are any, in a phase of its own: everything must be closed. */
void split_sum_finish(struct nest *n, const struct split_sum *s);

#endif
