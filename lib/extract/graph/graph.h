/* The graph of a model: nodes and the values between them, as small as the names in it.
 *
 * Values are interned by name and addressed by index, nodes likewise, both in the order of the
 * file; weights are known by shape only. Small integer and float tensors keep their elements,
 * because shapes are computed from them. All memory is the arena's, given at graph_init();
 * graph_free() frees only the name table.
 */
#ifndef TL_EXTRACT_GRAPH_GRAPH_H
#define TL_EXTRACT_GRAPH_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/extract/graph/operators.h"

enum {
	GRAPH_MAX_RANK = 12,
	KEEP_INTS = 4096, /* integer tensors up to so many elements keep them */
	KEEP_REALS = 64,  /* and float tensors */
	/* In a whole graph a reader keeps so many elements of constants, and inference makes so
	 * many. More are left unknown. */
	KEEP_CONSTANTS = 1 << 20,
	KEEP_ALL = 1 << 22,
};

#define DIM_UNKNOWN (-1)
#define RANK_UNKNOWN (-1)
#define MAX_ELEMENTS ((int64_t)1 << 40) /* of any tensor: more is absurd */
#define INT_UNKNOWN INT64_MIN		/* an element that depends on an unknown dimension */

/* Element types as TensorProto.DataType numbers them. */
enum value_elem {
	VALUE_UNKNOWN,
	VALUE_F32,
	VALUE_U8,
	VALUE_I8,
	VALUE_U16,
	VALUE_I16,
	VALUE_I32,
	VALUE_I64,
	VALUE_STRING,
	VALUE_BOOL,
	VALUE_F16,
	VALUE_F64,
	VALUE_U32,
	VALUE_U64,
	VALUE_C64,
	VALUE_C128,
	VALUE_BF16,
	VALUE_F8E4M3FN, /* nobody reads elements of this type, or of the next three */
	VALUE_F8E4M3FNUZ,
	VALUE_F8E5M2,
	VALUE_F8E5M2FNUZ,
	VALUE_U4,
	VALUE_I4,
};

struct shape {
	int rank; /* RANK_UNKNOWN */
	int64_t dim[GRAPH_MAX_RANK];
};

union scalar {
	int64_t i; /* of integer and boolean tensors */
	double f;  /* of float tensors */
};

/* What the file says of a value's type: from value_info, graph inputs and outputs. */
struct declared {
	struct shape shape; /* 0 where a dimension is a symbol or missing */
	const char *symbol[GRAPH_MAX_RANK];
	int elem;
	int quantized; /* reals in the form of integers, with a scale */
};

struct value;

struct sequence { /* of tensors */
	const struct value **item;
	int64_t n;
};

/* A run has told this of a value that follows from data. */
struct told_value {
	int64_t count; /* of an operator that makes as many items as its data say; DIM_UNKNOWN */
	int elem;
	struct shape shape;
	union scalar *kept; /* its elements, of that type and shape; NULL: they are not told */
};

struct value {
	const char *name;
	struct shape shape;
	int elem;
	union scalar *kept; /* elements, if known; as many as the shape says */
	/* All elements as the file has them, if weights were asked for and are there:
	 * little-endian, so many bytes; graph_free() gives them back. */
	void *data;
	size_t data_bytes;
	const struct declared *declared;
	const struct told_value *told;	 /* NULL; inference takes it for a fact */
	const struct sequence *sequence; /* it is one, whose items are known; NULL */
	int is_const;			 /* initializer, or made from constants only */
	int is_input, is_output;
	int is_fixed;	     /* a constant of no file, for which random weights do not stand */
	int is_drawn;	     /* made of weights that random ones stand for */
	int is_captured;     /* of a graph inside: it is read from around it */
	int quantized;	     /* declared so, or made by DequantizeLinear: a float in form only */
	int producer;	     /* node, or -1 */
	int uses;	     /* node inputs that read its elements, subgraphs' included */
	int first, consumer; /* the first and the last node among them */
	int asked;	     /* node inputs that ask for its shape alone */
	const char *blame;   /* operator type because of which the shape is unknown */
};

struct graph;

struct attr {
	const char *name;
	int64_t i;
	float f;
	const char *s;
	int64_t *ints;
	int nints;
	float *floats;
	int nfloats;
	struct value *tensor;	/* NULL if none */
	struct graph *subgraph; /* NULL if none */
	const char *ref;	/* in a function: the attribute of the call that it is; or NULL */
	int taken;		/* node_attr() has given it to somebody */
};

struct graph_node {
	const char *name, *type, *domain;
	const char *overload; /* of a function that it calls, or NULL */
	int *in;   /* values, -1 for an optional one left out; then what subgraphs capture */
	int nin;   /* without captures */
	int ndeps; /* with captures */
	int *out;
	int nout;
	struct attr *attr;
	int nattr;
	/* Where a format differs from ONNX: the channels are the last dimension of what is read and
	 * made, not the second; and the order of a filter's dimensions, such as "ohwi" (NULL:
	 * "oihw", of ConvTranspose "iohw"). */
	int channels_last;
	enum node_op op; /* its type, where it is one of ONNX's domain; graph_link() sets it */
	const char *filter;
	int weighs;  /* reads weights once for each row of its data, by no rule of ONNX */
	int is_told; /* the file tells the shapes of what it makes: no rule is asked */
	int turns;   /* of a Loop so many stand before it, as nodes (lib/run/unfold.h) */
};

struct replaced { /* nodes that others stand for now */
	struct graph_node *node;
	int n;
	struct replaced *next;
};

