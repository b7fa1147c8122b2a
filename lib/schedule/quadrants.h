/* A tile of a matrix product by quadrants: seven products of half the size in each direction
 * instead of eight, in Winograd's form, which has the fewest additions (Strassen, "Gaussian
 * elimination is not optimal", 1969; Higham, "Accuracy and Stability of Numerical Algorithms",
 * chapter 23).
 *
 * Of the left side, the sums S of its quadrants are made for a block of rows of the upper half and
 * those of the lower half, in a workspace; the other quadrants are read in place. Of the right
 * side, all sums are prepared. The four quadrants of the result that belong together come from one
 * register tile, one after the other: products that several of them share wait in a workspace that
 * stays in the first cache.
 */
#ifndef TL_SCHEDULE_QUADRANTS_H
#define TL_SCHEDULE_QUADRANTS_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/tile/brgemm.h"

struct quadrants {
	struct nest *n;
	int64_t rows, depth, columns; /* of a quadrant: of the result, summed over, of the result */
	int64_t pitch;		      /* elements from a row of the result to the next */
	int64_t width, panels;	      /* columns of the register tile, how many fill a quadrant's */
	int64_t block, highest;	      /* rows of a block, of a register tile, at most */
	int src;		      /* the left side, [2 rows][2 depth] */
	int weights, sums, kept;      /* declared here */
	struct brgemm g;	      /* with its registers and unrolling; the rest is set here */
	struct brgemm_out out;	      /* the result, [2 rows][2 columns], with its bias by panels */
};

/* Where a register tile stands: its rows of the upper half and the lower; its rows of the left side
 * and of the sums, its panel of the right side, its bias, its first quadrant of the result and of
 * what multiplies that, as views. */
struct quadrants_place {
	int upper, lower;
	int a, s, b, bias, c, mul;
	const struct affine
		*valid; /* columns of the quadrant from the tile's first on, or NULL: all */
};

/* Declares the prepared right side: all sums of quadrants of (depth, columns), or transposed. */
void quadrants_weights(struct quadrants *q, int transposed);
/* Declares the workspace. */
void quadrants_workspace(struct quadrants *q);
/* The sums of the quadrants' rows `row` of a block that begins at row `first`. lower: is there such
 * a row of the lower half? Else its place is taken by zeros. */
void quadrants_sums(const struct quadrants *q, int row, struct affine first, int lower);
/* The place of the tile whose rows begin at `row` of a block that begins at `first`, in panel j of
 * the columns. upper and lower are for the caller to set. */
struct quadrants_place quadrants_at(const struct quadrants *q, struct affine row,
				    struct affine first, int j);
void quadrants_tile(struct quadrants *q, const struct quadrants_place *at);

#endif
