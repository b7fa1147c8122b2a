/* ONNX: a ModelProto read from a stream into a graph.
 *
 * Field numbers are those of onnx.proto (ir_version 3 and later; operator sets 7 and later are what
 * shape inference is written for). Weights are passed over: raw_data and the typed lists of a
 * TensorProto are kept only for small tensors, and external data is opened only for weights.
 */
#ifndef TL_EXTRACT_ONNX_H
#define TL_EXTRACT_ONNX_H

#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/extract/graph/graph.h"
#include "lib/extract/onnx/elements.h"
#include "lib/extract/read/pull.h"

struct onnx_model {
	struct graph graph;
	int64_t ir_version;
	int64_t opset; /* of the domain "" */
	struct id hash;
	struct map functions; /* private: struct function * */
};

/* Could these be the first bytes of a model? */
int onnx_claims(const unsigned char *head, size_t n);
/* Reads the model and links its graph. The arena holds all of it; onnx_free() frees the tables. */
int onnx_read(struct onnx_model *m, struct pull *in, struct arena *a, struct err *e);
/* The same to run it: with the elements of large tensors (value.data), and no operator rewritten.
 * Those in other files are read from this folder. ONNX_ALL: it is an error if they are not there;
 * the folder NULL: if there are any. */
int onnx_read_weights(struct onnx_model *m, struct pull *in, enum onnx_elements which,
		      const char *folder, struct arena *a, struct err *e);
void onnx_free(struct onnx_model *m);

#endif
