#include "lib/ref/cuda/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/ref/cuda/engines.h"
#include "lib/target/nvrtc.h"

static const int64_t MOST_WORKSPACE = (int64_t)1 << 30; /* bytes */
static const double PLANS_S = 40; /* for the plans of a workload: some are compiled on the spot */

/* What is executed. */
struct plan {
	struct plan *next;
	struct plans *all;
	const struct graph *graph;
	int64_t workspace;
	struct engine engine;
	void *plan, *pack; /* the pack is made at the first run, because the workspace has no
			    * address before */
};

struct known_graph {
	struct known_graph *next;
	struct graph graph;
};

struct plans {
	void *handle, *stream;
	int has_stream; /* the library was told of it */
	struct stage *stage;
	struct known_graph *graphs;
	struct plan *first;
	struct finisher finisher;
	double until; /* no more plans are made from then on */
};

const char *plans_version(void)
{
	static char text[48];
	struct err e = ERR_INIT;
	int v;

	text[0] = 0;
	if (cudnn_open(&e) == 0) {
		v = cudnn_version();
		snprintf(text, sizeof text, "cudnn %d.%d.%d", v / 10000, v / 100 % 100, v % 100);
	}
	return text;
}

static struct call make_rest(void *of, const struct problem *p, int post);

struct plans *plans_open(struct stage *s, struct err *e)
{
	struct buf compiler = BUF_INIT;
	struct err ignored = ERR_INIT;
	struct plans *all;
	void *handle;

	/* cuDNN compiles some plans, by NVRTC, which it would not find where we do. */
	nvrtc_version(&compiler, &ignored);
	buf_free(&compiler);
	if (cudnn_open(e) < 0 || cudnn_start(&handle, e) < 0)
		return NULL;
	all = xcalloc(1, sizeof *all);
	all->handle = handle;
	all->stage = s;
	all->until = clock_now() + PLANS_S;
	all->finisher = (struct finisher){.make = make_rest, .of = all};
	return all;
}

void plans_close(struct plans *all)
{
	if (!all)
		return;
	for (struct plan *p = all->first, *next; p; p = next) {
		next = p->next;
		cudnn_free(p->pack);
		cudnn_free(p->plan);
		cudnn_free(p->engine.config);
		cudnn_free(p->engine.engine);
		free(p);
	}
	for (struct known_graph *g = all->graphs, *next; g; g = next) {
		next = g->next;
		graph_close(&g->graph);
		free(g);
	}
	cudnn_stop(all->handle);
	free(all);
}

/* ---- plans ---- */

static int pack(struct plan *p, struct err *e)
{
	void *workspace = stage_workspace(p->all->stage);
	const struct graph *g = p->graph;
	const struct cudnn_value value[] = {
		{ATTR_VARIANT_PACK_UNIQUE_IDS, TYPE_INT64, g->nbound, g->uid},
		{ATTR_VARIANT_PACK_DATA_POINTERS, TYPE_VOID_PTR, g->nbound, g->address},
		{ATTR_VARIANT_PACK_WORKSPACE, TYPE_VOID_PTR, 1, &workspace},
	};

	return cudnn_describe(KIND_VARIANT_PACK, value, 3, &p->pack, e);
}

static int run(void *arg, void *stream, struct err *e)
{
	struct plan *p = arg;
	struct plans *all = p->all;

	if (!p->pack && pack(p, e) < 0)
		return -1;
	if (!all->has_stream || all->stream != stream) {
		if (cudnn_take_stream(all->handle, stream, e) < 0)
			return -1;
		all->has_stream = 1;
		all->stream = stream;
	}
	return cudnn_execute(all->handle, p->plan, p->pack, e);
}

/* A plan for an engine with its knobs; NULL: the engine does not take the problem. */
static struct plan *make_plan(struct plans *all, const struct graph *g, struct engine *engine)
{
	const struct cudnn_value value[] = {
		{ATTR_EXECUTION_PLAN_HANDLE, TYPE_HANDLE, 1, &all->handle},
		{ATTR_EXECUTION_PLAN_ENGINE_CONFIG, TYPE_BACKEND_DESCRIPTOR, 1, &engine->config},
	};
	struct err e = ERR_INIT;
	int64_t workspace = 0, n;
	struct plan *p;
	void *plan;

