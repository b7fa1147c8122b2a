/* Inputs whose elements shapes depend on: the axes of a reduction, the sizes of a Resize, and what
 * they are computed from. They must be known before the model is lowered.
 */
#ifndef TL_RUN_GIVEN_H
#define TL_RUN_GIVEN_H

#include "lib/extract/arrays.h"
#include "lib/extract/graph.h"

/* Makes a constant of each such input of at most one dimension that has an array of its name. -1:
 * an array has another shape than the input. The graph is linked, and no shape was inferred. */
int given_fix(struct graph *g, const struct arrays *all, struct err *e);

#endif
