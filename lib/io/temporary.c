#include "lib/io/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/err.h"

struct temporary {
	struct temporary *older;
	char path[];
};

/* A handler may look at the list at any time: an entry is whole before it is in it. */
static struct temporary *volatile youngest;

static void remove_path(const char *path)
{
	if (unlink(path) && errno == EISDIR)
		rmdir(path);
}

void temporary_remove_all(void)
{
	int saved = errno;

	for (const struct temporary *t = youngest; t; t = t->older)
		remove_path(t->path);
	errno = saved;
}

struct temporary *temporary_add(const char *path)
{
	static int told;
	size_t n = strlen(path) + 1;
	struct temporary *t = malloc(sizeof *t + n);

	if (!t || (!told && atexit(temporary_remove_all))) {
		remove_path(path); /* nothing else knows of it */
		die_no_memory();
	}
	told = 1;
	memcpy(t->path, path, n);
	t->older = youngest;
	youngest = t;
	return t;
}

void temporary_forget(struct temporary *t)
{
	struct temporary *younger = youngest;

	if (!t)
		return;
	if (younger == t) {
		youngest = t->older;
	} else {
		while (younger->older != t)
			younger = younger->older;
		younger->older = t->older;
	}
	free(t);
}

void temporary_remove(struct temporary *t)
{
	if (t)
		remove_path(t->path);
	temporary_forget(t);
}
