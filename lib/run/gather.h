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
	SCATTER_ROWS = SCATTER_INDEX,
	SCATTER_UPDATES,
	SCATTER_TO,
	SCATTER_OPERANDS,
	SCATTER_RANK = 8
};

/* What becomes of an element that an update meets. Sums and products of whole numbers that floats
 * may not hold become NaN, and stay so (is_whole). */
enum scatter_how { SCATTER_REPLACE, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX, SCATTER_MIN, SCATTERS };

/* ONNX's ScatterND: `to` is data with some of its rows replaced. Each of `count` tuples of indices
 * names a row of `inner` elements by the first `rank` dimensions of data. */
struct scatter {
	enum scatter_how how;
	int is_whole;
	int64_t count, inner, rows; /* rows: of data */
	int rank;
	int64_t extent[SCATTER_RANK];
};

/* The parts of a struct scatter: first the rows that the tuples name, which the second one reads. A
 * row is a number of 64 bits in the place of two floats. Buffers of the first one: tuples, rows.
 * -1: an index lies outside; its row is -1, and nothing is written. Of a row that is named twice
 * the last update counts. */
enum { SCATTER_ROW = sizeof(int64_t) / sizeof(float) };
int scatter_rows_run(const void *with, float *const *buffers, int thread, int threads);
int scatter_run(const void *with, float *const *buffers, int thread, int threads);

/* ONNX's GatherND: in each of `batches` parts of data, of `rows` rows each, `count` tuples of
 * indices name rows by the first `rank` dimensions. */
struct gather_rows {
	int64_t batches, count, inner, rows;
	int rank;
	int64_t extent[SCATTER_RANK];
};
int gather_rows_run(const void *with, float *const *buffers, int thread, int threads);

/* ONNX's GatherElements and ScatterElements: element i of the index is one along an axis; along the
 * others it stands where i does. */
struct elements {
	enum scatter_how how;
	int is_whole;
	int rank, axis;
	int64_t dim[SCATTER_RANK];    /* of the index */
	int64_t stride[SCATTER_RANK]; /* of data, which is dense */
	int64_t extent, size;	      /* of data: along the axis; elements */
};
int gather_elements_run(const void *with, float *const *buffers, int thread, int threads);
/* The updates have an order, so that one thread makes them. */
int scatter_elements_run(const void *with, float *const *buffers, int thread, int threads);

#endif
