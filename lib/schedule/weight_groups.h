/* A constant right side of 4 or 8 bits whose groups have scales, and its products with a register
 * tile (lib/algo/dequantize.c).
 *
 * Columns lie in panels. A byte holds two values of 4 bits: of k and k + 1, or, where four values
 * of a column stand side by side for an instruction that sums their products, of k and k + 4. The
 * packing makes such a byte as a linear map, so that no element has less than 8 bits.
 */
#ifndef TL_SCHEDULE_WEIGHT_GROUPS_H
#define TL_SCHEDULE_WEIGHT_GROUPS_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/schedule/digits.h"
#include "lib/tile/brgemm.h"

enum { WEIGHT_STEP = DIGITS_LANES }; /* values of k in a step, of which a group has a multiple */

struct weight_groups {
	const struct workload *w;
	int64_t lanes, nv, tiles; /* of a vector; vectors of a tile; tiles of columns */
	int apart;		  /* each vector has a panel of its own */
	int fours;		  /* four values of k side by side */
	int64_t fetch;		  /* steps ahead of which weights are prefetched; 0: none */

	/* Filled in. */
	int64_t group, middle;			 /* middle: what stands for 0; 0: zeros has it */
	int halves;				 /* values in a byte */
	int packed, scales, zeros;		 /* buffers; zeros: -1 */
	int sum, bytes, half, zero, term, digit; /* registers */
};

/* A tile of the product: rows from `row` on (row: the first), the tile of columns, the group and
 * the step in it (variables). */
struct weight_tile {
	int rows, tile, group, step;
	struct affine row;
};

void weight_groups_declare(struct nest *n, struct weight_groups *b);
void weight_groups_registers(struct nest *n, struct weight_groups *b, int rows);
/* A group begins: its sums are zero. */
void weight_groups_begin(struct nest *n, const struct weight_groups *b,
			 const struct weight_tile *t);
/* sums += a step's products with src, rows of k elements, in single precision. */
void weight_groups_multiply(struct nest *n, const struct weight_groups *b,
			    const struct weight_tile *t, const struct brgemm *g, int src);
/* sums += a step's products with digits. */
void weight_groups_dot(struct nest *n, const struct weight_groups *b, const struct weight_tile *t,
		       const struct digits *a);
/* The group ends: acc of g += sums * scales. a: NULL: they are in single precision. */
void weight_groups_end(struct nest *n, const struct weight_groups *b, const struct weight_tile *t,
		       const struct brgemm *g, const struct digits *a);

#endif
