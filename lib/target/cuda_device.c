/* CUDA's devices (NVIDIA, "CUDA Driver API"): what is called has been the same since CUDA 11. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/target/cuda_box.h"
#include "lib/target/cuda_graph.h"
#include "lib/target/cuda_guarded.h"
#include "lib/target/device.h"
#include "lib/target/cuda_error.h"
#include "lib/target/shared.h"
#include "lib/target/simt.h"

/* ---- the library ---- */

typedef void *handle; /* of a context, module, function, event, stream */
typedef uint64_t address;

enum attribute {
	CLOCK_KHZ = 13,
	PROCESSORS = 16,
	L2_BYTES = 38,
	MAJOR = 75,
	MINOR = 76,
	BLOCK_BYTES = 97,
	ATTRIBUTES
};

enum {
	FUNCTION_BLOCK_BYTES = 8, /* attributes of a function: how much memory a block may ask */
	FUNCTION_SPILLED = 3,
	FUNCTION_REGISTERS = 4,
	BLOCK_BYTES_ALWAYS = 48 << 10,
	NO_DEVICE = 100, /* a result */
};

static struct {
	int (*init)(unsigned flags);
	int (*count)(int *n);
	int (*get)(int *device, int i);
	int (*name)(char *text, int size, int device);
	int (*pci)(char *text, int size, int device);
	int (*attribute)(int *value, enum attribute a, int device);
	int (*retain)(handle *context, int device);
	int (*release)(int device);
	int (*use)(handle context);
	int (*load)(handle *module, const void *image);
	int (*unload)(handle module);
	int (*function)(handle *f, handle module, const char *name);
	int (*set)(handle f, int attribute, int value);
	int (*tell)(int *value, int attribute, handle f);
	int (*together)(int *blocks, handle f, int threads, size_t block_bytes);
	int (*alloc)(address *p, size_t n);
	int (*free)(address p);
	int (*fill)(address p, unsigned char value, size_t n, handle stream);
	int (*write)(address to, const void *from, size_t n);
	int (*read)(void *to, address from, size_t n);
	int (*launch)(handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		      unsigned bz, unsigned bytes, handle stream, void **params, void **extra);
	int (*stream)(handle *stream, unsigned flags);
	int (*free_stream)(handle stream);
	int (*event)(handle *event, unsigned flags);
	int (*free_event)(handle event);
	int (*record)(handle event, handle stream);
	int (*wait)(handle event);
	int (*elapsed)(float *ms, handle from, handle to);
} cuda;

static int open_library(struct err *e)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	static const struct shared_function functions[] = {
		{"cuInit", &cuda.init},
		{"cuDeviceGetCount", &cuda.count},
		{"cuDeviceGet", &cuda.get},
		{"cuDeviceGetName", &cuda.name},
		{"cuDeviceGetPCIBusId", &cuda.pci},
		{"cuDeviceGetAttribute", &cuda.attribute},
		{"cuDevicePrimaryCtxRetain", &cuda.retain},
		{"cuDevicePrimaryCtxRelease_v2", &cuda.release},
		{"cuCtxSetCurrent", &cuda.use},
		{"cuModuleLoadData", &cuda.load},
		{"cuModuleUnload", &cuda.unload},
		{"cuModuleGetFunction", &cuda.function},
		{"cuFuncSetAttribute", &cuda.set},
		{"cuFuncGetAttribute", &cuda.tell},
		{"cuOccupancyMaxActiveBlocksPerMultiprocessor", &cuda.together},
		{"cuMemAlloc_v2", &cuda.alloc},
		{"cuMemFree_v2", &cuda.free},
		{"cuMemsetD8Async", &cuda.fill},
		{"cuMemcpyHtoD_v2", &cuda.write},
		{"cuMemcpyDtoH_v2", &cuda.read},
		{"cuLaunchKernel", &cuda.launch},
		{"cuStreamCreate", &cuda.stream},
		{"cuStreamDestroy_v2", &cuda.free_stream},
		{"cuEventCreate", &cuda.event},
		{"cuEventDestroy_v2", &cuda.free_event},
		{"cuEventRecord", &cuda.record},
		{"cuEventSynchronize", &cuda.wait},
		{"cuEventElapsedTime", &cuda.elapsed},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	return shared_open(&library, e);
}

