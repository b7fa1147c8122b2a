/* A grid of emulated threads: its blocks run one after the other, and the threads of a block are
 * fibers, which take turns where they wait for each other.
 *
 * A block's dynamic memory ends at a page that cannot be touched, and is filled with bytes of 0xff
 * (NaN) before each block. Threads that wait for others that never come hang, as on a device.
 */
#ifndef TL_TESTS_EMULATOR_FIBER_H
#define TL_TESTS_EMULATOR_FIBER_H

#include <stddef.h>

#include "tests/emulator/module.h"

enum {
	FIBER_THREADS = 1024,	       /* of a block, at most */
	FIBER_BLOCK_BYTES = 227 << 10, /* of dynamic memory, at most */
};

/* CUDA's results of a kernel that dies. */
enum fiber_end {
	FIBER_DONE = 0,
	FIBER_NO_MEMORY = 2,
	FIBER_ILLEGAL_ADDRESS = 700,
	FIBER_MISALIGNED = 716,
	FIBER_FAILED = 719,
};

struct fiber_grid {
	struct emulator_dim blocks, threads;
	size_t block_bytes;
	struct emulator *emulator; /* of the kernel's module */
	void (*kernel)(void **params);
	void **params;
};

enum fiber_end fiber_run(const struct fiber_grid *g);

#endif
