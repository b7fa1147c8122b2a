#include "tests/emulator/queue.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Copies are kept until the process ends, as graphs are started again and again. */
struct copy {
	struct copy *next;
	char bytes[];
};

static struct copy *copies;

typedef int launch(void *stream, void (*run)(void *), void *arg);
typedef int synchronize(void *stream);
typedef int current(void **context);

/* The driver that the program has opened: nobody else may see its functions. */
static int find_driver(struct dl_phdr_info *info, size_t size, void *out)
{
	static const char name[] = "/libcuda.so.1";
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!slash || strcmp(slash, name) != 0)
		return 0;
	*(void **)out = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
	return 1;
}

static void *find_function(const char *name)
{
	void *driver = NULL;

	dl_iterate_phdr(find_driver, &driver);
	return driver ? dlsym(driver, name) : NULL;
}

/* Does the library wait for the stream, and is that a fault? A result of the driver's. */
static int await(const char *library, void *stream)
{
	const char *named = getenv("TL_EMULATOR_WAITS");
	void *address =
		named && !strcmp(named, library) ? find_function("cuStreamSynchronize") : NULL;
	synchronize *function = NULL;

	memcpy(&function, &address, sizeof function);
	return function ? function(stream) : 0;
}

int queue_put(const char *library, void *stream, void (*run)(void *), const void *arg, size_t bytes)
{
	void *address = find_function("cuLaunchHostFunc");
	launch *function = NULL;
	int rc = await(library, stream);
	struct copy *c;

	memcpy(&function, &address, sizeof function);
	if (rc || !function) {
		if (!rc)
			run((void *)(size_t)arg);
		return rc;
	}
	c = malloc(sizeof *c + bytes);
	if (!c)
		abort();
	memcpy(c->bytes, arg, bytes);
	c->next = copies;
	copies = c;
	return function(stream, run, c->bytes);
}

int queue_has_context(void)
{
	void *address = find_function("cuCtxGetCurrent"), *context = NULL;
	current *function = NULL;

	memcpy(&function, &address, sizeof function);
	return !function || (!function(&context) && context);
}
