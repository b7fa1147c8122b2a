/* Products whose sum is split among blocks of threads: each block leaves sums of its part in the
 * team's memory, and a second phase adds the parts up (split K).
 *
 * Sums lie as [part][batch][row][column], rows and columns in whole blocks.
 */
#ifndef TL_SCHEDULE_PARTIAL_H
#define TL_SCHEDULE_PARTIAL_H

#include "lib/schedule/implicit.h"

struct partial {
	const struct implicit *p;
	int64_t ways;
	int threads; /* of a block */
	int buffer;
};

/* Of the sums of a part and batch. */
int64_t partial_rows(const struct partial *s);
int64_t partial_columns(const struct partial *s);
/* The buffer. */
void partial_declare(struct nest *n, struct partial *s);
/* Keeps four columns of a row, a vector. part and batch are variables. */
void partial_keep(struct nest *n, const struct partial *s, int part, int batch, struct affine row,
		  struct affine column, const struct expr *x);
/* The second phase: everything must be closed. */
void partial_finish(struct nest *n, const struct partial *s);

#endif
