#include "lib/build/mark.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"

#define NAME "CACHEDIR.TAG"

/* The first line is the same in all programs; the second begins with our name. */
static const char start[] = "Signature: 8a477f597d28d172789f06886806bc55\n# Tensor Lathe";
static const char rest[] = " made this folder, and removes objects that were not used for long. "
			   "See tl-measure(1).\n";

int mark_is_there(const char *dir)
{
	struct buf path = BUF_INIT;
	char text[sizeof start - 1];
	int fd, good;

	buf_fmt(&path, "%s/" NAME, dir);
	fd = open(path.s, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	buf_free(&path);
	if (fd < 0)
		return 0;
	good = read(fd, text, sizeof text) == sizeof text && !memcmp(text, start, sizeof text);
	close(fd);
	return good;
}

static int all_are(const char *path, int (*is_ours)(const char *name))
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	int all = dir != NULL;

	while (all && (entry = readdir(dir)))
		all = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		      is_ours(entry->d_name);
	if (dir)
		closedir(dir);
	return all;
}

static int write_mark(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), rc = -1;
	struct buf text = BUF_INIT;

	if (fd < 0)
		return -1;
	buf_fmt(&text, "%s%s", start, rest);
	if (write(fd, text.s, text.n) == (ssize_t)text.n)
		rc = fsync(fd);
	if (close(fd) < 0)
		rc = -1;
	buf_free(&text);
	return rc;
}

void mark_put(const char *dir, const char *work, int (*is_ours)(const char *name))
{
	struct buf from = BUF_INIT, to = BUF_INIT;

	if (mark_is_there(dir) || !all_are(dir, is_ours))
		return;
	buf_fmt(&from, "%s/mark", work);
	buf_fmt(&to, "%s/" NAME, dir);
	if (write_mark(from.s) < 0 || rename(from.s, to.s) < 0)
		unlink(from.s);
	buf_free(&from);
	buf_free(&to);
}
