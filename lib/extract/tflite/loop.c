/* Loops, whose graphs are others of the file, and what changes from run to run. */
#include "lib/extract/tflite/reader.h"

enum { LOOP_CONDITION, LOOP_BODY }; /* fields of the options */
enum { DEEPEST = 8 };		    /* graphs within graphs */

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

int tflite_loop(struct reader *r, const struct call *o, struct err *e)
{
	struct graph_node *loop = build_node(&r->b, "While", o->in, o->nin, o->out, o->nout);

	if (r->depth == DEEPEST)
		return err_set(e, "its loops are more than %d deep", DEEPEST);
	loop->name = call_out(o, 0) < 0 ? "" : r->b.g->value[o->out[0]]->name;
	loop->attr = arena_array(r->b.a, struct attr, 2);
	for (int i = 0; i < 2; i++) {
		const uint32_t which = flat_uint(&r->f, ((const struct options *)o->at)->at,
						 i ? LOOP_BODY : LOOP_CONDITION, 0);
		struct graph *g = arena_new(r->b.a, struct graph);

		graph_init(g, r->b.a);
		loop->attr[loop->nattr++] =
			(struct attr){.name = i ? "body" : "condition", .subgraph = g};
		if (read_inner(r, which, g, e))
			return -1;
		if (g->inputs.n != o->nin || (i && g->outputs.n != o->nin) || !g->outputs.n)
			return err_set(e, "a loop does not hand on what it begins with");
	}
	return 0;
}

void tflite_variable(struct reader *r, const struct call *o)
{
	for (int i = 0; i < o->nout && r->assigns; i++)
		if (o->out[i] >= 0)
			r->b.g->value[o->out[i]]->is_input = 1;
}
