/* What the files of the stand-in driver share: its results and its state. */
#ifndef TL_TESTS_EMULATOR_DRIVER_H
#define TL_TESTS_EMULATOR_DRIVER_H

#include "tests/emulator/fiber.h"

/* Programs declare these functions for themselves. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define API __attribute__((visibility("default")))

enum result {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	INVALID_DEVICE = 101,
	INVALID_IMAGE = 200,
	INVALID_CONTEXT = 201,
	INVALID_HANDLE = 400,
	OPERATING_SYSTEM = 304,
	NOT_FOUND = 500,
	CAPTURE_UNSUPPORTED = 900,
	CAPTURE_INVALIDATED = 901,
	ILLEGAL_ADDRESS = FIBER_ILLEGAL_ADDRESS,
	MISALIGNED_ADDRESS = FIBER_MISALIGNED,
	LAUNCH_FAILED = FIBER_FAILED,
};

/* SUCCESS where the driver was started by this process, no kernel has died, and a context is in
 * use. */
enum result driver_ready(void);
/* Runs a kernel. What it dies of is what driver_ready() says from then on. is_start: the program
 * starts it, and no graph does. */
void driver_run(const struct fiber_grid *g, int is_start);
/* The same for a function of this machine's. */
void driver_host(void (*host)(void *arg), void *arg, int is_start);

#endif
