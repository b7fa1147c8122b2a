#include "lib/extract/drawing.h"

#include <string.h>

#include "lib/io/terminal.h"

enum { LABEL_MAX = 80 };

/* A quoted string of dot; of what is too long the end is left out. */
static void put_quoted(struct buf *out, const char *text)
{
	struct buf shown = BUF_INIT;
	const char *s;
	int n = 0;

	terminal_text(text, strlen(text), &shown);
	buf_ch(out, '"');
	for (s = shown.s; *s; s++, n++) {
		unsigned char c = (unsigned char)*s;

		if (n >= LABEL_MAX && (c & 0xc0) != 0x80) {
			buf_str(out, "..");
			break;
		}
		if (c == '"' || c == '\\')
			buf_ch(out, '\\');
		buf_ch(out, (char)c);
	}
	buf_ch(out, '"');
	buf_free(&shown);
}

static const char *color_of(const struct fates *f, int node)
{
	if (f->of[node] == FATE_WORKLOAD)
		return "palegreen3";
	if (f->of[node] == FATE_FUSED)
		return "darkseagreen1";
	return f->task[node] ? "orange" : "white";
}

static void put_node(struct buf *out, const struct fates *f, int node)
{
	const struct graph_node *n = &f->g->node[node];
	const struct task *t = f->task[node];

	buf_fmt(out, "\tn%d [label=", node);
	put_quoted(out, n->type);
	buf_fmt(out, ", fillcolor=%s, tooltip=", color_of(f, node));
	put_quoted(out, node_label(f->g, n));
	if (t) {
		buf_str(out, ", xlabel=");
		put_quoted(out, t->why ? t->why : t->w.prob);
	}
	buf_str(out, "];\n");
}

static void put_end(struct buf *out, char kind, int value, const char *name)
{
	buf_fmt(out, "\t%c%d [shape=ellipse, label=", kind, value);
	put_quoted(out, name);
	buf_str(out, "];\n");
}

static void put_shape(struct buf *out, const struct value *v)
{
	struct buf shape = BUF_INIT;

	buf_str(out, " [label=");
	shape_print(&v->shape, &shape);
	put_quoted(out, shape.n ? shape.s : "");
	buf_str(out, "];\n");
	buf_free(&shape);
}

static int is_drawn(const struct fates *f, int node)
{
	return node >= 0 && f->of[node] != FATE_CONSTANT;
}

static void put_arrows(struct buf *out, const struct fates *f, int node)
{
	const struct graph_node *n = &f->g->node[node];

	for (int i = 0; i < n->ndeps; i++) {
		const struct value *v = n->in[i] < 0 ? NULL : f->g->value[n->in[i]];

		if (!v)
			continue;
		if (is_drawn(f, v->producer))
			buf_fmt(out, "\tn%d -> n%d", v->producer, node);
		else if (v->producer < 0 && v->is_input && !v->is_const)
			buf_fmt(out, "\ti%d -> n%d", n->in[i], node);
		else
			continue;
		put_shape(out, v);
	}
}

void drawing_add(const char *model, const struct fates *f, struct buf *out)
{
	const struct graph *g = f->g;

	buf_str(out, "digraph ");
	put_quoted(out, model);
	buf_str(out, " {\n\tnode [shape=box, style=filled, fillcolor=white];\n");
	for (int v = 0; v < g->nvalue; v++)
		if (g->value[v]->is_input && !g->value[v]->is_const && value_is_read(g->value[v]))
			put_end(out, 'i', v, g->value[v]->name);
	for (int i = 0; i < g->nnode; i++)
		if (is_drawn(f, g->order[i]))
			put_node(out, f, g->order[i]);
	for (int i = 0; i < g->nnode; i++)
		if (is_drawn(f, g->order[i]))
			put_arrows(out, f, g->order[i]);
	for (int v = 0; v < g->nvalue; v++)
		if (g->value[v]->is_output && is_drawn(f, g->value[v]->producer)) {
			put_end(out, 'o', v, g->value[v]->name);
			buf_fmt(out, "\tn%d -> o%d", g->value[v]->producer, v);
			put_shape(out, g->value[v]);
		}
	buf_str(out, "}\n");
}
