#include "lib/store/backend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_folder(const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	buf_str(&b, path);
	for (char *p = b.s + 1; !rc && (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(b.s, 0777) && errno != EEXIST)
			rc = err_sys(e, "cannot make the folder %s", b.s);
		*p = '/';
	}
	buf_free(&b);
	return rc;
}

int store_default_path(const char *given, enum store_mode mode, struct buf *out, struct err *e)
{
	const char *db = getenv("TL_DB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (!given && db && *db)
		given = db;
	if (given) {
		buf_str(out, strncmp(given, "sqlite:", 7) != 0 ? given : given + 7);
		return 0;
	}
	if (data && *data == '/') /* a relative one is to be ignored, says the specification */
		buf_str(out, data);
	else if (home && *home)
		buf_fmt(out, "%s/.local/share", home);
	else
		return err_set(e, "there is no place for the database: neither -d, TL_DB, "
				  "XDG_DATA_HOME nor HOME is given");
	buf_str(out, "/tl/tl.db");
	if (mode == STORE_WRITE && make_folder(out->s, e))
		return err_in(e, "there is no place for the database, which -d may name");
	return 0;
}

int store_has_place(const char *given)
{
	struct buf path = BUF_INIT;
	struct err none = ERR_INIT;
	const int rc = store_default_path(given, STORE_READ, &path, &none);

	buf_free(&path);
	return rc == 0;
}

const struct backend *backend_of(const char *name)
{
	return postgresql.takes(name) ? &postgresql : &sqlite;
}

int store_is_there(const char *path, struct err *e)
{
	const struct backend *b = backend_of(path);

	return b->check_name(path, e) ? -1 : b->is_there(path, e);
}

int store_find(const char *given, struct buf *path, struct err *e)
{
	struct buf folder = BUF_INIT;
	const char *slash;
	int rc;

	if (store_default_path(given, STORE_READ, path, e))
		return -1;
	rc = store_is_there(path->s, e);
	if (rc || !given) /* only a file may be missing */
		return rc;
	slash = strrchr(path->s, '/');
	buf_fmt(&folder, "%.*s", slash ? (int)(slash - path->s + 1) : 1, slash ? path->s : ".");
	if (access(folder.s, F_OK))
		rc = err_sys(e, "cannot look for the database %s", path->s);
	buf_free(&folder);
	return rc;
}

const char *store_shown(const char *path, struct arena *a)
{
	char *without = backend_of(path)->without_passwords(path);
	const char *shown = without ? arena_strdup(a, without) : path;

	free(without);
	return shown;
}
