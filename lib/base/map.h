/* Hash map from strings to pointers, in order of insertion.
 *
 * Keys are copied into the map; values belong to the caller. A zeroed struct is an empty map.
 * Iterate with: for (size_t i = 0; i < m.n; i++) m.item[i].key / .value. There is no removal.
 */
#ifndef TL_BASE_MAP_H
#define TL_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_item {
	char *key;
	size_t len;
	uint64_t hash;
	void *value;
};

struct map {
	struct map_item *item;
	size_t n, cap;
	uint32_t *slot; /* index + 1 into item, 0 is free; nslot is a power of two */
	size_t nslot;
};

#define MAP_INIT                                                                                   \
	{                                                                                          \
		NULL, 0, 0, NULL, 0                                                                \
	}

/* The value's place, made (NULL) if the key is new; *isnew may be NULL. Valid until the next call.
 */
void **map_put(struct map *m, const char *key, size_t len, int *isnew);
void *map_get(const struct map *m, const char *key, size_t len); /* NULL if unknown */
void map_free(struct map *m);

#endif
