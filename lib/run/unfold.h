/* Graphs inside nodes become nodes around: the branch that an If takes, and the turns of a Loop and
 * a Scan, one behind the other.
 *
 * Inference has told which branch it is, and how many turns there are (infer_body.h); a node of
 * which it has not told that stays, and lowering refuses it. Of a Loop whose number of turns
 * follows from what it computes the next turn is made, as long as it is known that there is one: a
 * run ahead (ahead.h) tells whether there is another. What a turn hands to the next is a value of
 * the graph then, so that shapes may change from turn to turn, and the weights of a body are one
 * constant for all turns.
 *
 * Sequences of tensors are taken apart here, too (unfold_lists.h), and what multiplies by numbers
 * that follow from its sizes becomes a product (unfold_tables.h), as does an Einsum of several
 * operands (unfold_einsum.h). Forms that only old operator sets have become
 * those of today (unfold_old.h).
 */
#ifndef TL_RUN_UNFOLD_H
#define TL_RUN_UNFOLD_H

#include "lib/extract/graph/graph.h"

/* A Loop may have so many turns that are found by running ahead. */
enum { UNFOLD_AHEAD = 100 };

/* All that calls for a model have made; zeros before the first. */
struct unfolded {
	int64_t turns; /* nodes and values of turns, and of items of sequences */
	int64_t made;  /* what copy.h counts: graphs inside, and what they hold */
	int64_t fresh; /* numbers that made names unique */
	int64_t table; /* elements of tables */
};

/* Unfolds the nodes of a graph whose shapes were inferred. 1: there were some, and the graph is as
 * one that was only linked; 0: there were none; -1: they make too much. Graphs that were inside of
 * others are unfolded by the next call. */
int unfold(struct graph *g, int64_t opset, struct unfolded *all, struct err *e);

#endif
