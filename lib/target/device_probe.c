#include "lib/target/device_probe.h"

#include "lib/io/clock.h"
#include "lib/target/simt.h"

enum {
	THREADS = 128,	  /* of a group */
	GROUPS_EACH = 16, /* of a processor */
	CHAINS = 8,	  /* of vectors of four, in a thread */
	TURNS = 4096,
	BYTES = 64 << 20,
	LAUNCHES = 12,
};

const char device_probe_source[] =
	"#define EIGHT(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)\n"
	"#define BEGIN(i) v4 a##i = load_v4(x + 4 * i) + bcast_v4(y);\n"
	"#define STEP(i) a##i = a##i * b + c;\n"
	"#define ADD(i) + a##i\n"
	"ENTRY(128) PHASE(empty, 0)(GLOBAL float *x)\n"
	"{\n"
	"\tif (BLOCK < 0)\n"
	"\t\tx[0] = 0;\n"
	"}\n"
	"ENTRY(128) PHASE(peak, 0)(GLOBAL float *x)\n"
	"{\n"
	"\tconst float y = (float)THREAD;\n"
	"\tconst v4 b = load_v4(x), c = load_v4(x + 4);\n"
	"\tEIGHT(BEGIN)\n"
	"\tfor (int i = 0; i < 4096; i++) {\n"
	"\t\tEIGHT(STEP)\n"
	"\t}\n"
	"\tconst v4 s = b EIGHT(ADD);\n"
	"\tif (lane(s, 0) + lane(s, 1) + lane(s, 2) + lane(s, 3) == 12345.0f)\n"
	"\t\tx[0] = y;\n"
	"}\n"
	"ENTRY(128) PHASE(copy, 0)(GLOBAL float *x)\n"
	"{\n"
	"\tconst int i = 4 * (BLOCK * 128 + THREAD);\n"
	"\tconst v4 from = load_v4(x + i);\n"
	"\tstore_v4(x + 8388608 + i, from);\n"
	"}\n";

/* What is timed. */
struct kernels {
	const struct driver *driver;
	struct device_program *program;
	struct memory *memory;
};

/* Seconds of the fastest launch, by the device's clock and by this machine's; below 0: it fails. */
struct fastest {
	double inside, outside;
};

static struct fastest time_kernel(const struct kernels *k, const char *name, long groups,
				  struct err *e)
{
	long params[SIMT_PARAMS] = {0};
	struct fastest best = {-1, -1};

	params[SIMT_PHASES] = 1;
	params[SIMT_THREADS] = THREADS;
	params[SIMT_GROUPS] = groups;
	for (int i = 0; i < LAUNCHES; i++) {
		double start = clock_now(), inside, outside;

		if (k->driver->run(k->program, name, params, &k->memory, 1, 1, &inside, e) < 0)
			return (struct fastest){-1, -1};
		outside = clock_now() - start;
		if (i == 0 || inside < best.inside)
			best.inside = inside;
		if (i == 0 || outside < best.outside)
			best.outside = outside;
	}
	return best;
}

static int measure(const struct kernels *k, int processors, struct buf *out, struct err *e)
{
	const long groups = (long)processors * GROUPS_EACH, copies = BYTES / 2 / 16 / THREADS;
	const double flops = 2.0 * 4 * CHAINS * TURNS * THREADS * (double)groups;
	struct fastest empty = time_kernel(k, "empty", processors, e), peak, copy;

	if (empty.outside < 0)
		return -1;
	peak = time_kernel(k, "peak", groups, e);
	copy = time_kernel(k, "copy", copies, e);
	if (peak.inside <= 0 || copy.inside <= 0)
		return e->msg[0] ? -1 : err_set(e, "the device's clock stands still");
	buf_fmt(out,
		"{\"cores\":%d,\"peak_flops\":%.4g,\"peak_flops_all\":%.4g,"
		"\"bandwidth_all\":{\"mem\":%.4g},\"forkjoin_s\":%.3g}",
		processors, flops / peak.inside / processors, flops / peak.inside,
		BYTES / copy.inside, empty.outside);
	return 0;
}

int device_probe(const struct driver *driver, struct device *d, const struct limits *m,
		 const char *object, size_t n, struct buf *out, struct err *e)
{
	struct kernels k = {.driver = driver, .program = driver->load(d, object, n, e)};
	int rc = -1;

	if (k.program)
		k.memory = driver->memory(d, BYTES, e);
	if (k.memory)
		rc = measure(&k, m->threads, out, e);
	if (k.memory)
		driver->free(k.memory);
	if (k.program)
		driver->unload(k.program);
	return rc;
}
