/* An execution plan of cuDNN's: an engine with its knobs, made ready for a graph. The library
 * compiles some plans while it makes them, which takes up to seconds.
 */
#ifndef TL_BASELINE_CUDA_EXECUTION_H
#define TL_BASELINE_CUDA_EXECUTION_H

#include "lib/baseline/cuda/engines.h"

/* A handle of cuDNN's, which makes plans and runs those that it made. One thread at a time may use
 * it. */
struct maker {
	void *handle; /* NULL: it is not started */
	void *stream;
	int has_stream; /* the library was told of it */
};

/* The graph, and the engine, which the plan owns, stand there first. */
struct execution {
	struct execution *next; /* for the plan's owner */
	const struct graph *graph;
	struct engine engine;
	struct maker *maker; /* made the plan */
	void *plan;	     /* NULL: it is not made */
	void *pack;	     /* made at the first run: the workspace has no address before */
	int64_t workspace;   /* bytes */
};

/* Makes the plan; 0: the engine does not take the problem. */
int execution_make(struct execution *p, struct maker *m);
/* Puts a plan that is made on the stream, as call.run (variant.h). */
int execution_run(void *plan, void *stream, struct err *e);
void execution_free(struct execution *p);

#endif
