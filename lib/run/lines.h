/* Functions of rows in plain C, which nests have no expression for: their result is a row, too, or
 * one element. Rows are dense, one after the other.
 */
#ifndef TL_RUN_LINES_H
#define TL_RUN_LINES_H

#include <stdint.h>

enum { LINES_PARAMS = 4 };

struct lines;
/* Makes the row `to` of the row `from`. Both may be the same. */
typedef void line_fn(const struct lines *s, const float *from, float *to);

struct lines {
	int64_t rows, size; /* size: elements of a row */
	int64_t made;	    /* elements of a row of the result: size, or 1 */
	line_fn *fn;
	double param[LINES_PARAMS]; /* as the function says */
};

/* The function of an ONNX operator; *whole: is its result a row? NULL: there is none. */
line_fn *lines_find(const char *type, int *whole);

/* The part of thread `thread` of `threads` of a struct lines. Buffers: the rows, the result. 0. */
int lines_run(const void *with, float *const *buffers, int thread, int threads);

#endif
