/* Gathering: rows of a tensor by indices that are known only when the program runs. It is no nest:
 * an index that depends on data has no place there.
 */
#ifndef TL_RUN_GATHER_H
#define TL_RUN_GATHER_H

#include <stdint.h>

enum { GATHER_DATA, GATHER_INDEX, GATHER_TO, GATHER_OPERANDS };

/* data: outer x extent x inner, dense; to: outer x count x inner. Indices are whole numbers in
 * floats, negative ones count from the end. */
struct gather {
	int64_t outer, extent, count, inner;
};

/* The part of thread `thread` of `threads` of a struct gather. -1: an index lies outside; its row
 * is not written. */
int gather_run(const void *with, float *const *buffers, int thread, int threads);

#endif
