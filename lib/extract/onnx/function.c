/* Calls of functions that the model brings along (FunctionProto): each becomes the nodes of the
 * function, with names of its own. */
#include <stdio.h>
#include <string.h>

#include "lib/extract/graph/build.h"
#include "lib/extract/onnx/finish.h"

enum { NESTED_MOST = 16, MADE_MOST = 1 << 22 };
/* So many bytes of a name, or so many attributes that are looked through, count as a value. */
enum { NAME_UNIT = 64, SEARCH_UNIT = 16 };
/* Bytes of a name that go into one made of it: a function may be called a million times. */
#define NAME "%.200s"

struct call {
	struct finish *f;
	struct build b;
	const struct graph_node *n; /* the node that calls; its values are those of b.g */
	const struct function *fn;  /* NULL: a graph is copied as it is */
	const char *name;	    /* "CALL/" */
	int *value;		    /* of b.g, for each value of the body; -1: left out */
};

/* Graphs inside the function, from the innermost outwards. */
struct scope {
	const struct graph *g;
	const struct scope *up;
};

int function_key(char key[FUNCTION_KEY_BYTES], const char *domain, const char *name,
		 const char *overload)
{
	const char *part[] = {domain, name, overload};

	for (int i = 0; i < 3; i++)
		if (strnlen(part[i], FUNCTION_NAME_MOST + 1) > FUNCTION_NAME_MOST)
			return -1;
	snprintf(key, FUNCTION_KEY_BYTES, "%s:%s:%s", strcmp(domain, "ai.onnx") ? domain : "", name,
		 overload);
	return 0;
}

static struct function *called(struct finish *f, const struct graph_node *n)
{
	char key[FUNCTION_KEY_BYTES];

	if (function_key(key, n->domain, n->type, n->overload ? n->overload : ""))
		return NULL;
	return map_get(f->functions, key, strlen(key));
}

static int count(struct finish *f, int64_t n, struct err *e)
{
	f->made += n;
	return f->made > MADE_MOST
		       ? err_set(e, "its functions make more than %d nodes and values", MADE_MOST)
		       : 0;
}

static int64_t node_size(const struct graph_node *n)
{
	return 1 + n->nin + n->nout + n->nattr;
}

/* Without those inside. */
static int64_t graph_size(const struct graph *g)
{
	int64_t n = g->nvalue + g->inputs.n + g->outputs.n;

	for (int i = 0; i < g->nvalue; i++)
		n += (int64_t)(strlen(g->value[i]->name) / NAME_UNIT);
	for (int i = 0; i < g->nnode; i++)
		n += node_size(&g->node[i]);
	return n;
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

	if (!c->fn)
		return name;
	for (; s; s = s->up)
		if (is_made_in(s->g, name))
			return name;
	at = (intptr_t)map_get(&c->fn->body.by_name, name, strlen(name)) - 1;
	return at < 0 || c->value[at] < 0 ? name : c->b.g->value[c->value[at]]->name;
}

static struct graph *copy_graph(struct call *c, const struct graph *from, const struct scope *up,
				struct err *e);

/* What a call, or else its function, says of an attribute; NULL: nothing. */
static const struct attr *given(const struct call *c, const char *name)
{
	const struct attr *a = c->fn ? node_attr(c->n, name) : NULL;

	for (int i = 0; c->fn && !a && i < c->fn->nattr; i++)
		if (!strcmp(c->fn->attr[i].name, name))
			a = &c->fn->attr[i];
	return a;
}

/* 1; 0: the call leaves the attribute open; -1. Each node has graphs of its own inside: one that
 * the call gives is copied as it is for each node that takes it. */
static int copy_attr(struct call *c, struct attr *to, const struct attr *from,
		     const struct scope *s, struct err *e)
{
	struct call as_is = {.f = c->f};
	const struct attr *a = from->ref ? given(c, from->ref) : from;

	if (from->ref && c->fn && count(c->f, (c->n->nattr + c->fn->nattr) / SEARCH_UNIT, e))
		return -1;
	if (!a)
		return 0;
	*to = *a;
	to->name = from->name;
	if (!a->subgraph)
		return 1;
	to->subgraph = copy_graph(from->ref ? &as_is : c, a->subgraph, from->ref ? NULL : s, e);
	return to->subgraph ? 1 : -1;
}

