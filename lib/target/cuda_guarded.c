#include "lib/target/cuda_guarded.h"

#include <errno.h>
#include <string.h>

#include "lib/target/cuda_error.h"
#include "lib/target/shared.h"

enum {
	ALIGN = 256, /* as cuMemAlloc() has it */
	BEHIND = 64 << 20,
	CAN_MAP = 102, /* an attribute of a device */
	PINNED = 1,    /* a kind of memory */
	ON_DEVICE = 1, /* a place */
	READ_WRITE = 3,
};

struct place {
	int kind, id;
};

/* What memory is wanted, in the driver's words. */
struct wanted {
	int kind, exported;
	struct place place;
	void *unused;
	unsigned char flags[8];
};

struct access {
	struct place place;
	int flags;
};

static struct {
	int (*attribute)(int *value, int attribute, int device);
	int (*granularity)(size_t *bytes, const struct wanted *w, int recommended);
	int (*reserve)(uint64_t *at, size_t n, size_t align, uint64_t hint, uint64_t flags);
	int (*create)(uint64_t *memory, size_t n, const struct wanted *w, uint64_t flags);
	int (*map)(uint64_t at, size_t n, size_t offset, uint64_t memory, uint64_t flags);
	int (*allow)(uint64_t at, size_t n, const struct access *a, size_t count);
	int (*unmap)(uint64_t at, size_t n);
	int (*release)(uint64_t memory);
	int (*free)(uint64_t at, size_t n);
} cuda;

static int open_library(struct err *e)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	static const struct shared_function functions[] = {
		{"cuDeviceGetAttribute", &cuda.attribute},
		{"cuMemGetAllocationGranularity", &cuda.granularity},
		{"cuMemAddressReserve", &cuda.reserve},
		{"cuMemCreate", &cuda.create},
		{"cuMemMap", &cuda.map},
		{"cuMemSetAccess", &cuda.allow},
		{"cuMemUnmap", &cuda.unmap},
		{"cuMemRelease", &cuda.release},
		{"cuMemAddressFree", &cuda.free},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	return shared_open(&library, e);
}

static int can_map(int device, struct err *e)
{
	int can = 0;

	if (open_library(e) < 0)
		return 0;
	if (cuda.attribute(&can, CAN_MAP, device) || !can) {
		err_set(e, "the device cannot map memory");
		errno = ENOSYS;
		return 0;
	}
	return 1;
}

/* Memory in whole pieces, at an address of its own. */
static int map(struct cuda_guarded *g, const struct wanted *w, size_t piece, struct err *e)
{
	const struct access all = {w->place, READ_WRITE};
	const size_t n = g->mapped_bytes, reserved = n + piece + BEHIND;

	g->mapped_bytes = 0;
	if (cuda_check(cuda.reserve(&g->reserved, reserved, 0, 0, 0), "give memory", e) < 0)
		return -1;
	g->reserved_bytes = reserved;
	if (cuda_check(cuda.create(&g->memory, n, w, 0), "give memory", e) < 0)
		return -1;
	g->mapped = g->reserved + piece;
	if (cuda_check(cuda.map(g->mapped, n, 0, g->memory, 0), "give memory", e) < 0) {
		cuda.release(g->memory);
		return -1;
	}
	g->mapped_bytes = n;
	return cuda_check(cuda.allow(g->mapped, n, &all, 1), "give memory", e);
}

int cuda_guarded_open(struct cuda_guarded *g, int device, size_t n, struct err *e)
{
	const struct wanted w = {.kind = PINNED, .place = {ON_DEVICE, device}};
	const size_t bytes = (n + ALIGN - 1) / ALIGN * ALIGN;
	size_t piece = 0;

	*g = (struct cuda_guarded){0};
	if (!can_map(device, e) ||
	    cuda_check(cuda.granularity(&piece, &w, 0), "give memory", e) < 0)
		return -1;
	g->mapped_bytes = (bytes + piece - 1) / piece * piece;
	if (map(g, &w, piece, e) < 0) {
		cuda_guarded_close(g);
		return -1;
	}
	g->at = g->mapped + g->mapped_bytes - bytes;
	return 0;
}

void cuda_guarded_close(struct cuda_guarded *g)
{
	const int why = errno;

	if (g->mapped_bytes) {
		cuda.unmap(g->mapped, g->mapped_bytes);
		cuda.release(g->memory);
	}
	if (g->reserved_bytes)
		cuda.free(g->reserved, g->reserved_bytes);
	*g = (struct cuda_guarded){0};
	errno = why;
}
