/* Bulk copies in the text of simt.h, as NVIDIA's GPUs have them since Hopper: cp.async.bulk, and of
 * boxes by tensor maps, which are parameters of the kernel: cp.async.bulk.tensor. A
 * group of copies has a barrier in the block's memory, which counts the bytes that have come, and
 * on which the threads wait. For simt.c and simt_tile.c alone.
 */
#ifndef TL_TARGET_SIMT_BULK_H
#define TL_TARGET_SIMT_BULK_H

#include "lib/target/text.h"

/* Where a phase begins at t: the barriers, if it has copies, and the nest has bulk copies. */
void simt_bulk_begin(struct text *p, const struct node *t);
void simt_bulk_copy(struct text *p, const struct node *t);
/* The group of the copies of a loop over threads ends; all but the last so many are waited for.
 * Nothing is written where the nest has no bulk copies. */
void simt_bulk_end_group(struct text *p);
void simt_bulk_wait(struct text *p, int64_t groups);

#endif
