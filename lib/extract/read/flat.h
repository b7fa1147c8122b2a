/* FlatBuffers without their code generator: tables, vectors and strings by their offsets.
 *
 * Format: flatbuffers.dev, "FlatBuffer Internals". A table begins with the distance back to its
 * list of fields, which says where in the table each field is; vectors begin with their length, and
 * all numbers are little-endian. Nothing is trusted: what is read beside the bytes that are there
 * is 0 and marks the reader as bad, and each vector is taken out of an allowance in proportion to
 * the file, because a false file can refer to the same bytes again and again.
 */
#ifndef TL_EXTRACT_READ_FLAT_H
#define TL_EXTRACT_READ_FLAT_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/extract/read/kept.h"

struct flat {
	const struct kept *kept;
	uint64_t allowance; /* bytes of vectors that may still be read */
	int bad;
	uint64_t where; /* the first place that was not there */
	const char *what;
};

struct flat_list {
	uint64_t at; /* of element 0 */
	uint32_t n;
};

void flat_init(struct flat *f, const struct kept *kept);
/* The root table of what begins at that place. */
uint64_t flat_root(struct flat *f, uint64_t at);
/* Where field i of a table is; 0: it is absent. Likewise what it refers to, if it is a table. */
uint64_t flat_field(struct flat *f, uint64_t table, int i);
uint64_t flat_table(struct flat *f, uint64_t table, int i);
/* Numbers in a table. */
int64_t flat_int(struct flat *f, uint64_t table, int i, int64_t otherwise);   /* int32 */
int64_t flat_byte(struct flat *f, uint64_t table, int i, int64_t otherwise);  /* int8 */
int64_t flat_ubyte(struct flat *f, uint64_t table, int i, int64_t otherwise); /* uint8, bool */
uint32_t flat_uint(struct flat *f, uint64_t table, int i, uint32_t otherwise);
float flat_float(struct flat *f, uint64_t table, int i, float otherwise);
/* A vector in a table, of elements of that size; empty if it is absent. */
struct flat_list flat_list(struct flat *f, uint64_t table, int i, size_t size);
/* The same of bytes, which need not all be there. */
struct flat_list flat_span(struct flat *f, uint64_t table, int i);
int32_t flat_list_int(struct flat *f, const struct flat_list *l, uint32_t i);
uint64_t flat_list_table(struct flat *f, const struct flat_list *l, uint32_t i);
/* A string, cut at a NUL; "" if it is absent. */
const char *flat_string(struct flat *f, uint64_t table, int i, struct arena *a);
/* -1 and a sentence if something was bad. */
int flat_check(const struct flat *f, struct err *e);

#endif
