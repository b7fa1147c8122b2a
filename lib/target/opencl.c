/* The OpenCL target: GPUs of all makers, and CPUs by PoCL. A driver compiles sources itself when it
 * loads them, so the object of a kernel is its source, once the driver has been seen to take it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/target/gpu.h"
#include "lib/target/simt.h"

static const char helper[] = "opencl";

/* What every device of today has (Khronos, "The OpenCL Specification", 4.2: at least 32 KB of local
 * memory). */
static const struct gpu_arch archs[] = {
	{"opencl", 16, 32 << 10, 4 << 20, 1e9},
	{.name = NULL},
};

static int isa_limits(const char *isa, struct limits *m)
{
	return gpu_limits(archs, isa, &target_opencl, m);
}

/* What a device tells of itself. */
struct description {
	int processors;
	long block_bytes;
	char name[500];
};

static int ask_device(struct description *d, struct err *e)
{
	struct buf line = BUF_INIT;
	int rc = gpu_ask(helper, "--device", &line, e), why = errno;

	if (rc < 0)
		err_in(e, "there is no OpenCL device here");
	else if (sscanf(line.s, "%d %ld %499[^\n]", &d->processors, &d->block_bytes, d->name) != 3)
		rc = err_set(e, "the OpenCL driver's answer is not understood: %s", line.s);
	buf_free(&line);
	errno = why;
	return rc;
}

static int model(struct buf *out, struct err *e)
{
	struct description d;

	if (ask_device(&d, e) < 0)
		return -1;
	buf_str(out, d.name);
	return 0;
}

static int limits(struct limits *m, struct err *e)
{
	struct description d;

	if (ask_device(&d, e) < 0)
		return -1;
	isa_limits(archs->name, m);
	m->threads = d.processors;
	m->l1d = d.block_bytes;
	return 0;
}

static void compile(const char *isa, const char *source, const char *object,
		    char *argv[TARGET_ARGS])
{
	gpu_compile(helper, isa, source, object, argv);
}

static int compiler(struct buf *out, struct err *e)
{
	return gpu_ask(helper, "--version", out, e);
}

const struct target target_opencl = {
	.name = "opencl",
	.can = TARGET_BLOCKS,
	.alone = 1,
	.limits = limits,
	.isa_limits = isa_limits,
	.model = model,
	.features = gpu_features,
	.prelude = simt_prelude_opencl,
	.print = simt_print,
	.compile = compile,
	.compiler = compiler,
};
