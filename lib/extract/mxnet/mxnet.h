/* MXNet models: the JSON of a symbol (NAME-symbol.json), as MXNet 0.8 to 1.9 and Gluon write it.
 *
 * A symbol tells no shapes but, now and then, those of variables. Parameters have the shapes that
 * follow from the data (infer_parameters.c).
 */
#ifndef TL_EXTRACT_MXNET_MXNET_H
#define TL_EXTRACT_MXNET_MXNET_H

#include "lib/extract/call.h"
#include "lib/extract/infer.h"
#include "lib/io/json.h"

enum { MXNET_OPSET = 13 }; /* of ONNX, whose rules hold for what operators become */

/* The graph of a symbol, linked. A variable is an input if --shape names it, or if no operator
 * reads it as a parameter. */
int mxnet_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e);

/* A node of a symbol, of which a call makes the first result. */
struct mx_node {
	const struct json_doc *doc;
	const struct json *node;
	int nout; /* one at least */
};

/* How many of the inputs of an operator are data, those behind being parameters; 0: all. */
int mxnet_data_inputs(const char *type);
/* Adds the nodes that the operator becomes. */
void mxnet_operator(const struct call *o);

#endif
