#include "lib/build/sweep.h"

#include <ctype.h>
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
#include "lib/base/hash.h"

int sweep_bound(int64_t *bytes, struct err *e)
{
	static const char units[] = "KMG";
	const char *text = getenv("TL_CACHE_SIZE"), *unit;
	char *end;

	*bytes = (int64_t)1 << 30;
	if (!text || !*text)
		return 0;
	errno = 0;
	*bytes = strtoll(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (isdigit((unsigned char)text[0]) && !errno && (!*end || (unit && !end[1]))) {
		int shift = unit ? 10 * (int)(unit - units + 1) : 0;

		if (*bytes <= INT64_MAX >> shift) {
			*bytes <<= shift;
			return 0;
		}
	}
	return err_status(e, EXIT_USAGE, "TL_CACHE_SIZE is \"%s\", which is no size such as 500M",
			  text);
}

int sweep_lock(const char *dir)
{
	struct buf path = BUF_INIT;
	int fd;

	buf_fmt(&path, "%s/lock", dir);
	fd = open(path.s, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
	buf_free(&path);
	if (fd >= 0 && flock(fd, LOCK_SH) < 0) { /* waits for a sweep at most */
		close(fd);
		fd = -1;
	}
	return fd;
}

void sweep_touch(const char *object)
{
	utimensat(AT_FDCWD, object, NULL, 0); /* not ours, then: it is as old as it looks */
}

/* HASH.so, and HASH.truth, a true answer */
static int is_object(const char *name)
{
	return strlen(name) > ID_HEX && hash_is_hex(name, ID_HEX) &&
	       (!strcmp(name + ID_HEX, ".so") || !strcmp(name + ID_HEX, ".truth"));
}

/* What compilers and runs make on the way to an object. A hash may begin with cc, too. */
static int is_remnant(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "canary-", 7) || !strncmp(name, "cc", 2) ||
	       (n > 2 && !strcmp(name + n - 2, ".c")) || (n > 4 && !strcmp(name + n - 4, ".tmp"));
}

struct object {
	char name[ID_HEX + 8];
	ino_t file;
	struct timespec used;
	int64_t bytes;
};

/* The latest used first; links of one file side by side. */
static int compare(const void *pa, const void *pb)
{
	const struct object *a = pa, *b = pb;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? 1 : -1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? 1 : -1;
	return a->file < b->file ? 1 : a->file > b->file ? -1 : 0;
}

/* Removes remnants and returns the objects, which the caller frees. */
static struct object *take_stock(DIR *dir, size_t *n)
{
	struct object *list = NULL;
	struct dirent *entry;
	size_t cap = 0;

	*n = 0;
	while ((entry = readdir(dir))) {
		struct stat st;

		if (!is_object(entry->d_name)) {
			if (is_remnant(entry->d_name))
				unlinkat(dirfd(dir), entry->d_name, 0);
			continue;
		}
		if (fstatat(dirfd(dir), entry->d_name, &st, 0) < 0)
			continue;
		if (*n == cap) {
			cap = cap ? 2 * cap : 256;
			list = xrealloc(list, cap * sizeof *list);
		}
		list[*n] = (struct object){"", st.st_ino, st.st_mtim, (int64_t)st.st_blocks * 512};
		snprintf(list[*n].name, sizeof list->name, "%.*s", ID_HEX + 6, entry->d_name);
		++*n;
	}
	return list;
}

static void evict(DIR *dir, struct object *list, size_t n, int64_t bytes)
{
	int64_t sum = 0;

	qsort(list, n, sizeof *list, compare);
	for (size_t i = 0; i < n; i++) {
		if (!i || list[i].file != list[i - 1].file)
			sum += list[i].bytes;
		if (sum > bytes)
			unlinkat(dirfd(dir), list[i].name, 0);
	}
}

void sweep(const char *path, int lock, int64_t bytes)
{
	struct object *list;
	size_t n;
	DIR *dir;

	if (lock < 0)
		return;
	dir = flock(lock, LOCK_EX | LOCK_NB) == 0 ? opendir(path) : NULL;
	if (dir) {
		list = take_stock(dir, &n);
		if (bytes > 0 && n)
			evict(dir, list, n, bytes);
		free(list);
		closedir(dir);
	}
	close(lock);
}
