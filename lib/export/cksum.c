#include "lib/export/cksum.h"

/* The remainder once eight more bits have come in. */
static uint32_t step(uint32_t crc, unsigned byte)
{
	const uint32_t polynomial = 0x04c11db7;

	crc ^= (uint32_t)byte << 24;
	for (int bit = 0; bit < 8; bit++)
		crc = crc << 1 ^ (crc >> 31 ? polynomial : 0);
	return crc;
}

uint32_t cksum(const char *s, size_t n)
{
	uint32_t crc = 0;

	for (size_t i = 0; i < n; i++)
		crc = step(crc, (unsigned char)s[i]);
	for (; n; n >>= 8)
		crc = step(crc, n & 255);
	return ~crc;
}
