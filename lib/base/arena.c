#include "lib/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

enum { CHUNK = 64 * 1024, ALIGN = 16 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(ALIGN) char data[];
};

/* Moves on to a chunk with room for n bytes: the next one kept from an earlier round, or a new one.
 */
static void next_chunk(struct arena *a, size_t n)
{
	struct arena_chunk **link = a->cur ? &a->cur->next : &a->first;

	while (*link && (*link)->size < n) { /* too small for this request: drop it */
		struct arena_chunk *c = *link;

		*link = c->next;
		free(c);
	}
	if (!*link) {
		size_t size = n > CHUNK ? n : CHUNK;
		struct arena_chunk *c = xmalloc(sizeof *c + size);

		c->next = NULL;
		c->size = size;
		*link = c;
	}
	a->cur = *link;
	a->used = 0;
}

void *arena_alloc(struct arena *a, size_t n)
{
	void *p;

	if (n > (size_t)-1 / 2)
		die_no_memory();
	n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!a->cur || a->cur->size - a->used < n)
		next_chunk(a, n);
	p = a->cur->data + a->used;
	a->used += n;
	return memset(p, 0, n);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	return n ? memcpy(p, s, n) : p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void *arena_add(struct arena *a, void *list, int *n, size_t size)
{
	char *items;

	memcpy(&items, list, sizeof items);
	if (!(*n & (*n - 1))) { /* there is room up to the next power of two */
		char *more = arena_alloc(a, size * (size_t)(*n ? 2 * *n : 1));

		if (*n)
			memcpy(more, items, size * (size_t)*n);
		items = more;
		memcpy(list, &items, sizeof items);
	}
	return items + size * (size_t)(*n)++;
}

void arena_reset(struct arena *a)
{
	a->cur = a->first;
	a->used = 0;
}

void arena_free(struct arena *a)
{
	for (struct arena_chunk *c = a->first, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	*a = (struct arena)ARENA_INIT;
}
