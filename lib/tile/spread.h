/* The inner kernel of convolutions whose groups have fewer channels than a vector has lanes.
 *
 *     acc[row, channel] += sum over taps t, i:  A[t, row, group(channel), i] * B[t, i, channel]
 *
 * A vector of output channels spans as many whole groups as it holds. The vector of their input
 * channels is read and spread over its lanes (EXPR_SPREAD), once for each channel i of a group, so
 * that each lane has its own group's and nothing is multiplied by zero. acc stays in registers for
 * all taps. Lanes beyond the groups hold no values.
 *
 * grouped is for groups that have fewer channels than a vector has lanes. A vector then spans as
 * many whole groups as it holds. Their input channels are read as one vector and spread over its
 * lanes, with one permutation for each multiply-add and no product with zero. direct, for groups
 * of 4 channels, leaves three of four lanes of AVX-512 idle.
 *
 * A step may take pairs of channels in bf16, and pairs or fours in 8 bits (EXPR_DOT). A vector of
 * the input has as many of these as lanes, so it reaches beyond the groups of the vector of output
 * channels, where no lane is used; spread_beyond() elements of memory must follow the input.
 */
#ifndef TL_TILE_SPREAD_H
#define TL_TILE_SPREAD_H

#include "lib/nest/nest.h"
#include "lib/tile/tile.h"

struct spread {
	const struct tile *tile; /* which types it multiplies, and how many channels in a step */
	int in, out;		 /* channels of a group */
	int lanes, nv;		 /* of a vector, vectors of a tile */
	int reads, writes;	 /* input and output channels of a vector */
	int acc, wreg;		 /* registers: rows x nv, 1 x nv */

	/* Input: row r's vector v at a_at + r * a_row + v * reads. */
	int a;
	struct affine a_at;
	int64_t a_row;
	/* Weights, dense: [tap][i / depth][vector][lane][i % depth], from b_at on. */
	int b;
	struct affine b_at;
	/* Taps: rows [lo, hi) of `columns` each; elements of the input between them, a constant or
	 * a symbol. */
	struct affine lo, hi, a_line;
	int64_t columns, a_column;
	/* Sums begin with the bias, a number for each output channel, from bias_at on; -1: with
	 * zero. */
	int bias;
	struct affine bias_at;
};

/* Sets the first fields but the tile: 1, or 0 if a vector does not hold two groups. */
int spread_shape(struct spread *t, int64_t in, int64_t out, int64_t lanes, int64_t nv);
int64_t spread_beyond(const struct spread *t);
void spread_registers(struct nest *n, struct spread *t, int max_rows);
/* Vector registers of a tile: with those for what is read, its lanes, and post-ops. */
int64_t spread_needs(int64_t nv, int64_t rows);
/* acc = the sums of so many rows and output channels, whole groups. */
void spread_tile(struct nest *n, const struct spread *t, int rows, int64_t channels);

#endif
