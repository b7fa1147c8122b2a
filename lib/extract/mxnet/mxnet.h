/* Networks of MXNet: NAME-symbol.json, the nodes of a graph with their attributes as texts. Weights
 * lie in another file; their shapes follow from the data (infer_parameters.c), and the data's shape
 * from --shape.
 */
#ifndef TL_EXTRACT_MXNET_MXNET_H
#define TL_EXTRACT_MXNET_MXNET_H

#include "lib/extract/build.h"
#include "lib/extract/infer.h"
#include "lib/io/json.h"

enum { MXNET_OPSET = 13 }; /* of ONNX, whose rules hold for what operators become */

/* The graph of a network, linked. An input without a shape, in the file or the options, is refused.
 */
int mxnet_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e);

/* An operator with its values in the graph. */
struct mxnet_node {
	struct build *b;
	const struct json_doc *doc;
	const struct json *attrs;
	const char *name, *type;
	int *in, nin, *out, nout;
};

/* Adds the nodes that it becomes. */
void mxnet_operator(const struct mxnet_node *n);
/* Is input i of such an operator a parameter? */
int mxnet_is_parameter(const char *type, int i);
/* An attribute as text, "" if there is none. */
const char *mxnet_text(const struct mxnet_node *n, const char *key);
/* The numbers in "(3, 3)" or "3". Returns how many; -1: more than a tensor can have dimensions. */
int mxnet_numbers(const char *text, int64_t v[GRAPH_MAX_RANK]);

#endif
