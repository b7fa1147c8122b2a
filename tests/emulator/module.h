/* What an emulated kernel and the stand-in driver share: each module has one `emulator`, which the
 * driver fills and which the words of CUDA C (language.h) read. C and C++.
 */
#ifndef TL_TESTS_EMULATOR_MODULE_H
#define TL_TESTS_EMULATOR_MODULE_H

enum {
	EMULATOR_WARP = 32,
	EMULATOR_EXCHANGE = 64, /* bytes that a thread can show the others of its warp at a time */
};

struct emulator_dim {
	unsigned x, y, z;
};

struct emulator {
	struct emulator_dim thread, block, block_dim, grid_dim;
	void *shared;		  /* the block's dynamic memory */
	void (*wait_block)(void); /* until all threads of the block that are not done wait */
	void (*wait_warp)(void);
	char *exchange; /* of the warp: EMULATOR_EXCHANGE bytes for each thread */
};

#endif
