/* Identities: the first 128 bits of SHA-256, in hex. */
#ifndef TL_BASE_HASH_H
#define TL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ID_HEX 32   /* characters of an id, without the NUL */
#define ID_PREFIX 6 /* the fewest of them that may stand for it */

struct id {
	char s[ID_HEX + 1];
};

int hash_is_hex(const char *s, size_t n); /* are all n characters digits of an id? */
void hash_id(struct id *id, const void *p, size_t n);
uint64_t hash64(const void *p, size_t n); /* FNV-1a; for tables, never for identity */

#endif
