/* The common part of targets with blocks of threads, for lib/target alone: a table of the known
 * architectures, which needs no device, and calls of the commands in libexec that use
 * libraries of devices.
 */
#ifndef TL_TARGET_GPU_H
#define TL_TARGET_GPU_H

#include "lib/target/target.h"

extern const struct target target_cuda, target_opencl;

struct gpu_arch {
	const char *name;
	int processors;	     /* of the largest one sold */
	int64_t block_bytes; /* of memory that a block may have */
	int64_t l2;	     /* bytes */
	double hz;
	unsigned mma; /* as in struct limits */
};

/* Limits of an architecture, by a table that ends without a name. -1: it has no such row. In them
 * threads is the number of processors, l1d the memory of a block. */
int gpu_limits(const struct gpu_arch *list, const char *name, const struct target *t,
	       struct limits *m);
/* The command that makes an object: HELPER --arch=ARCH -o OBJECT SOURCE. */
void gpu_compile(const char *helper, const char *arch, const char *source, const char *object,
		 char *argv[TARGET_ARGS]);
/* A target's features: none, for the architecture says it all. */
void gpu_features(const struct limits *m, struct buf *out);
/* Runs HELPER OPTION; out gets the line that it prints. -1: it fails, and e has its message; errno
 * is ENOENT if it lacks a library. */
int gpu_ask(const char *helper, const char *option, struct buf *out, struct err *e);

#endif
