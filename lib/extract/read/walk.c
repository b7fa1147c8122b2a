#include "lib/extract/read/walk.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 };

struct walk {
	FTS *files;
};

/* By bytes, whatever the locale. */
static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct walk *walk_open(const char *path)
{
	char *const root[] = {(char *)path, NULL};
	struct walk *w = xmalloc(sizeof *w);

	w->files = fts_open(root, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	if (!w->files)
		die_no_memory();
	return w;
}

static int is_hidden(const FTSENT *f)
{
	return f->fts_level > FTS_ROOTLEVEL && f->fts_name[0] == '.';
}

int walk_next(struct walk *w, struct buf *path, struct err *e)
{
	FTSENT *f;

	for (errno = 0; (f = fts_read(w->files)); errno = 0) {
		if (is_hidden(f)) {
			fts_set(w->files, f, FTS_SKIP);
			continue;
		}
		switch (f->fts_info) {
		case FTS_D:
			if (f->fts_level < DEPTH)
				continue;
			fts_set(w->files, f, FTS_SKIP);
			return err_set(e, "%s: folders are nested more than %d deep", f->fts_path,
				       DEPTH);
		case FTS_DNR:
			errno = f->fts_errno;
			return err_sys(e, "%s: the folder cannot be read", f->fts_path);
		case FTS_NS:
			errno = f->fts_errno;
			return err_sys(e, "%s: it cannot be opened", f->fts_path);
		case FTS_F:
			buf_clear(path);
			buf_str(path, f->fts_path);
			return 1;
		default: /* a link to nothing, a folder that the walk is in, or no file */
			continue;
		}
	}
	return errno ? err_sys(e, "a folder cannot be read") : 0;
}

void walk_close(struct walk *w)
{
	if (w)
		fts_close(w->files);
	free(w);
}
