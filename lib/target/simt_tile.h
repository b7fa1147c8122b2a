/* Asynchronous copies, products of tiles and elements of less than 32 bits, or whole numbers, in
 * the text of simt.h: words of the preludes, and how nodes are written with them. For simt.c alone.
 *
 * OpenCL has no warps. There each thread computes its own sums of a product, and copies end at
 * once. Where the tests' emulator compiles CUDA C (TL_EMULATOR), its functions stand in the place
 * of PTX.
 */
#ifndef TL_TARGET_SIMT_TILE_H
#define TL_TARGET_SIMT_TILE_H

#include "lib/target/text.h"

void simt_tile_print(struct text *p, const struct node *t);
/* Ends the group of copies of a loop over threads, where it has any. */
void simt_tile_end_group(struct text *p, const struct node *loop);

#endif
