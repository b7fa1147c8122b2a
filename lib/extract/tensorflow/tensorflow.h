/* TensorFlow's graphs: frozen GraphDefs and SavedModels.
 *
 * What is computed is found backwards from the results: of a SavedModel those of its signature
 * serving_default (or of the first one), of a GraphDef what nothing reads. Functions that nodes
 * call are put in the place of the call; those of a loop are graphs inside of a node. Weights of a
 * SavedModel lie in other files; their shapes are in the graph, or in the index of these files.
 */
#ifndef TL_EXTRACT_TENSORFLOW_TENSORFLOW_H
#define TL_EXTRACT_TENSORFLOW_TENSORFLOW_H

#include "lib/extract/call/call.h"
#include "lib/extract/tensorflow/message.h"

enum { TENSORFLOW_OPSET = 13 }; /* of ONNX, whose rules hold for what operators become */

enum tensorflow_kind { TENSORFLOW_NONE, TENSORFLOW_GRAPH, TENSORFLOW_SAVED_MODEL };

/* Could these be the first bytes of one? */
enum tensorflow_kind tensorflow_claims(const unsigned char *head, size_t n);
/* Gives variables whose shapes the graph leaves open those in the index of a checkpoint, at that
 * path, if there is one (restore.c). */
int tensorflow_restore(const struct message_graph *m, const char *path, struct arena *a,
		       struct err *e);
/* The graph that the messages describe, linked. loops: how many loops of the first TensorFlow, made
 * of Enter, Merge, Switch and Exit, there are in it; their operators are in the graph once. */
int tensorflow_build(struct graph *g, const struct message_graph *m, int64_t *loops, struct err *e);

/* Reads attributes of a node: c->at is its struct message_node. */
call_reader convert_attribute;

/* Adds the nodes that an operator becomes. */
void tensorflow_operator(const struct call *c);
/* The same for one that TensorFlow's optimizer joined out of several, such as _FusedConv2D: those
 * of each. */
void tensorflow_fused(const struct call *c, const char *first);
/* A text; one that is not there is empty. */
const char *convert_text(const struct call *c, const char *name);
/* convert_window.c: convolutions, pools, and what rearranges and normalizes images */
call_fn convert_conv, convert_depthwise, convert_conv_transpose, convert_bias_add,
	convert_batch_norm, convert_pool, convert_blocks;
/* Returns the offset of the results of that name, of n bytes, among all of an operator ("y" of a
 * FusedBatchNorm). */
int tensorflow_output(const char *type, const char *name, size_t n);

#endif
