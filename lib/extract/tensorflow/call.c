/* Nodes that call functions: calls and branches, whose nodes are put in the place of the call, and
 * loops, whose functions are graphs inside of a node (infer_loop.c).
 */
#include <string.h>

#include "lib/extract/tensorflow/instantiate.h"

enum { DEEPEST = 40 /* calls within calls */ };

static const struct message_function *function_of(const struct reader *r, const struct call *n,
						  const char *attribute)
{
	const struct message_attr *a = message_attr(n->at, attribute);

	return a && a->s ? map_get(&r->functions, a->s, strlen(a->s)) : NULL;
}

/* The function that stands for the node; NULL: there is none. A branch is chosen where the
 * condition is known; otherwise the first stands for both. */
static const struct message_function *called(const struct reader *r, const struct call *n)
{
	if (words_are(TENSORFLOW_CALLS, n->type))
		return function_of(r, n, "f");
	if (words_are("If StatelessIf", n->type)) {
		const struct value *v = n->nin && n->in[0] >= 0 ? r->b.g->value[n->in[0]] : NULL;

		return function_of(r, n,
				   v && v->kept && !v->kept->i ? "else_branch" : "then_branch");
	}
	return map_get(&r->functions, n->type, strlen(n->type));
}

static int check_call(const struct scope *caller, const struct call *n,
		      const struct message_function *fn, struct err *e)
{
	if (caller->depth >= DEEPEST)
		return err_set(e, "its functions call each other more than %d deep", DEEPEST);
	return n->nin < fn->narg ? err_set(e, "it calls %s with %d of its %d arguments", fn->name,
					   n->nin, fn->narg)
				 : 0;
}

static int returned(const struct scope *s, int i, struct err *e)
{
	const int v = s->fn->returned[i] ? scope_value(s, s->fn->returned[i]) : -1;

	if (v < 0)
		err_set(e, "the function %s does not make its result %d", s->fn->name, i);
	return v;
}

/* Puts the function's nodes into the graph; what it returns becomes the node's outputs. */
static int put_call(struct reader *r, const struct scope *caller, const struct call *n,
		    const struct message_function *fn, struct err *e)
{
	const int is_branch = n->nin == fn->narg + 1;
	const int nout = fn->nout < n->nout ? fn->nout : n->nout;
	struct scope s = {
		.node = fn->node, .nnode = fn->nnode, .fn = fn, .depth = caller->depth + 1};
	int rc;

	if (check_call(caller, n, fn, e))
		return -1;
	s.arg = n->in + is_branch;
	rc = scope_put(r, &s, fn->returned, nout, e);
	for (int i = 0; !rc && i < nout; i++) {
		int from = returned(&s, i, e);

		if (from < 0)
			rc = -1;
		else
			build_node(&r->b, "Identity", &from, 1, &n->out[i], 1);
	}
	return rc;
}

/* ---- loops ---- */

/* Argument i of a function that a loop runs again and again. What never changes is known while the
 * graph grows. */
static int put_state(struct reader *r, const struct message_function *body,
		     const struct message_function *fn, int i, const struct value *begin)
{
	const int at = build_value(&r->b, fn->arg[i] ? fn->arg[i] : "state");
	struct value *v = r->b.g->value[at];

	v->is_input = 1;
	if (begin && begin->is_const && i < body->nout && body->arg[i] && body->returned[i] &&
	    !strcmp(body->arg[i], body->returned[i])) {
		v->is_const = 1;
		v->shape = begin->shape;
		v->elem = begin->elem;
		v->kept = begin->kept;
	}
	graph_add_end(r->b.g, &r->b.g->inputs, at);
	return at;
}

/* The function as a graph of its own: its arguments are what the loop hands from turn to turn. */
static int fill_graph(struct reader *r, const struct scope *caller, const struct call *n,
		      const struct message_function *fn, const struct message_function *body,
		      struct graph *sub, struct err *e)
{
	struct graph *outer = r->b.g;
	struct scope s = {
		.node = fn->node, .nnode = fn->nnode, .fn = fn, .depth = caller->depth + 1};
	int *arg, rc;

	if (scope_count_values(r, fn->narg, e))
		return -1;
	arg = arena_array(r->b.a, int, fn->narg + 1);
	r->b.g = sub;
	for (int i = 0; i < fn->narg; i++)
		arg[i] = put_state(r, body, fn, i, n->in[i] < 0 ? NULL : outer->value[n->in[i]]);
	s.arg = arg;
	rc = scope_put(r, &s, fn->returned, fn->nout, e);
	for (int i = 0; !rc && i < fn->nout; i++) {
		const int v = returned(&s, i, e);

		if (v < 0) {
			rc = -1;
			break;
		}
		sub->value[v]->is_output = 1;
		graph_add_end(sub, &sub->outputs, v);
	}
	r->b.g = outer;
	return rc || graph_link(sub, e) ? -1 : 0;
}

/* A node with the graphs of its condition and its body. */
static int put_loop(struct reader *r, const struct scope *caller, const struct call *n,
		    const struct message_function *cond, const struct message_function *body,
		    struct err *e)
{
	struct graph *graph[2];
	struct graph_node *loop;

	if (check_call(caller, n, cond, e) || check_call(caller, n, body, e))
		return -1;
	if (cond->narg != n->nin || body->narg != n->nin || body->nout != n->nin || !cond->nout)
		return err_set(e, "its loop %s does not hand on what it begins with", n->name);
	loop = build_node(&r->b, "While", n->in, n->nin, n->out, n->nout);
	loop->name = n->name;
	loop->attr = arena_array(r->b.a, struct attr, 2);
	loop->nattr = 2;
	for (int i = 0; i < 2; i++) {
		graph[i] = arena_new(r->b.a, struct graph);
		graph_init(graph[i], r->b.a);
		loop->attr[i] =
			(struct attr){.name = i ? "body" : "condition", .subgraph = graph[i]};
	}
	return fill_graph(r, caller, n, cond, body, graph[0], e) ||
			       fill_graph(r, caller, n, body, body, graph[1], e)
		       ? -1
		       : 0;
}

int call_put(struct reader *r, const struct scope *caller, const struct call *n, struct err *e)
{
	const struct message_function *fn, *cond;

	if (words_are("While StatelessWhile", n->type)) {
		fn = function_of(r, n, "body");
		cond = function_of(r, n, "cond");
		return !fn || !cond ? 0 : put_loop(r, caller, n, cond, fn, e) ? -1 : 1;
	}
	fn = called(r, n);
	return !fn ? 0 : put_call(r, caller, n, fn, e) ? -1 : 1;
}
