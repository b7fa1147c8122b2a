/* How much work a nest is. */
#ifndef TL_RUN_EFFORT_H
#define TL_RUN_EFFORT_H

#include "lib/nest/nest.h"

/* Does one thread do all of it with at most so many operations, of a vector or of a number each?
 * Takes a walk over the loops, of as many turns at most. */
int effort_is_below(const struct nest *n, int64_t operations);

#endif
