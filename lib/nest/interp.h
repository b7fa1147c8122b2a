/* The interpreter: the meaning of a nest, executed slowly and with every access checked.
 *
 * buffers[] and params as the kernel would get them. A nest that check_nest() refuses, an access
 * outside a buffer, a register index outside its array, and scratch memory or a register that is
 * read before it is written are errors that name the buffer. Registers begin as NaN. Single-
 * precision values are rounded after every operation but inside a fused multiply-add.
 */
#ifndef TL_NEST_INTERP_H
#define TL_NEST_INTERP_H

#include "lib/base/err.h"
#include "lib/nest/nest.h"

/* One thread. buffers[slot]: arrays of the buffers' sizes and types of elements. */
int interp_run(const struct nest *n, void *const *buffers, struct err *e);
/* A team, phase by phase, its threads one after the other; buffers[slot] are of operand_size()
 * (operands.h). That a thread writes or reads what another one writes in the same phase is an
 * error, too: a race, even where both write the same value. */
int interp_team(const struct nest *n, int threads, void *const *buffers, struct err *e);

#endif
