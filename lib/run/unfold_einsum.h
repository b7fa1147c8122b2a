/* An Einsum of several operands becomes one of two operands after the other, each of which is a
 * product of matrices: what is summed within an operand alone is summed before, and a diagonal is
 * taken out of it. Otherwise all letters of all operands would be one loop.
 *
 * The pair whose product is smallest comes first. A node stays whose products would be too large,
 * or would have more dimensions than there may be, and one of integers with few operands, whose
 * sums are exact as a whole.
 */
#ifndef TL_RUN_UNFOLD_EINSUM_H
#define TL_RUN_UNFOLD_EINSUM_H

#include "lib/extract/graph/build.h"

/* Can other nodes stand for this one? */
int unfold_has_einsum(const struct graph *g, const struct graph_node *n);
/* Adds what stands for it. */
void unfold_einsum(struct build *b, const struct graph_node *n);

#endif
