#include "lib/io/beside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io/file.h"

static const char end[] = ".tl.tmp";

/* Is it a name of n letters, a number between two points, and the end? */
static int is_beside(const char *name, const char *base, size_t n)
{
	const char *number = name + n + 1;
	size_t digits;

	if (strncmp(name, base, n) != 0 || name[n] != '.')
		return 0;
	digits = strspn(number, "0123456789");
	return digits && !strcmp(number + digits, end);
}

/* Has the name this file still? A living process may have put its own there meanwhile. */
static int is_named(int folder, const char *name, const struct stat *is)
{
	struct stat st;

	return !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == is->st_dev &&
	       st.st_ino == is->st_ino;
}

/* Removes the file, unless its process lives. */
static void sweep_one(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !file_lock(fd, LOCK_EX | LOCK_NB) && is_named(folder, name, &st))
		unlinkat(folder, name, 0);
	close(fd);
}

static void sweep(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	struct buf folder = BUF_INIT;
	DIR *d;

	buf_add(&folder, slash ? path : ".", slash ? (size_t)(slash - path + 1) : 1);
	d = opendir(folder.s);
	for (const struct dirent *f; d && (f = readdir(d));)
		if (is_beside(f->d_name, base, strlen(base)))
			sweep_one(dirfd(d), f->d_name);
	if (d)
		closedir(d);
	buf_free(&folder);
}

/* Makes a locked file. -1 with errno: it cannot be made; EEXIST: the name is taken, or was until
 * now by a file of this process that another one took for one that was left. */
static int make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), rc;
	struct stat st;

	if (fd < 0)
		return -1;
	file_lock(fd, LOCK_EX); /* some file systems have no locks */
	rc = fstat(fd, &st);
	if (!rc && st.st_nlink > 0)
		return fd;
	rc = rc ? errno : EEXIST;
	if (rc != EEXIST)
		unlink(name);
	close(fd);
	errno = rc;
	return -1;
}

int beside_open(const char *path, struct buf *name, struct err *e)
{
	enum { TRIES = 100, APART = 1 << 22 }; /* process ids are smaller */
	const size_t before = name->n;
	long number = (long)getpid();
	int fd;

	sweep(path);
	for (int i = 0; i < TRIES; i++, number += APART) {
		name->n = before;
		buf_fmt(name, "%s.%ld%s", path, number, end);
		fd = make(name->s + before);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			break;
	}
	return err_sys(e, "cannot create %s", name->s + before);
}
