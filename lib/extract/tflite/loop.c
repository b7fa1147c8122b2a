/* Loops, branches and calls, whose graphs are others of the file, and what changes from run to run.
 */
#include <string.h>

#include "lib/extract/tflite/reader.h"

static const struct tflite_inner inner_rows[] = {
	{"WHILE", "While", 2, {"condition", "body"}, {0, 1}},
	{"IF", "If", 2, {"then_branch", "else_branch"}, {0, 1}},
	{"CALL", "Call", 1, {"body"}, {0}},
	/* what it is made of, if nobody has something better for it */
	{"STABLEHLO_COMPOSITE", "Call", 1, {"body"}, {1}},
};

const struct tflite_inner *tflite_has_graphs(const char *type)
{
	for (size_t i = 0; i < sizeof inner_rows / sizeof *inner_rows; i++)
		if (!strcmp(inner_rows[i].type, type))
			return &inner_rows[i];
	return NULL;
}

/* Another graph of the file, in a graph of its own, with its ends in order. */
static int read_inner(struct reader *r, uint32_t which, struct graph *g, struct err *e)
{
	struct reader inner = *r;
	int rc;

	inner.b.g = g;
	inner.ntensor = 0;
	inner.depth++;
	rc = tflite_graph(&inner, which, e) || graph_link(g, e) ? -1 : 0;
	r->f = inner.f;
	r->kept = inner.kept;
	r->links = inner.links;
	return rc;
}

/* Reads a graph whose number an option has, as an attribute of the node. */
static struct graph *add_inner(struct reader *r, const struct call *o, struct graph_node *n,
			       const char *name, int option, struct err *e)
{
	const uint32_t which = flat_uint(&r->f, ((const struct options *)o->at)->at, option, 0);
	struct graph *g = arena_new(r->b.a, struct graph);

	graph_init(g, r->b.a);
	n->attr[n->nattr++] = (struct attr){.name = name, .subgraph = g};
	return read_inner(r, which, g, e) ? NULL : g;
}

int tflite_inner(struct reader *r, const struct call *o, const struct tflite_inner *row,
		 struct err *e)
{
	const int is_loop = !strcmp(row->onnx, "While"), is_if = !strcmp(row->onnx, "If");
	const int nin = o->nin - is_if, nout = is_loop ? o->nin : o->nout;
	struct graph_node *n = build_node(&r->b, row->onnx, o->in, o->nin, o->out, o->nout);

	if (r->depth == TFLITE_DEEPEST)
		return err_set(e, "its graphs are more than %d deep", TFLITE_DEEPEST);
	n->name = call_out(o, 0) < 0 ? "" : r->b.g->value[o->out[0]]->name;
	n->attr = arena_array(r->b.a, struct attr, row->n);
	for (int i = 0; i < row->n; i++) {
		const struct graph *g = add_inner(r, o, n, row->graph[i], row->option[i], e);
		const int is_condition = is_loop && !i;

		if (!g)
			return -1;
		if (g->inputs.n != nin || (is_condition ? g->outputs.n < 1 : g->outputs.n != nout))
			return err_set(e, "%s",
				       is_loop ? "a loop does not hand on what it begins with"
				       : is_if ? "a branch does not read and make what its IF does"
					       : "a graph does not read and make what its call "
						 "does");
	}
	return 0;
}

void tflite_variable(struct reader *r, const struct call *o)
{
	for (int i = 0; i < o->nout && r->assigns; i++)
		if (o->out[i] >= 0)
			r->b.g->value[o->out[i]]->is_input = 1;
}
