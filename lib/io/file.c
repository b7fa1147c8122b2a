#include "lib/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read(const char *path, struct buf *out, struct err *e)
{
	FILE *f = fopen(path, "re");
	char text[1 << 14];
	size_t n;
	int rc = 0;

	if (!f)
		return err_sys(e, "cannot read %s", path);
	while ((n = fread(text, 1, sizeof text, f)) > 0)
		buf_add(out, text, n);
	if (ferror(f))
		rc = err_sys(e, "cannot read %s", path);
	fclose(f);
	return rc;
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