struct ends { /* values, in the order of the file */
	int *at, n, cap;
};

#define TIMES_MOST 100000 /* of one operator in a model: more are not counted */

struct graph {
	struct arena *a;
	const char *name;
	struct graph_node *node;
	int nnode, node_cap;
	struct value **value;
	int nvalue, value_cap;
	struct map by_name; /* value index + 1 */
	int *order;	    /* nodes, topologically, as near to the file's order as can be */
	int is_shaped; /* the reader gave the inputs their shapes; options do not change them */
	struct ends inputs, outputs;
	struct replaced *replaced;
	/* How often a graph inside a node runs when the node runs, as inference finds it; 0: it was
	 * not walked, or (is_dead) it never runs. is_once: that number is not known. */
	int64_t times;
	int is_dead, is_once;
	/* A Loop has no condition, but this body of it makes one that is not known to be true. */
	int may_end;
	/* Where the turns of a Loop become nodes one by one (lib/run/unfold.h): the values around
	 * it that constants of this body have become, -1: none; else NULL. */
	int *lent;
};

void graph_init(struct graph *g, struct arena *a);
void graph_free(struct graph *g); /* and those of its subgraphs */
/* The same of attributes that no node of a graph has. */
void attrs_free(const struct attr *a, int n);
/* The value of that name, made if new. */
int graph_value(struct graph *g, const char *name);
/* Returns where the value of that name is; -1: there is none. */
int graph_place(const struct graph *g, const char *name);
/* The value of that name, or NULL. */
struct value *graph_find(const struct graph *g, const char *name);
/* Forgets what inference found of a value; and of all that nodes make. */
void value_forget(struct value *v);
void graph_forget(const struct graph *g);
/* Adds a value to a list of ends. */
void graph_add_end(struct graph *g, struct ends *list, int value);
struct graph_node *graph_add_node(struct graph *g);
/* Marks which node makes each value, of a graph that is not linked yet. */
void graph_mark_producers(const struct graph *g);
/* The graph has no nodes any more; the old ones are given, and are freed with the graph. */
const struct graph_node *graph_start_over(struct graph *g, int *n);
/* Fills producer, uses, consumer and order, and the operators of nodes. What is captured comes from
 * elsewhere. Errors: a value made twice or by nobody, a cycle. */
int graph_link(struct graph *g, struct err *e);

/* "'conv1'", or the name of the first output if the node has none; for messages. */
const char *node_label(const struct graph *g, const struct graph_node *n);
const struct attr *node_attr(const struct graph_node *n, const char *name); /* NULL if absent */
int64_t node_int(const struct graph_node *n, const char *name, int64_t otherwise);
float node_float(const struct graph_node *n, const char *name, float otherwise);
const char *node_str(const struct graph_node *n, const char *name, const char *otherwise);
static inline int node_is(const struct graph_node *n, enum node_op op)
{
	return n->op == op;
}
/* Where a tensor of that rank has its channels, and its first dimension of space. */
int node_channel(const struct graph_node *n, int rank);
int node_space(const struct graph_node *n);
/* The groups of a convolution: those of the attribute; 0 there: the data's channels over those that
 * a filter reads. 1 if they are not known. */
int64_t node_groups(const struct graph *g, const struct graph_node *n, int weights);
/* The shape of a filter in ONNX's order. */
struct shape node_filter(const struct graph_node *n, const struct shape *s);
/* The graph in an attribute that may run, but was not walked, or NULL. */
const struct graph *graph_unwalked(const struct attr *a);
/* Does a node hold graphs that were walked, or never run? */
int node_is_walked(const struct graph_node *n);
/* Input or output i, NULL if it is left out. */
struct value *node_in(const struct graph *g, const struct graph_node *n, int i);
struct value *node_out(const struct graph *g, const struct graph_node *n, int i);

/* Does a node read it, or is it an output? NULL: no. */
static inline int value_is_read(const struct value *v)
{
	return v && (v->uses || v->asked || v->is_output);
}

/* Room for so many bytes of elements, of which only those that are written take memory. NULL: there
 * is none. And gives it back. */
void *value_room(struct value *v, size_t bytes);
void value_drop(struct value *v);

/* Adds a dimension before that one, of which there must be room, and takes one away. */
void shape_insert(struct shape *s, int at, int64_t size);
void shape_drop(struct shape *s, int at);
int shape_known(const struct shape *s);	    /* rank and all dimensions */
int64_t shape_count(const struct shape *s); /* elements; the shape must be known */
int shape_equal(const struct shape *a, const struct shape *b); /* known and equal */
void shape_print(const struct shape *s, struct buf *out);      /* "1x3x?x224" */
/* Sets the one real, or whole, number that a value holds. 0: it is not known, or not one. */
int value_real(const struct value *v, double *out);
int value_whole(const struct value *v, int64_t *out);
/* Are all elements 0, as of a zero point? NULL stands for 0. -1: they are not known. */
int value_is_zero(const struct value *v);
/* Is v a constant that, broadcast onto shape s, differs along these dimensions only: `dims` of
 * them, from dim on? Where they are several, it must differ along all of them, or be one element.
 */
int value_is_along(const struct value *v, const struct shape *s, int dim, int dims);
const char *elem_name(int elem);
int elem_is_int(int elem);	  /* integers and booleans */
int elem_is_real(int elem);	  /* floats */
size_t value_elem_size(int elem); /* bytes of an element; 0: unknown, or of no fixed size */
/* Bytes of so many elements, of which two of 4 bits share a byte; 0: unknown, or none. */
size_t value_elems_size(int elem, int64_t n);

#endif
