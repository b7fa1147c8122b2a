/* The checksum of POSIX's program cksum, which any machine can compute that builds an export. */
#ifndef TL_EXPORT_CKSUM_H
#define TL_EXPORT_CKSUM_H

#include <stddef.h>
#include <stdint.h>

/* IEEE Std 1003.1, cksum: a CRC of 32 bits over the bytes and their number. */
uint32_t cksum(const char *s, size_t n);

#endif
