/* Shapes of variables that the graph leaves open, out of the checkpoint beside a SavedModel.
 *
 * Names of variables are not those of the checkpoint, and may be there twice. What tells which
 * entry a variable has are the nodes that restore it: RestoreV2 with a list of keys, and an
 * assignment of one of its results, in the graph or in a function that the graph calls.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/tensorflow/bundle.h"
#include "lib/extract/tensorflow/instantiate.h"

enum { DEEPEST = 8 /* nodes between a result and its assignment */ };

struct restore {
	const struct message_graph *m;
	struct map node;   /* of the graph: name -> struct message_node * */
	struct map call;   /* name of a function -> the first node that calls it */
	struct map shapes; /* of the checkpoint */
};

/* The nodes of the graph, or of a function. */
struct nodes {
	const struct message_function *fn; /* NULL: the graph */
	const struct message_node *node;
	int n;
	struct map by_name, argument; /* name -> struct message_node *; -> index + 1 */
};

static struct message_attr *attribute(const struct message_node *n, const char *name)
{
	return (struct message_attr *)message_attr(n, name);
}

/* The shape that a variable leaves open; NULL: it leaves none. */
static struct shape **open_shape(const struct message_node *n)
{
	struct message_attr *a =
		words_are(TENSORFLOW_VARIABLES, n->type) ? attribute(n, "shape") : NULL;

	if (!a || !a->shape)
		return NULL;
	for (int i = 0; i < a->shape->rank; i++)
		if (!a->shape->dim[i])
			return &a->shape;
	return a->shape->rank < 0 ? &a->shape : NULL;
}

static void *look_up(const struct map *map, const char *reference)
{
	return map_get(map, reference, strcspn(reference, ":"));
}

/* The number behind "node:2" or "node:tensors:2". */
static long result_of(const char *reference)
{
	const char *colon = strrchr(reference, ':');

	return colon ? strtol(colon + 1, NULL, 10) : 0;
}

/* The shape in the checkpoint of what is restored here; NULL: it is none of its entries. */
static struct shape *restored(const struct restore *r, const struct nodes *l, const char *reference)
{
	const struct message_node *n = look_up(&l->by_name, reference), *keys;
	const struct message_attr *list;
	long i;

	for (int k = 0; n && n->nin && !strcmp(n->type, "Identity") && k < DEEPEST; k++) {
		reference = n->in[0];
		n = look_up(&l->by_name, reference);
	}
	if (!n || strcmp(n->type, "RestoreV2") != 0 || n->nin < 2)
		return NULL;
	keys = look_up(&l->by_name, n->in[1]);
	list = keys ? message_attr(keys, "value") : NULL;
	i = result_of(reference);
	return list && i >= 0 && i < list->nwords
		       ? map_get(&r->shapes, list->words[i], strlen(list->words[i]))
		       : NULL;
}

/* The node of the graph that is meant in a function by an argument, or in the graph itself. */
static const struct message_node *in_graph(const struct restore *r, const struct nodes *l,
					   const char *reference)
{
	const struct message_node *call;
	int i;

	if (!l->fn)
		return look_up(&r->node, reference);
	call = map_get(&r->call, l->fn->name, strlen(l->fn->name));
	i = (int)(intptr_t)look_up(&l->argument, reference) - 1;
	return call && i >= 0 && i < call->nin ? look_up(&r->node, call->in[i]) : NULL;
}

static void take_assignments(const struct restore *r, const struct nodes *l)
{
	for (int i = 0; i < l->n; i++) {
		const struct message_node *n = &l->node[i], *variable;
		struct shape **open, *s;

		if (n->nin < 2 || !words_are("AssignVariableOp Assign", n->type))
			continue;
		variable = in_graph(r, l, n->in[0]);
		open = variable ? open_shape(variable) : NULL;
		s = open ? restored(r, l, n->in[1]) : NULL;
		if (s)
			*open = s;
	}
}

static void map_nodes(struct map *to, const struct message_node *node, int n)
{
	for (int i = 0; i < n; i++)
		*map_put(to, node[i].name, strlen(node[i].name), NULL) = (void *)&node[i];
}

static void take_list(const struct restore *r, const struct message_function *fn,
		      const struct message_node *node, int n)
{
	struct nodes l = {.fn = fn, .node = node, .n = n};
	int restores = 0;

	for (int i = 0; i < n; i++)
		restores |= !strcmp(node[i].type, "RestoreV2");
	if (!restores)
		return;
	map_nodes(&l.by_name, node, n);
	for (int i = 0; fn && i < fn->narg; i++)
		if (fn->arg[i])
			*map_put(&l.argument, fn->arg[i], strlen(fn->arg[i]), NULL) =
				(void *)(intptr_t)(i + 1);
	take_assignments(r, &l);
	map_free(&l.by_name);
	map_free(&l.argument);
}

static void map_calls(struct restore *r)
{
	for (int i = r->m->nnode - 1; i >= 0; i--) {
		const struct message_node *n = &r->m->node[i];
		const struct message_attr *f =
			words_are(TENSORFLOW_CALLS, n->type) ? message_attr(n, "f") : NULL;

		if (f && f->s)
			*map_put(&r->call, f->s, strlen(f->s), NULL) = (void *)n;
	}
}

static int leaves_open(const struct message_graph *m)
{
	for (int i = 0; i < m->nnode; i++)
		if (open_shape(&m->node[i]))
			return 1;
	return 0;
}

int tensorflow_restore(const struct message_graph *m, const char *path, struct arena *a,
		       struct err *e)
{
	struct restore r = {.m = m};
	int rc;

	if (!leaves_open(m))
		return 0;
	rc = bundle_read(&r.shapes, path, a, e);
	if (rc > 0) {
		map_nodes(&r.node, m->node, m->nnode);
		map_calls(&r);
		take_list(&r, NULL, m->node, m->nnode);
		for (int i = 0; i < m->nfunction; i++)
			take_list(&r, &m->function[i], m->function[i].node, m->function[i].nnode);
	}
	map_free(&r.node);
	map_free(&r.call);
	map_free(&r.shapes);
	return rc < 0 ? -1 : 0;
}
