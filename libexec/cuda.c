/* cuda: what takes CUDA's libraries, as a command, so that programs need not load them. Not for
 * people.
 *
 *   cuda --version                      prints "nvrtc 12.4", the compiler
 *   cuda --device                       prints a line of lib/target/device.h
 *   cuda --pci                          prints the device's PCI address
 *   cuda --arch=sm_90 -o OBJECT SOURCE  makes a cubin
 *
 * --answers before these says where the answers go (answers.h).
 *
 * Exits with 127 where the library is not there, and with 1, the reason on stderr, where there is
 * no device, or the compiler refuses the source.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/file.h"
#include "lib/target/device.h"
#include "lib/target/nvrtc.h"
#include "libexec/answers.h"

enum { NOT_THERE = 127 };

static int fail(const char *why, int status)
{
	fprintf(stderr, "cuda: error: %s\n", why);
	return status;
}

static int version(FILE *answers)
{
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;

	if (nvrtc_version(&out, &e) < 0)
		return fail(e.msg, NOT_THERE);
	fprintf(answers, "nvrtc %s\n", out.s);
	buf_free(&out);
	return 0;
}

static int tell(int (*what)(struct buf *out, struct err *e), FILE *answers)
{
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;

	errno = 0;
	if (what(&out, &e) < 0)
		return fail(e.msg, errno == ENOENT ? NOT_THERE : 1);
	fprintf(answers, "%s\n", out.s);
	buf_free(&out);
	return 0;
}

static int compile(const char *arch, const char *object, const char *source)
{
	struct buf text = BUF_INIT, cubin = BUF_INIT, log = BUF_INIT;
	struct err e = ERR_INIT;
	int rc = file_read("the source", source, &text, &e);

	if (rc == 0)
		rc = nvrtc_compile(arch, text.s ? text.s : "", &cubin, &log, &e);
	if (rc == 0)
		rc = file_write(object, cubin.s, cubin.n, &e);
	if (rc && log.s)
		fputs(log.s, stderr);
	buf_free(&text);
	buf_free(&cubin);
	buf_free(&log);
	return rc ? fail(e.msg, 1) : 0;
}

static int answer(int argc, char **argv, FILE *answers)
{
	static const char arch[] = "--arch=";

	if (argc == 2 && !strcmp(argv[1], "--version"))
		return version(answers);
	if (argc == 2 && !strcmp(argv[1], "--device"))
		return tell(cuda_describe, answers);
	if (argc == 2 && !strcmp(argv[1], "--pci"))
		return tell(cuda_pci, answers);
	if (argc == 5 && !strncmp(argv[1], arch, sizeof arch - 1) && !strcmp(argv[2], "-o"))
		return compile(argv[1] + sizeof arch - 1, argv[3], argv[4]);
	return fail("it wants --version, --device, --pci, or --arch=ARCHITECTURE -o OBJECT SOURCE",
		    2);
}

int main(int argc, char **argv)
{
	FILE *answers = answers_open(&argc, &argv);
	int status = answers ? answer(argc, argv, answers) : 1;

	return answers && answers_close(answers) && !status ? 1 : status;
}
