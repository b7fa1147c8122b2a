/* A nest of blocks and threads (nest.h) as source text for GPUs: CUDA C or OpenCL C, by the prelude
 * that stands before it.
 *
 * Each phase is a kernel of its own, PHASE(KERNEL, 0) and on, where KERNEL is a macro as in c.h.
 * All take the buffers in the order of their slots as pointers to global memory, then a tensor map
 * for each kind of boxes, and run with a
 * block of block_threads threads for each iteration of the phase's parallel loops. Symbols are
 * constants. Threads of a block wait for each other where a loop over threads touches what an
 * earlier one wrote, or writes what an earlier one touched.
 */
#ifndef TL_TARGET_SIMT_H
#define TL_TARGET_SIMT_H

#include "lib/base/buf.h"
#include "lib/nest/nest.h"
#include "lib/space/limits.h"

const char *simt_prelude_cuda(void);
const char *simt_prelude_opencl(void);
/* Appends the text and returns NULL; or says what the nest has that is not written here, and out is
 * as it was. */
const char *simt_print(const struct nest *n, const struct limits *m, struct buf *out);

/* A box (nest.h), of which each kernel takes a tensor map behind the buffers. */
enum simt_box_param {
	SIMT_BOX_SLOT, /* of its tensor */
	SIMT_BOX_ELEM,
	SIMT_BOX_SIZES,			       /* of the tensor: channels, columns, rows, images */
	SIMT_BOX_CORNERS = SIMT_BOX_SIZES + 4, /* first column and row, last column and row */
	SIMT_BOX_STEPS = SIMT_BOX_CORNERS + 4, /* across, down */
	SIMT_BOX_VALUES = SIMT_BOX_STEPS + 2,
	SIMT_BOX_POSITIONS,
	SIMT_BOX_PARAMS
};

/* What a launch needs to know, as a runner's params. */
enum simt_param {
	SIMT_PHASES,
	SIMT_THREADS, /* of a block */
	SIMT_GROUPS,  /* of the first phase; those of the others follow */
	SIMT_BLOCK_BYTES = SIMT_GROUPS + NEST_PHASES, /* memory of a block: likewise */
	SIMT_BOXES = SIMT_BLOCK_BYTES + NEST_PHASES,  /* how many there are */
	SIMT_BOX, /* of the first one; those of the others follow */
	SIMT_PARAMS = SIMT_BOX + NEST_BOXES * SIMT_BOX_PARAMS,
};
void simt_params(const struct nest *n, long *params);

#endif
