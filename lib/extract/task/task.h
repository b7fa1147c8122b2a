/* Tasks: which nodes of a graph are operators that can be tuned, and as which workloads.
 *
 * A node that multiplies and adds but is no operator of the toolkit (or of another element type, or
 * of unknown shape) gets a reason instead of a workload; its multiply-adds still count in the
 * model's sum where they are known.
 *
 * Element types are recognised in one place (lib/extract/task/task_type.c), because models say in
 * several ways that they compute in 8 bits: tensors of whole numbers that stand for reals
 * (TFLite), operators of their own (QLinearConv), and reals between DequantizeLinear and
 * QuantizeLinear. All become workloads of whole numbers, and what quantizes for them is part of
 * them. Weights alone that are in 8 bits (f32:s8:f32) leave open whether a program quantizes the
 * activations at run time, as TFLite's does.
 *
 * Operators that stand for several (attention, fused and quantized ones) become nodes with the
 * same products and shapes (lib/extract/onnx/rewrite.h), but not in a graph that is run, because
 * masks and scales are left out. A recurrent network is one node with two tasks, each with a
 * number of times; the product in a deformable convolution, and in some transposed ones, is a task
 * that is only a part of its node. Other transposed convolutions are convolutions of unit stride,
 * or products, whose channels or columns are moved to pixels behind them (task_transposed.c).
 *
 * Whatever else a model consists of is asked for by --ops all: attention as one operator
 * (task_attention.c, which looks from each softmax for the products on both sides), and softmax,
 * normalizations, pools and chains of element-wise nodes (task_other.c). A chain is the operator
 * eltwise with the nodes as its post-ops, so the rules of fusing are written once. Softmax and the
 * normalizations are computed on GPUs (rows_threads). No algorithm computes the others yet;
 * records name them so that others can.
 */
#ifndef TL_EXTRACT_TASK_TASK_H
#define TL_EXTRACT_TASK_TASK_H

#include "lib/extract/graph/infer.h"
#include "lib/op/op.h"

enum { TASK_TAKES = 24 };

/* What became of a node that was taken into a task. */
enum taken_as {
	TAKEN_BIAS,  /* Add: a constant along the channels */
	TAKEN_SCALE, /* Mul: likewise */
	TAKEN_NORM,  /* BatchNormalization */
	TAKEN_ADD,   /* Add: of another tensor */
	TAKEN_MUL,   /* Mul: likewise */
	TAKEN_REST,  /* an activation, or the last node of one, or nothing */
};

/* Whole numbers that stand for reals: values of a graph, -1 where there are none. */
struct task_number {
	int is, scale, zero;
};
/* The scales of a task in 8 bits (task_scale.c). */
struct task_scales {
	int is;	       /* the task has the post-op scale, and maybe shift and pad */
	int is_direct; /* source and weights are read as they were before they became reals */
	struct task_number x, w, y;
	int bias; /* of 32 bits, or -1 */
};

/* A convolution over three dimensions that is computed as one over two (task_volume.c): its
 * direction of depth. */
struct task_volume {
	int is_column; /* the window has one row and one column */
	int64_t groups, in, out, kernel, stride, before, dilation; /* dilation: 1 is none */
};

struct task {
	int node;
	int part; /* 0: the task is all that the node computes. 1 or 2: it is the first or second
		   * product in a node that computes other things, too, such as attention. */
	int64_t times; /* how often one run of the node computes it */
	/* What task_fuse() took, in order: what each is, and the value that is its other operand
	 * (-1: none). out: the value that the task makes. */
	struct {
		int node, other;
		enum taken_as as;
	} taken[TASK_TAKES];
	int ntaken, out;
	/* An activation that was taken from behind views of `out`, which have its results then: its
	 * last node, or -1, and the value that it reads. */
	int behind, behind_in;
	int in; /* the value that it reads, where a Pad went into it, too */
	struct workload w;
	int64_t macs;	 /* multiply-adds, of all times; -1: unknown */
	const char *why; /* why there is no workload; NULL: there is one */
	/* The dimensions of its result that a bias runs along: where they begin (-1: none is
	 * known), and how many they are. There are several where the columns of a product were
	 * split. */
	int channel_dim, channel_dims;
	int is_run; /* it is computed, and not only told: what it makes of infinity counts */
	int pad;    /* node of a Pad that went into the padding, or -1 */
	/* Channels or columns of its result are pixels of the node's, and are moved there behind
	 * it. So nothing can be taken into it that has another number for each element. */
	int is_moved;
	struct task_scales scales;
	int64_t skip[2]; /* rows and columns of its window before those that it has (task_crop.c) */
	struct task_volume volume; /* kernel 0: it is no such convolution */
};

