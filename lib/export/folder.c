#include "lib/export/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/export/cksum.h"
#include "lib/io/temporary.h"

struct folder {
	struct buf path, temporary; /* temporary: with the path of what is inside behind it */
	size_t bare;		    /* its length without */
	struct temporary **made;    /* itself, and what is inside, in the order of making */
	size_t n, cap;
	struct buf checksums; /* of what was written, as cksum prints them */
};

/* Before something is made, so that nothing that is made goes unheld where memory ends. */
static void make_room(struct folder *f)
{
	if (f->n < f->cap)
		return;
	f->cap = f->cap * 2 + 64;
	f->made = xrealloc(f->made, f->cap * sizeof(*f->made));
}

static void hold(struct folder *f, const char *path)
{
	make_room(f);
	f->made[f->n++] = temporary_add(path);
}

struct folder *folder_begin(const char *path, struct err *e)
{
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
	f->bare = f->temporary.n;
	make_room(f);
	if (mkdtemp(f->temporary.s)) {
		const mode_t mask = umask(077);

		umask(mask);
		hold(f, f->temporary.s);
		if (!chmod(f->temporary.s, 0777 & ~mask))
			return f;
	}
	err_sys(e, "cannot make a folder beside %s", f->path.s);
	folder_end(f);
	return NULL;
}

/* The path of what is to be made inside; until the next call. */
static const char *inside(struct folder *f, const char *name)
{
	f->temporary.n = f->bare;
	buf_fmt(&f->temporary, "/%s", name);
	hold(f, f->temporary.s);
	return f->temporary.s;
}

int folder_make(struct folder *f, const char *name, struct err *e)
{
	return mkdir(inside(f, name), 0777) ? err_sys(e, "cannot make %s/%s", f->path.s, name) : 0;
}

static int write_file(struct folder *f, const char *name, const struct buf *text, struct err *e)
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

int folder_write(struct folder *f, const char *name, const struct buf *text, struct err *e)
{
	buf_fmt(&f->checksums, "%u %zu %s\n", (unsigned)cksum(text->s, text->n), text->n, name);
	return write_file(f, name, text, e);
}

int folder_commit(struct folder *f, struct err *e)
{
	if (write_file(f, "checksums", &f->checksums, e))
		return -1;
	f->temporary.s[f->bare] = 0;
	if (rename(f->temporary.s, f->path.s))
		return err_sys(e, "cannot make %s", f->path.s);
	while (f->n)
		temporary_forget(f->made[--f->n]);
	return 0;
}

void folder_end(struct folder *f)
{
	if (!f)
		return;
	while (f->n)
		temporary_remove(f->made[--f->n]);
	free(f->made);
	buf_free(&f->path);
	buf_free(&f->temporary);
	buf_free(&f->checksums);
	free(f);
}
