#include "lib/host/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/io/trust.h"

static int make_folders(char *path, struct err *e)
{
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return err_sys(e, "cannot make the folder %s", path);
		*p = c;
		if (!c)
			return 0;
	}
}

static int name(const char *what, struct buf *out, struct err *e)
{
	const char *tl = getenv("TL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");

	if (tl && *tl)
		buf_fmt(out, "%s/%s", tl, what);
	else if (xdg && *xdg == '/') /* the XDG Base Directory Specification ignores others */
		buf_fmt(out, "%s/tl/%s", xdg, what);
	else if (home && *home)
		buf_fmt(out, "%s/.cache/tl/%s", home, what);
	else
		return err_set(e, "no place for compiled kernels: set TL_CACHE or HOME");
	return 0;
}

int folder_cache(const char *what, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = name(what, &path, e);

	if (rc == 0 && make_folders(path.s, e))
		rc = err_in(e, "there is no place for compiled kernels, which TL_CACHE may name");
	if (rc == 0)
		rc = trust_folder(path.s, out, e);
	buf_free(&path);
	return rc;
}
