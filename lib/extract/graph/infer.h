/* Shape inference: the shape of every value of a graph, and the elements of the small integer
 * tensors that shapes are computed from (Shape -> Gather -> Concat -> Reshape and the like).
 *
 * Operators are rows of operators.def; their functions are in infer_window.c (what slides a
 * window), infer_image.c (what pads, resizes and rearranges images), infer_matrix.c (products,
 * reductions, recurrent networks), infer_einsum.c, infer_move.c and infer_pick.c
 * (what only moves elements, or picks some), infer_make.c (constants and sizes), infer_like.c (what
 * keeps or broadcasts shapes), infer_sequence.c (lists of tensors), infer_body.c, infer_loop.c and
 * infer_scan.c (graphs inside), infer_signal.c (what is rare), fold.c and fold_move.c (arithmetic
 * on elements). A function sets what it can and leaves the rest unknown; -1 is for a graph that
 * contradicts itself. An operator without a row leaves its outputs unknown, unless the file
 * declares them, and everything that depends on them carries its type as blame.
 *
 * Inputs: --shape wins; then a fixed dimension of the file; then the size of its symbol, which
 * --dim gives, or --shape of another input. A symbol that is named like a batch, or else an open
 * first dimension, is the batch: --dim batch=N or --batch give it, and it is 1 without them.
 * --batch also replaces a fixed first dimension of inputs of rank 2 and more. Other symbols stay
 * unknown. What a symbol means in an input, it means wherever the file declares a shape with it.
 */
#ifndef TL_EXTRACT_GRAPH_INFER_H
#define TL_EXTRACT_GRAPH_INFER_H

#include <stdint.h>

#include "lib/extract/graph/graph.h"
#include "lib/extract/graph/symbol.h"

struct dim_size { /* --dim NAME=SIZE */
	char *name;
	int64_t size;
	int used;
};

struct input_shape { /* --shape NAME:1,3,224,224 */
	char *name;
	struct shape shape;
	int used;
};

struct infer_options {
	int64_t batch; /* 0: not given */
	struct input_shape *shape;
	int nshape;
	struct dim_size *dim;
	int ndim;
};

struct infer {
	struct graph *g;
	const struct infer_options *options;
	int64_t opset;
	int64_t kept;	/* elements, of all values */
	int64_t walked; /* nodes and values of graphs inside */
	int64_t turn;	/* of the loops around that are followed, together; 0: the first */
	int is_split;	/* in the innermost of them an If chose another branch than before */
	/* An option replaced a fixed size, so the shapes that the file declares no longer hold. */
	int reshaped;
	struct map symbols; /* those that have a size: name -> int64_t * */
	struct map unknown; /* operator types without a row -> count */
	struct map open;    /* dimensions of inputs without a size or a name */
	struct map unsized; /* symbols without a size */
	struct map assumed; /* dimensions that are taken for a batch of 1 */
};

int infer_run(struct infer *x, struct graph *g, int64_t opset, const struct infer_options *o,
	      struct err *e);
void infer_free(struct infer *x);
/* What the command line says of sizes, before it is read: --batch (-1: not given), and the texts of
 * --shape, such as "name:1,3,224,224", and of --dim, such as "seq=128". */
struct infer_words {
	int64_t batch;
	const char *const *shape, *const *dim;
	int nshape, ndim;
};
/* -1 with the status of a wrong command line. infer_options_free() in any case. */
int infer_options_read(struct infer_options *o, const struct infer_words *w, struct err *e);
/* Calls say with each name of --shape or --dim that no input had so far; what: "input" or "open
 * dimension". */
void infer_options_unused(const struct infer_options *o,
			  void (*say)(const char *what, const char *name));
void infer_options_free(struct infer_options *o);
/* Returns the shape that --shape gives an input (NULL: none), and the size that --dim gives a name
 * (DIM_UNKNOWN: none). Both mark it as used. */
struct input_shape *infer_given_shape(const struct infer_options *o, const char *name);
int64_t infer_given_dim(const struct infer_options *o, const char *name);

/* A rule for an operator, whose first input is `in` (NULL: it is left out). 1: its first output has
 * the shape that is made, which at first is that of the input; 0: it has set what it could; -1. */
typedef int infer_fn(struct infer *x, const struct graph_node *n, const struct value *in,
		     struct shape *made, struct err *e);
#define INFER_UNUSED __attribute__((unused))
#define INFER(rule)                                                                                \
	int infer_##rule(struct infer *x INFER_UNUSED, const struct graph_node *n INFER_UNUSED,    \
			 const struct value *in INFER_UNUSED, struct shape *made INFER_UNUSED,     \
			 struct err *e INFER_UNUSED)

/* The geometry of a sliding window, resolved: explicit or automatic padding, defaults filled in. */
struct window {
	int rank; /* spatial dimensions */
	int64_t in[GRAPH_MAX_RANK], kernel[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK];
	int64_t dilation[GRAPH_MAX_RANK];		       /* 1: none */
	int64_t before[GRAPH_MAX_RANK], after[GRAPH_MAX_RANK]; /* padding */
	int64_t out[GRAPH_MAX_RANK];
};
/* Finds the window of a node over data of shape s with the kernel given; -1: it contradicts itself.
 * Unknown sizes stay unknown. */
int window_resolve(const struct graph *g, const struct graph_node *n, const struct shape *s,
		   const int64_t *kernel, struct window *w, struct err *e);
/* The same of a transposed convolution: `out` is its output, padding is what is cut off there. */
int window_transposed(const struct graph *g, const struct graph_node *n, const struct shape *s,
		      const int64_t *kernel, struct window *w, struct err *e);

