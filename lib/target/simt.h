/* A nest of blocks and threads (nest.h) as source text for GPUs: CUDA C or OpenCL C, by the prelude
 * that stands before it.
 *
 * Each phase is a kernel of its own, PHASE(KERNEL, 0) and on, where KERNEL is a macro as in c.h.
 * All take the buffers in the order of their slots as pointers to global memory, and run with a
 * block of block_threads threads for each iteration of the phase's parallel loops. Symbols are
 * constants. Threads of a block wait for each other where a loop over threads touches what an
 * earlier one wrote, or writes what an earlier one touched.
 */
#ifndef TL_TARGET_SIMT_H
#define TL_TARGET_SIMT_H

#include "lib/base/buf.h"
#include "lib/nest/nest.h"

const char *simt_prelude_cuda(void);
const char *simt_prelude_opencl(void);
/* Appends the text and returns NULL; or says what the nest has that is not written here, and out is
 * as it was. */
const char *simt_print(const struct nest *n, struct buf *out);

/* What a launch needs to know, as a runner's params. */
enum simt_param {
	SIMT_PHASES,
	SIMT_THREADS, /* of a block */
	SIMT_GROUPS,  /* of the first phase; those of the others follow */
	SIMT_BLOCK_BYTES = SIMT_GROUPS + NEST_PHASES, /* memory of a block: likewise */
	SIMT_PARAMS = SIMT_BLOCK_BYTES + NEST_PHASES,
};
void simt_params(const struct nest *n, long *params);

#endif
