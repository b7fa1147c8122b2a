/* Sequences of tensors are taken apart: what takes an item of one, or joins its items, reads the
 * tensors themselves.
 *
 * Inference has told which items a sequence has, and which of them is meant; otherwise a node
 * stays, and lowering refuses it. Nodes that make sequences stay, too, and nobody reads what they
 * make.
 */
#ifndef TL_RUN_UNFOLD_LISTS_H
#define TL_RUN_UNFOLD_LISTS_H

#include "lib/extract/graph/build.h"

struct unfold_lists {
	struct list { /* the values that are a sequence's items */
		int *at;
		int64_t n;
		int is_known;
		int is_read;  /* by a node that stays */
		int *wide;    /* the items with a dimension more; NULL: nobody asked yet */
		int64_t axis; /* which one it is */
	} * of;		      /* each value */
	int takers;	      /* nodes that others can stand for */
	int64_t *made;	      /* counts nodes, values and inputs of nodes, up to `most` */
	int64_t most;
};

/* Finds the sequences of a graph whose shapes were inferred, and who takes something of one. */
void unfold_lists_find(struct unfold_lists *l, const struct graph *g);
/* Adds the node, or what stands for it. Nodes come in the order in which they compute. -1: that
 * would be more than may be made. */
int unfold_lists_node(struct unfold_lists *l, struct build *b, const struct graph_node *n,
		      struct err *e);

#endif
