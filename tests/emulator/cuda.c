/* A stand-in for CUDA's driver, libcuda.so.1, for tests: one device, which is this processor.
 *
 * It has the functions that lib/target/cuda_device.c calls, and answers as the driver does
 * (NVIDIA, "CUDA Driver API"): with its results, too. Memory of the device is this process's, with
 * pages behind it that cannot be touched, and full of bytes of 0xff at first. Modules are what the
 * stand-in compiler makes (nvrtc.c). A launch has run when cuLaunchKernel() returns. A kernel that
 * dies leaves a context in which all later calls fail, as on a device; and a driver that was
 * started before fork() does not work behind it.
 *
 * TL_EMULATOR_ARCH=sm_80 makes it a device of another architecture (sm_90), TL_EMULATOR_MEMORY
 * one with so many bytes of memory (4 GiB). TL_EMULATOR_STARTS=FILE gets a byte from each process
 * that starts the driver.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/emulator/driver.h"
#include "tests/emulator/graph.h"

enum { BLOCK_BYTES_ALWAYS = 48 << 10, ARCH = 90, MAX_GROUPS = 65535 };

struct module {
	struct function *functions;
	int file;
	void *library;
	struct emulator *emulator;
};

struct function {
	struct function *next;
	struct module *module;
	void (*kernel)(void **params);
	unsigned size[GRAPH_PARAMS]; /* of its parameters */
	int params;
	int threads;	 /* its __launch_bounds__ */
	int block_bytes; /* that it may ask, as was set */
};

static struct {
	pid_t process; /* that started the driver; 0: none */
	int retained;
	enum result dead; /* what a kernel died of */
} emulated;

static _Thread_local int in_use; /* the context is current in this thread */

/* ---- state ---- */

static enum result ready(void)
{
	if (emulated.process != getpid())
		return NOT_INITIALIZED;
	return emulated.dead;
}

enum result driver_ready(void)
{
	const enum result rc = ready();

	return rc ? rc : in_use ? SUCCESS : INVALID_CONTEXT;
}

/* The driver asks by a local socket whether there is a server of several processes. */
static int has_sockets(void)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void note_start(void)
{
	const char *path = getenv("TL_EMULATOR_STARTS");
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (!f)
		return;
	fputc('.', f);
	fclose(f);
}

API int cuInit(unsigned flags)
{
	if (flags)
		return INVALID_VALUE;
	if (!has_sockets())
		return OPERATING_SYSTEM;
	if (!emulated.process)
		note_start();
	emulated.process = emulated.process ? emulated.process : getpid();
	return ready();
}

