#include "lib/io/file.h"

#include <stdio.h>
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
