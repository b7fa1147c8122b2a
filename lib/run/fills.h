/* Tensors that are made of a few numbers: triangles, diagonals, one-hot rows, series. */
#ifndef TL_RUN_FILLS_H
#define TL_RUN_FILLS_H

#include <stdint.h>

/* ONNX's Trilu: of matrices of rows x columns, what lies on or above the k-th diagonal, or on or
 * below it. Buffers: matrices, result. */
struct triangle {
	int64_t matrices, rows, columns, k;
	int is_upper;
};
int triangle_run(const void *with, float *const *buffers, int thread, int threads);

/* ONNX's EyeLike: 1 on the k-th diagonal. Buffer: the result. */
struct diagonal {
	int64_t rows, columns, k;
};
int diagonal_run(const void *with, float *const *buffers, int thread, int threads);

/* ONNX's OneHot: outer x depth x inner, where the index has outer x inner. Buffers: index, depth
 * (not looked at), the two values (off, on), result. */
struct one_hot {
	int64_t outer, depth, inner;
};
int one_hot_run(const void *with, float *const *buffers, int thread, int threads);

/* n numbers from `first` on, `step` apart; with a step of 0 all are the first. Buffer: the result.
 */
struct series {
	int64_t n;
	double first, step;
};
int series_run(const void *with, float *const *buffers, int thread, int threads);

/* ONNX's ReverseSequence: of each batch the first `length` steps are turned round. Buffers: data,
 * lengths, result. -1: a length is none. */
struct reversal {
	int64_t batches, steps, inner; /* inner: elements behind both dimensions */
	int is_time_first;
};
int reversal_run(const void *with, float *const *buffers, int thread, int threads);

#endif
