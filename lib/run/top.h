/* The largest or smallest elements of rows, in order (ONNX's TopK): a tie is won by the first. */
#ifndef TL_RUN_TOP_H
#define TL_RUN_TOP_H

#include <stdint.h>

struct top {
	int64_t rows, size, kept; /* rows are dense; `kept` of their `size` elements are kept */
	int is_least;
	int is_index; /* the result has their indices, not the elements */
};

/* The part of thread `thread` of `threads` of a struct top. Buffers: the rows, the result. -1:
 * there is no memory. */
int top_run(const void *with, float *const *buffers, int thread, int threads);

#endif
