#include "lib/extract/read/walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH = 64 };

/* A folder that the walk is in: its names, and which of them comes next. */
struct level {
	struct dirent **name;
	int n, at;
	size_t path; /* length of the folder's path, with its slash */
	dev_t dev;
	ino_t ino;
};

struct walk {
	struct buf path;
	struct level level[DEPTH];
	int depth;
};

static int is_shown(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* By bytes, whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_within(const struct walk *w, const struct stat *st)
{
	for (int i = 0; i < w->depth; i++)
		if (w->level[i].dev == st->st_dev && w->level[i].ino == st->st_ino)
			return 1;
	return 0;
}

/* Into the folder that w->path names. */
static int enter(struct walk *w, const struct stat *st, struct err *e)
{
	struct level *l = &w->level[w->depth];

	if (w->depth == DEPTH)
		return err_set(e, "%s: folders are nested more than %d deep", w->path.s, DEPTH);
	l->n = scandir(w->path.s, &l->name, is_shown, by_name);
	if (l->n < 0)
		return err_sys(e, "%s: the folder cannot be read", w->path.s);
	if (w->path.s[w->path.n - 1] != '/')
		buf_ch(&w->path, '/');
	l->path = w->path.n;
	l->dev = st->st_dev;
	l->ino = st->st_ino;
	l->at = 0;
	w->depth++;
	return 0;
}

static void leave(struct walk *w)
{
	struct level *l = &w->level[--w->depth];

	for (int i = 0; i < l->n; i++)
		free(l->name[i]);
	free(l->name);
}

struct walk *walk_open(const char *path, struct err *e)
{
	struct walk *w = xcalloc(1, sizeof *w);
	struct stat st;

	buf_str(&w->path, path);
	if (!*path || stat(path, &st) < 0 ? err_sys(e, "%s: it cannot be opened", path)
					  : enter(w, &st, e)) {
		walk_close(w);
		return NULL;
	}
	return w;
}

int walk_next(struct walk *w, struct buf *path, struct err *e)
{
	while (w->depth) {
		struct level *l = &w->level[w->depth - 1];
		struct stat st;

		if (l->at == l->n) {
			leave(w);
			continue;
		}
		w->path.n = l->path;
		buf_str(&w->path, l->name[l->at++]->d_name);
		if (stat(w->path.s, &st) < 0) {
			if (errno == ENOENT || errno == ELOOP) /* a link to nothing */
				continue;
			return err_sys(e, "%s: it cannot be opened", w->path.s);
		}
		if (S_ISDIR(st.st_mode) && !is_within(w, &st) && enter(w, &st, e))
			return -1;
		if (!S_ISREG(st.st_mode))
			continue;
		buf_clear(path);
		buf_add(path, w->path.s, w->path.n);
		return 1;
	}
	return 0;
}

void walk_close(struct walk *w)
{
	if (!w)
		return;
	while (w->depth)
		leave(w);
	buf_free(&w->path);
	free(w);
}
