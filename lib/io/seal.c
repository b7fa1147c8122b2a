#include "lib/io/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"

#define MARK "\ntl-seal "

enum {
	MARK_LENGTH = sizeof MARK - 1,
	SEAL_LENGTH = MARK_LENGTH + ID_HEX + 1,
	CHUNK = 1 << 16,
};

void seal_put(struct buf *text)
{
	struct id id;

	hash_id(&id, text->s ? text->s : "", text->n);
	buf_fmt(text, MARK "%s\n", id.s);
}

/* Is the end of these bytes the seal of what is before it? */
static int is_sealed(const char *bytes, size_t n)
{
	const char *seal = bytes + n - SEAL_LENGTH;
	struct id id;

	if (n < SEAL_LENGTH || memcmp(seal, MARK, MARK_LENGTH) != 0 || bytes[n - 1] != '\n')
		return 0;
	hash_id(&id, bytes, n - SEAL_LENGTH);
	return !memcmp(seal + MARK_LENGTH, id.s, ID_HEX);
}

static int is_lost(int why)
{
	return why == ENOENT || why == ELOOP || why == ENXIO;
}

/* A descriptor of a file that may have been sealed; -1 with errno, ENOENT for what is none. A pipe
 * does not hold the program up. */
static int open_own(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0) {
		errno = is_lost(errno) ? ENOENT : errno;
		return -1;
	}
	if (fstat(fd, &st) == 0) {
		if (S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0))
			return fd;
		errno = ENOENT;
	}
	close(fd);
	return -1;
}

/* Appends all that is left to read. */
static int read_rest(int fd, struct buf *out)
{
	ssize_t n;

	do {
		buf_reserve(out, CHUNK);
		n = read(fd, out->s + out->n, CHUNK);
		out->n += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	out->s[out->n] = 0;
	return n < 0 ? -1 : 0;
}

int seal_read(const char *path, struct buf *out, struct err *e)
{
	const size_t before = out->n;
	int fd = open_own(path), rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot read %s", path);
	rc = read_rest(fd, out);
	if (rc < 0)
		err_sys(e, "cannot read %s", path);
	close(fd);
	if (rc < 0)
		return -1;
	rc = is_sealed(out->s + before, out->n - before);
	out->n = rc ? out->n - SEAL_LENGTH : before;
	out->s[out->n] = 0;
	return rc;
}

int seal_seems_whole(const char *path)
{
	char end[SEAL_LENGTH];
	int fd = open_own(path), good;

	if (fd < 0)
		return 0;
	good = lseek(fd, -(off_t)sizeof end, SEEK_END) >= 0 &&
	       read(fd, end, sizeof end) == sizeof end && !memcmp(end, MARK, MARK_LENGTH) &&
	       end[sizeof end - 1] == '\n';
	close(fd);
	return good;
}

static int write_all(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t k = write(fd, s, n);

		if (k < 0 && errno != EINTR)
			return -1;
		s += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

int seal_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC), rc = -1;
	struct buf text = BUF_INIT;
	size_t content;

	if (fd >= 0 && read_rest(fd, &text) == 0) {
		content = text.n;
		seal_put(&text);
		rc = write_all(fd, text.s + content, text.n - content);
		if (rc == 0)
			rc = fsync(fd);
	}
	if (rc < 0)
		err_sys(e, "cannot keep %s", path);
	if (fd >= 0)
		close(fd);
	buf_free(&text);
	return rc;
}
