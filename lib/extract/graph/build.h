/* Building a graph of nodes as ONNX has them, out of the operators of another format.
 *
 * A reader gives each of its values to build_value(), says in the value's `declared`, `is_const`,
 * `kept` and so on what the file tells of it, and makes one node or several of each operator.
 */
#ifndef TL_EXTRACT_GRAPH_BUILD_H
#define TL_EXTRACT_GRAPH_BUILD_H

#include "lib/extract/graph/graph.h"

struct build {
	struct arena *a;
	struct graph *g;
	int64_t fresh; /* numbers that make names unique */
};

/* A value of that name, or of one made of it if there is such a value already. */
int build_value(struct build *b, const char *name);
/* A value between the nodes that an operation becomes, of the type and shape of this one. */
int build_between(struct build *b, int like);
/* A value "NAME/WHAT", where NAME is that of this one; nothing is known of its type and shape. */
int build_part(struct build *b, int of, const char *what);
/* The same, of which is known what the file tells of `like`, but for its shape. */
int build_like(struct build *b, int of, const char *what, int like, const struct shape *s);
/* A constant of one element, and of a list of n. */
int build_number(struct build *b, double v);
int build_numbers(struct build *b, const double *v, int n);
/* A constant list of n integers. */
int build_integers(struct build *b, const int64_t *v, int n);
/* A constant of which nothing is known but, where size is not 0, that it is a list of so many. */
int build_parameter(struct build *b, const char *name, int64_t size);
/* A node with these inputs and outputs. */
struct graph_node *build_node(struct build *b, const char *type, const int *in, int nin,
			      const int *out, int nout);
void build_int(struct build *b, struct graph_node *n, const char *name, int64_t v);
void build_float(struct build *b, struct graph_node *n, const char *name, float v);
void build_str(struct build *b, struct graph_node *n, const char *name, const char *s);
void build_ints(struct build *b, struct graph_node *n, const char *name, const int64_t *v,
		int count);
/* Adds the same attribute to another node. */
void build_attr(struct build *b, struct graph_node *n, const struct attr *a);
/* Returns the node that was added last. */
static inline struct graph_node *build_last(struct build *b)
{
	return &b->g->node[b->g->nnode - 1];
}

/* What the file says of the shape of a value; rank RANK_UNKNOWN: nothing. */
const struct shape *build_shape(const struct build *b, int value);
/* The integers of a value whose elements are known; NULL: they are not. */
const union scalar *build_elements(const struct build *b, int value, int64_t *count);

#endif
