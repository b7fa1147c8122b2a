#include "lib/target/kernel.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

int kernel_load(struct kernel *k, const char *object, struct err *e)
{
	const char *slash = strrchr(object, '/'), *file = slash ? slash + 1 : object;
	char name[64];
	void *symbol;

	snprintf(name, sizeof name, KERNEL_PREFIX "%.*s", (int)strcspn(file, "."), file);

	k->handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	if (!k->handle)
		return err_set(e, "the kernel does not load: %s", dlerror());
	symbol = dlsym(k->handle, name);
	if (!symbol) {
		kernel_unload(k);
		return err_set(e, "the object %s has no function %s", object, name);
	}
	*(void **)&k->run = symbol;
	return 0;
}

static void team_barrier(void)
{
#pragma omp barrier
}

void kernel_run(const struct kernel *k, const long *params, float *const *buffers, int threads)
{
#pragma omp parallel num_threads(threads)
	k->run(params, buffers, omp_get_thread_num(), omp_get_num_threads(), team_barrier);
}

void kernel_unload(struct kernel *k)
{
	if (k->handle)
		dlclose(k->handle);
	k->handle = NULL;
}
