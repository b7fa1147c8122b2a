/* Graphs of CUDA: work that is captured once, and then started with one call. A device goes from
 * one kernel of a graph to the next without this machine, so short kernels are timed without what
 * it takes to launch them.
 */
#ifndef TL_TARGET_CUDA_GRAPH_H
#define TL_TARGET_CUDA_GRAPH_H

#include "lib/base/err.h"

struct cuda_graph;

/* Captures what call() puts on the stream, which must be one that the driver has made, and no
 * default stream. NULL with errno ENOSYS: the driver has no graphs (before CUDA 11.4). */
struct cuda_graph *cuda_graph_capture(void *stream, int (*call)(void *arg, struct err *e),
				      void *arg, struct err *e);
/* Puts the work on the stream, and waits for nothing. */
int cuda_graph_launch(const struct cuda_graph *g, void *stream, struct err *e);
void cuda_graph_free(struct cuda_graph *g); /* NULL is fine */

#endif
