/* What became of the nodes of a graph when workloads were taken out of it. */
#ifndef TL_EXTRACT_TASK_FATE_H
#define TL_EXTRACT_TASK_FATE_H

#include "lib/extract/graph/graph.h"
#include "lib/extract/task/task.h"

enum fate {
	FATE_WORKLOAD, /* it became one */
	FATE_FUSED,    /* it became part of one: a post-op, or of its weights or padding */
	FATE_CONSTANT, /* constants and sizes only: it is done before the model runs */
	FATE_NONE,     /* nothing */
};

struct fates {
	const struct graph *g;
	enum fate *of;		  /* of each node */
	const struct task **task; /* of each node that multiplies and adds, its first; else NULL */
	int64_t *macs;		  /* of each node in all runs; -1: unknown */
	int64_t times;		  /* that the graph runs */
	int is_inside;		  /* it is in a node of another one */
};

const char *fate_name(enum fate f); /* "workload" */
/* Is the node about constants and sizes only? */
int fate_is_plumbing(const struct graph *g, const struct graph_node *n);
/* From what task_find() made of a graph that runs so often; all is the arena's. */
void fates_find(struct fates *f, const struct graph *g, int64_t times, const struct task *t, int n,
		const unsigned char *absorbed, struct arena *a);

#endif
