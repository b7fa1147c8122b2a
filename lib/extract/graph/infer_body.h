/* Operators with graphs inside share these functions.
 *
 * Graphs inside (If, Loop, Scan, TensorFlow's While) are walked in place by inference
 * (infer_body.h), with the values that they read from around them. graph.times says how often they
 * run; model.c multiplies. Branches that nobody chooses are both walked, and the one with more
 * multiply-adds counts. Functions that an ONNX model brings along are inlined when the file has
 * been read (lib/extract/onnx/finish.h).
 */
#ifndef TL_EXTRACT_GRAPH_INFER_BODY_H
#define TL_EXTRACT_GRAPH_INFER_BODY_H

#include "lib/extract/graph/infer.h"

enum { WALK_MOST = 1 << 22 }; /* nodes and values of such graphs, each time that they are walked */

/* The graph in an attribute, or NULL; value i of its inputs or outputs, or NULL. */
struct graph *body_graph(const struct graph_node *n, const char *name);
struct value *body_end(const struct graph *sub, const struct ends *list, int i);
/* What is known of a value becomes known of another one. */
void body_copy(struct value *to, const struct value *from);
/* A value of a body's beginning gets what it has in the first turn; keep: with its elements. */
void body_begin(struct value *to, const struct value *from, int keep);
/* The truth of a condition; -1: it is not known. */
int body_truth(const struct value *v);
/* Infers the graph, whose inputs are set. 1: done; 0: there was too much of it already; -1. */
int body_walk(struct infer *x, struct graph *sub, struct err *e);
/* Walks until the shapes of what one turn hands to the next stay as they are. If they do not soon,
 * nothing is known of them. skip: inputs before the states; half as many outputs are. */
int body_walk_any_turn(struct infer *x, struct graph *sub, int skip, int states, struct err *e);

#endif
