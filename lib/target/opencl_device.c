/* OpenCL's devices (Khronos, "The OpenCL Specification"): what is called has been there since 1.2.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/target/device.h"
#include "lib/target/shared.h"
#include "lib/target/simt.h"

/* ---- the library ---- */

typedef void *handle; /* of a platform, device, context, queue, program, kernel, memory */

enum {
	DEVICE_GPU = 4,
	DEVICE_ANY = -1,
	DEVICE_PROCESSORS = 0x1002,
	DEVICE_CACHE_BYTES = 0x101E,
	DEVICE_BLOCK_BYTES = 0x1023,
	DEVICE_NAME = 0x102B,
	DRIVER_VERSION = 0x102D,
	BUILD_LOG = 0x1183,
	READ_WRITE = 1,
	PROFILING = 2,
	EVENT_START = 0x1282,
	EVENT_END = 0x1283,
	PLATFORMS = 8,
	MESSAGE = 600,
	NAME_MOST = 300,
	VERSION_MOST = 40,
};

static struct {
	int32_t (*platforms)(uint32_t n, handle *p, uint32_t *found);
	int32_t (*devices)(handle platform, uint64_t kind, uint32_t n, handle *d, uint32_t *found);
	int32_t (*device_info)(handle d, uint32_t what, size_t n, void *out, size_t *size);
	handle (*context)(const intptr_t *properties, uint32_t n, const handle *d, void *notify,
			  void *arg, int32_t *rc);
	handle (*queue)(handle context, handle d, uint64_t properties, int32_t *rc);
	handle (*source)(handle context, uint32_t n, const char **text, const size_t *size,
			 int32_t *rc);
	int32_t (*build)(handle program, uint32_t n, const handle *d, const char *options,
			 void *notify, void *arg);
	int32_t (*build_info)(handle program, handle d, uint32_t what, size_t n, void *out,
			      size_t *size);
	handle (*kernel)(handle program, const char *name, int32_t *rc);
	int32_t (*argument)(handle kernel, uint32_t i, size_t n, const void *value);
	handle (*memory)(handle context, uint64_t flags, size_t n, void *host, int32_t *rc);
	int32_t (*write)(handle queue, handle memory, uint32_t wait, size_t at, size_t n,
			 const void *from, uint32_t nevents, const handle *events, handle *event);
	int32_t (*read)(handle queue, handle memory, uint32_t wait, size_t at, size_t n, void *to,
			uint32_t nevents, const handle *events, handle *event);
	int32_t (*fill)(handle queue, handle memory, const void *pattern, size_t n, size_t at,
			size_t bytes, uint32_t nevents, const handle *events, handle *event);
	int32_t (*launch)(handle queue, handle kernel, uint32_t dims, const size_t *at,
			  const size_t *global, const size_t *local, uint32_t nevents,
			  const handle *events, handle *event);
	int32_t (*finish)(handle queue);
	int32_t (*profile)(handle event, uint32_t what, size_t n, void *out, size_t *size);
	int32_t (*free_event)(handle event);
	int32_t (*free_memory)(handle m);
	int32_t (*free_kernel)(handle k);
	int32_t (*free_program)(handle p);
	int32_t (*free_queue)(handle q);
	int32_t (*free_context)(handle c);
} cl;

