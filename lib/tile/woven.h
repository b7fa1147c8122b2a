/* The inner kernel of convolutions whose groups together fill a vector, over woven pixels.
 *
 *     acc[row, channel] += sum over taps t, i:  A[t, row, i, group(channel)] * B[t, i, channel]
 *
 * The copy of the input has woven pixels: channel i of each of a vector's groups lie side by side
 * (the image itself has them where a vector has one group).
 * One load repeats them over the vector (ex_bcast()), so the lanes of a vector of output channels
 * are woven, too: a channel of each group, then the next one of each. No permutation is left in the
 * loop (the spread tile has one for each product), and no product is with zero. A column of the
 * input is loaded once for all taps of a kernel row that read it. At stride 2, 14 pixels by 3 taps
 * take 29 such loads and 3 of weights for 42 multiply-adds.
 */
#ifndef TL_TILE_WOVEN_H
#define TL_TILE_WOVEN_H

#include "lib/nest/nest.h"

struct woven {
	int groups, in, out; /* of a vector; channels of a group */
	int lanes, nv;	     /* of a vector, vectors of a tile */
	int acc, wreg, xreg; /* registers: rows x nv, 1 x taps, 1 */

	/* Input: row r's vector v at a_at + v * a_vector + r * stride * a_pixel. Of the tile's
	 * columns [from, to) lie inside the image, and the others are left out. */
	int a;
	struct affine a_at, a_line;
	int64_t a_vector, a_pixel, from, to;
	/* Weights, dense: [kernel row][i][vector][tap][lane], from b_at on. */
	int b;
	struct affine b_at;
	/* Kernel rows [lo, hi), a_line elements of the input apart, of so many taps, `apart` pixels
	 * apart. */
	struct affine lo, hi;
	int64_t taps, apart, stride;
};

/* How many groups of so many channels are woven in a vector of so many lanes; 0: they cannot be,
 * for they do not fill one, or have more input channels than output channels. */
int woven_groups(int64_t in, int64_t out, int64_t lanes);
void woven_registers(struct nest *n, struct woven *t, int max_rows);
/* Vector registers of a tile: with those for weights and for what is read. */
int64_t woven_needs(int64_t nv, int64_t rows, int64_t taps);
/* acc = the sums of so many rows and vectors. */
void woven_tile(struct nest *n, const struct woven *t, int rows, int vectors);
/* The sums of row m's vector v, in the order of channels. */
const struct expr *woven_sum(struct nest *n, const struct woven *t, struct affine m,
			     struct affine v);
/* A vector of groups' input channels, woven. */
const struct expr *woven_pixel(struct nest *n, const struct woven *t, const struct expr *x);

#endif
