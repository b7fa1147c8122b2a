#include "lib/base/map.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/hash.h"

static uint32_t *find(const struct map *m, const char *key, size_t len, uint64_t hash)
{
	for (size_t i = hash & (m->nslot - 1);; i = (i + 1) & (m->nslot - 1)) {
		const struct map_item *it;

		if (!m->slot[i])
			return &m->slot[i];
		it = &m->item[m->slot[i] - 1];
		if (it->hash == hash && it->len == len && !memcmp(it->key, key, len))
			return &m->slot[i];
	}
}

static void grow(struct map *m)
{
	m->nslot = m->nslot ? m->nslot * 2 : 64;
	free(m->slot);
	m->slot = xcalloc(m->nslot, sizeof *m->slot);
	m->cap = m->nslot / 2;
	m->item = xrealloc(m->item, m->cap * sizeof *m->item);
	for (size_t i = 0; i < m->n; i++)
		*find(m, m->item[i].key, m->item[i].len, m->item[i].hash) = (uint32_t)i + 1;
}

void **map_put(struct map *m, const char *key, size_t len, int *isnew)
{
	uint64_t hash = hash64(key, len);
	struct map_item *it;
	uint32_t *slot;

	if (m->n == m->cap)
		grow(m);
	slot = find(m, key, len, hash);
	if (isnew)
		*isnew = !*slot;
	if (*slot)
		return &m->item[*slot - 1].value;
	it = &m->item[m->n++];
	it->key = xmalloc(len + 1);
	memcpy(it->key, key, len);
	it->key[len] = 0;
	it->len = len;
	it->hash = hash;
	it->value = NULL;
	*slot = (uint32_t)m->n;
	return &it->value;
}

void *map_get(const struct map *m, const char *key, size_t len)
{
	uint32_t i = m->n ? *find(m, key, len, hash64(key, len)) : 0;

	return i ? m->item[i - 1].value : NULL;
}

void map_free(struct map *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->item[i].key);
	free(m->item);
	free(m->slot);
	*m = (struct map)MAP_INIT;
}
