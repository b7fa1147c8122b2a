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

#include "lib/extract/graph/formula.h"

/* Rewrites all nodes of a graph that is not linked yet. runs: it is to be run. */
void onnx_rewrite(struct graph *g, int runs);

/* Shared by the rewrite_*.c files. */
struct rewrite {
	struct build b;
	const struct graph_node *n; /* the node that is replaced */
	const char *onnx;	    /* what the row says that it becomes */
	int channels_last;
	int block; /* channels of com.microsoft.nchwc */
};

typedef void rewrite_fn(struct rewrite *r);

struct rewrite_row {
	const char *domain, *type;
	/* In graphs that are not run, and in those that are run, which have to say all that is
	 * computed: a function; if it is NULL, a formula. */
	struct rewrite_how {
		rewrite_fn *fn;
		const char *onnx;
	} how[2];
	int channels_last; /* of its images */
};

/* Input and output i of the node, -1 if it is left out. */
int rewrite_in(const struct rewrite *r, int i);
int rewrite_out(const struct rewrite *r, int i);
/* A value between the nodes; `what` makes its name. */
int rewrite_between(struct rewrite *r, const char *what);
/* Makes nodes that are named like the one that they replace (lib/extract/graph/formula.h). */
struct formula rewrite_formula(struct rewrite *r);
#define rewrite_make(r, ...) formula_build(rewrite_formula(r), __VA_ARGS__)
/* Keeps the node as it is. */
void rewrite_keep(struct rewrite *r);
/* Says of the product of a MatMulNBits, by a matrix of K rows, which groups its weights are in. */
void rewrite_say_groups(struct rewrite *r);
/* Size `axis` of a value, as a list of one. */
int rewrite_size(struct rewrite *r, int of, int axis);
/* Returns the sum with an addend, if that is there. */
int rewrite_plus(struct rewrite *r, int in, int addend);
/* The node's output as such a sum. What is added to has this name then: that of the output, if
 * there is nothing to add. */
const char *rewrite_product(int addend);
void rewrite_sum(struct rewrite *r, int product, int addend);
/* Joins inputs 2, 5, 8 and so on, or what part() makes of each, to a value of that name. */
int rewrite_concat(struct rewrite *r, int (*part)(struct rewrite *r, int i), const char *made);

/* rewrite_attention.c: batch x steps x (heads and their elements), to batch x heads x steps x
 * elements; and back, into the node's output. */
int rewrite_heads(struct rewrite *r, int in, int64_t heads);
void rewrite_from_heads(struct rewrite *r, int in);
/* Three parts along an axis: equal ones, or of these sizes. */
void rewrite_split(struct rewrite *r, int in, int axis, const int64_t *sizes, int out[3]);
/* Item i of the first dimension. */
int rewrite_item(struct rewrite *r, int in, int i);
/* Joins keys and values in a first dimension of 2. */
void rewrite_pair(struct rewrite *r, const int part[2], int out, const char *name);

rewrite_fn rewrite_attention, rewrite_ms_attention, rewrite_multi_head, rewrite_group_query,
	rewrite_q_attention;
rewrite_fn rewrite_q_concat, rewrite_q_pool, rewrite_q_conv, rewrite_dynamic_matmul,
	rewrite_dynamic_lstm, rewrite_matmul_to_float, rewrite_matmul_bits;
/* These are for graphs that are run. */
rewrite_fn rewrite_linear_bits, rewrite_linear_concat, rewrite_linear_conv, rewrite_linear_gemm,
	rewrite_linear_matmul, rewrite_linear_softmax, rewrite_linear_pool, rewrite_linear_unary,
	rewrite_integers, rewrite_dynamic_quantize;
rewrite_fn rewrite_quick_gelu, rewrite_run_matmul;
rewrite_fn rewrite_run_attention, rewrite_run_multi_head, rewrite_run_group_query,
	rewrite_run_q_attention, rewrite_run_rotary;

#endif
