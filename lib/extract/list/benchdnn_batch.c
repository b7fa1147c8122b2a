#include "lib/extract/list/benchdnn_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/io/file.h"

/* For one list: a file that is named again and again is read as often. */
enum { FILES = 1000, BYTES = 64 << 20 };

static void push(struct benchdnn_batch *b, const char *path, const struct stat *st)
{
	b->file[b->depth++] = (struct benchdnn_file){
		.path = xstrdup(path), .device = st->st_dev, .number = st->st_ino};
}

void benchdnn_batch_begin(struct benchdnn_batch *b, const struct member *m)
{
	struct stat st;

	if (m->is_on_disk && !stat(m->name, &st))
		push(b, m->name, &st);
}

/* The path of a name beside a file. */
static void beside(const char *file, const char *name, size_t n, struct buf *path)
{
	const char *slash = strrchr(file, '/');

	buf_clear(path);
	if (*name != '/' && slash)
		buf_add(path, file, (size_t)(slash - file) + 1);
	buf_add(path, name, n);
}

/* Where the file is: beside the innermost file first. */
static int find(const struct benchdnn_batch *b, const char *name, size_t n, struct buf *path,
		struct stat *st, struct err *e)
{
	for (int i = b->depth; i-- > 0;) {
		beside(b->file[i].path, name, n, path);
		if (!stat(path->s, st))
			return 0;
		if (errno != ENOENT && errno != ENOTDIR)
			return err_sys(e, "cannot open the batch file %s", path->s);
	}
	beside(b->file[b->depth - 1].path, name, n, path);
	return err_set(e, "there is no batch file %s", path->s);
}

static int is_open(const struct benchdnn_batch *b, const struct stat *st)
{
	for (int i = 0; i < b->depth; i++)
		if (b->file[i].device == st->st_dev && b->file[i].number == st->st_ino)
			return 1;
	return 0;
}

static int check(struct benchdnn_batch *b, const char *path, const struct stat *st, struct err *e)
{
	if (file_check("the batch file", path, e))
		return -1;
	if (is_open(b, st))
		return err_set(e, "the batch file %s leads back to itself", path);
	if (b->depth == BENCHDNN_BATCH_DEPTH)
		return err_set(e, "the batch file %s is nested more than %d deep", path,
			       BENCHDNN_BATCH_DEPTH);
	b->files++;
	b->bytes += st->st_size < BYTES ? st->st_size : BYTES;
	if (b->bytes >= BYTES)
		return err_set(e, "batch files of more than %d MB are named", BYTES >> 20);
	return 0;
}

int benchdnn_batch_enter(struct benchdnn_batch *b, const char *name, size_t n, struct buf *text,
			 struct err *e)
{
	const size_t before = text->n;
	struct buf path = BUF_INIT;
	struct stat st;
	int rc = -1;

	if (b->files >= FILES)
		return err_set(e, "more than %d batch files are named", FILES);
	if (find(b, name, n, &path, &st, e) || check(b, path.s, &st, e) ||
	    file_read("the batch file", path.s, text, e))
		rc = -1;
	else if (text->n > before && memchr(text->s + before, 0, text->n - before))
		err_set(e, "the batch file %s is no text", path.s);
	else
		rc = 0;
	if (!rc)
		push(b, path.s, &st);
	buf_free(&path);
	return rc;
}

void benchdnn_batch_leave(struct benchdnn_batch *b)
{
	free(b->file[--b->depth].path);
}

struct benchdnn_file *benchdnn_batch_inner(struct benchdnn_batch *b)
{
	return b->depth > 1 ? &b->file[b->depth - 1] : NULL;
}
