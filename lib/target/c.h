/* A nest as GNU C with vector types: the source text of a CPU kernel, for AVX-512, AVX2, NEON or
 * none of them alike.
 *
 * The printed function has external linkage and the ABI
 *     void KERNEL(const long *params, void *const *buffers, long thread, long threads,
 *                 void (*barrier)(void));
 * where params and buffers are as nest.h numbers them. KERNEL is a macro: the compiler's caller
 * defines the name of the function, so that many can be compiled at once. Every thread of the team
 * calls the function, and waits in barrier() for the others between two phases. A team of one
 * thread calls no barrier, which may then be NULL. The text depends on compile-time choices alone,
 * so its hash is the key of the build cache.
 */
#ifndef TL_TARGET_C_H
#define TL_TARGET_C_H

#include "lib/base/buf.h"
#include "lib/nest/nest.h"

typedef void (*c_kernel)(const long *params, void *const *buffers, long thread, long threads,
			 void (*barrier)(void));

/* What has to stand once before all functions. */
const char *c_prelude(void);
void c_print(const struct nest *n, struct buf *out);
/* The values of params[0 .. n->nparams): run-time symbols, and the sizes of workspaces. */
void c_params(const struct nest *n, long *params);

#endif
