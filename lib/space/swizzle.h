/* The order of elements in memory in which those that threads read together stand in different
 * banks, and no place is left empty (NVIDIA, "Parallel Thread Execution ISA", "Shared memory matrix
 * layout"). A row has 32, 64 or 128 bytes, that is two, four or eight units of 16 bytes. Within the
 * row a unit's number is combined, by exclusive or, with the number of the 128 bytes in which the
 * row is, modulo the row's units. The order repeats itself after eight rows.
 *
 * The order of elements in memory may be swizzled. No index knows of it: a buffer has it, and the
 * printers and the packing put it in. So it cannot change what a nest means. The interpreter
 * refuses an access that goes beyond a unit of 16 bytes, whose elements stay together.
 */
#ifndef TL_SPACE_SWIZZLE_H
#define TL_SPACE_SWIZZLE_H

#include <stdint.h>

/* Both are powers of two. */
struct swizzle {
	int unit; /* elements in 16 bytes */
	int row;  /* elements in a row; 0: everything is in order */
};

enum {
	SWIZZLE_UNIT = 16,   /* bytes */
	SWIZZLE_UNITS = 8,   /* of the longest row */
	SWIZZLE_ROWS = 8,    /* after which the order repeats itself */
	SWIZZLE_ALIGN = 1024 /* bytes: at a multiple of this, a memory has the order */
};

/* May a row have so many bytes? */
int swizzle_has_row(int64_t bytes);
/* Where element x is. */
int64_t swizzle_place(const struct swizzle *s, int64_t x);
/* As the processor computes it: x ^ (x >> down & mask) << up. */
struct swizzle_bits {
	int down, mask, up;
};
struct swizzle_bits swizzle_bits(const struct swizzle *s);
/* Puts n elements, which are in order, in this order. n is a multiple of eight rows. */
void swizzle_floats(const struct swizzle *s, float *x, int64_t n);

#endif
