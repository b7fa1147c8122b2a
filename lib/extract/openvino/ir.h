/* The document of an OpenVINO IR, as it is: networks of layers, ports and edges.
 *
 * Format: docs.openvino.ai, "OpenVINO IR format", versions 10 and 11. A document type is refused,
 * so no entity is ever expanded and no other file opened; depth and counts are bounded. All memory
 * is the arena's.
 */
#ifndef TL_EXTRACT_OPENVINO_IR_H
#define TL_EXTRACT_OPENVINO_IR_H

#include "lib/extract/graph/graph.h"

struct ir_attr {
	const char *name, *value;
	struct ir_attr *next;
};

struct ir_port {
	int64_t id;
	/* Outputs have these: */
	const char *name; /* of the tensor; NULL: it has none */
	int elem;
	struct shape shape; /* DIM_UNKNOWN where it is open */
	/* The reader's: the value of the graph, -1: none. */
	int value;
	struct ir_port *next;
};

/* How a value of a layer is one of its body. */
struct ir_map {
	int is_output;
	int64_t external, internal; /* a port of the layer (-1: none), a layer of the body */
	int64_t axis;		    /* along which it is cut or joined; -1: it is not */
	int64_t start, end, part;
	struct ir_map *next;
};

struct ir_net;

enum { IR_BODIES = 2 };

struct ir_layer {
	int64_t id;
	const char *name, *type, *version;
	struct ir_attr *attr;
	struct ir_port *in, *out;
	int nin, nout;
	struct ir_net *body[IR_BODIES];
	struct ir_map *map; /* of body 0 */
	struct ir_layer *next;
};

struct ir_edge {
	int64_t from_layer, from_port, to_layer, to_port;
	struct ir_edge *next;
};

struct ir_net {
	const char *name;
	struct ir_layer *layer; /* in the order of the file, like all these lists */
	struct ir_edge *edge;
};

/* The network in n bytes of XML. */
int ir_read(struct ir_net **net, const char *s, size_t n, struct arena *a, struct err *e);
const char *ir_attr(const struct ir_layer *l, const char *name); /* NULL: there is none */
/* A whole number that is all of the text. -1: it is none. */
int ir_number(const char *text, int64_t *v);

#endif
