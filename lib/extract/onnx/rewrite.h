/* Operators that stand for several: those of the domains com.microsoft and com.microsoft.nchwc,
 * which onnxruntime's optimizer writes, and Attention of operator set 23. They become nodes of ONNX
 * with the same products and shapes, so that what follows knows only these.
 *
 * The nodes say what is computed of which shape, not every detail of how: masks, scales and scales
 * of quantized numbers are left out. So this is for graphs that are not run. In those that are run,
 * quantized operators and those that are fused become nodes, which say all (rewrite_linear.c,
 * rewrite_fused.c, rewrite_run_attention.c).
 */
#ifndef TL_EXTRACT_ONNX_REWRITE_H
#define TL_EXTRACT_ONNX_REWRITE_H

#include "lib/extract/graph/build.h"

/* Rewrites all nodes of a graph that is not linked yet. runs: it is to be run. */
void onnx_rewrite(struct graph *g, int runs);

/* Shared by the rewrite_*.c files. */
struct rewrite {
	struct build b;
	const struct graph_node *n; /* the node that is replaced */
	const struct rewrite_row *row;
	int64_t block; /* channels of com.microsoft.nchwc */
};

typedef void rewrite_fn(struct rewrite *r);

struct rewrite_row {
	const char *domain, *type;
	rewrite_fn *fn;
	const char *onnx;  /* what the function makes; NULL: it knows that itself */
	int channels_last; /* of its images */
};

/* Input and output i of the node, -1 if it is left out. */
int rewrite_in(const struct rewrite *r, int i);
int rewrite_out(const struct rewrite *r, int i);
/* An output, or, if it is left out, a value that nothing reads. */
int rewrite_made(struct rewrite *r, int i);
/* A value between the nodes; `what` makes its name. */
int rewrite_between(struct rewrite *r, const char *what);
/* A node named like the one that is replaced, and what it makes. */
struct graph_node *rewrite_node(struct rewrite *r, const char *type, const int *in, int nin,
				int out);
/* The node as it is. */
void rewrite_keep(struct rewrite *r);
/* A node of one input that makes a value between. */
int rewrite_one(struct rewrite *r, const char *type, int in, const char *what);
/* The node's attributes, but those whose names begin so. */
void rewrite_copy_attrs(struct rewrite *r, struct graph_node *n, const char *but);
/* Says of the product of a MatMulNBits, by a matrix of K rows, which groups its weights are in. */
void rewrite_say_groups(struct rewrite *r, struct graph_node *made);
/* Size `axis` of a value, as a list of one. */
int rewrite_size(struct rewrite *r, int of, int64_t axis);
/* The sum with an input, if it is given. */
int rewrite_plus(struct rewrite *r, int in, int addend);

/* rewrite_attention.c: batch x steps x (heads and their elements), to batch x heads x steps x
 * elements; and back, into the node's output. */
int rewrite_heads(struct rewrite *r, int in, int64_t heads);
void rewrite_from_heads(struct rewrite *r, int in);
/* Joins a and b along an axis. */
int rewrite_join(struct rewrite *r, int a, int b, int64_t axis, int out);
/* Three parts along an axis: equal ones, or of these sizes. */
void rewrite_split(struct rewrite *r, int in, int64_t axis, const int64_t *sizes, int out[3]);
/* Item i of the first dimension. */
int rewrite_item(struct rewrite *r, int in, int64_t i);
/* Tells a node from the others that one becomes. */
void rewrite_name_part(struct rewrite *r, struct graph_node *n, const char *what);

rewrite_fn rewrite_attention, rewrite_ms_attention, rewrite_multi_head, rewrite_group_query,
	rewrite_q_attention;
rewrite_fn rewrite_q_binary, rewrite_q_concat, rewrite_q_gemm, rewrite_q_pool, rewrite_q_conv,
	rewrite_dynamic_matmul, rewrite_dynamic_lstm, rewrite_matmul_to_float, rewrite_matmul_bits;
rewrite_fn rewrite_linear_binary, rewrite_linear_bits, rewrite_linear_concat, rewrite_linear_conv,
	rewrite_linear_gemm, rewrite_linear_matmul, rewrite_linear_softmax, rewrite_linear_unary,
	rewrite_linear_where, rewrite_integers,
	rewrite_dynamic_quantize;				 /* of graphs that are run */
rewrite_fn rewrite_gelu, rewrite_quick_gelu, rewrite_run_matmul; /* likewise */
rewrite_fn rewrite_run_attention, rewrite_run_multi_head, rewrite_run_group_query,
	rewrite_run_q_attention, rewrite_run_rotary; /* likewise */

#endif
