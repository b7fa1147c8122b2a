/* Products of tiles by groups of four warps (mma.h) in the text of simt.h, as Hopper's GPUs compute
 * them: wgmma, with both sides in the block's memory. For simt.c and simt_tile.c alone.
 */
#ifndef TL_TARGET_SIMT_GROUP_H
#define TL_TARGET_SIMT_GROUP_H

#include "lib/nest/mma.h"
#include "lib/target/text.h"

/* Appends the functions for all shapes of products that the nest has: before its kernels. */
void simt_group_functions(const struct nest *n, struct buf *out);
/* A product begins. */
void simt_group_print(struct text *p, const struct node *t);
/* A loop over threads ends, and with it what products in it end (mma.h). */
void simt_group_end(struct text *p, const struct node *loop);

#endif