/* Attributes with what the call says of them; those that it leaves open go. */
static int copy_attrs(struct call *c, struct graph_node *to, const struct graph_node *from,
		      const struct scope *s, struct err *e)
{
	to->attr = arena_array(c->f->a, struct attr, from->nattr + 1);
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

/* Sets at to the place of each value in the copy. */
static void copy_values(struct call *c, struct graph *g, const struct graph *from,
			const struct scope *s, int *at)
{
	for (int i = 0; i < from->nvalue; i++) {
		struct value *v;
		const char *name;

		at[i] = graph_value(g, outer_name(c, s, from->value[i]->name));
		v = g->value[at[i]];
		name = v->name;
		*v = *from->value[i];
		v->name = name;
		v->producer = -1;
		v->data = NULL; /* it is the other's */
		v->data_bytes = 0;
	}
	copy_ends(c->f->a, &g->inputs, &from->inputs, at);
	copy_ends(c->f->a, &g->outputs, &from->outputs, at);
}

/* -1: a part of the copy is missing; it can be freed all the same. */
static int fill_graph(struct call *c, struct graph *g, const struct graph *from,
		      const struct scope *up, struct err *e)
{
	int *at = arena_array(c->f->a, int, from->nvalue + 1);
	struct scope s = {from, up};

	graph_mark_producers(from); /* only its copies are linked, which would do that */
	copy_values(c, g, from, &s, at);
	for (int i = 0; i < from->nnode; i++) {
		struct graph_node *n = graph_add_node(g);

		*n = from->node[i];
		n->in = copy_list(c->f->a, n->in, n->nin, at);
		n->ndeps = n->nin;
		n->out = copy_list(c->f->a, n->out, n->nout, at);
		if (copy_attrs(c, n, &from->node[i], &s, e))
			return -1;
	}
	return 0;
}

/* NULL: functions make too much, or too many graphs are in each other. */
static struct graph *copy_graph(struct call *c, const struct graph *from, const struct scope *up,
				struct err *e)
{
	struct graph *g;
	int r;

	if (count(c->f, graph_size(from), e) || finish_descend(c->f, e))
		return NULL;
	g = arena_new(c->f->a, struct graph);
	graph_init(g, c->f->a);
	g->name = from->name;
	r = fill_graph(c, g, from, up, e);
	c->f->depth--;
	if (r)
		graph_free(g);
	return r ? NULL : g;
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
			c->value[i] = build_value(&c->b, arena_printf(c->f->a, "%s" NAME, c->name,
								      body->value[i]->name));
	c->f->fresh = c->b.fresh;
}

/* A call that is in no graph: what is inside of it is freed with the graph that it would be in. */
static void add_replaced(struct graph *g, const struct graph_node *n)
{
	struct replaced *r = arena_new(g->a, struct replaced);

	*r = (struct replaced){arena_new(g->a, struct graph_node), 1, g->replaced};
	*r->node = *n;
	g->replaced = r;
}

static int expand(struct finish *f, struct graph *g, const struct graph_node *n,
		  const struct function *fn, int depth, struct err *e)
{
	int out = n->nout ? n->out[0] : -1, r;
	const char *label = n->name[0] ? n->name : out >= 0 ? g->value[out]->name : n->type;
	struct call c = {.f = f,
			 .b = {.a = f->a, .g = g, .fresh = f->fresh},
			 .n = n,
			 .fn = fn,
			 .name = arena_printf(f->a, NAME "/", label)};

	if (depth > NESTED_MOST)
		return err_set(e, "its functions call each other more than %d deep", NESTED_MOST);
	if (count(f, fn->body.nvalue + fn->in.n + fn->out.n, e))
		return -1;
	name_values(&c);
	for (int i = 0; i < fn->body.nnode; i++) {
		const struct graph_node *from = &fn->body.node[i];
		struct graph_node made = *from;
		const struct function *inner;

		if (count(f, node_size(from), e))
			return -1;
		made.in = copy_list(f->a, from->in, from->nin, c.value);
		made.out = copy_list(f->a, from->out, from->nout, c.value);
		made.ndeps = made.nin;
		if (from->name[0])
			made.name = arena_printf(f->a, "%s" NAME, c.name, from->name);
		r = copy_attrs(&c, &made, from, NULL, e);
		inner = r ? NULL : called(f, &made);
		if (inner)
			add_replaced(g, &made);
		else
			*graph_add_node(g) = made;
		if (r || (inner && expand(f, g, &made, inner, depth + 1, e)))
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