enum { TASK_PARTS = 2 }; /* of one node, at most */

/* Returns what stands behind the node's name where a source names the task. */
const char *task_part_name(const struct task *t);

/* Which workloads are wanted. */
enum task_kinds {
	TASKS_RUN,	/* those that tl-run runs: conv2d and products, in single precision or in 8
			   bits, but not of constants alone */
	TASKS_PRODUCTS, /* whatever multiplies and adds */
	TASKS_ALL,	/* and all else that is an operator; attention as one */
};
struct task_wanted {
	enum task_kinds kinds;
	enum layout layout; /* of images; NHWC or NCHW */
	int64_t opset;	    /* whose rules hold for the graph */
	int in_bytes;	    /* TASKS_RUN: in 8 bits, too, where it can be */
};

/* How many tasks the node is: 0, if it does not multiply and add; fills t. The workloads are not
 * finished yet. */
int task_make(const struct graph *g, int node, enum layout layout, struct arena *a, struct task *t);
/* The products in a recurrent network (task_rnn.c). */
int task_rnn(const struct graph *g, const struct graph_node *n, struct arena *a, struct task *t);
/* A transposed convolution (task_transposed.c). */
enum task_phases_form {
	PHASES_SUMS,	/* a product of pixels by taps; outputs are sums of its columns */
	PHASES_COLUMNS, /* such a product where each output is one of its columns */
	PHASES_CONV,	/* a convolution with a channel for each phase of the stride */
};
struct task_phases {
	enum task_phases_form form;
	struct window w;	/* of the node */
	struct window conv;	/* of the convolution of unit stride */
	int64_t groups, ic, oc; /* ic, oc: channels of one group */
	int64_t phases;		/* of all axes together */
	int is_moved;		/* what it makes lies elsewhere than in the node's result */
};
/* Finds it for a node whose shapes are known. -1: its window makes no sense. */
int task_phases(const struct graph *g, const struct graph_node *n, struct task_phases *p,
		struct err *e);
/* Turns a task that is the product in the node into one that is all of the node, where that can be.
 */
void task_transposed(const struct graph *g, const struct graph_node *n, enum layout layout,
		     struct task *t);
/* Leaves out rows and columns of the window of a conv2d that read nothing, and sets t->skip. */
void task_crop(struct task *t);
/* Makes a conv3d that is run a conv2d, and sets t->volume. -1: that would be no problem, and the
 * task is as it was. */
int task_volume(struct task *t);
/* The product of p and q, whose shapes are known: b of them, m x k by k x n. */
void task_set_matmul(struct task *t, int64_t b, int64_t m, int64_t k, int64_t n, int rhs_const);
/* a x b and a + b, or -1 if either is unknown or the result absurd. */
int64_t task_times(int64_t a, int64_t b);
int64_t task_plus(int64_t a, int64_t b);
const char *task_unknown_shape(struct arena *a, const struct value *const *v, int n);

/* Along so many axes, of which the first may be missing: sizes of input and output, and of what has
 * the kernel first, in a problem that has these dimensions there. */
void task_axes(int64_t *dim, const struct window *w, int axes, int in, int out, int kernel);
/* The layout of images of three dimensions that goes with one of two. */
enum layout task_layout(enum layout layout, int is_3d);
/* 1: the node is another operator, *t is filled (task_other.c); 0: it is not. */
int task_other(const struct graph *g, int node, const struct task_wanted *wanted, struct arena *a,
	       struct task *t);
