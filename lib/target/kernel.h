/* Loaded kernels and the thread team that runs them. The team is OpenMP's, the same that oneDNN
 * uses; only the worker links this file, so that no supervisor ever starts OpenMP. */
#ifndef TL_TARGET_KERNEL_H
#define TL_TARGET_KERNEL_H

#include "lib/base/err.h"
#include "lib/target/c.h"

#define KERNEL_PREFIX "k_"

struct kernel {
	void *handle;
	c_kernel run;
};

/* The function KERNEL_PREFIX NAME of an object PATH/NAME.so. */
int kernel_load(struct kernel *k, const char *object, struct err *e);
/* One call with the whole team, whose barrier the kernel gets. */
void kernel_run(const struct kernel *k, const long *params, float *const *buffers, int threads);
/* Starts the team, which the next kernel_run() with as many threads finds there. */
void kernel_team(int threads);
void kernel_unload(struct kernel *k);

#endif
