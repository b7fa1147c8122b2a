/* Operators that multiply by numbers which follow from their sizes become products by a constant: a
 * DFT becomes a MatMul, an STFT a Conv with a channel for each real and imaginary part, an
 * AffineGrid the product of its base grid and the matrices. A window becomes a constant. A
 * TensorScatter becomes a ScatterElements by indices that are counted, and a bias that is computed
 * beside constant weights an Add.
 *
 * Inference has told the sizes; otherwise a node stays, and lowering refuses it. Equal tables are
 * one constant, and all tables together have a bound.
 */
#ifndef TL_RUN_UNFOLD_TABLES_H
#define TL_RUN_UNFOLD_TABLES_H

#include "lib/extract/graph/build.h"

/* Can other nodes stand for this one? */
int unfold_has_table(const struct graph *g, const struct graph_node *n, int64_t opset);
/* Adds what stands for it. *all: the elements of the tables so far. -1: they are too many, or there
 * is no memory. */
int unfold_table(struct build *b, const struct graph_node *n, int64_t opset, int64_t *all,
		 struct err *e);

#endif
