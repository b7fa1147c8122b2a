/* A square of a matrix, as many rows as a vector has lanes, transposed in registers; and a few rows
 * interleaved. */
#ifndef TL_TILE_TRANSPOSE_H
#define TL_TILE_TRANSPOSE_H

#include "lib/nest/nest.h"

struct transpose {
	struct nest *n;
	int lanes;
	int regs[2]; /* rows stand in the first one; each step goes from one to the other */
};

/* Declares the registers, of which nothing outlives a square. A nest that keeps values in others
 * beside it has a struct for each of its loops that transposes: registers live in the smallest body
 * that has all their uses. */
struct transpose transpose_of(struct nest *n, int64_t lanes);
/* The caller has stored all rows, each a register of regs[0]. Returns the registers that hold the
 * columns. */
int transpose_square(const struct transpose *t);
/* Interleaves 2, 4, .. lanes rows that stand there likewise: element 0 of each row, then element 1,
 * and so on. Returns the registers that hold this sequence; register i has its part[i]-th vector.
 */
int transpose_interleave(const struct transpose *t, int rows, int part[]);
/* Rows [from, lanes) of the square are zero. */
void transpose_zero(const struct transpose *t, int64_t from);

#endif
