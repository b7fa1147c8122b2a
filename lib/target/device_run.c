/* The runners of devices with memory of their own. A process has one device, opened with its first
 * kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/seal.h"
#include "lib/target/device.h"
#include "lib/target/device_probe.h"
#include "lib/target/gpu.h"
#include "lib/target/nvrtc.h"
#include "lib/target/runner.h"
#include "lib/target/simt.h"

enum {
	BEHIND = 4096, /* bytes behind an operand, for the canaries */
	CANARY = 0xc5,
};

struct loaded {
	const struct driver *driver;
	struct device_program *program;
	char name[64];
	struct memory *memory[NEST_BUFFERS];
	enum elem elem[NEST_BUFFERS];
	int n;
	double seconds; /* of the last call */
};

struct device *device_of_process(const struct driver *driver, struct err *e)
{
	static struct device *d;

	if (!d)
		d = driver->open(e);
	return d;
}

static void unload(struct kernel *k)
{
	struct loaded *l = k->handle;

	if (!l)
		return;
	for (int i = 0; i < l->n; i++)
		if (l->memory[i])
			l->driver->free(l->memory[i]);
	if (l->program)
		l->driver->unload(l->program);
	free(l);
	k->handle = NULL;
}

static int load(const struct driver *driver, struct kernel *k, const char *object, struct err *e)
{
	const char *slash = strrchr(object, '/'), *file = slash ? slash + 1 : object;
	struct loaded *l = xcalloc(1, sizeof *l);
	struct device *d = device_of_process(driver, e);
	struct buf text = BUF_INIT;
	int whole = d ? seal_read(object, &text, e) : -1;

	k->handle = l;
	l->driver = driver;
	snprintf(l->name, sizeof l->name, TARGET_PREFIX "%.*s", (int)strcspn(file, "."), file);
	if (!whole)
		err_set(e, "the object %s is damaged or gone", object);
	else if (whole > 0)
		l->program = driver->load(d, text.s, text.n, e);
	buf_free(&text);
	if (l->program)
		return 0;
	unload(k);
	return -1;
}

static size_t device_bytes(enum elem elem, size_t bytes)
{
	return bytes / sizeof(float) * (size_t)elem_size(elem);
}

/* n floats as elements of this type; to be freed. */
static void *converted(enum elem elem, const float *from, size_t n)
{
	void *to = xmalloc(n * (size_t)elem_size(elem));

	elem_from_floats(elem, from, to, (int64_t)n);
	return to;
}

/* The operand, in the device's types. Canaries come behind it. */
static int put_one(struct loaded *l, int i, const void *from, size_t float_bytes, enum elem elem,
		   struct err *e)
{
	const size_t bytes = device_bytes(elem, float_bytes);
	void *other = NULL;
	char behind[BEHIND];
	int rc;

	l->elem[i] = elem;

	if (!l->memory[i])
		l->memory[i] =
			l->driver->memory(device_of_process(l->driver, e), bytes + BEHIND, e);
	if (!l->memory[i])
		return -1;
	if (l->n <= i)
		l->n = i + 1;
	memset(behind, CANARY, sizeof behind);
	if (!elem_is_float(elem))
		from = other = converted(elem, from, float_bytes / sizeof(float));
	rc = l->driver->write(l->memory[i], 0, from, bytes, e);
	free(other);
	if (rc < 0)
		return -1;
	return l->driver->write(l->memory[i], bytes, behind, sizeof behind, e);
}

static int put(struct kernel *k, void *const *buffers, const size_t *bytes, const enum elem *elem,
	       int n, struct err *e)
{
	for (int i = 0; i < n; i++)
		if (put_one(k->handle, i, buffers[i], bytes[i], elem[i], e) < 0)
			return -1;
	return 0;
}

/* Takes n elements of an operand as floats. */
static int take_floats(struct loaded *l, int i, float *to, size_t n, struct err *e)
{
	const enum elem elem = l->elem[i];
	void *other;
	int rc;

	if (elem_is_float(elem))
		return l->driver->read(l->memory[i], 0, to, n * sizeof *to, e);
	other = xmalloc(n * (size_t)elem_size(elem));
	rc = l->driver->read(l->memory[i], 0, other, n * (size_t)elem_size(elem), e);
	if (rc == 0)
		elem_to_floats(elem, other, to, (int64_t)n);
	free(other);
	return rc;
}

