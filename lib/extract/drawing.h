/* A graph in the language of Graphviz's dot: a box for each node but those of constants and sizes,
 * an arrow for each value with its shape. Colours tell what became of a node: green, a workload;
 * pale green, part of one; orange, multiply-adds that no workload covers. The same graph makes the
 * same text. */
#ifndef TL_EXTRACT_DRAWING_H
#define TL_EXTRACT_DRAWING_H

#include "lib/extract/task/fate.h"

void drawing_add(const char *model, const struct fates *f, struct buf *out);

#endif
