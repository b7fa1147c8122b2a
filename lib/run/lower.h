/* Lowering: a graph with known shapes becomes the steps of a plan (plan.h).
 *
 * Nodes are lowered in topological order. Convolutions and matrix products become kernels of
 * workloads, together with the nodes that were fused into them (lib/extract/task/task.h). Views
 * (reshape, transpose, slice) move nothing. Element-wise nodes wait as expressions until their
 * elements are needed, so that chains of them are one nest. The parts of a concatenation are
 * written to their final place, also if a part is a concatenation itself. An operator is a row of
 * the table in lower.c and a function in one of the lower_*.c files.
 *
 * Images have their channels last, as convolutions need them. If a node needs another order, a copy
 * is made.
 *
 * Lowering (lower.h) goes through the graph that lib/extract/ has read, shaped and fused, and adds
 * steps to a plan. A node with multiply-adds becomes the kernel of a workload, with the same bytes
 * that were tuned. Everything else is a nest that is made on the spot. The same target prints and
 * builds it, and the same cache keeps it: pointwise expressions (pointwise.h), rows (rows.h:
 * softmax, normalization, reductions) and pools (pool.h). Steps of plain C (struct plain in
 * plan.h) compute functions that are rare, or that depend on data in a way that nests cannot
 * express: gathering (gather.h), comparisons, choice and other functions of scalars (scalar.h),
 * functions of rows (lines.h), elements picked by a table of each dimension (picks.h), images of
 * another size (resize.h, resample.h) or at other places (sample.h), pools of any rank (windows.h),
 * regions of images (regions.h), what the data say how much it is (counted.h, suppress.h),
 * convolutions tap by tap (taps.h), images out of columns (columns.h), sums of products by letters
 * (contract.h), attention (attend.h), the steps of recurrent networks (recurrent.h). A node whose
 * operands are dense is one call of lower_plain().
 *
 * Attributes (lower_attributes.c). node_attr() marks each attribute that it gives. Lowering begins
 * without marks, and at its end refuses a node that has an attribute without one, by name. So an
 * attribute that the code does not read is an error, but for a short list of those that only shape
 * the result, which inference has read, or that change nothing. tl-extract looks at no marks.
 */
#ifndef TL_RUN_LOWER_H
#define TL_RUN_LOWER_H

#include "lib/extract/graph/infer.h"
#include "lib/extract/task/task.h"
#include "lib/run/choose.h"
#include "lib/run/pointwise.h"
#include "lib/run/plan.h"

struct lowering {
	struct graph *g;
	struct plan *p;
	struct chooser *chooser;
	const uint64_t *seed; /* of random weights; NULL: the file's */
	int lanes;
	int64_t opset;

	/* By value: */
	struct place *place;	    /* where it is; memory is MEMORY_NONE before it is made */
	struct place *want;	    /* where it is to be made, likewise */
	struct pointwise **waiting; /* the expression of one that was not needed yet */
	enum elem *elem;	    /* what it is made in, by what can make elements of any type */
	/* By node: */
	unsigned char *absorbed; /* it is part of another one */
	int *task;		 /* the task whose last node it is, or -1 */
	int *norm;		 /* likewise of a normalization (lower_norm.c) */
	/* Its task took it from behind views: the value that it reads, which is its result, too;
	 * or -1. */
	int *behind;
	struct place *whole; /* of a Concat: where it puts its parts together */
	struct task *tasks;
	enum elem *computes; /* by task: what its sources and weights are */
	int ntasks;
	struct norm *norms;
	int nnorms;
	/* Copies in other orders that were made already. */
	struct copy {
		struct place from, to;
	} * copy;
	int ncopies, copy_cap;
	struct made_table *table; /* lower_table.c */
	int ntables, table_cap;
};

/* Makes the steps. inputs[i], outputs[i]: the memory of the graph's i-th input and output, in the
 * order of its values, row-major; the arrays are the arena's of the plan. */
struct graph_io {
	int ninputs, noutputs;
	int *input, *output;	   /* values */
	int *input_at, *output_at; /* memory */
};
int lower_graph(struct graph *g, int64_t opset, struct plan *p, struct chooser *c,
		const uint64_t *seed, struct graph_io *io, struct err *e);

/* ---- for the lower_*.c files ---- */

typedef int lower_fn(struct lowering *l, const struct graph_node *n, struct err *e);

/* "NODE (TYPE) ...": a sentence about a node. Returns -1. */
/* Says why an operator without a row in the table is refused. Returns -1. */
int lower_refuse(const struct lowering *l, const struct graph_node *n, struct err *e);
int lower_bad(const struct lowering *l, const struct graph_node *n, struct err *e, const char *fmt,
	      ...) __attribute__((format(printf, 4, 5)));
