/* Graphs of operations for cuDNN: a convolution or a product, and a chain of pointwise operations
 * on its result; or one of both alone.
 */
#ifndef TL_BASELINE_CUDA_GRAPH_H
#define TL_BASELINE_CUDA_GRAPH_H

#include "lib/baseline/cuda/chain.h"
#include "lib/baseline/cuda/stage.h"

enum { GRAPH_BOUND = 8 + CHAIN_LINKS, GRAPH_MADE = 8 * CHAIN_LINKS };

enum graph_part {
	GRAPH_ALL,   /* from the source to the output */
	GRAPH_FIRST, /* the convolution or product; its result lies in the middle (stage.h) */
	GRAPH_REST,  /* the chain, from the middle to the output */
};

struct graph {
	void *handle;
	struct stage *stage;
	const struct problem *problem;
	enum graph_part part;
	void *made[GRAPH_MADE], *op[CHAIN_LINKS + 1]; /* descriptors; operations among them */
	int nmade, nops;
	int64_t uid[GRAPH_BOUND]; /* of tensors in memory, and where they are */
	void *address[GRAPH_BOUND];
	int nbound;
	int nvirtual; /* tensors that are not in memory */
	void *whole;  /* the descriptor of the graph */
};

/* Makes the graph; of n links, if it has a chain. 1; 0: cuDNN does not take such a graph; -1 with e
 * filled: the device has no memory. What it has is closed in all cases by graph_close(). */
int graph_open(struct graph *g, const struct link *link, int n, struct err *e);
void graph_close(struct graph *g);

#endif
