/* The batch-reduce matrix product: the inner kernel of gemm and direct convolution.
 *
 *     acc[rows x nv*lanes] += sum over taps t, k:  A[t, row, k] * B[t, k, column]
 *
 * (Georganas et al., "Harnessing deep learning via a single building block", IPDPS 2020.) A is read
 * one value at a time and broadcast; B one vector at a time; acc stays in registers for all taps
 * and k. rows, nv and lanes are compile-time choices, every extent and stride is a symbol. The
 * caller declares the registers once and may build several tiles over them (full and remainder
 * rows).
 */
#ifndef TL_TILE_BRGEMM_H
#define TL_TILE_BRGEMM_H

#include "lib/space/limits.h"
#include "lib/tile/brgemm_types.h"
#include "lib/tile/row_split.h"

/* Does the sum begin with the tensor that is added? */
int brgemm_begins_with_add(const struct brgemm_out *o);
/* Takes the bias out of the post-ops, for a sum that begins with it, where it is the first of them
 * and the sum does not begin with a tensor that is added. Returns its buffer, or -1. */
int brgemm_out_take_bias(struct brgemm_out *o);
/* Moves the origin of c and mul to `at` (nest_view()). */
void brgemm_out_view(struct nest *n, struct brgemm_out *o, struct affine at);

void brgemm_registers(struct nest *n, struct brgemm *g, int lanes, int max_rows, int nv);
/* One tile. Where k is cut into chunks, chunk is the variable of the loop over them and chunks
 * their number: partial sums wait in c until the last one. Without chunks: chunk -1. */
void brgemm_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *o,
		 int chunk, struct affine chunks);
/* The steps of a tile, for algorithms that make one of several products. The sum begins with zero
 * or another tile, products and tiles are added to it, and it is kept for later as it is, or
 * finished: post-ops, a tensor that is added (it waits in c until then), and the store. Of a tile
 * that waits, only c, c_at, c_row and valid are looked at. */
void brgemm_zero(struct nest *n, const struct brgemm *g, int rows);
void brgemm_load(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from);
void brgemm_add(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from);
void brgemm_multiply(struct nest *n, const struct brgemm *g, int rows);
void brgemm_keep(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to);
void brgemm_finish(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to);
/* Activations of so many elements do not stay in the second-level cache from one operator to the
 * next: then it may pay to prefetch them. */
int brgemm_may_look_ahead(int64_t elements, const struct limits *m);
/* Can k be cut into chunks? Not where partial sums in c would take the place of a tensor that is
 * added later than first. If not, the reason. */
int brgemm_chunks(int npost, const struct post_op *post);
extern const char brgemm_cannot_chunk[];

enum { BRGEMM_TILES = 6 }; /* tile registers of sums, at most: both sides of a product need some */
/* Is there a tile of tile registers (lib/nest/tmul.h) of this shape? 1, or 0 with the reason. */
int brgemm_tiles_fit(int64_t lanes, int64_t nv, int64_t rows, int64_t lines, const char **why);
/* Is the tile one that can be: lanes that vectors have, and no more registers than there are (in
 * AVX-512 a broadcast can be an operand of the multiply-add; elsewhere it takes a register)? 1, or
 * 0 with the reason. */
int brgemm_fits(int64_t lanes, int64_t nv, int64_t rows, const char **why);
/* The same of a tile in single precision whose right side is packed. If a step's vectors of the
 * right side find no registers, the values of the left side wait in registers instead, and the
 * vectors come one after the other. So AVX2 has tiles of 3 rows by 4 vectors, whose 12
 * multiply-adds take 7 loads, and of 2 by 6. */
int brgemm_fits_either_side(int64_t lanes, int64_t nv, int64_t rows, const char **why);

#endif
