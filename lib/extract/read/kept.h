/* What is kept of a stream of which much is passed over: bytes by their place in the stream.
 *
 * What is kept takes memory, up to KEPT_MAX bytes, gaps take none. A range that touches a gap, or
 * what has not come yet, is not there.
 */
#ifndef TL_EXTRACT_READ_KEPT_H
#define TL_EXTRACT_READ_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/extract/read/pull.h"

enum { KEPT_MAX = 48 << 20 };

struct kept {
	struct pull *in;
	uint64_t start, end; /* of the stream: where reading began, what has come so far */
	struct buf bytes;
	struct buf gaps; /* of struct kept_gap, by place */
};

/* The bytes at and behind this place of the stream are so many less far into the buffer. */
struct kept_gap {
	uint64_t at, less;
};

void kept_init(struct kept *k, struct pull *in);
void kept_free(struct kept *k);
/* Reads on to that place, unless reading is past it: keeps what comes, as far as there is room, or
 * passes over it. -1: the stream ends before. */
int kept_read(struct kept *k, uint64_t to, struct err *e);
int kept_pass(struct kept *k, uint64_t to, struct err *e);
/* Reads a block, and less only where the stream ends. 1: there was some; 0; -1. */
int kept_more(struct kept *k, size_t block, struct err *e);
/* n bytes at that place; NULL: they are not there. Valid until something is read. */
const unsigned char *kept_at(const struct kept *k, uint64_t at, uint64_t n);

#endif
