/* Functions that make the nodes of an operator; shared by operators.c and the convert_*.c files.
 *
 * onnx is the column of the table in operators.c: the type in ONNX, or what else the row says.
 */
#ifndef TL_EXTRACT_TENSORFLOW_CONVERT_H
#define TL_EXTRACT_TENSORFLOW_CONVERT_H

#include "lib/extract/tensorflow/tensorflow.h"

#define TENSORFLOW_DOMAIN "tensorflow" /* of nodes that are none of ONNX's */

typedef void convert_fn(const struct tensorflow_node *n, const char *onnx);

/* Input i, -1 if there is none. */
int convert_in(const struct tensorflow_node *n, int i);
/* Attributes; a text that is not there is empty. */
int64_t convert_int(const struct tensorflow_node *n, const char *name, int64_t otherwise);
float convert_real(const struct tensorflow_node *n, const char *name, float otherwise);
const char *convert_text(const struct tensorflow_node *n, const char *name);
/* A node with these inputs and the operator's outputs. */
struct graph_node *convert_node(const struct tensorflow_node *n, const char *type, const int *from,
				int count);
/* What ONNX has no counterpart for, in general or with these attributes. */
struct graph_node *convert_own(const struct tensorflow_node *n);
/* The same if a composition failed. */
void convert_unless(int failed, const struct tensorflow_node *n);

/* convert.c: as it is */
convert_fn convert_same, convert_each, convert_first;
/* convert_like.c: element by element */
convert_fn convert_square, convert_rsqrt, convert_error_function_complement, convert_log1p_of,
	convert_expm1_of, convert_zeros_or_ones, convert_relu6, convert_leaky_relu, convert_swish,
	convert_gelu, convert_softmax, convert_not_equal, convert_cast;
/* convert_window.c: convolutions, pools, and what pads and resizes images */
convert_fn convert_conv, convert_depthwise, convert_conv_transpose, convert_bias_add,
	convert_batch_norm, convert_pool, convert_pad, convert_resize, convert_blocks;
/* convert_matrix.c: products, reductions, recurrent networks */
convert_fn convert_matmul, convert_einsum, convert_weighing, convert_fused, convert_reduce,
	convert_arg;
/* convert_move.c: what moves elements, and lists of loops */
convert_fn convert_pass, convert_list_reserve, convert_list_item, convert_reshape, convert_squeeze,
	convert_concat, convert_pack, convert_unpack, convert_split, convert_slice,
	convert_strided_slice, convert_gather, convert_one_hot, convert_fill, convert_rank;

#endif
