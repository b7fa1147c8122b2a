/* Names by which records tell the nodes of a graph apart. Names of nodes are to be unique but often
 * are not, or are missing; names of values are. */
#ifndef TL_EXTRACT_GRAPH_NAMES_H
#define TL_EXTRACT_GRAPH_NAMES_H

#include "lib/base/map.h"
#include "lib/extract/graph/graph.h"

/* Counts how many nodes of the graph have each name; the counts lie in the arena. */
void names_count(const struct graph *g, struct arena *a, struct map *names);
/* Returns the name of a node if no other one has it, else the name, "#" and that of its first
 * output. */
const char *names_of(const struct graph *g, const struct graph_node *n, const struct map *names,
		     struct arena *a);
/* Gives the nodes of the graph, and of graphs inside, these names. */
void names_tell_apart(struct graph *g);

#endif
