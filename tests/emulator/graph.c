#include "tests/emulator/graph.h"

#include <stdlib.h>
#include <string.h>

#include "tests/emulator/driver.h"

enum { STREAMS = 64 };

/* A graph, and also what is made of it to be started. */
struct graph {
	struct launch *first;
};

static struct stream *streams[STREAMS];

/* ---- launches ---- */

static struct launch *copy(const struct launch *l)
{
	struct launch *to = malloc(sizeof *to);

	if (!to)
		return NULL;
	*to = *l;
	to->next = NULL;
	for (int i = 0; i < GRAPH_PARAMS; i++)
		to->param[i] = to->value[i];
	to->grid.params = to->param;
	return to;
}

static void free_launches(struct launch *l)
{
	while (l) {
		struct launch *next = l->next;

		free(l);
		l = next;
	}
}

static int add(struct stream *s, const struct launch *l)
{
	*s->end = copy(l);
	if (!*s->end)
		return -1;
	s->end = &(*s->end)->next;
	return 0;
}

int graph_add(struct stream *s, const struct fiber_grid *g, const unsigned *size, int n)
{
	struct launch l = {.grid = *g};

	if (n > GRAPH_PARAMS)
		return -1;
	for (int i = 0; i < n; i++) {
		if (size[i] > GRAPH_PARAM_BYTES)
			return -1;
		memcpy(l.value[i], g->params[i], size[i]);
	}
	return add(s, &l);
}

/* ---- streams ---- */

/* Where a stream is kept; NULL finds an empty place. */
static struct stream **find(const void *stream)
{
	for (int i = 0; i < STREAMS; i++)
		if (streams[i] == stream)
			return &streams[i];
	return NULL;
}

int graph_is_stream(const void *stream)
{
	return !stream || find(stream);
}

int graph_captures(const void *stream)
{
	return stream && ((const struct stream *)stream)->captures;
}

API int cuStreamCreate(void **stream, unsigned flags)
{
	const enum result rc = driver_ready();
	struct stream **place = find(NULL);

	if (rc || flags > 1)
		return rc ? rc : INVALID_VALUE;
	if (!place || !(*place = calloc(1, sizeof **place)))
		return OUT_OF_MEMORY;
	*stream = *place;
	return SUCCESS;
}

API int cuStreamDestroy_v2(void *stream)
{
	struct stream **place = stream ? find(stream) : NULL;

	if (!place)
		return INVALID_HANDLE;
	free_launches((*place)->first);
	free(*place);
	*place = NULL;
	return driver_ready();
}

API int cuStreamSynchronize(void *stream)
{
	if (!graph_captures(stream))
		return driver_ready();
	((struct stream *)stream)->is_invalid = 1;
	return CAPTURE_UNSUPPORTED;
}

/* Work of this machine's: what stand-ins for NVIDIA's libraries put on a stream (queue.h). */
API int cuLaunchHostFunc(void *stream, void (*host)(void *arg), void *arg)
{
	const enum result rc = driver_ready();
	const struct launch l = {.host = host, .arg = arg};

	if (rc || !graph_is_stream(stream))
		return rc ? rc : INVALID_HANDLE;
	if (graph_captures(stream))
		return add(stream, &l) < 0 ? OUT_OF_MEMORY : SUCCESS;
	driver_host(host, arg, 1);
	return SUCCESS;
}

/* ---- capturing ---- */

API int cuStreamBeginCapture_v2(void *stream, int mode)
{
	const enum result rc = driver_ready();
	struct stream *s = stream;

	if (rc || mode < 0 || mode > 2)
		return rc ? rc : INVALID_VALUE;
	if (!s || !find(s) || s->captures)
		return CAPTURE_UNSUPPORTED; /* the default stream captures nothing */
	s->captures = 1;
	s->first = NULL;
	s->end = &s->first;
	return SUCCESS;
}

API int cuStreamEndCapture(void *stream, void **graph)
{
	const enum result rc = driver_ready();
	struct stream *s = stream;
	struct graph *g;

	*graph = NULL;
	if (rc || !graph_captures(s))
		return rc ? rc : CAPTURE_INVALIDATED;
	s->captures = 0;
	if (s->is_invalid) {
		s->is_invalid = 0;
		free_launches(s->first);
		s->first = NULL;
		return CAPTURE_INVALIDATED;
	}
	g = calloc(1, sizeof *g);
	if (!g)
		return OUT_OF_MEMORY;
	g->first = s->first;
	s->first = NULL;
	*graph = g;
	return SUCCESS;
}

/* ---- graphs ---- */

API int cuGraphDestroy(void *graph)
{
	free_launches(((struct graph *)graph)->first);
	free(graph);
	return driver_ready();
}

API int cuGraphExecDestroy(void *started)
{
	return cuGraphDestroy(started);
}

API int cuGraphInstantiateWithFlags(void **started, void *graph, unsigned long long flags)
{
	const enum result rc = driver_ready();
	struct graph *g;
	struct launch **end;

	if (rc || flags)
		return rc ? rc : INVALID_VALUE;
	g = calloc(1, sizeof *g);
	if (!g)
		return OUT_OF_MEMORY;
	end = &g->first;
	for (const struct launch *l = ((struct graph *)graph)->first; l; l = l->next) {
		*end = copy(l);
		if (!*end) {
			cuGraphDestroy(g);
			return OUT_OF_MEMORY;
		}
		end = &(*end)->next;
	}
	*started = g;
	return SUCCESS;
}

API int cuGraphLaunch(void *started, void *stream)
{
	enum result rc = driver_ready();

	if (rc || !graph_is_stream(stream) || graph_captures(stream))
		return rc ? rc : INVALID_HANDLE;
	for (const struct launch *l = ((struct graph *)started)->first; l && !rc; l = l->next) {
		if (l->host)
			driver_host(l->host, l->arg, 0);
		else
			driver_run(&l->grid, 0);
		rc = driver_ready();
	}
	return SUCCESS;
}
