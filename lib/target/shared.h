/* Shared libraries that are opened at run time, so that one build serves machines with and without
 * them: drivers and compilers of GPUs.
 *
 * CUDA's and OpenCL's libraries are opened at run time, and only by workers and by commands of
 * their own in libexec (cuda, opencl), which ask the device and compile. So no other program loads
 * a driver, and no build needs one. Tests need no GPU either: tests/emulator/ has stand-ins for
 * CUDA's driver and NVRTC, which compile the CUDA text for the processor and run each thread as a
 * fiber. tests/cuda.t points TL_CUDA_PATH at them. They give a GPU's answers, errors included, but
 * not its times, and not its PTX: where a prelude has PTX, TL_EMULATOR selects C++. tl-gen
 * --target=cuda --arch=sm_90 needs neither a GPU nor a library: an architecture's limits are a row
 * in lib/target/cuda.c.
 */
#ifndef TL_TARGET_SHARED_H
#define TL_TARGET_SHARED_H

#include "lib/base/err.h"

/* A function of the library, and where its address goes: a pointer to a pointer to a function. */
struct shared_function {
	const char *name;
	void *address;
};

/* A library: file names to try, NULL at the end, and functions, name NULL at the end. */
struct shared {
	const char *const *names;
	const struct shared_function *functions;
	int is_open;
};

/* Opens a library, once. The first of its names ("libnvrtc.so.12") that is found counts. All names
 * are looked for in the folders that the variable TL_CUDA_PATH lists (colons between them), beneath
 * them in lib and lib64, and where Python's packages nvidia-* put libraries. Then they are looked
 * for by the loader, in /usr/local/cuda, and in Python's packages of the active virtual
 * environment, of the user and of the system. Then all its functions are found.
 * 0; -1 with errno ENOENT: it is not there, or ENOSYS: it lacks a function. It stays open. */
int shared_open(struct shared *s, struct err *e);

#endif
