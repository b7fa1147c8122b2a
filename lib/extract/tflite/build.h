/* Building a graph of the operators of a TFLite model; shared by the files that do it. */
#ifndef TL_EXTRACT_TFLITE_BUILD_H
#define TL_EXTRACT_TFLITE_BUILD_H

#include "lib/extract/graph.h"
#include "lib/extract/tflite/flat.h"

struct build {
	struct flat f;
	struct arena *a;
	struct graph *g;
	int64_t fresh; /* numbers that make names unique */
};

/* An operator as the file has it. Its inputs and outputs are values of the graph; -1: left out. */
struct operation {
	const char *type;
	uint64_t options; /* its table of options; 0: none */
	int *in, nin, *out, nout;
};

/* A value of that name, or of one made of it if there is such a value already. */
int build_value(struct build *b, const char *name);
/* A value between the nodes that an operation becomes, of the type and shape of this one. */
int build_between(struct build *b, int like);
/* A node with these inputs and outputs. */
struct graph_node *build_node(struct build *b, const char *type, const int *in, int nin,
			      const int *out, int nout);
void build_int(struct build *b, struct graph_node *n, const char *name, int64_t v);
void build_float(struct build *b, struct graph_node *n, const char *name, float v);
void build_str(struct build *b, struct graph_node *n, const char *name, const char *s);
void build_ints(struct build *b, struct graph_node *n, const char *name, const int64_t *v,
		int count);

/* What the file says of the shape of a value; rank RANK_UNKNOWN: nothing. */
const struct shape *build_shape(const struct build *b, int value);
/* The integers of a value whose elements are known; NULL: they are not. */
const union scalar *build_elements(const struct build *b, int value, int64_t *count);

/* Adds the nodes that the operation becomes. */
void build_operation(struct build *b, const struct operation *o);
/* Of a builtin operator; "an operator of a newer schema" if there is none of that number. */
const char *operator_name(int64_t code);

#endif
