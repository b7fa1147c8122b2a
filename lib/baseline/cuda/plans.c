#include "lib/baseline/cuda/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/baseline/cuda/makers.h"
#include "lib/target/nvrtc.h"

static const double PLANS_S = 40; /* for the plans of a workload: some are compiled on the spot */

struct known_graph {
	struct known_graph *next;
	struct graph graph;
};

struct plans {
	struct makers makers;
	struct stage *stage;
	struct known_graph *graphs;
	struct execution *first;
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
	struct makers makers;
	struct plans *all;

	/* cuDNN compiles some plans, by NVRTC, which it would not find where we do. */
	nvrtc_version(&compiler, &ignored);
	buf_free(&compiler);
	if (cudnn_open(e) < 0 || makers_open(&makers, s->device, e) < 0)
		return NULL;
	all = xcalloc(1, sizeof *all);
	all->makers = makers;
	all->stage = s;
	all->until = clock_now() + PLANS_S;
	all->finisher = (struct finisher){.make = make_rest, .of = all};
	return all;
}

void plans_close(struct plans *all)
{
	if (!all)
		return;
	for (struct execution *p = all->first, *next; p; p = next) {
		next = p->next;
		execution_free(p);
	}
	for (struct known_graph *g = all->graphs, *next; g; g = next) {
		next = g->next;
		graph_close(&g->graph);
		free(g);
	}
	makers_close(&all->makers);
	free(all);
}

/* A plan that stays until the end, and is not made yet. It takes the engine's descriptors. */
static struct execution *keep_plan(struct plans *all, const struct graph *g, struct engine *engine)
{
	struct execution *p = xcalloc(1, sizeof *p);

	p->next = all->first;
	all->first = p;
	p->graph = g;
	p->engine = *engine;
	*engine = (struct engine){NULL, NULL};
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
	g->graph = (struct graph){.handle = all->makers.maker[0].handle,
				  .stage = all->stage,
				  .problem = p,
				  .part = part};
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
	struct execution *plan;
};

static int take_first(void *arg, struct engine *engine, const char *name)
{
	struct first *f = arg;
	struct execution *p = keep_plan(f->all, f->graph, engine);

	(void)name;
	if (!execution_make(p, &f->all->makers.maker[0]))
		return 0;
	stage_want(f->all->stage, (size_t)p->workspace);
	f->plan = p;
	return 1;
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
	return (struct call){f.plan ? execution_run : NULL, f.plan};
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

	if (clock_now() > o->all->until)
		return 1;
	snprintf(v.name, sizeof v.name, "%s%s%s %s%s", plans_version(),
		 p->is_product ? " product" : "", p->is_transposed ? " transposed" : "", name,
		 o->how);
	if (!variants_want(o->to, v.name, v.layout))
		return 0;
	rest = o->has_rest ? finisher_rest(&o->all->finisher, p, 0) : NULL;
	if (o->has_rest && !rest)
		return 0;
	v.call[v.ncalls++] = (struct call){execution_run, keep_plan(o->all, o->graph, engine)};
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

/* A variant's plan; NULL: the variant begins with another library. */
static struct execution *plan_of(const struct variant *v)
{
	return v->call[0].run == execution_run ? v->call[0].arg : NULL;
}

static void make_all(struct plans *all, const struct variants *of)
{
	struct execution **plan = xcalloc((size_t)of->n + 1, sizeof *plan);
	int n = 0;

	for (int i = 0; i < of->n; i++)
		if (plan_of(&of->v[i]))
			plan[n++] = plan_of(&of->v[i]);
	makers_make(&all->makers, plan, n, all->until);
	free(plan);
}

void plans_make(struct plans *all, struct variants *of)
{
	int kept = 0;

	make_all(all, of);
	for (int i = 0; i < of->n; i++) {
		const struct execution *p = plan_of(&of->v[i]);

		if (p && !p->plan)
			continue;
		if (p)
			stage_want(all->stage, (size_t)p->workspace);
		of->v[kept++] = of->v[i];
	}
	of->n = kept;
}
