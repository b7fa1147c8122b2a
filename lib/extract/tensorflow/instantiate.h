/* How the graph grows out of lists of nodes; shared by instantiate.c and call.c. */
#ifndef TL_EXTRACT_TENSORFLOW_INSTANTIATE_H
#define TL_EXTRACT_TENSORFLOW_INSTANTIATE_H

#include "lib/base/map.h"
#include "lib/base/words.h"
#include "lib/extract/tensorflow/tensorflow.h"

/* A list of nodes, of the graph or of a function, as it is put into the graph once. */
struct scope {
	const struct message_node *node;
	int nnode;
	const struct message_function *fn; /* NULL: the graph itself */
	const int *arg;			   /* values of the function's arguments */
	const struct map *by_name; /* index of the node + 1, or of the argument: -1 and less */
	int *nout;		   /* of each node: outputs that are read; 0: it is not needed */
	int **out;		   /* their values */
	int depth;
};

struct reader {
	struct build b;
	const struct message_graph *m;
	const struct message_signature *signature;
	struct map functions; /* name -> struct message_function * */
	struct map *names;    /* of each function, and of the graph, as scopes have them */
	struct map inputs;    /* of the signature: name -> struct message_end * */
	int64_t loops;	      /* of the first TensorFlow, in nodes */
	int64_t nodes;	      /* those that are needed */
	int64_t seen;	      /* nodes, needed or not, with the inputs and attributes of those */
	int64_t values;
};

/* Puts the nodes into the graph that the results need. */
int scope_put(struct reader *r, struct scope *s, const char *const *result, int n, struct err *e);
/* Counts values before they are made. */
int scope_count_values(struct reader *r, int64_t n, struct err *e);
/* The value of "node:1" and the like; -1: there is none. */
int scope_value(const struct scope *s, const char *text);

/* A node that calls functions: what it becomes. 1: done; 0: it calls none; -1. */
int call_put(struct reader *r, const struct scope *caller, const struct call *n, struct err *e);

#define TENSORFLOW_VARIABLES "VarHandleOp VariableV2 Variable"
#define TENSORFLOW_CALLS "PartitionedCall StatefulPartitionedCall"

#endif
