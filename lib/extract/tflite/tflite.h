/* TensorFlow Lite: a model's file read from a stream into a graph.
 *
 * Fields are those of the schema of version 3 (tensorflow/compiler/mlir/lite/schema/schema.fbs). An
 * operator of TFLite becomes the operator of ONNX that computes the same, or several of them
 * (operators.c): a fused activation is a node of its own, and what is nhwc stays so
 * (channels_last). An operator without a counterpart keeps its name, and the file tells the shape
 * of what it makes. Elements of large tensors are passed over (load.c).
 */
#ifndef TL_EXTRACT_TFLITE_TFLITE_H
#define TL_EXTRACT_TFLITE_TFLITE_H

#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/extract/graph/graph.h"
#include "lib/extract/read/pull.h"

enum { TFLITE_OPSET = 13 }; /* of ONNX, whose rules hold for what operators become */

struct tflite_model {
	struct graph graph;   /* the first; it is linked */
	int64_t graphs, read; /* how many there are in the file, and how many were read */
	struct id hash;
};

/* Could these be the first bytes of a model? */
int tflite_claims(const unsigned char *head, size_t n);
/* Reads the model. The arena holds all of it; tflite_free() frees the tables. */
int tflite_read(struct tflite_model *m, struct pull *in, struct arena *a, struct err *e);
void tflite_free(struct tflite_model *m);

#endif
