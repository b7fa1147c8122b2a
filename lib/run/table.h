/* Functions of one number of 8 bits by a table of their 256 values, as steps in plain C. A
 * processor with AVX512_VBMI looks up 64 bytes at once (the idea of XNNPACK's x8-lut kernels,
 * 2021).
 */
#ifndef TL_RUN_TABLE_H
#define TL_RUN_TABLE_H

#include <stdint.h>

enum { TABLE_VALUES = 256 };

struct table {
	unsigned char to[TABLE_VALUES]; /* by the bits of a number */
	int64_t n;			/* numbers that are looked up, without gaps */
	int wide;			/* the processor has the instructions */
};

/* Are tables as quick as copies, on vectors of so many lanes and by this CPU's instructions? */
int table_is_wide(int lanes);
/* Looks up the part of a thread; the buffers are what is read and what is written, which may be
 * one. Returns 0. */
int table_run(const void *with, float *const *buffers, int thread, int threads);

#endif
