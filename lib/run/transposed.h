/* Copies of single precision in which the innermost dimension of the result is not the operand's,
 * as between images with channels first and last: squares are transposed in registers, and a few
 * rows are interleaved there. */
#ifndef TL_RUN_TRANSPOSED_H
#define TL_RUN_TRANSPOSED_H

#include "lib/nest/nest.h"
#include "lib/run/loops.h"

/* Makes the nest of a copy with these loops, of its operand and its result, with vectors of at most
 * so many lanes. 1; 0: it is no such copy, and the nest is as it was. */
int transposed_copy(const struct loops *l, int lanes, struct nest *n);

#endif