/* ---- devices ---- */

struct device {
	int device;
	handle context, start, end;
	handle stream; /* of all launches; it waits for the default stream, which copies */
};

static int find_device(int *device, struct err *e)
{
	int count = 0, rc;

	if (open_library(e) < 0)
		return -1;
	rc = cuda.init(0);
	if (rc == NO_DEVICE || (!rc && !cuda.count(&count) && !count)) {
		err_set(e, "the driver has none");
		errno = ENOENT;
		return -1;
	}
	if (cuda_check(rc, "start", e) < 0)
		return -1;
	return cuda_check(cuda.get(device, 0), "find its device", e);
}

int cuda_describe(struct buf *out, struct err *e)
{
	static const enum attribute asked[] = {MAJOR,	    MINOR,    PROCESSORS,
					       BLOCK_BYTES, L2_BYTES, CLOCK_KHZ};
	int value[ATTRIBUTES] = {0}, device;
	char name[128] = "";

	if (find_device(&device, e) < 0 ||
	    cuda_check(cuda.name(name, sizeof name - 1, device), "name its device", e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		if (cuda_check(cuda.attribute(&value[asked[i]], asked[i], device),
			       "describe its device", e) < 0)
			return -1;
	buf_fmt(out, "sm_%d%d %d %d %d %.0f %s", value[MAJOR], value[MINOR], value[PROCESSORS],
		value[BLOCK_BYTES], value[L2_BYTES], 1e3 * value[CLOCK_KHZ], name);
	return 0;
}

int cuda_pci(struct buf *out, struct err *e)
{
	char text[32] = "";
	int device;

	if (find_device(&device, e) < 0 ||
	    cuda_check(cuda.pci(text, sizeof text, device), "tell where its device is", e) < 0)
		return -1;
	buf_str(out, text);
	return 0;
}

static void close_device(struct device *d)
{
	if (d->start)
		cuda.free_event(d->start);
	if (d->end)
		cuda.free_event(d->end);
	if (d->stream)
		cuda.free_stream(d->stream);
	if (d->context)
		cuda.release(d->device);
	free(d);
}

int cuda_use(struct device *d, struct err *e)
{
	return cuda_check(cuda.use(d->context), "open its device", e);
}

static struct device *open_device(struct err *e)
{
	struct device *d = xcalloc(1, sizeof *d);

	if (find_device(&d->device, e) == 0 &&
	    cuda_check(cuda.retain(&d->context, d->device), "open its device", e) == 0 &&
	    cuda_use(d, e) == 0 &&
	    cuda_check(cuda.stream(&d->stream, 0), "make a stream", e) == 0 &&
	    cuda_check(cuda.event(&d->start, 0), "make an event", e) == 0 &&
	    cuda_check(cuda.event(&d->end, 0), "make an event", e) == 0)
		return d;
	close_device(d);
	return NULL;
}

/* ---- rows of calls ---- */

/* What is put on the stream. */
struct work {
	int (*call)(void *arg, void *stream, struct err *e);
	void *arg;
	handle stream;
	int calls;
};

static int put_work(void *arg, struct err *e)
{
	const struct work *w = arg;

	for (int i = 0; i < w->calls; i++)
		if (w->call(w->arg, w->stream, e) < 0)
			return -1;
	return 0;
}

int cuda_capture(struct device *d, int (*call)(void *arg, void *stream, struct err *e), void *arg,
		 int calls, struct cuda_row *row)
{
	struct work w = {call, arg, d->stream, calls};
	struct err ignored = ERR_INIT;

	if (row->graph && row->calls == calls)
		return 1;
	cuda_row_free(row);
	if (calls < 2)
		return 0;
	row->calls = calls;
	row->graph = cuda_graph_capture(d->stream, put_work, &w, &ignored);
	return row->graph != NULL;
}

void cuda_row_free(struct cuda_row *row)
{
	cuda_graph_free(row->graph);
	*row = (struct cuda_row){.graph = NULL};
}

/* A call has failed. Sets errno as device.h has it, if a kernel of this call, or of one before it,
 * has died. */
static void find_death(struct device *d)
{
	const int why = errno;
	struct err ignored = ERR_INIT;

	errno = 0;
	if (cuda_check(cuda.record(d->end, d->stream), "record an event", &ignored) == 0)
		cuda_check(cuda.wait(d->end), "run what it was given", &ignored);
	if (errno != EFAULT && errno != ETIMEDOUT)
		errno = why;
}

int cuda_time(struct device *d, int (*call)(void *arg, void *stream, struct err *e), void *arg,
	      int calls, const struct cuda_row *row, double *seconds, struct err *e)
{
	struct work w = {call, arg, d->stream, calls};
	float ms = 0;
	int rc;

	if (cuda_check(cuda.record(d->start, d->stream), "record an event", e) < 0)
		return -1;
	rc = row->graph && row->calls == calls ? cuda_graph_launch(row->graph, d->stream, e)
					       : put_work(&w, e);
	if (rc < 0) {
		find_death(d);
		return -1;
	}
	if (cuda_check(cuda.record(d->end, d->stream), "record an event", e) < 0 ||
	    cuda_check(cuda.wait(d->end), "run what it was given", e) < 0 ||
	    cuda_check(cuda.elapsed(&ms, d->start, d->end), "tell the time", e) < 0)
		return -1;
	*seconds = 1e-3 * (double)ms / calls;
	return 0;
}

/* ---- programs and memory ---- */

struct device_program {
	struct device *d;
	handle module;
	const char *name;	   /* whose functions these are */
	handle phase[NEST_PHASES]; /* functions, once they were called */
	struct cuda_row row;
};

struct memory {
	struct device *d;
	address at;
	struct cuda_guarded guarded; /* at 0: the driver cannot do that */
};

static struct device_program *load(struct device *d, const char *cubin, size_t n, struct err *e)
{
	struct device_program *p = xcalloc(1, sizeof *p);

	(void)n;
	p->d = d;
	if (cuda_check(cuda.load(&p->module, cubin), "load a kernel", e) == 0)
		return p;
	free(p);
	return NULL;
}

static void unload(struct device_program *p)
{
	cuda_row_free(&p->row);
	cuda.unload(p->module);
	free(p);
}

/* Behind it there is nothing, where the driver can arrange that. */
static struct memory *give(struct device *d, size_t bytes, struct err *e)
{
	struct memory *m = xcalloc(1, sizeof *m);
	int rc;

	m->d = d;
	rc = cuda_guarded_open(&m->guarded, d->device, bytes, e);
	if (rc < 0 && errno == ENOSYS) {
		*e = (struct err)ERR_INIT;
		rc = cuda_check(cuda.alloc(&m->at, bytes), "give memory", e);
	} else if (rc == 0) {
		m->at = m->guarded.at;
	}
	if (rc == 0)
		return m;
	free(m);
	return NULL;
}

static void take_back(struct memory *m)
{
	if (m->guarded.at)
		cuda_guarded_close(&m->guarded);
	else
		cuda.free(m->at);
	free(m);
}

static int write_memory(struct memory *m, size_t at, const void *from, size_t bytes, struct err *e)
{
	return cuda_check(cuda.write(m->at + at, from, bytes), "write its memory", e);
}

static int read_memory(struct memory *m, size_t at, void *to, size_t bytes, struct err *e)
{
	return cuda_check(cuda.read(to, m->at + at, bytes), "read its memory", e);
}

static int fill_memory(struct memory *m, size_t bytes, struct err *e)
{
	return cuda_check(cuda.fill(m->at, 0, bytes, m->d->stream), "fill its memory", e);
}

static size_t cache(const struct device *d)
{
	int bytes = 0;

	return cuda.attribute(&bytes, L2_BYTES, d->device) || bytes < 0 ? 0 : (size_t)bytes;
}

/* ---- launches ---- */

/* The phases' functions. They are found before anything is timed. */
static int find_phases(struct device_program *p, const char *name, const long *params,
		       struct err *e)
{
	char text[100];

	if (p->name == name)
		return 0;
	p->name = NULL;
	cuda_row_free(&p->row);
	for (int i = 0; i < params[SIMT_PHASES]; i++) {
		const int bytes = (int)params[SIMT_BLOCK_BYTES + i];

		snprintf(text, sizeof text, "%s_%d", name, i);
		if (cuda_check(cuda.function(&p->phase[i], p->module, text), "find a kernel", e) <
		    0)
			return -1;
		if (bytes > BLOCK_BYTES_ALWAYS &&
		    cuda_check(cuda.set(p->phase[i], FUNCTION_BLOCK_BYTES, bytes),
			       "give a block its memory", e) < 0)
			return -1;
	}
	p->name = name;
	return 0;
}

static int most(int a, int b)
{
	return a > b ? a : b;
}

static int use(struct device_program *p, const char *name, const long *params, struct device_use *u)
{
	struct err ignored = ERR_INIT;

	*u = (struct device_use){0};
	if (find_phases(p, name, params, &ignored) < 0)
		return -1;
	for (int i = 0; i < params[SIMT_PHASES]; i++) {
		const int bytes = (int)params[SIMT_BLOCK_BYTES + i];
		int registers, spilled, blocks;

		if (cuda.tell(&registers, FUNCTION_REGISTERS, p->phase[i]) ||
		    cuda.tell(&spilled, FUNCTION_SPILLED, p->phase[i]) ||
		    cuda.together(&blocks, p->phase[i], (int)params[SIMT_THREADS], (size_t)bytes))
			return -1;
		u->registers = most(u->registers, registers);
		u->spilled_bytes = most(u->spilled_bytes, spilled);
		u->block_bytes = most(u->block_bytes, bytes);
		u->blocks = i && u->blocks < blocks ? u->blocks : blocks;
	}
	return 0;
}

/* What a call takes. */
struct call {
	const struct device_program *p;
	const long *params;
	void *argument[NEST_BUFFERS + NEST_BOXES];
	struct cuda_box box[NEST_BOXES];
};

static int launch(void *arg, handle stream, struct err *e)
{
	const struct call *c = arg;

	for (int i = 0; i < c->params[SIMT_PHASES]; i++)
		if (cuda_check(cuda.launch(c->p->phase[i], (unsigned)c->params[SIMT_GROUPS + i], 1,
					   1, (unsigned)c->params[SIMT_THREADS], 1, 1,
					   (unsigned)c->params[SIMT_BLOCK_BYTES + i], stream,
					   (void **)c->argument, NULL),
			       "start a kernel", e) < 0)
			return -1;
	return 0;
}

/* c: the call of a program with n buffers. Boxes come behind these. */
static int make_call(struct call *c, const struct device_program *p, const long *params,
		     struct memory *const *buffer, int n, struct err *e)
{
	c->p = p;
	c->params = params;
	for (int i = 0; i < n; i++)
		c->argument[i] = &buffer[i]->at;
	for (int i = 0; i < params[SIMT_BOXES]; i++) {
		const long *box = params + SIMT_BOX + (long)i * SIMT_BOX_PARAMS;

		if (cuda_box_fill(&c->box[i], box, buffer[box[SIMT_BOX_SLOT]]->at, e) < 0)
			return -1;
		c->argument[n + i] = &c->box[i];
	}
	return 0;
}

static int capture(struct device_program *p, const char *name, const long *params,
		   struct memory *const *buffer, int n, int calls)
{
	struct call c;
	struct err ignored = ERR_INIT; /* run() will fail for the same reason, and tell why */

	return make_call(&c, p, params, buffer, n, &ignored) == 0 &&
	       find_phases(p, name, params, &ignored) == 0 &&
	       cuda_capture(p->d, launch, &c, calls, &p->row);
}

static int run(struct device_program *p, const char *name, const long *params,
	       struct memory *const *buffer, int n, int calls, double *seconds, struct err *e)
{
	struct call c;

	if (make_call(&c, p, params, buffer, n, e) < 0 || find_phases(p, name, params, e) < 0)
		return -1;
	return cuda_time(p->d, launch, &c, calls, &p->row, seconds, e);
}

const struct driver driver_cuda = {
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
	.use = use,
	.capture = capture,
	.run = run,
};

/* ---- NVIDIA's libraries ---- */

void *cuda_address(const struct memory *m)
{
	return (void *)(uintptr_t)m->at;
}
