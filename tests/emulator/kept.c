#include "tests/emulator/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"

int file_put(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "w");
	int good = f && fwrite(text->s ? text->s : "", 1, text->n, f) == text->n;

	return f && fclose(f) == 0 && good ? 0 : -1;
}

int file_take(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");
	char some[4096];
	size_t n;
	int good;

	if (!f)
		return -1;
	while ((n = fread(some, 1, sizeof some, f)) > 0)
		buf_add(out, some, n);
	good = !ferror(f);
	fclose(f);
	return good ? 0 : -1;
}

void kept_path(const struct buf *of, struct buf *path)
{
	const char *folder = getenv("CUDA_CACHE_PATH"), *off = getenv("CUDA_CACHE_DISABLE");
	struct id id;

	if (!folder || !*folder || (off && !strcmp(off, "1")))
		return;
	mkdir(folder, 0777);
	hash_id(&id, of->s, of->n);
	buf_fmt(path, "%s/%s.so", folder, id.s);
}

/* Whoever takes it sees all of it or nothing. */
void kept_put(const struct buf *path, const struct buf *object)
{
	struct buf part = BUF_INIT;

	buf_fmt(&part, "%s.%ld", path->s, (long)getpid());
	if (file_put(part.s, object) < 0 || rename(part.s, path->s) < 0)
		unlink(part.s);
	buf_free(&part);
}
