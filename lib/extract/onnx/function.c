/* Calls of functions that the model brings along (FunctionProto): each becomes the nodes of the
 * function, with names of its own. */
#include <string.h>

#include "lib/extract/build.h"
#include "lib/extract/onnx/finish.h"

enum { NESTED_MOST = 16, MADE_MOST = 1 << 22 };

struct call {
	struct finish *f;
	struct build b;
	const struct graph_node *n; /* the node that calls; its values are those of b.g */
	const struct function *fn;
	const char *name; /* "CALL/" */
	int *value;	  /* of b.g, for each value of the body; -1: left out */
};

/* Graphs inside the function, from the innermost outwards. */
struct scope {
	const struct graph *g;
	const struct scope *up;
};

const char *function_key(struct arena *a, const char *domain, const char *name,
			 const char *overload)
{
	return arena_printf(a, "%s:%s:%s", strcmp(domain, "ai.onnx") ? domain : "", name, overload);
}

static struct function *called(struct finish *f, const struct graph_node *n)
{
	const char *key = function_key(f->a, n->domain, n->type, n->overload ? n->overload : "");

	return map_get(f->functions, key, strlen(key));
}

/* Of a graph in a function, which is never linked itself, but only its copies are. */
static void mark_producers(const struct graph *g)
{
	for (int i = 0; i < g->nnode; i++)
		for (int k = 0; k < g->node[i].nout; k++)
			if (g->node[i].out[k] >= 0)
				g->value[g->node[i].out[k]]->producer = i;
}

static int is_made_in(const struct graph *g, const char *name)
{
	const struct value *v = graph_find(g, name);

	return v && (v->is_const || v->is_input || v->producer >= 0);
}

/* The name in the calling graph of what a graph inside the function reads. */
static const char *outer_name(const struct call *c, const struct scope *s, const char *name)
{
	intptr_t at;

	for (; s; s = s->up)
		if (is_made_in(s->g, name))
			return name;
	at = (intptr_t)map_get(&c->fn->body.by_name, name, strlen(name)) - 1;
	return at < 0 || c->value[at] < 0 ? name : c->b.g->value[c->value[at]]->name;
}

static struct graph *copy_graph(struct call *c, const struct graph *from, const struct scope *up);

/* Attributes with what the call says of them; those that it leaves open go. */
static void copy_attrs(struct call *c, struct graph_node *to, const struct graph_node *from,
		       const struct scope *s)
{
	to->attr = arena_array(c->f->a, struct attr, from->nattr + 1);
	to->nattr = 0;
	for (int i = 0; i < from->nattr; i++) {
		struct attr a = from->attr[i];

		if (a.ref) {
			const struct attr *given = node_attr(c->n, a.ref);

			for (int k = 0; !given && k < c->fn->nattr; k++)
				if (!strcmp(c->fn->attr[k].name, a.ref))
					given = &c->fn->attr[k];
			if (!given)
				continue;
			a = *given;
			a.name = from->attr[i].name;
		} else if (a.subgraph) {
			a.subgraph = copy_graph(c, a.subgraph, s);
		}
		to->attr[to->nattr++] = a;
	}
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

static struct graph *copy_graph(struct call *c, const struct graph *from, const struct scope *up)
{
	struct arena *a = c->f->a;
	struct graph *g = arena_new(a, struct graph);
	int *at = arena_array(a, int, from->nvalue + 1);
	struct scope s = {from, up};

	graph_init(g, a);
	g->name = from->name;
	mark_producers(from);
	c->f->made += from->nnode + from->nvalue;
	for (int i = 0; i < from->nvalue; i++) {
		struct value *v;
		const char *name;

		at[i] = graph_value(g, outer_name(c, &s, from->value[i]->name));
		v = g->value[at[i]];
		name = v->name;
		*v = *from->value[i];
		v->name = name;
		v->producer = -1;
		v->data = NULL; /* it is the other's */
		v->data_bytes = 0;
	}
	copy_ends(a, &g->inputs, &from->inputs, at);
	copy_ends(a, &g->outputs, &from->outputs, at);
	for (int i = 0; i < from->nnode; i++) {
		struct graph_node *n = graph_add_node(g);

		*n = from->node[i];
		n->in = copy_list(a, n->in, n->ndeps, at);
		n->out = copy_list(a, n->out, n->nout, at);
		copy_attrs(c, n, &from->node[i], &s);
	}
	return g;
}

/* Values of the body are those of the call, or new ones. */
static void name_values(struct call *c)
{
	const struct graph *body = &c->fn->body;

	c->value = arena_array(c->f->a, int, body->nvalue + 1);
	for (int i = 0; i < body->nvalue; i++)
		c->value[i] = -2;
	for (int i = 0; i < c->fn->in.n; i++)
		c->value[c->fn->in.at[i]] = i < c->n->nin ? c->n->in[i] : -1;
	for (int i = 0; i < c->fn->out.n && i < c->n->nout; i++) {
		int at = c->fn->out.at[i], out = c->n->out[i];

		if (c->value[at] == -2) {
			if (out >= 0)
				c->value[at] = out;
		} else if (c->value[at] >= 0 && out >= 0) { /* it is handed through */
			build_node(&c->b, "Identity", &c->value[at], 1, &out, 1);
		}
	}
	for (int i = 0; i < body->nvalue; i++)
		if (c->value[i] == -2)
			c->value[i] = build_value(&c->b, arena_printf(c->f->a, "%s%s", c->name,
								      body->value[i]->name));
}

static int expand(struct finish *f, struct graph *g, const struct graph_node *n,
		  const struct function *fn, int depth, struct err *e)
{
	int out = n->nout ? n->out[0] : -1;
	const char *label = n->name[0] ? n->name : out >= 0 ? g->value[out]->name : n->type;
	struct call c = {.f = f,
			 .b = {.a = f->a, .g = g},
			 .n = n,
			 .fn = fn,
			 .name = arena_printf(f->a, "%s/", label)};

	if (depth > NESTED_MOST)
		return err_set(e, "its functions call each other more than %d deep", NESTED_MOST);
	f->made += fn->body.nvalue;
	name_values(&c);
	for (int i = 0; i < fn->body.nnode; i++) {
		const struct graph_node *from = &fn->body.node[i];
		struct graph_node made = *from;
		const struct function *inner;

		if (++f->made > MADE_MOST)
			return err_set(e, "its functions make more than %d nodes and values",
				       MADE_MOST);
		made.in = copy_list(f->a, from->in, from->nin, c.value);
		made.out = copy_list(f->a, from->out, from->nout, c.value);
		made.ndeps = made.nin;
		if (from->name[0])
			made.name = arena_printf(f->a, "%s%s", c.name, from->name);
		copy_attrs(&c, &made, from, NULL);
		inner = called(f, &made);
		if (!inner)
			*graph_add_node(g) = made;
		else if (expand(f, g, &made, inner, depth + 1, e))
			return -1;
	}
	return 0;
}

int function_inline(struct finish *f, struct graph *g, struct err *e)
{
	const struct graph_node *old;
	int n, any = 0;

	for (int i = 0; i < g->nnode && !any; i++)
		any = called(f, &g->node[i]) != NULL;
	if (!any)
		return 0;
	old = graph_start_over(g, &n);
	for (int i = 0; i < n; i++) {
		const struct function *fn = called(f, &old[i]);

		if (!fn)
			*graph_add_node(g) = old[i];
		else if (expand(f, g, &old[i], fn, 1, e))
			return -1;
	}
	return 0;
}
