/* Reals that whole numbers of few bits stand for, in groups that have a scale and maybe a zero
 * point each: (number - zero) * scale.
 *
 * com.microsoft's MatMulNBits has bytes of packed weights, columns x groups x bytes, each group in
 * as many bytes as `block` numbers take; the lowest bits of a byte come first. Its scales are
 * columns x groups. So are its zero points, which are reals or packed likewise, a column in whole
 * bytes. The last group may have fewer numbers. ONNX's DequantizeLinear has blocks along an axis.
 */
#ifndef TL_RUN_DEQUANTIZE_H
#define TL_RUN_DEQUANTIZE_H

#include <stdint.h>

struct dequantize_packed {
	int64_t rows, columns, block, groups;
	int bits; /* 2, 4 or 8 */
	int are_zeros_packed;
};

/* Bytes of a column of packed zero points, and of the numbers of a group. */
int64_t dequantize_zero_bytes(const struct dequantize_packed *p);
int64_t dequantize_group_bytes(const struct dequantize_packed *p);
/* The part of thread `thread` of `threads`. Buffers: bytes as floats, scales (NULL: numbers stand
 * for themselves), zero points (NULL: the middle of the numbers), result: rows x columns. */
int dequantize_packed_run(const void *with, float *const *buffers, int thread, int threads);

/* Scales, or packed zero points, in the order groups x columns. */
void dequantize_scales(const struct dequantize_packed *p, const float *scales, float *to);
void dequantize_zeros(const struct dequantize_packed *p, const float *bytes, float *to);

/* outer x extent x inner numbers; scales and zero points: outer x blocks x inner. */
struct dequantize_blocks {
	int64_t outer, extent, inner, block, blocks;
};

/* Likewise. Buffers: numbers, scales, zero points (NULL: 0), result. */
int dequantize_blocks_run(const void *with, float *const *buffers, int thread, int threads);

#endif
