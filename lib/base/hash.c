#include "lib/base/hash.h"

#include <nettle/sha2.h>

static const char hex[] = "0123456789abcdef";

int hash_is_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(s[i] >= '0' && s[i] <= '9') && !(s[i] >= 'a' && s[i] <= 'f'))
			return 0;
	return 1;
}

void hash_id(struct id *id, const void *p, size_t n)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, n, p);
	sha256_digest(&ctx, sizeof digest, digest);
	for (int i = 0; i < ID_HEX / 2; i++) {
		id->s[2 * i] = hex[digest[i] >> 4];
		id->s[2 * i + 1] = hex[digest[i] & 15];
	}
	id->s[ID_HEX] = 0;
}

uint64_t hash64(const void *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (const unsigned char *c = p, *end = c + n; c < end; c++)
		h = (h ^ *c) * 0x100000001b3u;
	return h ^ h >> 32; /* the low bits choose the slot */
}
