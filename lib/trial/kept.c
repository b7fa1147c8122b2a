#include "lib/trial/kept.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/hash.h"

struct head {
	struct id hash; /* of the floats */
	uint64_t n;
};

static struct head head_of(const float *x, size_t n)
{
	struct head h;

	memset(&h, 0, sizeof h);
	hash_id(&h.hash, x, n * sizeof *x);
	h.n = n;
	return h;
}

/* NULL: there is none, or a pipe or the like in its place, which is not to hold the program up. */
static FILE *open_kept(const char *path)
{
	int fd = *path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	FILE *f = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		f = fdopen(fd, "rb");
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

int kept_load(const char *path, float *to, size_t n)
{
	FILE *f = open_kept(path);
	struct head h, is;
	int good;

	if (!f)
		return 0;
	good = fread(&h, sizeof h, 1, f) == 1 && h.n == n && fread(to, sizeof *to, n, f) == n;
	fclose(f);
	if (!good)
		return 0;
	is = head_of(to, n);
	if (memcmp(&is, &h, sizeof h) != 0)
		return 0;
	utimensat(AT_FDCWD, path, NULL, 0); /* what was not used for longest leaves the folder */
	return 1;
}

void kept_save(const char *path, const float *from, size_t n)
{
	struct head h = head_of(from, n);
	struct buf tmp = BUF_INIT;
	int good = 0;
	FILE *f;

	if (!*path)
		return;
	buf_fmt(&tmp, "%s.%d.tmp", path, (int)getpid());
	f = fopen(tmp.s, "wbe");
	if (f) {
		good = fwrite(&h, sizeof h, 1, f) == 1 && fwrite(from, sizeof *from, n, f) == n;
		good = fclose(f) == 0 && good;
	}
	if (!good || rename(tmp.s, path) < 0)
		unlink(tmp.s);
	buf_free(&tmp);
}