/* Are the inputs and the output there that its operator cannot be without (lower_operands.c)? */
int lower_check_operands(const struct lowering *l, const struct graph_node *n, struct err *e);
/* Where a value is, in single precision; its expression is computed now, if it waits. */
int lower_get(struct lowering *l, int value, struct place *out, struct err *e);
/* The same for readers of elements of any type: as it was made. */
int lower_get_made(struct lowering *l, int value, struct place *out, struct err *e);
/* In single precision without gaps in an order (NULL: row-major), by a copy if need be. */
int lower_get_dense(struct lowering *l, int value, const int *order, struct place *out,
		    struct err *e);
/* What a value is dequantized from is put into an order first: bytes are moved more quickly than
 * reals. Other values stay as they are. */
void lower_arrange(struct lowering *l, int value, const int *order);
void lower_dense(struct lowering *l, const struct place *from, const int *order, const char *name,
		 struct place *out);
/* The same with elements of this type. */
void lower_dense_as(struct lowering *l, const struct place *from, const int *order, enum elem elem,
		    const char *name, struct place *out);
/* Makes a constant value, row-major; no step makes it. */
int lower_constant_value(struct lowering *l, int value, struct err *e);
/* Where a value of rank 4 is, or a copy of it: channels are dense, pixels, rows and images follow
 * each other, maybe with gaps between pixels. One of rank 3 is seen as an image of one row. */
int lower_get_image(struct lowering *l, int value, struct place *out, struct err *e);
int lower_get_image_made(struct lowering *l, int value, struct place *out, struct err *e);
/* A place of that kind for an output, with elements of this type. If it is wanted elsewhere in
 * another form, it goes there by a copy. */
int lower_new_image(struct lowering *l, int value, enum elem elem, struct place *out,
		    struct err *e);
/* The dimensions of a value as a place without memory. */
int lower_shape(const struct lowering *l, int value, struct place *out, struct err *e);
/* New memory for a place whose dimensions and strides are set: in single precision, or in a type.
 */
void lower_room(struct lowering *l, struct place *p);
void lower_room_as(struct lowering *l, struct place *p, enum elem elem);
/* Where output `value` goes, in single precision: where it is wanted, else new memory in that
 * order. */
int lower_new(struct lowering *l, int value, const int *order, struct place *out, struct err *e);
void lower_put(struct lowering *l, int value, const struct place *p);
/* A pointwise nest as a step. Its result's place has memory. */
int lower_pointwise(struct lowering *l, const struct pointwise *m, const char *name,
		    const char *what, struct err *e);
/* Reads a value as an operand of m, whose dimensions are set, and leaves room for so many operands
 * and operations more: an operation's number, -1, or LOWER_NO_ROOM without a sentence. */
enum { LOWER_NO_ROOM = -2 };
int lower_operand(struct lowering *l, struct pointwise *m, int value, int inputs, int ops,
		  struct err *e);
/* Computes an expression, in the order of the first operand that has all the elements. It goes
 * where `value` is wanted, or for -1 into new memory; m->out tells. */
int lower_compute(struct lowering *l, struct pointwise *m, int value, const char *name,
		  const char *what, struct err *e);
/* A constant of one element. 1; 0: it is none. */
int lower_number(const struct lowering *l, int value, double *x);

/* lower_types.c: what is computed and made in which type; the tasks must be known. */
void lower_find_types(struct lowering *l);
/* A place with elements of this type: as it is, or a copy that was converted. */
void lower_as(struct lowering *l, const struct place *from, enum elem elem, const char *name,
	      struct place *out);
/* Is there an algorithm for the workload on this machine? */
int lower_is_computed(const struct lowering *l, const struct workload *w);
/* The task's workload with such sources and weights, and such a result. */
int lower_workload(const struct task *t, enum elem in, enum elem out, struct workload *w,
		   struct err *e);

/* lower_task.c; and the product of a task in single precision, of other matrices than its node's
 * inputs: x, and weights whose columns are the rows of `weights`. */
int lower_task(struct lowering *l, const struct task *t, struct err *e);
int lower_product(struct lowering *l, const struct graph_node *n, const struct task *t,
		  const struct place *x, const struct place *weights, struct place *out,
		  struct err *e);

/* lower_dequantize.c: the numbers of a DequantizePacked, which are the arena's of the plan; NULL
 * with a sentence. And a product of reals whose weights are such becomes one that reads them as
 * they are, if an algorithm can; their node is part of it then. */
const struct dequantize_packed *lower_packed(struct lowering *l, const struct graph_node *n,
					     struct err *e);
void lower_pack_task(struct lowering *l, struct task *t);

/* lower_transposed.c computes transposed convolutions that are tasks. It makes the weights of the
 * workload; says in which type its result is made, where `out` is the image's; makes room for that
 * result; and makes the image of it. */
int lower_phases_weights(struct lowering *l, const struct graph_node *n,
			 const struct task_phases *p, struct place *out, struct err *e);
