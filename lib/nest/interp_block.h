/* What the interpreter (interp.h) does of blocks of threads beyond loads and stores: asynchronous
 * copies, and products of tiles (mma.h). For lib/nest alone.
 */
#ifndef TL_NEST_INTERP_BLOCK_H
#define TL_NEST_INTERP_BLOCK_H

#include "lib/nest/interp_access.h"

/* The copies of a block that no thread has waited for, and the products that threads have begun. */
struct copies;

void copies_open(struct interp *s);
void copies_close(struct interp *s);
/* Another block begins. */
void copies_forget(struct interp *s);
/* What is copied is in its place at once, but nobody may read it. */
int copies_start(struct interp *s, const struct node *t);
/* A loop over threads ends: the copies that it has started are a group. -1: more are under way than
 * barriers can tell. */
int copies_end_group(struct interp *s, const struct node *loop);
/* The thread waits until at most so many of its last groups are not there yet. */
void copies_wait(struct interp *s, int64_t groups);

/* The thread adds to its sums; or, where a group of warps multiplies, begins to. */
int mma_run(struct interp *s, const struct node *t);
/* The thread's turn of a loop over threads ends: so do products that it has begun (mma.h). They are
 * computed as late as this, so that whatever was done to their sides meanwhile is found. */
int mma_end(struct interp *s);

#endif
