/* Shared by the files that read ONNX messages; nobody else includes it. */
#ifndef TL_EXTRACT_ONNX_PARSE_H
#define TL_EXTRACT_ONNX_PARSE_H

#include "lib/extract/graph/graph.h"
#include "lib/extract/onnx/elements.h"
#include "lib/extract/read/proto.h"

enum { NAME_MAX_BYTES = 1 << 20, LIST_MAX = 1 << 20, DEPTH_MAX = 16 };

/* Whose the wire of these files is. */
struct parse {
	struct wire wire;
	struct buf raw; /* of the tensor at hand */
	int depth;	/* of nested graphs */
	int graphs;	/* that the model has; more than one is an error */
	enum onnx_elements elements;
	int is_initializer; /* the tensor at hand is one */
	const char *folder; /* where files with elements are; NULL: nowhere */
};

/* Adds the value of a repeated int64 field, packed or not, to b as int64_t; at most max of them. */
int parse_ints(struct wire *w, const struct wire_field *f, int max, struct buf *b, struct err *e);
/* A list gathered in a buffer, moved to the arena. */
void *parse_settle(struct wire *w, const struct buf *b);

/* Messages, each a field of the wire that has it. */
/* TensorProto into name, shape, elem and kept of a struct value. */
int parse_tensor(struct wire *w, const struct wire_field *f, struct value *v, struct err *e);
/* TypeProto into elem, shape and symbols of a struct declared. */
int parse_type(struct wire *w, const struct wire_field *f, void *declared, struct err *e);
/* AttributeProto, added to a list of struct attr. */
int parse_attr(struct wire *w, const struct wire_field *f, void *attrs, struct err *e);
/* NodeProto and GraphProto into a struct graph; graphs are linked when all is read (finish.h). */
int parse_node(struct wire *w, const struct wire_field *f, void *graph, struct err *e);
int parse_graph(struct wire *w, const struct wire_field *f, void *graph, struct err *e);

#endif
