#include "lib/io/trust.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Some systems give each user a group, which the folders of the user may be written by. */
static int is_own_group(uid_t user, gid_t group)
{
	const struct passwd *p = getpwuid(user);
	const struct group *g = p && p->pw_gid == group ? getgrgid(group) : NULL;
	char *const *member = g ? g->gr_mem : NULL;

	if (!g || strcmp(g->gr_name, p->pw_name) != 0)
		return 0;
	while (*member && !strcmp(*member, p->pw_name))
		member++;
	return !*member;
}

static int others_write(const struct stat *st)
{
	if (st->st_mode & S_IWOTH)
		return 1;
	return (st->st_mode & S_IWGRP) && !is_own_group(st->st_uid, st->st_gid);
}

/* In a user's name space root may have no number: then its files belong to the number that stands
 * for all such users. */
static int is_root(uid_t user)
{
	unsigned long inside, outside, count = 0, none = 0;
	FILE *map, *overflow;

	if (user == 0)
		return 1;
	map = fopen("/proc/self/uid_map", "re");
	overflow = fopen("/proc/sys/kernel/overflowuid", "re");
	if (!map || fscanf(map, "%lu %lu %lu", &inside, &outside, &count) != 3)
		count = 0;
	if (!overflow || fscanf(overflow, "%lu", &none) != 1)
		none = 0;
	if (map)
		fclose(map);
	if (overflow)
		fclose(overflow);
	return none && none == user && count && count < (uid_t)-1;
}

static int refuse_owner(const char *path, const struct stat *st, struct err *e)
{
	const struct passwd *p = getpwuid(st->st_uid);

	return err_set(e,
		       "the folder %s belongs to user %u (%s), whose code would run here; name a "
		       "folder of your own by TL_CACHE",
		       path, (unsigned)st->st_uid, p ? p->pw_name : "without a name");
}

static int refuse_mode(const char *path, const struct stat *st, struct err *e)
{
	return err_set(e,
		       "other users may write to the folder %s (mode %04o), and their code would "
		       "run here; `chmod go-w` it, or name another folder by TL_CACHE",
		       path, (unsigned)st->st_mode & 07777);
}

/* Of the folder itself (is_last), or of one above it. */
static int check(const char *path, int is_last, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return err_sys(e, "cannot look at the folder %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, "%s is no folder", path);
	if (st.st_uid != geteuid() && (is_last || !is_root(st.st_uid)))
		return refuse_owner(path, &st, e);
	if (others_write(&st) && (is_last || !(st.st_mode & S_ISVTX)))
		return refuse_mode(path, &st, e);
	return 0;
}

int trust_folder(const char *path, struct buf *out, struct err *e)
{
	char *real = realpath(path, NULL);
	int rc;

	if (!real)
		return err_sys(e, "cannot find the folder %s", path);
	rc = check("/", !real[1], e);
	for (char *p = real + 1; rc == 0 && *p; p++) {
		size_t n = strcspn(p, "/");
		char end = p[n];

		p[n] = 0;
		rc = check(real, !end, e);
		p[n] = end;
		p += n - (end == 0);
	}
	if (rc == 0)
		buf_str(out, real);
	free(real);
	return rc;
}
