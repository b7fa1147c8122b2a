/* The interpreter: the meaning of a nest, executed slowly and with every access checked.
 *
 * buffers[] and params as the kernel would get them, one thread. An access outside a buffer, a
 * register index outside its array and a masked access with a negative count are errors that name
 * the buffer. Single-precision values are rounded after every operation but inside a fused
 * multiply-add.
 */
#ifndef TL_NEST_INTERP_H
#define TL_NEST_INTERP_H

#include "lib/base/err.h"
#include "lib/nest/nest.h"

/* buffers[slot]: float arrays of the buffers' sizes. */
int interp_run(const struct nest *n, float *const *buffers, struct err *e);

#endif
