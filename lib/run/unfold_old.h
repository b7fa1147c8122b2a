/* Forms of operators that only old operator sets have become those of today: a second operand that
 * stands beside a dimension in the middle of the first ("axis", before set 7), and the slopes of a
 * PRelu, one a channel.
 */
#ifndef TL_RUN_UNFOLD_OLD_H
#define TL_RUN_UNFOLD_OLD_H

#include "lib/extract/graph/build.h"

/* Can other nodes stand for this one? */
int unfold_has_old(const struct graph *g, const struct graph_node *n, int64_t opset);
/* Adds what stands for it. */
void unfold_old(struct build *b, const struct graph_node *n);

#endif
