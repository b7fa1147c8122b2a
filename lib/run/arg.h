/* The index of the largest or the least element of each row. */
#ifndef TL_RUN_ARG_H
#define TL_RUN_ARG_H

#include <stdint.h>

struct arg {
	int64_t rows, size;    /* dense rows */
	int is_least, is_last; /* is_last: of equal ones the last counts, instead of the first */
};

/* The part of thread `thread` of `threads` of a struct arg. Buffers: the rows; an index a row. 0.
 */
int arg_run(const void *with, float *const *buffers, int thread, int threads);

#endif
