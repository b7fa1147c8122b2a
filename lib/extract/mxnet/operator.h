/* Functions that make the nodes of an operator of MXNet; shared by operators.c and the
 * operators_*.c files. A node that is made with call_node() makes the first of the results;
 * mx_made() says how many there are.
 */
#ifndef TL_EXTRACT_MXNET_OPERATOR_H
#define TL_EXTRACT_MXNET_OPERATOR_H

#include "lib/extract/mxnet/mxnet.h"

/* Attributes are texts in Python's form: "(1, 1)", "True", "None". A number is a list of one, and
 * None in a list is INT_UNKNOWN. */
extern const struct call_reader mx_reader;
const char *mx_text(const struct call *o, const char *key, const char *otherwise);
/* The list in a text: how many there are, -1: none. */
int mx_list(const char *text, int64_t v[GRAPH_MAX_RANK]);
/* The type of an attribute: a name, or a number of MXNet's. */
int mx_elem(const char *text, int otherwise);

/* How many results the operator has. */
static inline int mx_made(const struct call *o)
{
	return ((const struct mx_node *)o->at)->nout;
}

/* A value between the nodes that an operator becomes, "NAME/WHAT". */
int mx_part(const struct call *o, const char *what);
/* A node that makes a new value out of one. */
struct graph_node *mx_step(const struct call *o, const char *type, int in, int *out);
/* The value reshaped, by codes of MXNet's Reshape, to a given value or to a new one, which is
 * returned; and permuted. */
int mx_reshape_to(const struct call *o, int in, const int64_t *codes, int n, int is_backward,
		  int out);
int mx_reshape(const struct call *o, int in, const int64_t *codes, int n);
int mx_transpose(const struct call *o, int in, const int64_t *perm, int n);

call_fn mx_conv, mx_deformable, mx_deconv, mx_pool, mx_adaptive_pool, mx_upsample, mx_bilinear,
	mx_pad, mx_crop, mx_regions; /* operators_window.c */
call_fn mx_dense, mx_dot, mx_gemm, mx_embedding, mx_recurrent, mx_self_scores, mx_self_sum,
	mx_cross_scores, mx_cross_sum; /* operators_matrix.c */
call_fn mx_reshape_codes, mx_reshape_like, mx_split, mx_split_at, mx_slice, mx_slice_axis,
	mx_slice_like, mx_broadcast_to, mx_broadcast_axis, mx_broadcast_like, mx_tile, mx_repeat,
	mx_take, mx_gather_nd, mx_one_hot, mx_top, mx_range, mx_range_like,
	mx_filled; /* operators_move.c */
call_fn mx_chain, mx_scalar, mx_scalar_left, mx_activation, mx_leaky, mx_softmax_output,
	mx_batch_norm, mx_reduce, mx_norm, mx_arg, mx_cast, mx_cast_all,
	mx_quantize; /* operators_like.c */

/* An operator of no row, by its name alone: functions of one element, or of two. */
int mx_element_wise(const struct call *o);

#endif
