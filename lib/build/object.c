#include "lib/build/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), rc = -1;
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
	char chunk[16 * 1024];
	ssize_t n = 0;

	if (in >= 0 && out >= 0) {
		while ((n = read(in, chunk, sizeof chunk)) > 0 && write(out, chunk, (size_t)n) == n)
			;
		rc = n == 0 ? fsync(out) : -1;
	}
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) < 0)
		rc = -1;
	return rc;
}

/* Some file systems have no links. */
static int link_or_copy(const char *from, const char *to)
{
	if (link(from, to) == 0)
		return 0;
	if (errno == EPERM || errno == EXDEV || errno == EMLINK || errno == EOPNOTSUPP ||
	    errno == ENOSYS || errno == EACCES)
		return copy(from, to);
	return -1;
}

int object_put(const char *from, const char *temporary, const char *name)
{
	int why;

	if (link_or_copy(from, temporary) == 0 && rename(temporary, name) == 0) {
		unlink(temporary); /* rename() leaves it where both are links of one file */
		return 0;
	}
	why = errno;
	unlink(temporary);
	errno = why;
	return -1;
}
