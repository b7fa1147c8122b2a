/* Shared by the files that read ONNX messages; nobody else includes it. */
#ifndef TL_EXTRACT_ONNX_PARSE_H
#define TL_EXTRACT_ONNX_PARSE_H

#include "lib/extract/graph/graph.h"
#include "lib/extract/onnx/elements.h"
#include "lib/extract/read/pull.h"
#include "lib/extract/read/wire.h"

enum { NAME_MAX_BYTES = 1 << 20, LIST_MAX = 1 << 20, DEPTH_MAX = 16 };

struct parse {
	struct wire wire;
	struct arena *a;
	struct buf raw; /* of the tensor at hand */
	int depth;	/* of nested graphs */
	enum onnx_elements elements;
	int is_initializer; /* the tensor at hand is one */
	const char *folder; /* where files with elements are; NULL: nowhere */
};

int parse_name(struct parse *p, const struct wire_field *f, const char **out, struct err *e);
/* Adds the value of a repeated int64 field, packed or not, to b as int64_t; at most max of them. */
int parse_ints(struct parse *p, const struct wire_field *f, int max, struct buf *b, struct err *e);
/* TensorProto into name, shape, elem and kept of v. The message ends at end. */
int parse_tensor(struct parse *p, uint64_t end, struct value *v, struct err *e);
/* TypeProto into elem, shape and symbols of d. */
int parse_type(struct parse *p, uint64_t end, struct declared *d, struct err *e);
/* A list gathered in a buffer, moved to the arena. */
void *parse_settle(struct parse *p, const struct buf *b);
/* AttributeProto, NodeProto and GraphProto; graphs are linked when all is read (finish.h). */
int parse_attr(struct parse *p, uint64_t end, struct attr *at, struct err *e);
int parse_node(struct parse *p, uint64_t end, struct graph *g, struct err *e);
int parse_graph(struct parse *p, uint64_t end, struct graph *g, struct err *e);

#endif
