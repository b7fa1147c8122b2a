/* Operand memory of a nest: what a caller must hand to a kernel for each slot, made from a
 * workload's tensors. */
#ifndef TL_NEST_OPERANDS_H
#define TL_NEST_OPERANDS_H

#include "lib/nest/nest.h"

/* Elements behind slot i for `threads` threads. */
int64_t operand_size(const struct nest *n, int slot, int threads);
const struct buffer *operand_buffer(const struct nest *n, int slot);

#endif
