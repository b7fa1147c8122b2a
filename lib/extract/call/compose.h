/* Parts of what other formats have as one operator, as several nodes of ONNX's.
 *
 * Values are indexes of the graph, -1: left out. A function that returns -1 made nothing, because
 * what it would have to know is not known; 0: the nodes are there.
 */
#ifndef TL_EXTRACT_CALL_COMPOSE_H
#define TL_EXTRACT_CALL_COMPOSE_H

#include "lib/extract/graph/build.h"

/* Joins n values along a dimension that is added to each. */
int compose_pack(struct build *b, const int *in, int n, int out, int64_t axis);
/* Splits into parts, of which the first n have values, and drops the dimension of 1 from each. */
void compose_unpack(struct build *b, int in, int64_t parts, const int *out, int n, int64_t axis);
/* Splits into equal parts, or parts of the sizes in `size` (-1: equal ones), of which the first n
 * have values. axis holds one integer. */
int compose_split(struct build *b, int data, int axis, int size, int64_t parts, const int *out,
		  int n);
/* Bit i of a mask is about entry i of the lists. */
struct compose_masks {
	int64_t begin, end, ellipsis, new_axis, shrink;
};
/* list: begin, end and step, which hold integers. */
int compose_strided_slice(struct build *b, int data, const int list[3], int out,
			  const struct compose_masks *m);
/* x * weights + bias: the bias (may be -1) is an addition of its own, as behind a MatMul of ONNX.
 */
void compose_linear(struct build *b, int x, int weights, int bias, int out, int is_transposed);
/* The one integer that a value holds. 0: it is not known. */
int compose_integer(const struct build *b, int value, int64_t *v);

#endif
