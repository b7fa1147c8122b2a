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
#include "lib/build/mark.h"
#include "lib/io/clock.h"
#include "lib/io/file.h"

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
	struct err ignored = ERR_INIT;
	int fd;

	buf_fmt(&path, "%s/lock", dir);
	fd = file_open_lock(path.s, &ignored);
	buf_free(&path);
	if (fd >= 0 && file_lock(fd, LOCK_SH) < 0) { /* waits for a sweep at most */
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

/* HASH.truth.PID.tmp: what a worker that died had begun. */
static int is_begun(const char *name)
{
	size_t n = strlen(name);

	return n > ID_HEX + 5 && hash_is_hex(name, ID_HEX) && name[ID_HEX] == '.' &&
	       !strcmp(name + n - 4, ".tmp");
}

/* ---- work folders ---- */

#define WORK "work-"

/* work-PID-HEX */
static int is_work(const char *name)
{
	const char *pid = name + sizeof WORK - 1, *rest;
	size_t digits;

	if (strncmp(name, WORK, sizeof WORK - 1) != 0)
		return 0;
	digits = strspn(pid, "0123456789");
	rest = pid + digits;
	return digits && *rest == '-' && rest[1] && hash_is_hex(rest + 1, strlen(rest + 1));
}

int sweep_work_make(const char *dir, struct buf *out, struct err *e)
{
	buf_fmt(out, "%s/" WORK "%d-%llx", dir, (int)getpid(),
		(unsigned long long)(clock_now() * 1e9));
	return mkdir(out->s, 0700) < 0 ? err_sys(e, "cannot make the folder %s", out->s) : 0;
}

/* A work folder has no folders in it. */
static void remove_work(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	unlinkat(at, name, AT_REMOVEDIR);
}

void sweep_work_remove(const char *work)
{
	remove_work(AT_FDCWD, work);
}

int sweep_is_ours(const char *name)
{
	return !strcmp(name, "lock") || is_object(name) || is_begun(name) || is_work(name);
}

/* ---- the sweep ---- */

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

/* Removes what dead runs left and returns the objects, which the caller frees. */
static struct object *take_stock(DIR *dir, size_t *n)
{
	struct object *list = NULL;
	struct dirent *entry;
	size_t cap = 0;

	*n = 0;
	while ((entry = readdir(dir))) {
		struct stat st;

		if (!is_object(entry->d_name)) {
			if (is_begun(entry->d_name))
				unlinkat(dirfd(dir), entry->d_name, 0);
			else if (is_work(entry->d_name))
				remove_work(dirfd(dir), entry->d_name);
			continue;
		}
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
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
	dir = mark_is_there(path) && file_lock(lock, LOCK_EX | LOCK_NB) == 0 ? opendir(path) : NULL;
	if (dir) {
		list = take_stock(dir, &n);
		if (bytes > 0 && n)
			evict(dir, list, n, bytes);
		free(list);
		closedir(dir);
	}
	close(lock);
}
