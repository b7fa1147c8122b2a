/* opencl: what takes an OpenCL driver, as a command, so that programs need not load it. Not for
 * people.
 *
 *   opencl --version                      prints "opencl 3.1", the driver
 *   opencl --device                       prints PROCESSORS BLOCK_BYTES NAME
 *   opencl --arch=opencl -o OBJECT SOURCE makes an object: the source, if the driver takes it
 *
 * --answers before these says where the answers go (answers.h).
 *
 * Exits with 127 where the loader is not there, or has no device; with 1, the reason on stderr,
 * where the driver refuses the source.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/file.h"
#include "lib/target/device.h"
#include "libexec/answers.h"

enum { NOT_THERE = 127 };

static int fail(const char *why, int status)
{
	fprintf(stderr, "opencl: error: %s\n", why);
	return status;
}

static int no_device(const struct err *e)
{
	return fail(e->msg, errno == ENOENT ? NOT_THERE : 1);
}

static int describe(int sizes, FILE *answers)
{
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;
	struct device *d = driver_opencl.open(&e);
	int64_t block_bytes;
	int processors;

	if (!d)
		return no_device(&e);
	buf_str(&out, "");
	if (sizes) {
		opencl_describe(d, &out);
		opencl_sizes(d, &processors, &block_bytes);
		fprintf(answers, "%d %lld %s\n", processors, (long long)block_bytes, out.s);
	} else {
		opencl_version(d, &out);
		fprintf(answers, "opencl %s\n", out.s);
	}
	buf_free(&out);
	driver_opencl.close(d);
	return 0;
}

static int compile(const char *object, const char *source)
{
	struct err e = ERR_INIT;
	struct buf text = BUF_INIT;
	struct device *d = driver_opencl.open(&e);
	struct device_program *p = NULL;
	int rc;

	if (!d)
		return no_device(&e);
	rc = file_read("the source", source, &text, &e);
	if (rc == 0 && !(p = driver_opencl.load(d, text.s ? text.s : "", text.n, &e)))
		rc = -1;
	if (rc == 0)
		rc = file_write(object, text.s, text.n, &e);
	if (p)
		driver_opencl.unload(p);
	driver_opencl.close(d);
	buf_free(&text);
	return rc ? fail(e.msg, 1) : 0;
}

static int answer(int argc, char **argv, FILE *answers)
{
	if (argc == 2 && !strcmp(argv[1], "--version"))
		return describe(0, answers);
	if (argc == 2 && !strcmp(argv[1], "--device"))
		return describe(1, answers);
	if (argc == 5 && !strncmp(argv[1], "--arch=", 7) && !strcmp(argv[2], "-o"))
		return compile(argv[3], argv[4]);
	return fail("it wants --version, --device, or --arch=ARCHITECTURE -o OBJECT SOURCE", 2);
}

int main(int argc, char **argv)
{
	FILE *answers = answers_open(&argc, &argv);
	int status = answers ? answer(argc, argv, answers) : 1;

	return answers && answers_close(answers) && !status ? 1 : status;
}
