#include "lib/host/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/io/file.h"

enum { RANDOM = 6 }; /* letters of mkdtemp() */
static const char mark_name[] = "run-that-holds-this";

static const char *place(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

/* ---- of dead runs ---- */

/* Is the open folder, which this user made, marked, and its run dead? */
static int is_dead(int folder)
{
	struct stat st;
	int fd, dead;

	if (fstat(folder, &st) || st.st_uid != geteuid() || (st.st_mode & 077))
		return 0;
	fd = openat(folder, mark_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	dead = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !st.st_size &&
	       !file_lock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return dead;
}

/* The mark goes last: a folder that could not be emptied is found again. */
static void empty(int folder)
{
	int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	for (const struct dirent *f; d && (f = readdir(d));)
		if (strcmp(f->d_name, mark_name) != 0)
			unlinkat(folder, f->d_name, 0); /* . and .. refuse */
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	unlinkat(folder, mark_name, 0);
}

static void sweep_one(int parent, const char *name)
{
	int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (folder < 0)
		return;
	if (is_dead(folder)) {
		empty(folder);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(folder);
}

static void sweep(const char *name)
{
	const size_t n = strlen(name);
	DIR *d = opendir(place());

	for (const struct dirent *f; d && (f = readdir(d));)
		if (!strncmp(f->d_name, name, n) && f->d_name[n] == '-' &&
		    strlen(f->d_name) == n + 1 + RANDOM)
			sweep_one(dirfd(d), f->d_name);
	if (d)
		closedir(d);
}

/* ---- of this run ---- */

/* It has its name once it is locked, so that no other run takes it for a dead one's. */
static int make_mark(struct scratch *s, const char *early, struct err *e)
{
	int rc = 0;

	s->lock = open(early, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->lock < 0 || file_lock(s->lock, LOCK_EX | LOCK_NB) || rename(early, s->mark)) {
		rc = err_sys(e, "cannot make a file in the folder %s", s->path);
		unlink(early);
	}
	return rc;
}

static void forget(struct scratch *s)
{
	if (s->lock >= 0)
		close(s->lock);
	free(s->path);
	free(s->mark);
	*s = (struct scratch){.lock = -1};
}

int scratch_open(struct scratch *s, const char *name, struct err *e)
{
	struct buf path = BUF_INIT, mark = BUF_INIT, early = BUF_INIT;
	int rc;

	sweep(name);
	/* All memory before the folder: who dies for want of it leaves none without a mark. */
	buf_fmt(&path, "%s/%s-XXXXXX", place(), name);
	buf_fmt(&mark, "%s/%s", path.s, mark_name);
	buf_fmt(&early, "%s/early", path.s);
	*s = (struct scratch){.path = path.s, .mark = mark.s, .lock = -1};
	if (!mkdtemp(s->path)) {
		rc = err_sys(e, "cannot make the folder %s", s->path);
	} else {
		memcpy(mark.s, path.s, path.n);
		memcpy(early.s, path.s, path.n);
		rc = make_mark(s, early.s, e);
		if (rc)
			rmdir(s->path);
	}
	buf_free(&early);
	if (rc)
		forget(s);
	return rc;
}

void scratch_keep(struct scratch *s)
{
	unlink(s->mark);
	forget(s);
}

int scratch_remove(struct scratch *s, struct err *e)
{
	int folder, rc = 0;

	if (!s->path)
		return 0;
	folder = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder >= 0) {
		empty(folder);
		close(folder);
	}
	unlink(s->mark); /* where there was no descriptor left */
	if (rmdir(s->path) && errno != ENOENT)
		rc = err_sys(e, "cannot remove the folder %s", s->path);
	forget(s);
	return rc;
}
