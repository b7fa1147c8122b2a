/* Memory of the stand-in driver's device. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/emulator/driver.h"
#include "tests/emulator/graph.h"

enum { PAGE = 4096, BEHIND = 64 << 20, PIECE = 64 << 10 };
static const int64_t MEMORY = (int64_t)4 << 30;

/* What lies in the device's memory. */
struct piece {
	struct piece *next;
	char *at;
	size_t bytes;
};

static struct {
	struct piece *pieces;
	size_t given;
} device;

/* The piece in which these bytes lie. NULL: they lie in none. */
static struct piece *piece_of(uint64_t at, size_t bytes)
{
	for (struct piece *p = device.pieces; p; p = p->next) {
		const uint64_t start = (uintptr_t)p->at;

		if (at >= start && at - start <= p->bytes && bytes <= p->bytes - (at - start))
			return p;
	}
	return NULL;
}

/* Whole pages. Behind them come BEHIND bytes that cannot be touched. */
static size_t pages(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static size_t total(void)
{
	const char *told = getenv("TL_EMULATOR_MEMORY");

	return (size_t)(told ? atoll(told) : MEMORY);
}

API int cuMemAlloc_v2(uint64_t *at, size_t bytes)
{
	const enum result rc = driver_ready();
	struct piece *p;

	if (rc || !bytes)
		return rc ? rc : INVALID_VALUE;
	if (bytes > total() - device.given)
		return OUT_OF_MEMORY;
	p = calloc(1, sizeof *p);
	if (p)
		p->at = mmap(NULL, pages(bytes) + BEHIND, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!p || p->at == MAP_FAILED || mprotect(p->at, pages(bytes), PROT_READ | PROT_WRITE)) {
		free(p);
		return OUT_OF_MEMORY;
	}
	p->bytes = bytes;
	memset(p->at, 0xff, pages(bytes));
	p->next = device.pieces;
	device.pieces = p;
	device.given += bytes;
	*at = (uintptr_t)p->at;
	return SUCCESS;
}

API int cuMemFree_v2(uint64_t at)
{
	const enum result rc = driver_ready();
	struct piece **link = &device.pieces, *p;

	while ((p = *link) && (uintptr_t)p->at != at)
		link = &p->next;
	if (rc || !p)
		return rc ? rc : INVALID_VALUE;
	*link = p->next;
	device.given -= p->bytes;
	munmap(p->at, pages(p->bytes) + BEHIND);
	free(p);
	return SUCCESS;
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
	const enum result rc = driver_ready();

	if (rc || !piece_of(to, bytes))
		return rc ? rc : INVALID_VALUE;
	memcpy((void *)(uintptr_t)to, from, bytes);
	return SUCCESS;
}

API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
	const enum result rc = driver_ready();

	if (rc || !piece_of(from, bytes))
		return rc ? rc : INVALID_VALUE;
	memcpy(to, (const void *)(uintptr_t)from, bytes);
	return SUCCESS;
}

API int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, void *stream)
{
	const enum result rc = driver_ready();

	if (rc || !piece_of(at, bytes))
		return rc ? rc : INVALID_VALUE;
	if (!graph_is_stream(stream) || graph_captures(stream))
		return INVALID_HANDLE; /* graphs here have kernels alone */
	memset((void *)(uintptr_t)at, value, bytes);
	return SUCCESS;
}

/* ---- virtual memory ---- */

/* What cuMemCreate() gives: bytes that are nowhere yet. */
struct bytes {
	size_t n;
	uint64_t at;
};

struct wanted {
	int kind, exported, place, device;
	void *unused;
	unsigned char flags[8];
};

struct access {
	int place, device, flags;
};

static int is_wanted(const struct wanted *w)
{
	return w->kind == 1 && !w->exported && w->place == 1 && !w->device;
}

API int cuMemGetAllocationGranularity(size_t *n, const struct wanted *w, int recommended)
{
	*n = PIECE;
	return recommended > 1 || !is_wanted(w) ? INVALID_VALUE : driver_ready();
}

API int cuMemAddressReserve(uint64_t *at, size_t n, size_t align, uint64_t hint, uint64_t flags)
{
	const enum result rc = driver_ready();
	void *p;

	if (rc || !n || n % PIECE || align || hint || flags)
		return rc ? rc : INVALID_VALUE;
	p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return OUT_OF_MEMORY;
	*at = (uintptr_t)p;
	return SUCCESS;
}

API int cuMemAddressFree(uint64_t at, size_t n)
{
	return munmap((void *)(uintptr_t)at, n) ? INVALID_VALUE : driver_ready();
}

API int cuMemCreate(uint64_t *memory, size_t n, const struct wanted *w, uint64_t flags)
{
	const enum result rc = driver_ready();
	struct bytes *b;

	if (rc || !n || n % PIECE || flags || !is_wanted(w))
		return rc ? rc : INVALID_VALUE;
	if (n > total() - device.given)
		return OUT_OF_MEMORY;
	b = calloc(1, sizeof *b);
	if (!b)
		return OUT_OF_MEMORY;
	b->n = n;
	device.given += n;
	*memory = (uintptr_t)b;
	return SUCCESS;
}

API int cuMemRelease(uint64_t memory)
{
	struct bytes *b = (struct bytes *)(uintptr_t)memory;

	device.given -= b->n;
	free(b);
	return driver_ready();
}

API int cuMemMap(uint64_t at, size_t n, size_t offset, uint64_t memory, uint64_t flags)
{
	const enum result rc = driver_ready();
	struct bytes *b = (struct bytes *)(uintptr_t)memory;
	struct piece *p;

	if (rc || n != b->n || offset || flags || b->at || piece_of(at, n))
		return rc ? rc : INVALID_VALUE;
	p = calloc(1, sizeof *p);
	if (!p)
		return OUT_OF_MEMORY;
	b->at = at;
	p->at = (char *)(uintptr_t)at;
	p->bytes = n;
	p->next = device.pieces;
	device.pieces = p;
	return SUCCESS;
}

API int cuMemSetAccess(uint64_t at, size_t n, const struct access *a, size_t count)
{
	enum { READ_WRITE = 3 };
	const enum result rc = driver_ready();

	if (rc || !piece_of(at, n) || count != 1 || a->place != 1 || a->device ||
	    a->flags != READ_WRITE)
		return rc ? rc : INVALID_VALUE;
	if (mprotect((void *)(uintptr_t)at, n, PROT_READ | PROT_WRITE))
		return OUT_OF_MEMORY;
	memset((void *)(uintptr_t)at, 0xff, n);
	return SUCCESS;
}

API int cuMemUnmap(uint64_t at, size_t n)
{
	struct piece **link = &device.pieces, *p;

	while ((p = *link) && ((uintptr_t)p->at != at || p->bytes != n))
		link = &p->next;
	if (!p || mprotect(p->at, n, PROT_NONE))
		return INVALID_VALUE;
	*link = p->next;
	free(p);
	return driver_ready();
}
