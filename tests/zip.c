/* Zips that are written here, as unzip and Python read them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/proc.h"
#include "lib/io/zip.h"
#include "tests/tap.h"

static char path[] = "/tmp/tl-zip-XXXXXX";

/* Members "0", "1", ..., each with its name twice, in two parts. */
static int write_zip(int members)
{
	FILE *f = fopen(path, "wb");
	struct err e = ERR_INIT;
	struct zip z;
	int rc = 0;

	if (!f)
		bail_out("cannot write %s", path);
	zip_begin(&z, f);
	for (int i = 0; i < members && !rc; i++) {
		char name[16];
		const size_t n = (size_t)snprintf(name, sizeof name, "%d", i);

		rc = zip_add(&z, name, (const struct zip_part[]){{name, n}, {name, n}}, 2, &e);
	}
	rc = rc || zip_end(&z, &e) ? -1 : 0;
	zip_free(&z);
	return fclose(f) || rc ? -1 : 0;
}

/* Does the command of a shell find the file, whose path stands for %s, in order? */
static int agrees(const char *command)
{
	char shell[] = "/bin/sh", flag[] = "-c", text[512], *argv[] = {shell, flag, text, NULL};
	struct proc p = {.in = -1, .out = -1, .errfd = -1};
	struct err e = ERR_INIT;
	int status = -1;

	snprintf(text, sizeof text, command, path);
	if (proc_start(&p, argv, 0, -1, -1, &e) || proc_wait(&p, -1, &status, &e) < 0)
		bail_out("%s", e.msg);
	proc_close(&p);
	return status == 0;
}

#define PYTHON                                                                                     \
	"python3 -c 'import zipfile; z = zipfile.ZipFile(\"%s\"); n = z.namelist(); assert "       \
	"z.testzip() is None and n == [str(i) for i in range(len(n))] and z.read(n[-1]) == "       \
	"(n[-1] * 2).encode() and len(n) == "

int main(void)
{
	const int fd = mkstemp(path);
	struct err e = ERR_INIT;
	struct zip z;
	char *name = calloc(1, 70000);

	if (fd < 0)
		bail_out("cannot make a file");
	close(fd);
	ok(!write_zip(3) && agrees("unzip -qt %s >/dev/null"),
	   "three members, as unzip reads them");
	ok(agrees(PYTHON "3'"), "and Python");
	ok(!write_zip(0) && agrees("python3 -c 'import zipfile; assert not "
				   "zipfile.ZipFile(\"%s\").namelist()'"),
	   "none");
	ok(!write_zip(70000) && agrees(PYTHON "70000'"), "more than 16 bits count");
	zip_begin(&z, NULL);
	memset(name, 'x', 69999);
	ok(zip_add(&z, name, NULL, 0, &e) < 0 && strstr(e.msg, "too long"),
	   "a name of 70000 bytes");
	zip_free(&z);
	free(name);
	unlink(path);
	return done_testing();
}