static int take(struct kernel *k, int i, void *to, size_t bytes, struct err *e)
{
	struct loaded *l = k->handle;
	unsigned char behind[BEHIND];

	if (take_floats(l, i, to, bytes / sizeof(float), e) < 0 ||
	    l->driver->read(l->memory[i], device_bytes(l->elem[i], bytes), behind, sizeof behind,
			    e) < 0)
		return -1;
	for (size_t j = 0; j < sizeof behind; j++)
		if (behind[j] != CANARY) {
			err_set(e, "it wrote behind the end of operand %d", i);
			errno = ERANGE;
			return -1;
		}
	return 0;
}

static int use(const struct kernel *k, const long *params, struct device_use *u)
{
	struct loaded *l = k->handle;

	return l->driver->use ? l->driver->use(l->program, l->name, params, u) : -1;
}

static int capture(const struct kernel *k, const long *params, int calls)
{
	struct loaded *l = k->handle;

	return l->driver->capture &&
	       l->driver->capture(l->program, l->name, params, l->memory, l->n, calls);
}

static int row(const struct kernel *k, const long *params, int calls, struct err *e)
{
	struct loaded *l = k->handle;

	return l->driver->run(l->program, l->name, params, l->memory, l->n, calls, &l->seconds, e);
}

static int run(const struct kernel *k, const long *params, void *const *buffers, int threads,
	       struct err *e)
{
	(void)buffers, (void)threads;
	return row(k, params, 1, e);
}

/* Twice what the cache holds is written, so that hardly a line stays that was there. The device
 * does this before what it is asked to do next. */
static int flush(const struct driver *driver, struct err *e)
{
	static struct memory *memory;
	struct device *d = device_of_process(driver, e);
	size_t bytes = d ? 2 * driver->cache(d) : 0;

	if (!d)
		return -1;
	if (!bytes)
		return err_set(e, "the device does not say how large its cache is");
	if (!memory)
		memory = driver->memory(d, bytes, e);
	return memory ? driver->fill(memory, bytes, e) : -1;
}

static double seconds(const struct kernel *k)
{
	return ((const struct loaded *)k->handle)->seconds;
}

/* The probe's kernels, compiled. */
static int object_opencl(const struct limits *m, struct buf *object, struct err *e)
{
	(void)m, (void)e;
	buf_fmt(object, "%s%s", simt_prelude_opencl(), device_probe_source);
	return 0;
}

static int object_cuda(const struct limits *m, struct buf *object, struct err *e)
{
	struct buf text = BUF_INIT, log = BUF_INIT;
	int rc;

	buf_fmt(&text, "%s%s", simt_prelude_cuda(), device_probe_source);
	rc = nvrtc_compile(m->isa, text.s, object, &log, e);
	buf_free(&text);
	buf_free(&log);
	return rc;
}

static int probe(const struct driver *driver, const struct limits *m,
		 int (*compile)(const struct limits *m, struct buf *object, struct err *e),
		 struct buf *out, struct err *e)
{
	struct device *d = device_of_process(driver, e);
	struct buf object = BUF_INIT;
	int rc = d ? compile(m, &object, e) : -1;

	if (rc == 0)
		rc = device_probe(driver, d, m, object.s, object.n, out, e);
	buf_free(&object);
	return rc;
}

#define RUNNER(NAME)                                                                               \
	static int load_##NAME(struct kernel *k, const char *object, struct err *e)                \
	{                                                                                          \
		return load(&driver_##NAME, k, object, e);                                         \
	}                                                                                          \
	static int flush_##NAME(struct err *e)                                                     \
	{                                                                                          \
		return flush(&driver_##NAME, e);                                                   \
	}                                                                                          \
	static int probe_##NAME(const struct limits *m, struct buf *out, struct err *e)            \
	{                                                                                          \
		return probe(&driver_##NAME, m, object_##NAME, out, e);                            \
	}                                                                                          \
	const struct runner runner_##NAME = {                                                      \
		.target = &target_##NAME,                                                          \
		.is_device = 1,                                                                    \
		.load = load_##NAME,                                                               \
		.unload = unload,                                                                  \
		.params = simt_params,                                                             \
		.put = put,                                                                        \
		.take = take,                                                                      \
		.run = run,                                                                        \
		.use = use,                                                                        \
		.capture = capture,                                                                \
		.row = row,                                                                        \
		.flush = flush_##NAME,                                                             \
		.seconds = seconds,                                                                \
		.probe = probe_##NAME,                                                             \
	}

RUNNER(opencl);
RUNNER(cuda);
