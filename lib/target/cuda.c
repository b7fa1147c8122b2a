/* The CUDA target: NVIDIA's GPUs. Its kernels are made by NVRTC, in a command of its own, so that
 * no program loads a driver. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nest/mma.h"
#include "lib/target/gpu.h"
#include "lib/target/simt.h"

static const char helper[] = "cuda";

/* Tensor cores multiply all that mma.h has since compute capability 8.0; groups of warps do with
 * 9.0 alone. Copies in bulk are there since 9.0. */
enum { ALL = (1 << MMA_KINDS) - 1, BY_GROUPS = 1 << MMA_GROUPS, BULK = 1 << MMA_BULK };

/* NVIDIA, "CUDA C++ Programming Guide", "Compute capabilities", and the data sheets of the largest
 * product of each. */
static const struct gpu_arch archs[] = {
	{"sm_70", 80, 96 << 10, 6 << 20, 1.53e9, 0},
	{"sm_75", 72, 64 << 10, 6 << 20, 1.77e9, 0},
	{"sm_80", 108, 163 << 10, 40 << 20, 1.41e9, ALL},
	{"sm_86", 84, 99 << 10, 6 << 20, 1.86e9, ALL},
	{"sm_89", 142, 99 << 10, 96 << 20, 2.52e9, ALL},
	{"sm_90", 132, 227 << 10, 50 << 20, 1.98e9, ALL | BY_GROUPS | BULK},
	{"sm_100", 148, 227 << 10, 126 << 20, 1.97e9, ALL | BULK},
	{"sm_120", 170, 99 << 10, 96 << 20, 2.41e9, ALL | BULK},
	{.name = NULL},
};

/* What a device tells of itself. */
struct description {
	char arch[16], name[128];
	int processors;
	long block_bytes, l2;
	double hz;
};

static int ask_device(struct description *d, struct err *e)
{
	struct buf line = BUF_INIT;
	int rc = gpu_ask(helper, "--device", &line, e), why = errno;

	if (rc < 0)
		err_in(e, "there is no CUDA device here");
	else if (sscanf(line.s, "%15s %d %ld %ld %lf %127[^\n]", d->arch, &d->processors,
			&d->block_bytes, &d->l2, &d->hz, d->name) != 6)
		rc = err_set(e, "the CUDA driver's answer is not understood: %s", line.s);
	buf_free(&line);
	errno = why;
	return rc;
}

static int isa_limits(const char *isa, struct limits *m)
{
	return gpu_limits(archs, isa, &target_cuda, m);
}

/* A device that the table lacks gets the limits of the newest architecture that it can run. */
static void nearest_arch(const char *name, struct limits *m)
{
	const struct gpu_arch *best = archs;

	if (isa_limits(name, m) == 0)
		return;
	for (const struct gpu_arch *a = archs; a->name; a++)
		if (atoi(a->name + 3) <= atoi(name + 3))
			best = a;
	isa_limits(best->name, m);
	snprintf(m->isa, sizeof m->isa, "%s", name);
}

static int limits(struct limits *m, struct err *e)
{
	struct description d;

	if (ask_device(&d, e) < 0)
		return -1;
	nearest_arch(d.arch, m);
	m->threads = d.processors;
	m->l1d = d.block_bytes;
	m->l2 = m->l3 = d.l2;
	m->hz = d.hz;
	return 0;
}

static int model(struct buf *out, struct err *e)
{
	struct description d;

	if (ask_device(&d, e) < 0)
		return -1;
	buf_str(out, d.name);
	return 0;
}

static int pci(struct buf *out, struct err *e)
{
	return gpu_ask(helper, "--pci", out, e);
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

const struct target target_cuda = {
	.name = "cuda",
	.can = TARGET_BLOCKS | TARGET_MMA,
	.limits = limits,
	.isa_limits = isa_limits,
	.model = model,
	.features = gpu_features,
	.pci = pci,
	.prelude = simt_prelude_cuda,
	.print = simt_print,
	.compile = compile,
	.compiler = compiler,
};
