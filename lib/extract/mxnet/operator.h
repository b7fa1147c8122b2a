/* Functions that make the nodes of an operator of MXNet; shared by operators.c and the
 * operators_*.c files. onnx is the column of the table in operators.c. -1: nothing was made, for
 * ONNX has no counterpart; the operator then stands in the graph by its own name.
 */
#ifndef TL_EXTRACT_MXNET_OPERATOR_H
#define TL_EXTRACT_MXNET_OPERATOR_H

#include "lib/extract/mxnet/mxnet.h"

#define MXNET_DOMAIN "mxnet" /* of nodes that are none of ONNX's */

typedef int mx_fn(const struct mx_op *o, const char *onnx);

/* Attributes, which are texts in Python's form: "(1, 1)", "True", "None". mx_ints: how many there
 * are, -1: no list; INT_UNKNOWN for None. A number is a list of one. */
const char *mx_text(const struct mx_op *o, const char *key, const char *otherwise);
int mx_is(const struct mx_op *o, const char *key, const char *word);
int mx_flag(const struct mx_op *o, const char *key, int otherwise);
int64_t mx_int(const struct mx_op *o, const char *key, int64_t otherwise);
double mx_real(const struct mx_op *o, const char *key, double otherwise);
int mx_ints(const struct mx_op *o, const char *key, int64_t v[GRAPH_MAX_RANK]);
/* The same of a text. */
int mx_list(const char *text, int64_t v[GRAPH_MAX_RANK]);
/* The type of an attribute: a name, or a number of MXNet's. */
int mx_elem(const char *text, int otherwise);

/* A value between the nodes that an operator becomes, "NAME/WHAT". */
int mx_part(const struct mx_op *o, const char *what);
/* A node that makes output 0 out of n inputs. */
struct graph_node *mx_node(const struct mx_op *o, const char *type, const int *in, int n);
/* A node that makes a new value out of one. */
struct graph_node *mx_step(const struct mx_op *o, const char *type, int in, int *out);
/* The value reshaped, by codes of MXNet's Reshape, to a given value or to a new one, which is
 * returned; and permuted. */
int mx_reshape_to(const struct mx_op *o, int in, const int64_t *codes, int n, int is_backward,
		  int out);
int mx_reshape(const struct mx_op *o, int in, const int64_t *codes, int n);
int mx_transpose(const struct mx_op *o, int in, const int64_t *perm, int n);

mx_fn mx_conv, mx_deformable, mx_deconv, mx_pool, mx_adaptive_pool, mx_upsample, mx_bilinear,
	mx_pad, mx_crop, mx_regions, mx_blocks; /* operators_window.c */
mx_fn mx_dense, mx_dot, mx_gemm, mx_embedding, mx_recurrent, mx_self_scores, mx_self_sum,
	mx_cross_scores, mx_cross_sum; /* operators_matrix.c */
mx_fn mx_reshape_codes, mx_reshape_like, mx_flatten, mx_permute, mx_swap, mx_expand_dims,
	mx_squeeze, mx_concat, mx_stack, mx_split, mx_split_at, mx_slice, mx_slice_axis,
	mx_slice_like, mx_broadcast_to, mx_broadcast_axis, mx_broadcast_like, mx_tile, mx_repeat,
	mx_take, mx_gather_nd, mx_one_hot, mx_top, mx_range, mx_range_like,
	mx_filled; /* operators_move.c */
mx_fn mx_same, mx_first, mx_chain, mx_where, mx_square, mx_scalar, mx_scalar_left, mx_clip,
	mx_activation, mx_leaky, mx_hard_sigmoid, mx_softmax, mx_softmax_output, mx_batch_norm,
	mx_layer_norm, mx_reduce, mx_norm, mx_arg, mx_cast, mx_cast_all,
	mx_quantize; /* operators_like.c */

/* An operator of no row, by its name alone: functions of one element, or of two. */
int mx_element_wise(const struct mx_op *o);

#endif
