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

static launch *find_launch(void)
{
	void *driver = NULL, *address;
	launch *function = NULL;

	dl_iterate_phdr(find_driver, &driver);
	address = driver ? dlsym(driver, "cuLaunchHostFunc") : NULL;
	memcpy(&function, &address, sizeof function);
	return function;
}

int queue_put(void *stream, void (*run)(void *), const void *arg, size_t bytes)
{
	launch *function = find_launch();
	struct copy *c;

	if (!function) {
		run((void *)(size_t)arg);
		return 0;
	}
	c = malloc(sizeof *c + bytes);
	if (!c)
		abort();
	memcpy(c->bytes, arg, bytes);
	c->next = copies;
	copies = c;
	return function(stream, run, c->bytes);
}
