/* Functions that make the nodes of an operation; shared by operators.c and the rewrite_*.c files.
 *
 * onnx is the column of the table in operators.c: the type in ONNX, or what else the row says.
 */
#ifndef TL_EXTRACT_TFLITE_REWRITE_H
#define TL_EXTRACT_TFLITE_REWRITE_H

#include "lib/extract/build.h"
#include "lib/extract/tflite/flat.h"

/* An operator as the file has it. Its inputs and outputs are values of the graph; -1: left out. */
struct operation {
	const char *type;
	struct flat *flat;
	uint64_t options; /* its table of options; 0: none */
	int *in, nin, *out, nout;
};

/* Adds the nodes that the operation becomes. */
void rewrite_operation(struct build *b, const struct operation *o);
/* The name of a builtin operator; "an operator of a newer schema" if there is none of that number.
 */
const char *operator_name(int64_t code);

typedef void rewrite_fn(struct build *b, const struct operation *o, const char *onnx);

#define TFLITE_DOMAIN "tflite" /* of nodes that are none of ONNX's */

/* What ONNX has no counterpart for, in general or with these options. */
struct graph_node *rewrite_own(struct build *b, const struct operation *o);

/* rewrite_window.c: convolutions, pools, and what pads and resizes images */
rewrite_fn rewrite_conv, rewrite_conv_transpose, rewrite_custom_transpose, rewrite_pool,
	rewrite_pad, rewrite_resize, rewrite_blocks;
/* rewrite_matrix.c: products, reductions, recurrent networks */
rewrite_fn rewrite_fully_connected, rewrite_batch_matmul, rewrite_reduce, rewrite_arg,
	rewrite_recurrent, rewrite_weighing;
/* rewrite_like.c: element by element */
rewrite_fn rewrite_same, rewrite_square, rewrite_rsqrt, rewrite_not_equal, rewrite_clip,
	rewrite_leaky_relu, rewrite_gelu, rewrite_cast, rewrite_dequantize, rewrite_quantize;
/* rewrite_move.c: what moves elements, picks some, or makes them of sizes */
rewrite_fn rewrite_concatenation, rewrite_pack, rewrite_unpack, rewrite_split, rewrite_split_v,
	rewrite_reshape, rewrite_squeeze, rewrite_slice, rewrite_strided_slice, rewrite_gather,
	rewrite_embedding, rewrite_fill, rewrite_rank, rewrite_one_hot;

/* Input or output i of the operation, -1 if there is none. */
static inline int rewrite_in(const struct operation *o, int i)
{
	return i < o->nin ? o->in[i] : -1;
}

static inline int rewrite_out(const struct operation *o, int i)
{
	return i < o->nout ? o->out[i] : -1;
}

#endif
