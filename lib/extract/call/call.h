/* Calls of operators in other formats, and how they become nodes of ONNX's operators.
 *
 * A format has a table: which operator of ONNX is theirs, which of their inputs that reads, and
 * what its attributes are called there. Where that does not say all, a row names a function. Those
 * below are for several formats; what they have to know of a call they take from the row's
 * attributes, by the names that ONNX has for these. What no row knows stays as it is, in the
 * format's own domain.
 *
 * Values are indexes of the graph, -1: left out.
 */
#ifndef TL_EXTRACT_CALL_CALL_H
#define TL_EXTRACT_CALL_CALL_H

#include "lib/extract/graph/formula.h"
#include "lib/io/json.h"

struct call;
struct call_value;

/* An attribute is of one of these kinds; a reader is asked for those up to CALL_TEXT. */
enum call_kind {
	CALL_END,
	CALL_INT,
	CALL_REAL,
	CALL_FLAG,
	CALL_INTS, /* a list */
	CALL_TEXT,
	CALL_EACH, /* a list of several numbers, whose names have spaces between */
	CALL_WORD, /* a text that the row has */
	CALL_WHEN, /* the same, where theirs is that text, or a flag that is set */
	CALL_ELEM, /* the type of what the call makes */
};

/* Reads an attribute as a value of that kind. 1; 0: there is none; -1: its list is too long. */
typedef int call_reader(const struct call *c, const char *name, enum call_kind kind,
			struct call_value *v);

struct call {
	struct build *b;
	const char *type, *name; /* of their operator, and of this call of it */
	const char *domain;	 /* of nodes that are none of ONNX's */
	const int *in;
	int nin, *out, nout;
	int is_told; /* the file tells the shapes of what it makes */
	call_reader *read;
	const void *at; /* the reader's own */
	/* An input, where they have names. */
	int (*input)(const struct call *c, const char *name);
	/* For call_json: the value of an attribute, or NULL; and the document. */
	const struct json *(*json)(const struct call *c, const char *name);
	const struct json_doc *doc;
	/* Names values between the nodes that the call becomes; NULL: after its first output. */
	int (*between)(const struct call *c);
};

/* It holds an attribute in the member of its kind. */
struct call_value {
	int64_t i; /* a flag: 0 or 1 */
	double f;
	const char *s; /* NULL: it has no text */
	int64_t ints[GRAPH_MAX_RANK];
	int n; /* of ints */
};

/* It reads attributes that are JSON. */
call_reader call_json;

/* Reads the first attribute of one of these names, with spaces between. 0: none is there. */
int call_get(const struct call *c, const char *names, enum call_kind kind, struct call_value *v);
int64_t call_int(const struct call *c, const char *names, int64_t otherwise);
double call_real(const struct call *c, const char *names, double otherwise);
int call_flag(const struct call *c, const char *names, int otherwise);
const char *call_text(const struct call *c, const char *name); /* NULL: none */
/* Is a text this word? Capitals count as small letters. */
int call_is(const struct call *c, const char *name, const char *word);
/* Returns how many numbers a list has; one number stands for all `count` (0: for itself). -1: it
 * has too many. */
int call_ints(const struct call *c, const char *name, int count, int64_t v[GRAPH_MAX_RANK]);
static inline int call_input(const struct call *c, const char *name)
{
	return c->input(c, name);
}

static inline int call_in(const struct call *c, int i)
{
	return i < c->nin ? c->in[i] : -1;
}

static inline int call_out(const struct call *c, int i)
{
	return i < c->nout ? c->out[i] : -1;
}

struct call_row;
/* Adds the nodes. -1: it has added nothing, and the operator stays as it is. */
typedef int call_fn(const struct call *c, const struct call_row *row);

struct call_attr {
	enum call_kind kind;
	const char *onnx, *theirs; /* theirs is NULL: it is always what follows */
	double otherwise;	   /* if it is not there; CALL_INTS and CALL_TEXT: it is left out */
	const char *word;	   /* CALL_WORD and CALL_WHEN */
};
#define CALL_ATTRS(...)                                                                            \
	(const struct call_attr[])                                                                 \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			CALL_END                                                                   \
		}                                                                                  \
	}