API int cuGetErrorString(int result, const char **text)
{
	static const struct {
		enum result result;
		const char *text;
	} list[] = {
		{SUCCESS, "no error"},
		{INVALID_VALUE, "invalid argument"},
		{OUT_OF_MEMORY, "out of memory"},
		{NOT_INITIALIZED, "initialization error"},
		{INVALID_DEVICE, "invalid device ordinal"},
		{INVALID_IMAGE, "device kernel image is invalid"},
		{INVALID_CONTEXT, "invalid device context"},
		{INVALID_HANDLE, "invalid resource handle"},
		{NOT_FOUND, "named symbol not found"},
		{CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
		{CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"},
		{ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
		{MISALIGNED_ADDRESS, "misaligned address"},
		{LAUNCH_FAILED, "unspecified launch failure"},
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (list[i].result == (enum result)result) {
			*text = list[i].text;
			return SUCCESS;
		}
	*text = NULL;
	return INVALID_VALUE;
}

/* ---- the device ---- */

static int arch(void)
{
	const char *told = getenv("TL_EMULATOR_ARCH");

	return told && !strncmp(told, "sm_", 3) ? atoi(told + 3) : ARCH;
}

API int cuDeviceGetCount(int *n)
{
	*n = 1;
	return ready();
}

API int cuDeviceGet(int *device, int i)
{
	*device = 0;
	return i ? INVALID_DEVICE : ready();
}

API int cuDeviceGetName(char *text, int size, int device)
{
	if (device || size < 1)
		return INVALID_VALUE;
	snprintf(text, (size_t)size, "Tensor Lathe emulator");
	return ready();
}

API int cuDeviceGetPCIBusId(char *text, int size, int device)
{
	if (device || size < 13)
		return INVALID_VALUE;
	snprintf(text, (size_t)size, "0000:2a:00.0");
	return ready();
}

/* Of a small device, so that grids of tests have several waves. */
API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	enum {
		CLOCK_KHZ = 13,
		PROCESSORS = 16,
		L2 = 38,
		MAJOR = 75,
		MINOR = 76,
		BLOCK_BYTES = 97,
		CAN_MAP = 102
	};

	if (device)
		return INVALID_DEVICE;
	switch (attribute) {
	case CLOCK_KHZ:
		*value = 1000000;
		break;
	case PROCESSORS:
		*value = 4;
		break;
	case L2:
		*value = 4 << 20;
		break;
	case MAJOR:
		*value = arch() / 10;
		break;
	case MINOR:
		*value = arch() % 10;
		break;
	case CAN_MAP:
		*value = 1;
		break;
	case BLOCK_BYTES:
		*value = FIBER_BLOCK_BYTES;
		break;
	default:
		return INVALID_VALUE;
	}
	return ready();
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
	const enum result rc = ready();

	if (rc || device)
		return rc ? rc : INVALID_DEVICE;
	emulated.retained++;
	*context = &emulated;
	return SUCCESS;
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
	if (device || !emulated.retained)
		return INVALID_VALUE;
	emulated.retained--;
	return ready();
}

API int cuCtxSetCurrent(void *context)
{
	in_use = context == &emulated && emulated.retained;
	return driver_ready();
}

API int cuCtxGetCurrent(void **context)
{
	*context = in_use ? &emulated : NULL;
	return ready();
}

/* ---- modules ---- */

/* An image is a shared object; its section headers are its end. 0: it is none. */
static size_t bytes_of(const void *image)
{
	Elf64_Ehdr head;

	if (memcmp(image, ELFMAG, SELFMAG) != 0)
		return 0;
	memcpy(&head, image, sizeof head);
	return head.e_machine == EM_X86_64 ? head.e_shoff + (size_t)head.e_shnum * head.e_shentsize
					   : 0;
}

static void close_module(struct module *m)
{
	while (m->functions) {
		struct function *f = m->functions;

		m->functions = f->next;
		free(f);
	}
	if (m->library)
		dlclose(m->library);
	if (m->file >= 0)
		close(m->file);
	free(m);
}

/* The file stays open: the loader takes another of the same name for the same library. */
static int open_image(struct module *m, const void *image, size_t bytes)
{
	char path[64];

	m->file = memfd_create("cubin", MFD_CLOEXEC);
	if (m->file < 0 || write(m->file, image, bytes) != (ssize_t)bytes)
		return -1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", m->file);
	m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	m->emulator = m->library ? dlsym(m->library, "emulator") : NULL;
	return m->emulator ? 0 : -1;
}

API int cuModuleLoadData(void **module, const void *image)
{
	const enum result rc = driver_ready();
	const size_t bytes = bytes_of(image);
	struct module *m;

	if (rc || !bytes)
		return rc ? rc : INVALID_IMAGE;
	m = calloc(1, sizeof *m);
	if (!m)
		return OUT_OF_MEMORY;
	if (open_image(m, image, bytes) < 0) {
		close_module(m);
		return INVALID_IMAGE;
	}
	*module = m;
	return SUCCESS;
}

API int cuModuleUnload(void *module)
{
	const enum result rc = driver_ready();

	if (rc && !emulated.dead)
		return rc;
	close_module(module); /* a context that is dead loses what it has, too */
	return rc;
}

/* Functions are kept as long as their module. */
API int cuModuleGetFunction(void **function, void *module, const char *name)
{
	const enum result rc = driver_ready();
	struct module *m = module;
	struct function *f;
	char text[300];
	const void *kernel, *sizes, *threads;
	int (*sizes_of)(unsigned *size);

	if (rc)
		return rc;
	snprintf(text, sizeof text, "%s_emulated", name);
	kernel = dlsym(m->library, text);
	snprintf(text, sizeof text, "%s_sizes", name);
	sizes = dlsym(m->library, text);
	snprintf(text, sizeof text, "%s_threads", name);
	threads = dlsym(m->library, text);
	if (!kernel || !sizes || !threads)
		return NOT_FOUND;
	f = calloc(1, sizeof *f);
	if (!f)
		return OUT_OF_MEMORY;
	f->module = m;
	f->next = m->functions;
	m->functions = f;
	memcpy(&f->kernel, &kernel, sizeof kernel);
	memcpy(&f->threads, threads, sizeof f->threads);
	memcpy(&sizes_of, &sizes, sizeof sizes);
	f->params = sizes_of(f->size);
	f->block_bytes = BLOCK_BYTES_ALWAYS;
	*function = f;
	return SUCCESS;
}

API int cuFuncSetAttribute(void *function, int attribute, int value)
{
	enum { MAX_BLOCK_BYTES = 8 };
	const enum result rc = driver_ready();
	struct function *f = function;

	if (rc)
		return rc;
	if (attribute != MAX_BLOCK_BYTES || value < 0 || value > FIBER_BLOCK_BYTES)
		return INVALID_VALUE;
	f->block_bytes = value;
	return SUCCESS;
}

enum { REGISTERS = 40, PROCESSOR_THREADS = 2048 };

/* No kernel spills here. */
API int cuFuncGetAttribute(int *value, int attribute, void *function)
{
	enum { SPILLED = 3, REGISTERS_OF = 4 };
	const enum result rc = driver_ready();

	if (rc || !function || (attribute != SPILLED && attribute != REGISTERS_OF))
		return rc ? rc : INVALID_VALUE;
	*value = attribute == SPILLED ? 0 : REGISTERS;
	return SUCCESS;
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
						    size_t block_bytes)
{
	const enum result rc = driver_ready();
	const struct function *f = function;

	if (rc || !f || threads < 1 || threads > f->threads || block_bytes > (size_t)f->block_bytes)
		return rc ? rc : INVALID_VALUE;
	*blocks = PROCESSOR_THREADS / threads;
	if (block_bytes && FIBER_BLOCK_BYTES / (int)block_bytes < *blocks)
		*blocks = FIBER_BLOCK_BYTES / (int)block_bytes;
	return SUCCESS;
}

/* ---- launches ---- */

static long launches, starts; /* so far: of work, and of those, by the program itself */

void driver_host(void (*host)(void *arg), void *arg, int is_start)
{
	launches++;
	starts += is_start;
	host(arg);
}

void driver_run(const struct fiber_grid *g, int is_start)
{
	launches++;
	starts += is_start;
	emulated.dead = (enum result)fiber_run(g);
}

API int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
		       unsigned by, unsigned bz, unsigned bytes, void *stream, void **params,
		       void **extra)
{
	const enum result rc = driver_ready();
	struct function *f = function;
	struct fiber_grid g = {
		.blocks = {gx, gy, gz},
		.threads = {bx, by, bz},
		.block_bytes = bytes,
		.params = params,
	};

	if (rc || !f || !graph_is_stream(stream))
		return rc ? rc : INVALID_HANDLE;
	if (!gx || !gy || !gz || gx > INT32_MAX || gy > MAX_GROUPS || gz > MAX_GROUPS || !bx ||
	    !by || !bz || (uint64_t)bx * by * bz > (uint64_t)f->threads || extra ||
	    bytes > (unsigned)f->block_bytes)
		return INVALID_VALUE;
	g.emulator = f->module->emulator;
	g.kernel = f->kernel;
	if (graph_captures(stream))
		return graph_add(stream, &g, f->size, f->params) < 0 ? OUT_OF_MEMORY : SUCCESS;
	driver_run(&g, 1);
	return SUCCESS; /* later calls tell what it died of */
}

/* ---- events ---- */

struct event {
	double at; /* seconds; 0: it was not recorded */
};

/* With TL_EMULATOR_LAUNCH_NS=N the device's clock goes on by N ns with each kernel, and stands
 * still otherwise, so that tests do not depend on this machine's load. With TL_EMULATOR_START_NS=N
 * it goes on by N more with each that no graph starts. */
static double now(void)
{
	const char *ns = getenv("TL_EMULATOR_LAUNCH_NS"), *more = getenv("TL_EMULATOR_START_NS");
	struct timespec t;

	if (ns)
		return 1e-9 * (atof(ns) * (double)(1 + launches) +
			       (more ? atof(more) : 0) * (double)starts);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

API int cuEventCreate(void **event, unsigned flags)
{
	const enum result rc = driver_ready();

	if (rc || flags)
		return rc ? rc : INVALID_VALUE;
	*event = calloc(1, sizeof(struct event));
	return *event ? SUCCESS : OUT_OF_MEMORY;
}

API int cuEventDestroy_v2(void *event)
{
	free(event);
	return driver_ready();
}

API int cuEventRecord(void *event, void *stream)
{
	const enum result rc = driver_ready();

	if (rc || !graph_is_stream(stream))
		return rc ? rc : INVALID_HANDLE;
	if (graph_captures(stream))
		return CAPTURE_UNSUPPORTED; /* times of events in graphs are not to be had */
	((struct event *)event)->at = now();
	return SUCCESS;
}

API int cuEventSynchronize(void *event)
{
	(void)event;
	return driver_ready();
}

API int cuEventElapsedTime(float *ms, void *from, void *to)
{
	const enum result rc = driver_ready();
	const struct event *a = from, *b = to;

	if (rc || !a->at || !b->at)
		return rc ? rc : INVALID_HANDLE;
	*ms = (float)(1e3 * (b->at - a->at));
	return SUCCESS;
}
