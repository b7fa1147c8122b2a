#include "lib/target/kernel.h"

#include <dlfcn.h>
#include <omp.h>

int kernel_load(struct kernel *k, const char *object, const char *name, struct err *e)
{
	void *symbol;

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
