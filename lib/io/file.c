#include "lib/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Of a shell or a parent: it had a writer from the beginning. */
static int is_nameless_pipe(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == PIPEFS_MAGIC;
}

int file_check(const char *what, const char *path, struct err *e)
{
	const char *kind = "a device";
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	if (S_ISFIFO(st.st_mode)) {
		if (is_nameless_pipe(path))
			return 0;
		kind = "a pipe";
	} else if (S_ISDIR(st.st_mode)) {
		kind = "a folder";
	} else if (S_ISSOCK(st.st_mode)) {
		kind = "a socket";
	}
	return err_set(e, "cannot read %s %s: it is %s, not a file", what, path, kind);
}

int file_open(const char *what, const char *path, struct err *e)
{
	int fd;

	if (file_check(what, path, e))
		return -1;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? err_sys(e, "cannot open %s %s", what, path) : fd;
}

int file_read(const char *what, const char *path, struct buf *out, struct err *e)
{
	int fd = file_open(what, path, e), rc = 0;
	char text[1 << 14];
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text, sizeof text)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			buf_add(out, text, (size_t)n);
	if (n < 0)
		rc = err_sys(e, "cannot read %s %s", what, path);
	close(fd);
	return rc;
}

int file_read_at(int fd, void *to, size_t n, int64_t offset, const char *path, struct err *e)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(fd, (char *)to + done, n - done, offset + (int64_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "cannot read %s", path);
		if (!got)
			return 0;
		done += (size_t)got;
	}
	return 1;
}

int file_write(const char *path, const char *text, size_t n, struct err *e)
{
	FILE *f = fopen(path, "we");
	int bad;

	if (!f)
		return err_sys(e, "cannot write %s", path);
	bad = fwrite(text, 1, n, f) != n;
	if (fclose(f) || bad) {
		err_sys(e, "cannot write %s", path);
		unlink(path);
		return -1;
	}
	return 0;
}

/* A new file; -1 with errno EEXIST where there is one, which may be a link to nothing. */
static int make_lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd >= 0)
		fchmod(fd, 0644); /* against the umask */
	return fd;
}

int file_open_lock(const char *path, struct err *e)
{
	enum { TRIES = 3 }; /* another program may make or remove it meanwhile */
	int fd = -1;
	struct stat st;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			fd = make_lock(path);
		else if (fd < 0)
			break;
	}
	if (fd < 0 && errno == ELOOP)
		return err_set(e, "the lock %s is a symbolic link; remove it", path);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, "cannot open the lock %s", path);
	} else if (!S_ISREG(st.st_mode)) {
		err_set(e, "the lock %s is no regular file; remove it", path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

int file_lock(int fd, int how)
{
	int rc;

	while ((rc = flock(fd, how)) < 0 && errno == EINTR)
		;
	return rc;
}
