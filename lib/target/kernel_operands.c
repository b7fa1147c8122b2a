#include "lib/target/kernel_operands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 1 << 20, CANARY = 0xc5 };

struct copy {
	enum elem elem;
	size_t bytes; /* of its elements */
	char *map;    /* guards included; NULL: the operand stays where it is */
};

struct kernel_operands {
	int n;
	void *buffer[NEST_BUFFERS];
	struct copy copy[NEST_BUFFERS];
};

static size_t room(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static size_t map_bytes(const struct copy *c)
{
	return room(c->bytes) + 2 * (size_t)GUARD;
}

/* A place for so many elements; touching what lies before or behind it kills. */
static int open_copy(struct copy *c, enum elem elem, size_t n, struct err *e)
{
	c->elem = elem;
	c->bytes = n * (size_t)elem_size(elem);
	c->map = mmap(NULL, map_bytes(c), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	if (c->map == MAP_FAILED) {
		c->map = NULL;
		return err_sys(e, "there is no memory for an operand");
	}
	if (!mprotect(c->map + GUARD, room(c->bytes), PROT_READ | PROT_WRITE))
		return 0;
	err_sys(e, "there is no memory for an operand");
	munmap(c->map, map_bytes(c));
	c->map = NULL;
	return -1;
}

int kernel_operands_put(struct kernel *k, void *const *buffers, const size_t *bytes,
			const enum elem *elem, int n, struct err *e)
{
	struct kernel_operands *own = k->own;
	int any = 0;

	for (int i = 0; i < n; i++)
		any |= !elem_is_float(elem[i]);
	if (!any)
		return 0;
	if (!own)
		own = k->own = xcalloc(1, sizeof *own);
	own->n = n;
	for (int i = 0; i < n; i++) {
		struct copy *c = &own->copy[i];
		const size_t floats = bytes[i] / sizeof(float);

		own->buffer[i] = buffers[i];
		if (elem_is_float(elem[i]))
			continue;
		if (!c->map && open_copy(c, elem[i], floats, e) < 0)
			return -1;
		own->buffer[i] = c->map + GUARD;
		elem_from_floats(elem[i], buffers[i], own->buffer[i], (int64_t)floats);
		memset(c->map + GUARD + c->bytes, CANARY, room(c->bytes) - c->bytes);
	}
	return 0;
}

int kernel_operands_take(struct kernel *k, int i, void *to, size_t bytes, struct err *e)
{
	const struct kernel_operands *own = k->own;
	const struct copy *c = own ? &own->copy[i] : NULL;
	const unsigned char *behind;

	if (!c || !c->map)
		return 0;
	elem_to_floats(c->elem, own->buffer[i], to, (int64_t)(bytes / sizeof(float)));
	behind = (const unsigned char *)c->map + GUARD + c->bytes;
	for (size_t j = 0; j < room(c->bytes) - c->bytes; j++)
		if (behind[j] != CANARY) {
			err_set(e, "it wrote behind the end of operand %d", i);
			errno = ERANGE;
			return -1;
		}
	return 0;
}

const void *kernel_operands_at(const struct kernel *k, int i, const void *from, size_t *bytes)
{
	const struct kernel_operands *own = k->own;

	if (!own || !own->copy[i].map)
		return from;
	*bytes = own->copy[i].bytes;
	return own->buffer[i];
}

void *const *kernel_operands(const struct kernel *k, void *const *buffers)
{
	const struct kernel_operands *own = k->own;

	return own ? own->buffer : buffers;
}

void kernel_operands_free(struct kernel *k)
{
	struct kernel_operands *own = k->own;

	for (int i = 0; own && i < own->n; i++)
		if (own->copy[i].map)
			munmap(own->copy[i].map, map_bytes(&own->copy[i]));
	free(own);
	k->own = NULL;
}