/* Shared by the infer_*.c files. */
/* Finds the type and shape of what a node makes. */
int infer_node(struct infer *x, const struct graph_node *n, struct err *e);
/* Does the same in the graphs inside a node, where the reader told how often they run. */
int infer_told_bodies(struct infer *x, const struct graph_node *n, struct err *e);
int infer_bad(const struct infer *x, const struct graph_node *n, struct err *e, const char *fmt,
	      ...) __attribute__((format(printf, 4, 5)));
/* Sets the shape of output i; refuses absurd ones. */
int infer_set(struct infer *x, const struct graph_node *n, int i, const struct shape *s,
	      struct err *e);
/* Sets the type of its elements. */
void infer_elem(struct infer *x, const struct graph_node *n, int i, int elem);
/* More than 2^40 elements, or a negative size. */
int infer_absurd(const struct shape *s);
/* Says that an input is missing. Returns -1. */
int infer_lacks(const struct infer *x, const struct graph_node *n, struct err *e);
/* The integer of an attribute that the standard requires; -1: it is not there. */
int infer_required(const struct infer *x, const struct graph_node *n, const char *attr, int64_t *v,
		   struct err *e);
/* Makes a shape of that rank with nothing else known; of unknown rank if it is out of range.
 * Returns 1, as rules do. */
int infer_open(struct shape *s, int64_t rank);
/* Counts key in a map of int64_t *. */
void infer_count(struct map *m, struct arena *a, const char *key);
int infer_inputs(struct infer *x, struct err *e);
/* Gives parameters whose shapes the file does not tell those that follow from the data. */
void infer_parameters(struct infer *x, const struct graph_node *n);
/* First element and count of start:end:step over a dimension, as Python counts. */
void infer_slice_range(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *first,
		       int64_t *count);
/* Numpy's broadcasting of b onto a. */
int infer_broadcast(struct infer *x, const struct graph_node *n, struct shape *a,
		    const struct shape *b, struct err *e);
/* An axis counted from the end if negative; -1 if there is none such. */
int infer_axis(int64_t axis, int rank);
/* An integer list given as attribute or as input i. 1: given and known (n, v); 0: not given; -1:
 * given but unknown. */
int infer_list(const struct graph *g, const struct graph_node *n, const char *attr, int i,
	       int *count, const int64_t **v);
/* The one integer of input i. 1; 0: it is left out; -1: it is not known, or not one. */
int infer_one(const struct graph *g, const struct graph_node *n, int i, int64_t *v);
/* The item of a list that input i counts, from the end if negative; otherwise where it is left out.
 * -1: it is not known, or not there. */
int64_t infer_place(const struct graph *g, const struct graph_node *n, int i, int64_t count,
		    int64_t otherwise);
/* The length of a frame of an STFT; DIM_UNKNOWN: it is not known. */
int64_t infer_frame(const struct graph *g, const struct graph_node *n);
/* Factor i of `rank` ones of a Resize or Upsample: the one given, or the one that sizes share. 1;
 * 0: it is not given, or not known. */
int infer_resize_factor(const struct graph *g, const struct graph_node *n, int64_t opset, int rank,
			int i, double *out);
/* How many items a run has told that a node makes; DIM_UNKNOWN: none has. */
int64_t infer_told(const struct infer *x, const struct graph_node *n);
/* Room for the elements of output i, whose shape is set; NULL if they are too many or unknown. */
union scalar *infer_keep(struct infer *x, const struct graph_node *n, int i);
/* Elements of output i, whose shape is set, as a strided view of those of from, if these are known:
 * element (a, b, ..) is from[offset + a*stride[0] ..] */
void infer_view(struct infer *x, const struct graph_node *n, int i, const struct value *from,
		int64_t offset, const int64_t *stride);
/* All are 0 of a shape that is not known. */
void infer_strides(const struct shape *s, int64_t *stride);
/* The strides of an input in the output that it is broadcast to: 0 along other dimensions. -1: it
 * is no broadcast. */
int infer_wide_strides(const struct shape *in, const struct shape *out, int64_t *stride);
/* Computes the elements of output 0 of an element-wise operator, if it can (fold.c). */
void fold_elementwise(struct infer *x, const struct graph_node *n);
/* The same for other operators (fold_move.c). Their shapes are set. Only that of NonZero follows
 * from elements: 1 if it could be told, 0, or -1. */
void fold_reduce(struct infer *x, const struct graph_node *n, const char *reduced);
void fold_tile(struct infer *x, const struct graph_node *n);
void fold_tuples(struct infer *x, const struct graph_node *n);
void fold_elements(struct infer *x, const struct graph_node *n);
void fold_cumsum(struct infer *x, const struct graph_node *n);
int fold_non_zero(struct infer *x, const struct graph_node *n, struct err *e);

/* The rules that the catalogue names. The inputs that a row asks for are there. */
#define OPERATOR(name, elements, inputs, shape, task) infer_fn infer_##shape;
#include "lib/extract/graph/operators.def"
#undef OPERATOR

/* Shapes of the operands of a MatMul, as it multiplies them: transA and transB say which are given
 * transposed, transBatchA and transBatchB of which the rows come before the batch (not in ONNX). */
void infer_operands(const struct graph_node *n, struct shape *a, struct shape *b);

/* Einsum "ij,jk->ik" with the sizes of its letters; multiply-adds are the product of all sizes. The
 * dimensions of an ellipsis are letters too, with codes 1 to 12. */
struct einsum {
	int64_t size[128];
	char used[128];
	char equation[256];
	char out[GRAPH_MAX_RANK + 1];
};
int einsum_resolve(const struct graph *g, const struct graph_node *n, struct einsum *s);

#endif
