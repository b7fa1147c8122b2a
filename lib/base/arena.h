/* Arenas: memory that is freed all at once.
 *
 * A program has two: one for the whole run and one that it resets after each record, so that
 * nothing else needs a free. Memory is zeroed and aligned to 16 bytes. Allocation never returns
 * NULL (see die_no_memory). arena_reset() keeps the chunks for the next record.
 */
#ifndef TL_BASE_ARENA_H
#define TL_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;
struct arena {
	struct arena_chunk *first, *cur;
	size_t used; /* bytes used in cur */
};

#define ARENA_INIT                                                                                 \
	{                                                                                          \
		NULL, NULL, 0                                                                      \
	}

void *arena_alloc(struct arena *a, size_t n) __attribute__((malloc, alloc_size(2)));
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One more item of `size` bytes, zeroed, at the end of the list of n that `list` points to, which
 * grows in the arena; n is raised. Such a list grows in no other way. */
void *arena_add(struct arena *a, void *list, int *n, size_t size);
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))

#endif
