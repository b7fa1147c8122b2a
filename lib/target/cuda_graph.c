#include "lib/target/cuda_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/target/cuda_error.h"
#include "lib/target/shared.h"

typedef void *handle; /* of a stream, graph, graph that can be started */

enum { CAPTURE_RELAXED = 2 }; /* other calls of this thread are no fault meanwhile */

struct cuda_graph {
	handle started;
};

static struct {
	int (*begin)(handle stream, int mode);
	int (*end)(handle stream, handle *graph);
	int (*instantiate)(handle *started, handle graph, unsigned long long flags);
	int (*launch)(handle started, handle stream);
	int (*free)(handle graph);
	int (*free_started)(handle started);
} cuda;

static int open_library(struct err *e)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	static const struct shared_function functions[] = {
		{"cuStreamBeginCapture_v2", &cuda.begin},
		{"cuStreamEndCapture", &cuda.end},
		{"cuGraphInstantiateWithFlags", &cuda.instantiate},
		{"cuGraphLaunch", &cuda.launch},
		{"cuGraphDestroy", &cuda.free},
		{"cuGraphExecDestroy", &cuda.free_started},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	return shared_open(&library, e);
}

/* The capture ends in any case. */
static int capture(handle stream, int (*call)(void *arg, struct err *e), void *arg, handle *graph,
		   struct err *e)
{
	int rc, end;

	if (cuda_check(cuda.begin(stream, CAPTURE_RELAXED), "begin a graph", e) < 0)
		return -1;
	rc = call(arg, e);
	end = cuda.end(stream, graph);
	if (rc < 0)
		errno = EIO;
	return rc < 0 ? -1 : cuda_check(end, "end a graph", e);
}

struct cuda_graph *cuda_graph_capture(void *stream, int (*call)(void *arg, struct err *e),
				      void *arg, struct err *e)
{
	handle graph = NULL, started = NULL;
	struct cuda_graph *g;
	int rc;

	if (open_library(e) < 0)
		return NULL;
	rc = capture(stream, call, arg, &graph, e);
	if (rc == 0)
		rc = cuda_check(cuda.instantiate(&started, graph, 0), "prepare a graph", e);
	if (graph)
		cuda.free(graph);
	if (rc < 0)
		return NULL;
	g = xcalloc(1, sizeof *g);
	g->started = started;
	return g;
}

int cuda_graph_launch(const struct cuda_graph *g, void *stream, struct err *e)
{
	return cuda_check(cuda.launch(g->started, stream), "start a graph", e);
}

void cuda_graph_free(struct cuda_graph *g)
{
	if (!g)
		return;
	cuda.free_started(g->started);
	free(g);
}