static int open_library(struct err *e)
{
	static const char *const names[] = {"libOpenCL.so.1", NULL};
	static const struct shared_function functions[] = {
		{"clGetPlatformIDs", &cl.platforms},
		{"clGetDeviceIDs", &cl.devices},
		{"clGetDeviceInfo", &cl.device_info},
		{"clCreateContext", &cl.context},
		{"clCreateCommandQueue", &cl.queue},
		{"clCreateProgramWithSource", &cl.source},
		{"clBuildProgram", &cl.build},
		{"clGetProgramBuildInfo", &cl.build_info},
		{"clCreateKernel", &cl.kernel},
		{"clSetKernelArg", &cl.argument},
		{"clCreateBuffer", &cl.memory},
		{"clEnqueueWriteBuffer", &cl.write},
		{"clEnqueueReadBuffer", &cl.read},
		{"clEnqueueFillBuffer", &cl.fill},
		{"clEnqueueNDRangeKernel", &cl.launch},
		{"clFinish", &cl.finish},
		{"clGetEventProfilingInfo", &cl.profile},
		{"clReleaseEvent", &cl.free_event},
		{"clReleaseMemObject", &cl.free_memory},
		{"clReleaseKernel", &cl.free_kernel},
		{"clReleaseProgram", &cl.free_program},
		{"clReleaseCommandQueue", &cl.free_queue},
		{"clReleaseContext", &cl.free_context},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	return shared_open(&library, e);
}

/* The header CL/cl.h. NVIDIA's says -5, and its own -9999, where a kernel died; then the queue is
 * of no use. */
static int kind_of(int32_t rc)
{
	enum {
		NO_MEMORY = -4,
		OUT_OF_RESOURCES = -5,
		NO_HOST_MEMORY = -6,
		FAILED_BEFORE = -14,
		INVALID_QUEUE = -36,
		INVALID_GROUP = -54, /* so many threads are too many */
		INVALID_BUFFER_SIZE = -61,
		ILLEGAL_ACCESS = -9999,
	};

	switch (rc) {
	case NO_MEMORY:
	case NO_HOST_MEMORY:
	case INVALID_BUFFER_SIZE:
		return ENOMEM;
	case INVALID_GROUP:
		return ENOTSUP;
	case OUT_OF_RESOURCES:
	case FAILED_BEFORE:
	case INVALID_QUEUE:
	case ILLEGAL_ACCESS:
		return EFAULT;
	default:
		return EIO;
	}
}

static int check(int32_t rc, const char *what, struct err *e)
{
	if (!rc)
		return 0;
	err_set(e, "OpenCL fails to %s: error %d", what, (int)rc);
	errno = kind_of(rc);
	return -1;
}

/* ---- devices ---- */

struct device {
	handle device, context, queue;
};

static handle find_device(uint64_t kind)
{
	handle platform[PLATFORMS], device = NULL;
	uint32_t n = 0;

	if (cl.platforms(PLATFORMS, platform, &n))
		return NULL;
	for (uint32_t i = 0; i < n && i < PLATFORMS && !device; i++)
		if (cl.devices(platform[i], kind, 1, &device, NULL))
			device = NULL;
	return device;
}

static void close_device(struct device *d)
{
	if (d->queue)
		cl.free_queue(d->queue);
	if (d->context)
		cl.free_context(d->context);
	free(d);
}

static struct device *open_device(struct err *e)
{
	struct device *d;
	handle device;
	int32_t rc = 0;

	if (open_library(e) < 0)
		return NULL;
	device = find_device(DEVICE_GPU);
	if (!device)
		device = find_device((uint64_t)(uint32_t)DEVICE_ANY);
	if (!device) {
		err_set(e, "OpenCL has no device here");
		errno = ENOENT;
		return NULL;
	}
	d = xcalloc(1, sizeof *d);
	d->device = device;
	d->context = cl.context(NULL, 1, &device, NULL, NULL, &rc);
	if (!rc)
		d->queue = cl.queue(d->context, device, PROFILING, &rc);
	if (check(rc, "open its device", e) == 0)
		return d;
	close_device(d);
	errno = EIO;
	return NULL;
}

void opencl_sizes(const struct device *d, int *processors, int64_t *block_bytes)
{
	uint32_t n = 1;
	uint64_t bytes = 0;

	cl.device_info(d->device, DEVICE_PROCESSORS, sizeof n, &n, NULL);
	cl.device_info(d->device, DEVICE_BLOCK_BYTES, sizeof bytes, &bytes, NULL);
	*processors = (int)n;
	*block_bytes = (int64_t)bytes;
}

/* A text of the device's, or nothing. */
static void put_info(const struct device *d, uint32_t what, int most, struct buf *out)
{
	char text[400] = "";

	if (cl.device_info(d->device, what, sizeof text - 1, text, NULL))
		return;
	buf_fmt(out, "%.*s", most, text);
}

void opencl_describe(const struct device *d, struct buf *out)
{
	put_info(d, DEVICE_NAME, NAME_MOST, out);
}

void opencl_version(const struct device *d, struct buf *out)
{
	put_info(d, DRIVER_VERSION, VERSION_MOST, out);
}

/* ---- programs ---- */

struct device_program {
	struct device *d;
	handle program;
	const char *name;	   /* whose kernels these are */
	handle phase[NEST_PHASES]; /* kernels, once they were called */
};

static int say_log(struct device_program *p, struct err *e)
{
	size_t n = 0;
	char *text;

	cl.build_info(p->program, p->d->device, BUILD_LOG, 0, NULL, &n);
	text = xcalloc(n + 1, 1);
	cl.build_info(p->program, p->d->device, BUILD_LOG, n, text, NULL);
	err_set(e, "OpenCL's compiler refuses the source: %.*s", MESSAGE, text);
	free(text);
	return -1;
}

static void forget_phases(struct device_program *p)
{
	for (int i = 0; i < NEST_PHASES; i++)
		if (p->phase[i])
			cl.free_kernel(p->phase[i]);
	memset(p->phase, 0, sizeof p->phase);
}

static void unload(struct device_program *p)
{
	forget_phases(p);
	if (p->program)
		cl.free_program(p->program);
	free(p);
}

static struct device_program *load(struct device *d, const char *source, size_t n, struct err *e)
{
	struct device_program *p = xcalloc(1, sizeof *p);
	int32_t rc;

	(void)n;
	p->d = d;
	p->program = cl.source(d->context, 1, &source, NULL, &rc);
	if (check(rc, "take a source", e) == 0) {
		if (!cl.build(p->program, 1, &d->device, "", NULL, NULL))
			return p;
		say_log(p, e);
	}
	unload(p);
	return NULL;
}

/* ---- memory ---- */

struct memory {
	struct device *d;
	handle memory;
};

static struct memory *give(struct device *d, size_t bytes, struct err *e)
{
	struct memory *m = xcalloc(1, sizeof *m);
	int32_t rc;

	m->d = d;
	m->memory = cl.memory(d->context, READ_WRITE, bytes, NULL, &rc);
	if (check(rc, "give memory", e) == 0)
		return m;
	free(m);
	return NULL;
}

static void take_back(struct memory *m)
{
	cl.free_memory(m->memory);
	free(m);
}

static int write_memory(struct memory *m, size_t at, const void *from, size_t bytes, struct err *e)
{
	return check(cl.write(m->d->queue, m->memory, 1, at, bytes, from, 0, NULL, NULL),
		     "write its memory", e);
}

static int read_memory(struct memory *m, size_t at, void *to, size_t bytes, struct err *e)
{
	return check(cl.read(m->d->queue, m->memory, 1, at, bytes, to, 0, NULL, NULL),
		     "read its memory", e);
}

static int fill_memory(struct memory *m, size_t bytes, struct err *e)
{
	const int32_t zero = 0;

	return check(cl.fill(m->d->queue, m->memory, &zero, sizeof zero, 0, bytes, 0, NULL, NULL),
		     "fill its memory", e);
}

static size_t cache(const struct device *d)
{
	uint64_t bytes = 0;

	cl.device_info(d->device, DEVICE_CACHE_BYTES, sizeof bytes, &bytes, NULL);
	return (size_t)bytes;
}

/* ---- launches ---- */

/* Of the first and the last launch of a call. */
struct span {
	handle first, last;
};

/* The phases' kernels with these buffers. They are found before anything is timed. */
static int find_phases(struct device_program *p, const char *name, const long *params,
		       struct memory *const *buffer, int n, struct err *e)
{
	char text[100];
	int32_t rc = 0;

	if (p->name != name)
		forget_phases(p);
	p->name = name;
	for (int i = 0; i < params[SIMT_PHASES] && !rc; i++) {
		snprintf(text, sizeof text, "%s_%d", name, i);
		if (!p->phase[i])
			p->phase[i] = cl.kernel(p->program, text, &rc);
		for (int j = 0; j < n && !rc; j++)
			rc = cl.argument(p->phase[i], (uint32_t)j, sizeof(handle),
					 &buffer[j]->memory);
	}
	return check(rc, "find a kernel", e);
}

static int launch(const struct device_program *p, int phase, const long *params, handle *event,
		  struct err *e)
{
	size_t local = (size_t)params[SIMT_THREADS];
	size_t global = local * (size_t)params[SIMT_GROUPS + phase];

	return check(
		cl.launch(p->d->queue, p->phase[phase], 1, NULL, &global, &local, 0, NULL, event),
		"start a kernel", e);
}

static int took(const struct span *s, double *seconds, struct err *e)
{
	uint64_t start = 0, end = 0;
	int32_t rc = cl.profile(s->first, EVENT_START, sizeof start, &start, NULL);

	if (!rc)
		rc = cl.profile(s->last, EVENT_END, sizeof end, &end, NULL);
	*seconds = 1e-9 * (double)(end - start);
	return check(rc, "tell the time", e);
}

static int launch_all(const struct device_program *p, const long *params, int calls, struct span *s,
		      struct err *e)
{
	const int phases = (int)params[SIMT_PHASES];

	for (int i = 0; i < calls * phases; i++) {
		handle event = NULL;

		if (launch(p, i % phases, params, &event, e) < 0)
			return -1;
		if (i > 1)
			cl.free_event(s->last);
		*(i ? &s->last : &s->first) = event;
	}
	return check(cl.finish(p->d->queue), "run a kernel", e);
}

static int run(struct device_program *p, const char *name, const long *params,
	       struct memory *const *buffer, int n, int calls, double *seconds, struct err *e)
{
	struct span s = {NULL, NULL};
	int rc = find_phases(p, name, params, buffer, n, e), why;

	if (rc == 0)
		rc = launch_all(p, params, calls, &s, e);
	if (rc == 0)
		rc = took(&(const struct span){s.first, s.last ? s.last : s.first}, seconds, e);
	if (rc == 0)
		*seconds /= calls;
	why = errno;
	if (s.first)
		cl.free_event(s.first);
	if (s.last)
		cl.free_event(s.last);
	errno = why;
	return rc;
}

const struct driver driver_opencl = {
	.open = open_device,
	.close = close_device,
	.load = load,
	.unload = unload,
	.memory = give,
	.free = take_back,
	.write = write_memory,
	.read = read_memory,
	.fill = fill_memory,
	.cache = cache,
	.run = run,
};
