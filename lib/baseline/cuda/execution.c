#include "lib/baseline/cuda/execution.h"

#include <stdlib.h>

static const int64_t MOST_WORKSPACE = (int64_t)1 << 30; /* bytes */

int execution_make(struct execution *p, struct maker *m)
{
	const struct cudnn_value value[] = {
		{ATTR_EXECUTION_PLAN_HANDLE, TYPE_HANDLE, 1, &m->handle},
		{ATTR_EXECUTION_PLAN_ENGINE_CONFIG, TYPE_BACKEND_DESCRIPTOR, 1, &p->engine.config},
	};
	struct err e = ERR_INIT;
	int64_t n;

	if (cudnn_describe(KIND_EXECUTION_PLAN, value, 2, &p->plan, &e) < 0)
		return 0;
	if (cudnn_get(p->plan, ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, TYPE_INT64, 1, &n, &p->workspace,
		      &e) < 0 ||
	    p->workspace > MOST_WORKSPACE) {
		cudnn_free(p->plan);
		p->plan = NULL;
		return 0;
	}
	p->maker = m;
	return 1;
}

static int pack(struct execution *p, struct err *e)
{
	const struct graph *g = p->graph;
	void *workspace = stage_workspace(g->stage);
	const struct cudnn_value value[] = {
		{ATTR_VARIANT_PACK_UNIQUE_IDS, TYPE_INT64, g->nbound, g->uid},
		{ATTR_VARIANT_PACK_DATA_POINTERS, TYPE_VOID_PTR, g->nbound, g->address},
		{ATTR_VARIANT_PACK_WORKSPACE, TYPE_VOID_PTR, 1, &workspace},
	};

	return cudnn_describe(KIND_VARIANT_PACK, value, 3, &p->pack, e);
}

int execution_run(void *plan, void *stream, struct err *e)
{
	struct execution *p = plan;
	struct maker *m = p->maker;

	if (!p->pack && pack(p, e) < 0)
		return -1;
	if (!m->has_stream || m->stream != stream) {
		if (cudnn_take_stream(m->handle, stream, e) < 0)
			return -1;
		m->has_stream = 1;
		m->stream = stream;
	}
	return cudnn_execute(m->handle, p->plan, p->pack, e);
}

void execution_free(struct execution *p)
{
	cudnn_free(p->pack);
	cudnn_free(p->plan);
	cudnn_free(p->engine.config);
	cudnn_free(p->engine.engine);
	free(p);
}
