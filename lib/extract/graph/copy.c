#include "lib/extract/graph/copy.h"

#include <string.h>

/* Graphs in each other, those that calls of functions bring included: a function may call itself
 * from a graph inside. */
enum { DEEPEST = 64, MADE_MOST = 1 << 22 };
/* So many bytes of a name, or of weights, count as a value. */
enum { NAME_UNIT = 64, WEIGHTS_UNIT = 256 };

/* Graphs inside the body, from the innermost outwards. */
struct scope {
	const struct graph *g;
	const struct scope *up;
};

int copy_count(struct copies *all, int64_t n, struct err *e)
{
	all->made += n;
	return all->made > MADE_MOST ? err_set(e,
					       "its functions and loops make more than %d nodes "
					       "and values",
					       MADE_MOST)
				     : 0;
}

int copy_descend(struct copies *all, struct err *e)
{
	if (all->depth == DEEPEST)
		return err_set(e, "its graphs and functions are nested more than %d deep", DEEPEST);
	all->depth++;
	return 0;
}

static int64_t node_size(const struct graph_node *n)
{
	return 1 + n->ndeps + n->nout + n->nattr;
}

/* Counts what a graph holds, without the graphs inside it. */
static int64_t graph_size(const struct graph *g)
{
	int64_t n = g->nvalue + g->inputs.n + g->outputs.n;

	for (int i = 0; i < g->nvalue; i++)
		n += (int64_t)(strlen(g->value[i]->name) / NAME_UNIT +
			       g->value[i]->data_bytes / WEIGHTS_UNIT);
	for (int i = 0; i < g->nnode; i++)
		n += node_size(&g->node[i]);
	return n;
}

static int is_made_in(const struct graph *g, const char *name)
{
	const struct value *v = graph_find(g, name);

	return v && !v->is_captured && (v->is_const || v->is_input || v->producer >= 0);
}

/* Returns the name that the other graph has for a value that a graph inside the body reads. */
static const char *outer_name(const struct copying *c, const struct scope *s, const char *name)
{
	intptr_t at;

	if (!c->body)
		return name;
	for (; s; s = s->up)
		if (is_made_in(s->g, name))
			return name;
	at = (intptr_t)map_get(&c->body->by_name, name, strlen(name)) - 1;
	return at < 0 || c->value[at] < 0 ? name : c->b.g->value[c->value[at]]->name;
}

static struct graph *copy_graph(struct copying *c, const struct graph *from, const struct scope *up,
				struct err *e);

/* 1; 0: the call leaves the attribute open; -1. Each node has graphs of its own inside: one that
 * the call gives is copied as it is for each node that takes it. */
static int copy_attr(struct copying *c, struct attr *to, const struct attr *from,
		     const struct scope *s, struct err *e)
{
	struct copying as_is = {.all = c->all, .b = c->b};
	const struct attr *a = from;

	if (from->ref) {
		int r = c->refers ? c->refers(c, from->ref, &a, e) : 0;

		if (r <= 0)
			return r;
	}
	*to = *a;
	to->name = from->name;
	if (!a->subgraph)
		return 1;
	to->subgraph = copy_graph(from->ref ? &as_is : c, a->subgraph, from->ref ? NULL : s, e);
	return to->subgraph ? 1 : -1;
}

/* Copies the attributes as the call gives them, and leaves out those that it leaves open. */
static int copy_attrs(struct copying *c, struct graph_node *to, const struct graph_node *from,
		      const struct scope *s, struct err *e)
{
	to->attr = arena_array(c->b.a, struct attr, from->nattr + 1);
	to->nattr = 0;
	for (int i = 0; i < from->nattr; i++) {
		int r = copy_attr(c, &to->attr[to->nattr], &from->attr[i], s, e);

		if (r < 0)
			return -1;
		to->nattr += r;
	}
	return 0;
}

static int *copy_list(struct arena *a, const int *from, int n, const int *at)
{
	int *to = arena_array(a, int, n + 1);

	for (int i = 0; i < n; i++)
		to[i] = from[i] < 0 ? -1 : at[from[i]];
	return to;
}

static void copy_ends(struct arena *a, struct ends *to, const struct ends *from, const int *at)
{
	*to = (struct ends){copy_list(a, from->at, from->n, at), from->n, from->n};
}

/* Copies a value without what links and inference say of it. */
static int copy_value(struct value *to, const struct value *from, struct err *e)
{
	const char *name = to->name;
	void *room;

	*to = *from;
	to->name = name;
	to->is_const &= from->producer < 0;
	to->producer = to->first = to->consumer = -1;
	to->uses = to->asked = 0;
	to->data = NULL; /* it is the other's */
	to->data_bytes = 0;
	if (!from->data)
		return 0;
	room = value_room(to, from->data_bytes);
	if (!room)
		return err_set(e, "there is no memory for the weights '%s'", name);
	memcpy(room, from->data, from->data_bytes);
	return 0;
}

/* Sets at to the place of each value in the copy. */
static int copy_values(struct copying *c, struct graph *g, const struct graph *from,
		       const struct scope *s, int *at, struct err *e)
{
	for (int i = 0; i < from->nvalue; i++) {
		at[i] = graph_value(g, outer_name(c, s, from->value[i]->name));
		if (copy_value(g->value[at[i]], from->value[i], e))
			return -1;
	}
	copy_ends(c->b.a, &g->inputs, &from->inputs, at);
	copy_ends(c->b.a, &g->outputs, &from->outputs, at);
	return 0;
}

/* Copies a node; `at` says which value of the copy each of its values is. */
static int copy_inside(struct copying *c, const struct graph_node *from, const int *at,
		       const struct scope *s, struct graph_node *to, struct err *e)
{
	*to = *from;
	to->in = copy_list(c->b.a, from->in, from->ndeps, at);
	to->out = copy_list(c->b.a, from->out, from->nout, at);
	return copy_attrs(c, to, from, s, e);
}

/* -1: a part of the copy is missing; it can be freed all the same. */
static int fill_graph(struct copying *c, struct graph *g, const struct graph *from,
		      const struct scope *up, struct err *e)
{
	int *at = arena_array(c->b.a, int, from->nvalue + 1);
	struct scope s = {from, up};

	graph_mark_producers(from); /* it may be one that only copies are linked of */
	if (copy_values(c, g, from, &s, at, e))
		return -1;
	for (int i = 0; i < from->nnode; i++)
		if (copy_inside(c, &from->node[i], at, &s, graph_add_node(g), e))
			return -1;
	return c->links ? graph_link(g, e) : 0;
}

/* NULL: functions make too much, or too many graphs are in each other. */
static struct graph *copy_graph(struct copying *c, const struct graph *from, const struct scope *up,
				struct err *e)
{
	struct graph *g;
	int r;

	if (copy_count(c->all, graph_size(from), e) || copy_descend(c->all, e))
		return NULL;
	g = arena_new(c->b.a, struct graph);
	graph_init(g, c->b.a);
	g->name = from->name;
	r = fill_graph(c, g, from, up, e);
	c->all->depth--;
	if (r)
		graph_free(g);
	return r ? NULL : g;
}

int copy_node(struct copying *c, const struct graph_node *from, struct graph_node *to,
	      struct err *e)
{
	if (copy_count(c->all, node_size(from), e)) {
		*to = (struct graph_node){.name = "", .type = "", .domain = ""};
		return -1;
	}
	if (copy_inside(c, from, c->value, NULL, to, e))
		return -1;
	if (from->name[0])
		to->name = arena_printf(c->b.a, "%s" COPY_NAME, c->name, from->name);
	return 0;
}
