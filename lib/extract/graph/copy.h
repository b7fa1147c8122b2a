/* Copies of nodes, and of the graphs inside them, in another graph: calls of functions become the
 * function's nodes (onnx/finish.c), and turns of a loop those of its body (lib/run/unfold.c).
 *
 * The caller says which value of the other graph each value of the body is, and what an attribute
 * is that refers to one of a call. Graphs inside are copied whole, with names of their own for what
 * they read from around them.
 */
#ifndef TL_EXTRACT_GRAPH_COPY_H
#define TL_EXTRACT_GRAPH_COPY_H

#include "lib/extract/graph/build.h"

struct copies {	      /* all that are made for a model */
	int64_t made; /* nodes and values, and what they hold */
	int depth;    /* graphs around the one at hand */
};

struct copying {
	struct copies *all;
	struct build b; /* where the copies go */
	const struct graph *body;
	const int *value; /* of b.g, for each value of the body; -1: left out */
	const char *name; /* what their names begin with */
	int links;	  /* graphs inside are linked: the copies are to be, too */
	/* Finds the attribute that one refers to. 1; 0: there is none; -1 with a sentence. */
	int (*refers)(struct copying *c, const char *to, const struct attr **found, struct err *e);
};

/* Bytes of a name that go into one made of it: a body may be copied a million times. */
#define COPY_NAME "%.200s"

/* Adds to what was made; -1: it is too much. */
int copy_count(struct copies *all, int64_t n, struct err *e);
/* Goes into a graph inside; -1: too many are around it. The caller comes back by all->depth--. */
int copy_descend(struct copies *all, struct err *e);
/* Makes a copy of a node of the body, which is in no graph yet. -1: a part of it is missing; it can
 * be freed all the same. */
int copy_node(struct copying *c, const struct graph_node *from, struct graph_node *to,
	      struct err *e);

#endif
