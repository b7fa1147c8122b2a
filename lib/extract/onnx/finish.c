#include "lib/extract/onnx/finish.h"

#include <string.h>

#include "lib/extract/onnx/rewrite.h"

static int finish(struct finish *f, struct graph *g, int inside, struct err *e);

/* What a graph inside reads and nobody in it makes comes from around it. */
static void mark_captured(struct graph *g)
{
	graph_mark_producers(g);
	for (int i = 0; i < g->nvalue; i++) {
		struct value *v = g->value[i];

		v->is_captured = v->producer < 0 && !v->is_const && !v->is_input;
		v->producer = -1;
	}
}

static void list_captures(struct graph *g, const struct graph *sub, struct buf *list)
{
	for (int i = 0; i < sub->nvalue; i++) {
		const struct value *v = sub->value[i];
		int outer;

		if (!v->is_captured || (!v->uses && !v->is_output))
			continue;
		outer = graph_value(g, v->name);
		buf_add(list, &outer, sizeof outer);
	}
}

/* What a node's subgraphs read from outside counts among what it reads. */
static void add_captures(struct graph *g, struct graph_node *n, const struct buf *list)
{
	const int *in = n->in;

	if (!list->n)
		return;
	n->ndeps = n->nin + (int)(list->n / sizeof *n->in);
	n->in = arena_array(g->a, int, n->ndeps);
	if (n->nin)
		memcpy(n->in, in, sizeof *in * (size_t)n->nin);
	memcpy(n->in + n->nin, list->s, list->n);
}

static int finish_inside(struct finish *f, struct graph *g, struct graph_node *n, struct err *e)
{
	struct buf captures = BUF_INIT;
	int r = 0;

	for (int i = 0; i < n->nattr && !r; i++) {
		struct graph *sub = n->attr[i].subgraph;

		if (sub && !(r = finish(f, sub, 1, e)))
			list_captures(g, sub, &captures);
	}
	if (!r)
		add_captures(g, n, &captures);
	buf_free(&captures);
	return r;
}

static int finish(struct finish *f, struct graph *g, int inside, struct err *e)
{
	if (copy_descend(&f->copies, e))
		return -1;
	if (f->functions->n && function_inline(f, g, e))
		return -1;
	onnx_rewrite(g, !f->rewrites);
	for (int i = 0; i < g->nnode; i++)
		if (finish_inside(f, g, &g->node[i], e))
			return -1;
	if (inside)
		mark_captured(g);
	f->copies.depth--;
	return graph_link(g, e);
}

int onnx_finish(struct finish *f, struct graph *g, struct err *e)
{
	return finish(f, g, 0, e);
}