#define CALL_CLIP(low, high) CALL_ATTRS({CALL_REAL, "min", 0, low}, {CALL_REAL, "max", 0, high})
#define CALL_REDUCE(keep)                                                                          \
	CALL_ATTRS({CALL_FLAG, "keepdims", keep}, {CALL_INT, "noop_with_empty_axes", 0, 1})
#define CALL_HARD_SIGMOID                                                                          \
	CALL_ATTRS({CALL_REAL, "alpha", 0, (double)(1.0F / 6)}, {CALL_REAL, "beta", 0, 0.5})

struct call_row {
	const char *theirs; /* what they call it; several names, with spaces between */
	const char *onnx;   /* an operator, or a formula, if the call makes one value */
	/* The inputs that it reads: their numbers, such as "021-3" ('-': none), or words, such as
	 * "0 weight bias". NULL: all. */
	const char *operands;
	const struct call_attr *attrs; /* NULL: none */
	call_fn *fn;		       /* NULL: one node, as the row says */
	int more;		       /* a format's own column */
};

/* NULL: there is no row for the operator. Functions of one element that all formats call alike need
 * none. */
const struct call_row *call_find(const struct call_row *rows, size_t n, const char *theirs);
/* Does the same for formats that call more operators as TensorFlow does. */
const struct call_row *call_find_shared(const struct call_row *rows, size_t n, const char *theirs);
/* Adds the nodes that the row says, or else (NULL, too) one that stays as it is. */
void call_convert(const struct call *c, const struct call_row *row);

/* ---- for the functions of rows ---- */

enum { CALL_OPERANDS = 16 };
/* The row's operands; how many, up to the last one that is there. Where the row lists them, -1
 * follow. */
int call_operands(const struct call *c, const struct call_row *row, const int **in);
/* A node of these inputs that makes what the call makes, without or with the row's attributes; and
 * one that stays as it is. */
struct graph_node *call_node(const struct call *c, const char *type, const int *in, int nin);
struct graph_node *call_node_of(const struct call *c, const struct call_row *row, const int *in,
				int nin);
struct graph_node *call_own(const struct call *c);
/* Nodes of the call's inputs and outputs (lib/extract/graph/formula.h). A value that is called
 * "sum" has the type and shape of what the call makes. */
struct formula call_formula(const struct call *c);
#define call_make(c, ...) formula_build(call_formula(c), __VA_ARGS__)
/* A node between: of these inputs, with one output. */
struct graph_node *call_between(const struct call *c, const char *type, const int *in, int nin,
				int out);
/* The number that the row calls so by ONNX's name; where it has no such attribute: otherwise. A
 * list of truths is a number of bits. */
int64_t call_param(const struct call *c, const struct call_row *row, const char *onnx,
		   int64_t otherwise);
/* The type that the file tells of a value. */
int call_elem(const struct call *c, int value);

/* ---- functions for several formats (call_shared.c) ---- */

/* Puts a list that has a number for each dimension of a window; or such a list as padding, which is
 * the same before and behind. 0: the attribute is none. */
int call_sizes(const struct call *c, struct graph_node *n, const char *theirs, const char *onnx,
	       int rank);
int call_pads(const struct call *c, struct graph_node *n, const char *theirs, int rank);

call_fn call_weighs;		/* it has weights, and no rule knows it */
call_fn call_arg;		/* the axis is input 1 */
call_fn call_gather;		/* the axis is input 2, or an attribute; none with batch_dims */
call_fn call_pack, call_unpack; /* axis; the number of parts, if it is not that of the outputs */
call_fn call_split;		/* operands: data, axis, sizes; parts as above */
call_fn call_slice;		/* inputs: data, begin, size */
/* Inputs: data, begin, end, step. Masks are attributes: begin, end, ellipsis, new_axis, shrink. */
call_fn call_strided_slice;
call_fn call_pad; /* inputs: data, pairs, the number; onnx is the mode */
/* Windows that lie side by side, if the file tells that the image, whose channels are second, is
 * divided so. */
call_fn call_adaptive_pool;
/* Inputs: an image whose channels are last, height and width. */
#define CALL_RESIZE "$0 = Resize(0 - - 1) axes=[1,2]"
#define CALL_GATED "sum = Sigmoid(0); $0 = Mul(0 sum)"
#define CALL_SQUARE "$0 = Mul(0 0)"
#define CALL_RSQRT "sum = Sqrt(0); $0 = Reciprocal(sum)"

#endif