enum elem lower_phases_elem(const struct task_phases *p, enum elem out);
void lower_phases_room(struct lowering *l, const struct task_phases *p, int64_t images,
		       int64_t channels, enum elem elem, struct place *out);
int lower_phases_image(struct lowering *l, const struct task *t, const struct task_phases *p,
		       const struct place *made, struct err *e);

/* lower_volume.c: the source and the weights of a convolution over three dimensions that is
 * computed as one over two, in a type. */
int lower_volume_source(struct lowering *l, const struct task_volume *v, int value, enum elem elem,
			struct place *out, struct err *e);
int lower_volume_weights(struct lowering *l, const struct task_volume *v, int value, enum elem elem,
			 struct place *out, struct err *e);

/* lower_norm.c: a normalization that is written out in nodes. */
struct norm {
	int last;		     /* node */
	int from, scale, shift, out; /* values */
	int is_rms;
	double epsilon;
};
void lower_find_norms(struct lowering *l);
int lower_norm(struct lowering *l, const struct norm *m, struct err *e);

/* lower_pool.c: the Pad of zeros that makes the padding of a pool, if the pool counts padding as
 * elements; and its size on each side. NULL: there is none. */
const struct graph_node *lower_pad_of(const struct lowering *l, const struct graph_node *pool,
				      const int64_t **pads);
/* Is a Pad only the padding of pools, for all its readers? */
int lower_is_pool_padding(const struct lowering *l, const struct graph_node *pad);

/* lower_plain.c: the node as one step of plain C over its inputs 0 to inputs - 1, which makes
 * output `out`; all are dense and row-major. The buffer of an input that is left out is NULL. */
enum { PLAIN_INPUTS = 16 };
int lower_plain(struct lowering *l, const struct graph_node *n, const struct plain *c, int inputs,
		int out, struct err *e);

/* Is a reduction over these dimensions the mean of each channel of an image? And its step. */
int lower_is_image_mean(const struct lowering *l, const struct graph_node *n,
			const unsigned char *marked);
int lower_image_mean(struct lowering *l, const struct graph_node *n, struct err *e);

/* lower_pointwise.c: the axis of a sum or mean of so few elements along it that lie apart that it
 * is an expression of them, which waits as the node's output; and -1. */
int lower_few_axis(const struct lowering *l, const struct graph_node *n,
		   const unsigned char *marked);
int lower_few(struct lowering *l, const struct graph_node *n, int axis, struct err *e);

/* lower_counted.c: does its operator make as many items as its data say? */
int lower_is_counted(const struct graph_node *n);

/* lower_rows.c: the order in which the dimensions marked come last. */
void lower_marked_last(int rank, const unsigned char *marked, int order[PLACE_RANK]);
/* A reduction over the dimensions marked. */
int lower_reduce_marked(struct lowering *l, const struct graph_node *n, const unsigned char *marked,
			struct err *e);
/* lower_quantize.c: the type of memory for a value of 8 bits; ELEM_F32 for others. */
enum elem lower_bytes(int elem);
/* The waiting expression of a value that is dequantized from memory of 8 bits, in known units of
 * the whole tensor; NULL: it is none. And an output that is another place in the same units. */
const struct pointwise *lower_dequantized(const struct lowering *l, int value);
void lower_put_dequantized(struct lowering *l, int value, const struct pointwise *like,
			   const struct place *from);
/* lower_table.c: computes an expression of bytes by a table, if it is a function of one of them: 1;
 * 0: it is none. And leaves out the tables that nobody reads, behind all. */
int lower_table(struct lowering *l, const struct pointwise *m, const char *name, const char *what,
		struct err *e);
void lower_leave_tables(struct lowering *l);
/* lower_scalar.c: the axis of QuantizeLinear and DequantizeLinear, -1: there is none. Their input
 * i, one number or a vector along the axis, as an operand of the shape. */
int lower_quantized_axis(const struct lowering *l, const struct graph_node *n, int rank,
			 struct err *e);
int lower_along_axis(struct lowering *l, const struct graph_node *n, int i, int axis,
		     const struct place *shape, struct place *out, struct err *e);

/* lower_lines.c: output `out` by a function of lines.h over rows of the dimensions marked of input
 * 0. param: LINES_PARAMS numbers. */
int lower_lines(struct lowering *l, const struct graph_node *n, const char *function,
		const unsigned char *marked, const double *param, int out, struct err *e);

/* lower_picks.c: the node's output by index[i][k], the index along dimension i of `from` that index
 * k of the output means, or -1 for `fill`. The tables are the arena's, and are changed. */
int lower_picks(struct lowering *l, const struct graph_node *n, const struct place *from,
		int64_t *const index[PLACE_RANK], double fill, struct err *e);
