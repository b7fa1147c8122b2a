#include "lib/trial/fence.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/base/err.h"

enum { PAGE = 4096, GUARD = 1 << 20, CANARY = 0xc5 };

size_t fence_bytes(const struct fence *f)
{
	return (size_t)f->n * f->size;
}

static size_t room(const struct fence *f)
{
	size_t bytes = (fence_bytes(f) + PAGE - 1) & ~(size_t)(PAGE - 1);

	return bytes ? bytes : PAGE;
}

void fence_open(struct fence *f, const char *name, int64_t n, size_t size)
{
	*f = (struct fence){.name = name, .n = n, .size = size};
	if (n < 0 || (uint64_t)n > SIZE_MAX / 2 / size)
		die_no_memory();
	f->map_bytes = room(f) + 2 * GUARD;
	f->map = mmap(NULL, f->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	if (f->map == MAP_FAILED || mprotect(f->map + GUARD, room(f), PROT_READ | PROT_WRITE))
		die_no_memory();
	f->data = f->map + GUARD;
}

void fence_freeze(const struct fence *f)
{
	mprotect(f->data, room(f), PROT_READ);
}

void fence_thaw(const struct fence *f)
{
	mprotect(f->data, room(f), PROT_READ | PROT_WRITE);
}

void fence_populate(const struct fence *f)
{
	fence_populate_part(f, 0, f->n);
}

void fence_populate_part(const struct fence *f, int64_t first, int64_t end)
{
#ifdef MADV_POPULATE_WRITE
	const size_t from = (size_t)first * f->size & ~(size_t)(PAGE - 1);
	char *page = (char *)f->data + from;

	madvise(page, (size_t)end * f->size - from, MADV_POPULATE_WRITE); /* if not, they come one
									     by one */
#else
	(void)f, (void)first, (void)end;
#endif
}

void fence_inherit(struct fence *f, int inherited)
{
	f->hidden = !inherited;
	madvise(f->data, room(f), inherited ? MADV_DOFORK : MADV_DONTFORK);
}

void fence_replace(const struct fence *f, const struct fence *from)
{
	if (mremap(from->data, room(f), room(f), MREMAP_MAYMOVE | MREMAP_FIXED, f->data) !=
	    MAP_FAILED)
		return;
	/* The failed call may have unmapped the pages of f. */
	if (mmap(f->data, room(f), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		die_no_memory();
	memcpy(f->data, from->data, fence_bytes(f));
	fence_freeze(f);
}

static size_t canaries(const struct fence *f)
{
	return room(f) - fence_bytes(f);
}

static unsigned char *end_of(const struct fence *f)
{
	return (unsigned char *)f->data + fence_bytes(f);
}

void fence_arm(const struct fence *f)
{
	memset(end_of(f), CANARY, canaries(f));
}

int fence_broken(const struct fence *f)
{
	const unsigned char *p = end_of(f);

	for (size_t i = 0; i < canaries(f); i++)
		if (p[i] != CANARY)
			return 1;
	return 0;
}

int fence_locate(const struct fence *f, const void *address, int64_t *bytes)
{
	const char *p = address, *first = f->data, *end = first + fence_bytes(f);

	if (!f->map || p < f->map || p >= f->map + f->map_bytes)
		return 0;
	*bytes = p < first ? p - first : p >= end ? p - end + 1 : 0;
	return 1;
}

void fence_close(struct fence *f)
{
	if (f->map)
		munmap(f->map, f->map_bytes);
	f->map = NULL;
}