/* Joins the products of attention among n tasks to one each, and marks what is between them
 * (task_attention.c). How many tasks are left. */
int task_attention(const struct graph *g, struct task *t, int n, unsigned char *absorbed);
/* A normalization that is written out (task_norm.c), up to its quotient: what it reads, and its
 * nodes, the last of which divides. Nobody else reads what the others make. */
enum { TASK_NORM_NODES = 12 };
struct task_norm {
	const struct graph *g;
	int node[TASK_NORM_NODES], n;
	int x; /* the value */
	int is_rms;
	double epsilon;
};
/* Finds the one that takes its root by this node. 0: there is none. */
int task_norm_find(const struct graph *g, int root, struct task_norm *m);
/* Normalizations that are written out: of each node that such a one ends with, before
 * its shift, the task, else NULL. Marks the other nodes. */
struct task **task_norms(const struct graph *g, unsigned char *absorbed, struct arena *a);
/* Makes the task's own node, which is element-wise, the first of its post-ops. 0: it is none. */
int task_begin(const struct graph *g, struct task *t);

/* Takes what follows the task's node into its list of post-ops: batch normalization, bias,
 * residual, factor, activation; marks the nodes taken in absorbed (a byte for each node). Tasks
 * must be given last to first: where two producers could take an addition, the later one does.
 *
 * An activation gives the same on both sides of a view (Reshape, Transpose), so a convolution or a
 * product takes it from behind views that nobody else reads. The views stay where they are. */
void task_fuse(const struct graph *g, struct task *t, unsigned char *absorbed);

/* Adds a post-op without numbers. 0: the task has it already, or has no room. */
int task_push(struct task *t, enum post kind);
/* Where several inputs read the value cur, which the task makes: an activation that is made of
 * several nodes becomes a post-op (task_pattern.c). Marks all but the last node, which is returned;
 * -1: there is none. */
int task_take_pattern(const struct graph *g, struct task *t, int cur, unsigned char *absorbed);
/* The bounds of a Clip. 0: they are not known, or bound nothing. */
int task_clip(const struct graph *g, const struct graph_node *n, double *low, double *high);

/* Returns what a Gemm adds to its product; NULL: it adds nothing, as with beta 0. */
const struct value *task_gemm_added(const struct graph *g, const struct graph_node *n);

/* Element types (task_type.c). The types of the operator that reads data and weights, whose output
 * is known. NULL, or why there are none. */
const char *task_types(const struct graph *g, const struct graph_node *n, const struct value *data,
		       const struct value *weights, struct arena *a, struct dtypes *types);
/* Are its data whole numbers? */
int task_is_int(const struct task *t);
/* Does the node turn the task's result into another element type? Then the task has that. */
int task_take_type(const struct graph *g, const struct graph_node *n, struct task *t);
/* Marks the nodes that make reals of whole numbers for this task alone, in so many of its inputs.
 */
void task_take_dequantizers(const struct graph *g, const struct task *t, int inputs,
			    unsigned char *absorbed);

/* Are the scales such that tl-run computes the task in 8 bits? They are constants, and are those of
 * whole tensors, or of output channels. */
int task_runs_scaled(const struct graph *g, const struct task *t);
/* Can the result so far become whole numbers by this QuantizeLinear? */
int task_can_quantize(const struct graph *g, const struct graph_node *n, const struct task *t);
/* Gives a task in 8 bits, with what was taken into it, its scales as post-ops. */
void task_scale(const struct graph *g, struct task *t);

/* Adds the groups of weights of few bits to the post-ops, as the reader of the graph says them of
 * the node. Sets why if there is no room. */
void task_add_groups(const struct graph *g, struct task *t);

/* Returns how many tasks of a graph there may be, and one more. */
int64_t task_room(const struct graph *g, const struct task_wanted *wanted);
/* All tasks of a graph in topological order, finished and fused: fills t, which has room for so
 * many, and marks the nodes taken in absorbed. Returns how many. One that is no workload has a
 * reason, and takes nothing. */
int task_find(const struct graph *g, const struct task_wanted *wanted, struct arena *a,
	      struct task *t, unsigned char *absorbed);

#endif
