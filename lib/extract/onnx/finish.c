#include "lib/extract/onnx/finish.h"

#include <string.h>

#include "lib/extract/onnx/rewrite.h"

/* Graphs in each other, those that calls of functions bring included: a function may call itself
 * from a graph inside. */
enum { DEEPEST = 64 };

static int finish(struct finish *f, struct graph *g, int inside, struct err *e);

/* What a graph inside reads and nobody in it makes comes from around it. */
static void mark_captured(struct graph *g)
{
	for (int i = 0; i < g->nnode; i++)
		for (int k = 0; k < g->node[i].nout; k++)
			if (g->node[i].out[k] >= 0)
				g->value[g->node[i].out[k]]->producer = i;
	for (int i = 0; i < g->nvalue; i++) {
		struct value *v = g->value[i];

		v->is_captured = v->producer < 0 && !v->is_const && !v->is_input;
		v->producer = -1;
	}
}

/* What a node's subgraphs read from outside counts among what it reads. */
static void add_captures(struct graph *g, struct graph_node *n, const struct graph *sub)
{
	struct buf in = BUF_INIT;

	buf_add(&in, n->in, sizeof *n->in * (size_t)n->ndeps);
	for (int i = 0; i < sub->nvalue; i++) {
		const struct value *v = sub->value[i];
		int outer;

		if (!v->is_captured || (!v->uses && !v->is_output))
			continue;
		outer = graph_value(g, v->name);
		buf_add(&in, &outer, sizeof outer);
	}
	n->ndeps = (int)(in.n / sizeof *n->in);
	n->in = arena_array(g->a, int, n->ndeps + 1);
	if (in.n)
		memcpy(n->in, in.s, in.n);
	buf_free(&in);
}

static int finish_inside(struct finish *f, struct graph *g, struct graph_node *n, struct err *e)
{
	for (int i = 0; i < n->nattr; i++) {
		if (!n->attr[i].subgraph)
			continue;
		if (finish(f, n->attr[i].subgraph, 1, e))
			return -1;
		add_captures(g, n, n->attr[i].subgraph);
	}
	return 0;
}

static int finish(struct finish *f, struct graph *g, int inside, struct err *e)
{
	if (f->depth == DEEPEST)
		return err_set(e, "its graphs and functions are nested more than %d deep", DEEPEST);
	f->depth++;
	if (f->functions->n && function_inline(f, g, e))
		return -1;
	if (f->rewrites)
		onnx_rewrite(g);
	for (int i = 0; i < g->nnode; i++)
		if (finish_inside(f, g, &g->node[i], e))
			return -1;
	if (inside)
		mark_captured(g);
	f->depth--;
	return graph_link(g, e);
}

int onnx_finish(struct finish *f, struct graph *g, struct err *e)
{
	return finish(f, g, 0, e);
}