	if (cudnn_describe(KIND_EXECUTION_PLAN, value, 2, &plan, &e) < 0)
		return NULL;
	if (cudnn_get(plan, ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, TYPE_INT64, 1, &n, &workspace, &e) <
		    0 ||
	    workspace > MOST_WORKSPACE) {
		cudnn_free(plan);
		return NULL;
	}
	p = xcalloc(1, sizeof *p);
	p->next = all->first;
	p->all = all;
	p->graph = g;
	p->plan = plan;
	p->engine = *engine;
	*engine = (struct engine){NULL, NULL};
	p->workspace = workspace;
	all->first = p;
	stage_want(all->stage, (size_t)workspace);
	return p;
}

/* ---- variants ---- */

/* A graph that stays until the end. 1, 0 or -1 as graph_open(). */
static int keep_graph(struct plans *all, const struct problem *p, enum graph_part part,
		      const struct link *link, int n, const struct graph **graph, struct err *e)
{
	struct known_graph *g = xcalloc(1, sizeof *g);
	int rc;

	g->next = all->graphs;
	all->graphs = g;
	g->graph = (struct graph){
		.handle = all->handle, .stage = all->stage, .problem = p, .part = part};
	*graph = &g->graph;
	rc = graph_open(&g->graph, link, n, e);
	if (rc <= 0)
		graph_close(&g->graph);
	return rc;
}

/* The first engine that takes the graph. */
struct first {
	struct plans *all;
	const struct graph *graph;
	struct plan *plan;
};

static int take_first(void *arg, struct engine *engine, const char *name)
{
	struct first *f = arg;

	(void)name;
	f->plan = make_plan(f->all, f->graph, engine);
	return f->plan != NULL;
}

static struct call make_rest(void *of, const struct problem *p, int post)
{
	struct plans *all = of;
	struct link link[CHAIN_LINKS];
	int n = chain_make(&all->stage->w, post, link);
	struct first f = {.all = all};
	struct err e = ERR_INIT;

	if (!n)
		link[n++] = chain_conversion();
	if (keep_graph(all, p, GRAPH_REST, link, n, &f.graph, &e) > 0)
		engines_each(f.graph, take_first, &f);
	return (struct call){f.plan ? run : NULL, f.plan};
}

struct finisher *plans_finisher(struct plans *all)
{
	return all ? &all->finisher : NULL;
}

struct offer {
	struct plans *all;
	const struct graph *graph;
	struct variants *to;
	const char *how; /* behind the engine's name */
	int has_rest;	 /* the post-ops are a call of their own */
};

static int offer(void *arg, struct engine *engine, const char *name)
{
	const struct offer *o = arg;
	const struct problem *p = o->graph->problem;
	struct variant v = {.layout = p->layout, .dst = p->tensor[TENSOR_DST]};
	const struct call *rest;
	struct plan *plan;

	if (clock_now() > o->all->until)
		return 1;
	snprintf(v.name, sizeof v.name, "%s%s%s %s%s", plans_version(),
		 p->is_product ? " product" : "", p->is_transposed ? " transposed" : "", name,
		 o->how);
	if (!variants_want(o->to, v.name, v.layout))
		return 0;
	rest = o->has_rest ? finisher_rest(&o->all->finisher, p, 0) : NULL;
	plan = o->has_rest && !rest ? NULL : make_plan(o->all, o->graph, engine);
	if (!plan)
		return 0;
	v.call[v.ncalls++] = (struct call){run, plan};
	if (rest)
		v.call[v.ncalls++] = *rest;
	variants_add(o->to, &v);
	return 0;
}

/* Offers a graph of what is in o but for the graph. */
static int offer_graph(struct offer o, const struct problem *p, enum graph_part part,
		       const struct link *link, int n, struct err *e)
{
	int rc = keep_graph(o.all, p, part, link, n, &o.graph, e);

	if (rc > 0)
		engines_each(o.graph, offer, &o);
	return rc < 0 ? -1 : 0;
}

int plans_offer(struct plans *all, const struct problem *p, struct variants *to, struct err *e)
{
	const struct workload *w = &all->stage->w;
	struct link link[CHAIN_LINKS], whole[CHAIN_LINKS];
	int n = chain_make(w, 0, link), nwhole = p->is_product ? 0 : chain_make_whole(w, whole);
	struct offer o = {.all = all, .to = to, .how = ", add and bias"};

	if (nwhole && offer_graph(o, p, GRAPH_ALL, whole, nwhole, e) < 0)
		return -1;
	o.how = "";
	if (offer_graph(o, p, GRAPH_ALL, link, n, e) < 0)
		return -1;
	o.how = ", then post-ops";
	o.has_rest = 1;
	return n ? offer_graph(o, p, GRAPH_FIRST, NULL, 0, e) : 0;
}
