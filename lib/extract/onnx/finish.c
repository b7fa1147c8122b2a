#include "lib/extract/onnx/finish.h"

#include <stdio.h>
#include <string.h>

#include "lib/extract/onnx/rewrite.h"

/* ---- calls of functions that the model brings along (FunctionProto): each becomes the nodes of
 * the function, with names of its own ---- */

enum { NESTED_MOST = 16 };
/* So many attributes that are looked through count as a value. */
enum { SEARCH_UNIT = 16 };

struct call {
	struct copying c;
	const struct graph_node *n; /* the node that calls; its values are those of c.b.g */
	const struct function *fn;
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

/* Finds the attribute of that name: the call gives it, or else its function's default does. 1; 0:
 * neither does; -1. */
static int given(struct copying *c, const char *name, const struct attr **a, struct err *e)
{
	const struct call *k = (const struct call *)c;

	if (copy_count(c->all, (k->n->nattr + k->fn->nattr) / SEARCH_UNIT, e))
		return -1;
	*a = node_attr(k->n, name);
	for (int i = 0; !*a && i < k->fn->nattr; i++)
		if (!strcmp(k->fn->attr[i].name, name))
			*a = &k->fn->attr[i];
	return *a != NULL;
}

/* Values of the body are those of the call, or new ones. */
static void name_values(struct call *c, struct finish *f)
{
	const struct graph *body = &c->fn->body;
	int *value = arena_array(f->a, int, body->nvalue + 1);

	for (int i = 0; i < body->nvalue; i++)
		value[i] = -2;
	for (int i = 0; i < c->fn->in.n; i++)
		value[c->fn->in.at[i]] = i < c->n->nin ? c->n->in[i] : -1;
	for (int i = 0; i < c->fn->out.n && i < c->n->nout; i++) {
		int at = c->fn->out.at[i], out = c->n->out[i];

		if (value[at] == -2) {
			if (out >= 0)
				value[at] = out;
		} else if (value[at] >= 0 && out >= 0) { /* it is handed through */
			build_node(&c->c.b, "Identity", &value[at], 1, &out, 1);
		}
	}
	for (int i = 0; i < body->nvalue; i++)
		if (value[i] == -2)
			value[i] =
				build_value(&c->c.b, arena_printf(f->a, "%s" COPY_NAME, c->c.name,
								  body->value[i]->name));
	c->c.value = value;
	f->fresh = c->c.b.fresh;
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
	struct call c = {.c = {.all = &f->copies,
			       .b = {.a = f->a, .g = g, .fresh = f->fresh},
			       .body = &fn->body,
			       .name = arena_printf(f->a, COPY_NAME "/", label),
			       .refers = given},
			 .n = n,
			 .fn = fn};

	if (depth > NESTED_MOST)
		return err_set(e, "its functions call each other more than %d deep", NESTED_MOST);
	if (copy_count(&f->copies, fn->body.nvalue + fn->in.n + fn->out.n, e))
		return -1;
	name_values(&c, f);
	for (int i = 0; i < fn->body.nnode; i++) {
		const struct function *inner;
		struct graph_node made;

		r = copy_node(&c.c, &fn->body.node[i], &made, e);
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

static int inline_calls(struct finish *f, struct graph *g, struct err *e)
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

/* ---- graphs ---- */

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

		if (!v->is_captured || !value_is_read(v))
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
	if (f->functions->n && inline_calls(f, g, e))
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
