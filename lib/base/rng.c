#include "lib/base/rng.h"

#include <string.h>

#include "lib/base/hash.h"

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

void rng_seed(struct rng *r, uint64_t seed, const char *stream)
{
	uint64_t x = seed;

	if (stream)
		x ^= hash64(stream, strlen(stream));
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&x);
}

uint64_t rng_u64(struct rng *r)
{
	uint64_t *s = r->s, v = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return v;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t limit = -n % n, v; /* 2^64 mod n: values below it would be one too many */

	do
		v = rng_u64(r);
	while (v < limit);
	return v % n;
}

double rng_unit(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}