/* A Slice by the first index and the step of each dimension. */
int lower_slice_picks(struct lowering *l, const struct graph_node *n, const struct place *from,
		      const int64_t *first, const int64_t *step, struct err *e);
/* A Pad by what it adds before each dimension. */
int lower_pad_picks(struct lowering *l, const struct graph_node *n, const struct place *from,
		    const int64_t *before, double fill, struct err *e);

/* lower_einsum.c: the sides of an Einsum that is a product, as batch x rows x sum and batch x sum x
 * columns. left: the operand that has the rows. order: that of the result's dimensions in what the
 * product makes. */
int lower_einsum_sides(struct lowering *l, const struct graph_node *n, int left,
		       struct place side[2], int order[PLACE_RANK], struct err *e);

/* Are all outputs of a node known, so that nothing is to be done? */
int lower_is_done(const struct lowering *l, const struct graph_node *n);
/* Have all its outputs that somebody needs no elements? */
int lower_is_empty(const struct lowering *l, const struct graph_node *n);

/* lower_attributes.c. Before all: no attribute is taken yet; what trains is refused. Behind all: an
 * attribute that nobody took is refused by name. */
int lower_begin_attributes(struct lowering *l, struct err *e);
int lower_left_attributes(const struct lowering *l, struct err *e);

/* lower_concat.c */
int lower_plan_concats(struct lowering *l, struct err *e);

/* lower_scalar.c: the node by a function of scalar.h, with its parameter. */
int lower_by(struct lowering *l, const struct graph_node *n, const char *function, double a,
	     struct err *e);
/* Its first output, once more by a function of one operand. bad: what NaN means; NULL: NaN. */
int lower_again(struct lowering *l, const struct graph_node *n, const char *function, double a,
		const char *bad, struct err *e);
/* lower_integer.c. The first output, whole numbers of so many bits (negative: with a sign), is
 * refused when it runs if floats do not hold it. */
int lower_exact(struct lowering *l, const struct graph_node *n, int bits, struct err *e);
/* Refuses a node that counts, or numbers, more elements than floats tell from each other. */
int lower_countable(const struct lowering *l, const struct graph_node *n, int64_t elements,
		    struct err *e);
/* Applies the rules of integers to what a node has computed: narrow ones wrap around, and wide ones
 * are refused when they run if floats do not hold them. */
int lower_wrap(struct lowering *l, const struct graph_node *n, struct err *e);

lower_fn lower_binary, lower_unary, lower_clip, lower_leaky_relu, lower_hard_sigmoid, lower_gelu,
	lower_pow, lower_batch_norm, lower_elu, lower_prelu, lower_swish; /* lower_pointwise.c */
lower_fn lower_alias, lower_reshape, lower_transpose, lower_slice, lower_split, lower_expand,
	lower_gather, lower_pad, lower_tile, lower_depth_to_space,
	lower_space_to_depth;					       /* lower_move.c */
lower_fn lower_non_zero, lower_compress, lower_unique, lower_suppress; /* lower_counted.c */
lower_fn lower_regions;						       /* lower_regions.c */
lower_fn lower_attention;					       /* lower_attention.c */
lower_fn lower_col2im;						       /* lower_col2im.c */
lower_fn lower_loss;						       /* lower_loss.c */
lower_fn lower_scatter, lower_gather_rows, lower_elements;	       /* lower_gather.c */
lower_fn lower_triangle, lower_diagonal, lower_one_hot, lower_range, lower_dropout, lower_reversal,
	lower_top;     /* lower_fills.c */
lower_fn lower_center; /* lower_picks.c */
lower_fn lower_like_softmax, lower_cumulate, lower_lp_norm, lower_mean_variance,
	lower_lrn;					   /* lower_lines.c */
lower_fn lower_scalar, lower_bits, lower_quantize_plain;   /* lower_scalar.c */
lower_fn lower_quantize;				   /* lower_quantize.c */
lower_fn lower_dequantize_packed, lower_dequantize_blocks; /* lower_dequantize.c */
lower_fn lower_cast;					   /* lower_integer.c */
lower_fn lower_resize;					   /* lower_resize.c */
lower_fn lower_taps;					   /* lower_taps.c */
lower_fn lower_einsum, lower_matmul;			   /* lower_einsum.c */
lower_fn lower_gemm;					   /* lower_gemm.c */
lower_fn lower_recurrent;				   /* lower_recurrent.c */
lower_fn lower_rotary;					   /* lower_rotary.c */
lower_fn lower_sample;					   /* lower_sample.c */
lower_fn lower_concat;					   /* lower_concat.c */
lower_fn lower_pool, lower_global_pool;			   /* lower_pool.c */
lower_fn lower_softmax, lower_reduce, lower_layer_norm, lower_instance_norm, lower_group_norm,
	lower_own_batch_norm, lower_arg; /* lower_rows.c */

#endif
