/* Where the memory of a plan is: one block, in which pieces that are never needed at the same time
 * share their places.
 */
#ifndef TL_RUN_LAYOUT_H
#define TL_RUN_LAYOUT_H

#include "lib/run/plan.h"

/* Gives all memory that is no constant a place in the plan's block, and maps the block. The largest
 * is placed first, each as low as those that are alive at the same time allow. */
int layout_make(struct plan *p, struct err *e);
/* Instead, a place of its own for each: a plan computes the same there, if it is right. */
void layout_apart(struct plan *p);
/* The addresses of a step's operands. */
void layout_resolve(struct plan *p, struct step *s);

#endif
