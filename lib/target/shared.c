#include "lib/target/shared.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"

/* By a pattern for the folder, of which there may be several. */
static void *open_in(const char *pattern, const char *name)
{
	struct buf path = BUF_INIT;
	void *handle = NULL;
	glob_t found;

	buf_fmt(&path, "%s/%s", pattern, name);
	if (glob(path.s, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && !handle; i++)
			handle = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
		globfree(&found);
	}
	buf_free(&path);
	return handle;
}

/* Beneath a folder: as CUDA's toolkit is laid out, and as Python's packages are. */
static void *open_beneath(const char *folder, size_t n, const char *name)
{
	static const char *const below[] = {"",
					    "/lib64",
					    "/lib",
					    "/nvidia/*/lib",
					    "/lib/python3*/site-packages/nvidia/*/lib",
					    "/lib/python3*/dist-packages/nvidia/*/lib",
					    "/python3*/site-packages/nvidia/*/lib",
					    "/python3*/dist-packages/nvidia/*/lib"};
	struct buf pattern = BUF_INIT;
	void *handle = NULL;

	for (size_t i = 0; n && !handle && i < sizeof below / sizeof *below; i++) {
		buf_clear(&pattern);
		buf_add(&pattern, folder, n);
		buf_str(&pattern, below[i]);
		handle = open_in(pattern.s, name);
	}
	buf_free(&pattern);
	return handle;
}

static void *open_variable(const char *variable, const char *below, const char *name)
{
	const char *value = getenv(variable);
	struct buf folder = BUF_INIT;
	void *handle;

	if (!value || !*value)
		return NULL;
	buf_fmt(&folder, "%s%s", value, below);
	handle = open_beneath(folder.s, folder.n, name);
	buf_free(&folder);
	return handle;
}

static void *open_told(const char *name)
{
	const char *told = getenv("TL_CUDA_PATH");
	void *handle = NULL;

	while (told && *told && !handle) {
		size_t n = strcspn(told, ":");

		handle = open_beneath(told, n, name);
		told += n + (told[n] == ':');
	}
	return handle;
}

static void *open_anywhere(const char *name)
{
	static const char *const folders[] = {"/usr/local/cuda", "/usr/local", "/usr/lib", "/usr"};
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		handle = open_variable("VIRTUAL_ENV", "", name);
	if (!handle)
		handle = open_variable("HOME", "/.local", name);
	for (size_t i = 0; !handle && i < sizeof folders / sizeof *folders; i++)
		handle = open_beneath(folders[i], strlen(folders[i]), name);
	return handle;
}

int shared_open(struct shared *s, struct err *e)
{
	const char *const *name = s->names;
	void *handle = NULL;

	if (s->is_open)
		return 0;
	while (*name && !(handle = open_told(*name)))
		name++;
	if (!handle)
		for (name = s->names; *name && !(handle = open_anywhere(*name)); name++)
			;
	if (!handle) {
		err_set(e, "the library %s is not found", s->names[0]);
		errno = ENOENT;
		return -1;
	}
	for (const struct shared_function *f = s->functions; f->name; f++) {
		void *address = dlsym(handle, f->name);

		if (!address) {
			err_set(e, "the library %s has no function %s", *name, f->name);
			errno = ENOSYS;
			return -1;
		}
		memcpy(f->address, &address, sizeof address);
	}
	s->is_open = 1;
	return 0;
}
