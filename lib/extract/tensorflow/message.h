/* GraphDef and SavedModel as the file has them (tensorflow/core/framework/graph.proto and its kin):
 * nodes with their attributes, functions, signatures. Large constants are known by shape only.
 */
#ifndef TL_EXTRACT_TENSORFLOW_MESSAGE_H
#define TL_EXTRACT_TENSORFLOW_MESSAGE_H

#include "lib/extract/graph/graph.h"
#include "lib/extract/read/pull.h"

struct message_attr {
	const char *name;
	const char *s; /* a text; or the name of a function */
	int64_t i;     /* an integer, a truth, or a type as value_elem has it */
	float f;
	int64_t *ints;
	int nints;
	const char **texts; /* a list of them */
	int ntexts;
	struct shape *shape;  /* 0: an open dimension; NULL: none is given */
	struct shape *shapes; /* a list of them */
	int nshapes;
	struct value *tensor;
	const char **words; /* its elements, if they are texts */
	int nwords;
};

struct message_node {
	const char *name, *type;
	const char **in; /* such as "conv1", "split:1", "^after_this" */
	int nin;
	struct message_attr *attr;
	int nattr;
};

struct message_function {
	const char *name;
	const char **arg, **out;
	int narg, nout;
	const char **returned; /* for each of out, the value: "node:output:0" */
	struct message_node *node;
	int nnode;
};

/* A value that a signature names. */
struct message_end {
	const char *tensor; /* "serving_default_x:0" */
	struct shape *shape;
	int elem;
};

struct message_signature {
	const char *name;
	struct message_end *in, *out;
	int nin, nout;
};

struct message_graph {
	struct message_node *node;
	int nnode;
	struct message_function *function;
	int nfunction;
	struct message_signature *signature;
	int nsignature;
};

/* Reads a SavedModel, or a GraphDef. The arena holds all; the hash is that of the file. */
int message_read(struct message_graph *m, struct pull *in, int is_saved_model, struct arena *a,
		 struct id *hash, struct err *e);

const struct message_attr *message_attr(const struct message_node *n, const char *name);

#endif
