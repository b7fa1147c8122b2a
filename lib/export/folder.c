#include "lib/export/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/map.h"

struct folder {
	struct buf path, temporary;
	struct map made; /* paths of what is inside */
	int committed;
};

/* Removed when the process ends before its time, too. */
static struct folder *open_folder;

static void remove_all(struct folder *f)
{
	for (size_t i = f->made.n; i-- > 0;)
		if (unlink(f->made.item[i].key) && errno == EISDIR)
			rmdir(f->made.item[i].key);
	rmdir(f->temporary.s);
}

static void at_exit(void)
{
	if (open_folder)
		remove_all(open_folder);
}

struct folder *folder_begin(const char *path, struct err *e)
{
	static int registered;
	struct folder *f = xcalloc(1, sizeof *f);
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	buf_add(&f->path, path, n);
	if (rmdir(f->path.s) && errno != ENOENT) {
		err_sys(e, "cannot replace %s", f->path.s);
		buf_free(&f->path);
		free(f);
		return NULL;
	}
	buf_fmt(&f->temporary, "%s.XXXXXX", f->path.s);
	if (!registered)
		atexit(at_exit);
	registered = 1;
	if (!mkdtemp(f->temporary.s) || chmod(f->temporary.s, 0755)) {
		err_sys(e, "cannot make a folder beside %s", f->path.s);
		f->committed = 1; /* there is nothing to remove */
		folder_end(f);
		return NULL;
	}
	open_folder = f;
	return f;
}

static char *inside(struct folder *f, const char *name)
{
	struct buf path = BUF_INIT;
	size_t at;

	buf_fmt(&path, "%s/%s", f->temporary.s, name);
	map_put(&f->made, path.s, path.n, NULL);
	at = f->made.n - 1;
	buf_free(&path);
	return f->made.item[at].key;
}

int folder_make(struct folder *f, const char *name, struct err *e)
{
	return mkdir(inside(f, name), 0755) ? err_sys(e, "cannot make %s/%s", f->path.s, name) : 0;
}

int folder_write(struct folder *f, const char *name, const struct buf *text, struct err *e)
{
	FILE *to = fopen(inside(f, name), "we");
	int failed = !to || fwrite(text->s, 1, text->n, to) != text->n || fflush(to) ||
		     fsync(fileno(to));

	if (failed)
		err_sys(e, "cannot write %s/%s", f->path.s, name);
	if (to && fclose(to) && !failed)
		failed = err_sys(e, "cannot write %s/%s", f->path.s, name);
	return failed ? -1 : 0;
}

int folder_commit(struct folder *f, struct err *e)
{
	if (rename(f->temporary.s, f->path.s))
		return err_sys(e, "cannot make %s", f->path.s);
	f->committed = 1;
	return 0;
}

void folder_end(struct folder *f)
{
	if (!f)
		return;
	if (!f->committed)
		remove_all(f);
	open_folder = NULL;
	map_free(&f->made);
	buf_free(&f->path);
	buf_free(&f->temporary);
	free(f);
}
