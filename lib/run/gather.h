/* Gathering and scattering: rows of a tensor by indices that are known only when the program runs.
 * They are no nests: an index that depends on data has no place there. Indices are whole numbers in
 * floats; negative ones count from the end.
 */
#ifndef TL_RUN_GATHER_H
#define TL_RUN_GATHER_H

#include <stdint.h>

enum { GATHER_DATA, GATHER_INDEX, GATHER_TO, GATHER_OPERANDS };

/* data: outer x extent x inner, dense; to: outer x count x inner. */
struct gather {
	int64_t outer, extent, count, inner;
};

/* The part of thread `thread` of `threads` of a struct gather. -1: an index lies outside; its row
 * is not written. */
int gather_run(const void *with, float *const *buffers, int thread, int threads);

enum {
	SCATTER_DATA,
	SCATTER_INDEX,
	SCATTER_UPDATES,
	SCATTER_TO,
	SCATTER_OPERANDS,
	SCATTER_RANK = 8
};

/* ONNX's ScatterND: `to` is data with some of its rows replaced. Each of `count` tuples of indices
 * names a row of `inner` elements by the first `rank` dimensions of data. */
struct scatter {
	int64_t count, inner, rows; /* rows: of data */
	int rank;
	int64_t extent[SCATTER_RANK];
};

/* The same for a struct scatter; of a row that is named twice the last update counts. */
int scatter_run(const void *with, float *const *buffers, int thread, int threads);

#endif
