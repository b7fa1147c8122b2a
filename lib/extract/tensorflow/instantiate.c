/* The graph of what is computed: nodes that the results need, with functions in the place of calls.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/tensorflow/instantiate.h"

/* Bounds of the graph, in which a function counts as often as it is called. */
enum {
	MOST_NODES = 1 << 18,
	MOST_SEEN = 1 << 22,
	MOST_VALUES = 1 << 20,
	MOST_OUTPUTS = 4096, /* of a node */
};

/* ---- references ---- */

struct reference {
	int arg;  /* of the function, or -1 */
	int node; /* or -1 */
	int out;
};

static void **put_name(struct map *names, const char *name)
{
	return map_put(names, name, strlen(name), NULL);
}

/* The names of a list of nodes are the same at every call. An argument has its name before a node,
 * and the first one before others. */
static void name_nodes(struct reader *r, struct scope *s)
{
	struct map *names = &r->names[s->fn ? s->fn - r->m->function : r->m->nfunction];

	s->by_name = names;
	if (names->n)
		return;
	for (int i = 0; i < s->nnode; i++)
		*put_name(names, s->node[i].name) = (void *)(intptr_t)(i + 1);
	for (int i = s->fn ? s->fn->narg - 1 : -1; i >= 0; i--)
		if (s->fn->arg[i])
			*put_name(names, s->fn->arg[i]) = (void *)(intptr_t)(-1 - i);
}

/* "node", "node:1", in functions "argument", "node:output:1". -1: nothing of this name is there. */
static int find(const struct scope *s, const char *text, struct reference *ref)
{
	const size_t n = strcspn(text, ":");
	const char *rest = text[n] ? text + n + 1 : "", *colon = strchr(rest, ':');
	const char *number = colon ? colon + 1 : rest;
	const long k = strtol(number, NULL, 10);
	const int i = (int)(intptr_t)map_get(s->by_name, text, n);

	*ref = (struct reference){.arg = -i - 1, .node = i - 1};
	if (i < 0)
		return 0;
	if (!i || k < 0 || k >= MOST_OUTPUTS)
		return -1;
	ref->out = (int)k;
	if (colon || (*rest && (*rest < '0' || *rest > '9')))
		ref->out += tensorflow_output(s->node[ref->node].type, rest, strcspn(rest, ":"));
	return 0;
}

static int is_control(const char *text)
{
	return text[0] == '^';
}

static int missing(const char *text, struct err *e)
{
	return err_set(e, "it reads '%.200s', which nothing makes", text);
}

/* ---- what is needed ---- */

/* Notes that an output is read; pushes its node, if that is new. */
static int need(struct scope *s, const char *text, int *stack, int *depth, struct err *e)
{
	struct reference ref;

	if (find(s, text, &ref))
		return missing(text, e);
	if (ref.arg >= 0)
		return 0;
	if (!s->nout[ref.node])
		stack[(*depth)++] = ref.node;
	if (s->nout[ref.node] <= ref.out)
		s->nout[ref.node] = ref.out + 1;
	return 0;
}

/* A loop begins at the first input of a Merge, and makes the second. */
static int is_join(const struct message_node *m)
{
	return m->nin > 1 && words_are("Merge RefMerge", m->type);
}

static int count_seen(struct reader *r, int64_t n, struct err *e)
{
	r->seen += n;
	return r->seen > MOST_SEEN
		       ? err_set(e,
				 "it has more than %d nodes, inputs and attributes, those of a "
				 "function counted at each call",
				 MOST_SEEN)
		       : 0;
}

static int need_all(struct reader *r, struct scope *s, const char *const *result, int n,
		    struct err *e)
{
	int *stack = arena_array(r->b.a, int, s->nnode + 1), depth = 0;

	for (int i = 0; i < n; i++)
		if (result[i] && need(s, result[i], stack, &depth, e))
			return -1;
	while (depth) {
		const struct message_node *m = &s->node[stack[--depth]];

		if (++r->nodes > MOST_NODES)
			return err_set(e, "its graph has more than %d nodes", MOST_NODES);
		if (count_seen(r, m->nin + m->nattr, e))
			return -1;
		for (int i = 0; i < m->nin; i++)
			if (!is_control(m->in[i]) && need(s, m->in[i], stack, &depth, e))
				return -1;
	}
	return 0;
}

/* ---- values ---- */

static struct declared *declare(struct reader *r, const struct shape *s, int elem)
{
	struct declared *d = arena_new(r->b.a, struct declared);

	d->shape.rank = RANK_UNKNOWN;
	if (s)
		d->shape = *s;
	d->elem = elem;
	return d;
}

int scope_count_values(struct reader *r, int64_t n, struct err *e)
{
	r->values += n;
	return r->values > MOST_VALUES
		       ? err_set(e, "its nodes make more than %d results", MOST_VALUES)
		       : 0;
}

static int make_values(struct reader *r, struct scope *s, struct err *e)
{
	s->out = arena_array(r->b.a, int *, s->nnode + 1);
	for (int i = 0; i < s->nnode; i++) {
		const struct message_node *m = &s->node[i];
		const struct message_attr *shapes = message_attr(m, "_output_shapes");

		if (!s->nout[i])
			continue;
		if (scope_count_values(r, s->nout[i], e))
			return -1;
		s->out[i] = arena_array(r->b.a, int, s->nout[i]);
		for (int k = 0; k < s->nout[i]; k++) {
			struct value *v;

			s->out[i][k] = build_value(
				&r->b, k ? arena_printf(r->b.a, "%s:%d", m->name, k) : m->name);
			v = r->b.g->value[s->out[i][k]];
			if (shapes && k < shapes->nshapes)
				v->declared = declare(r, &shapes->shapes[k], VALUE_UNKNOWN);
		}
	}
	return 0;
}

int scope_value(const struct scope *s, const char *text)
{
	struct reference ref;

	if (find(s, text, &ref))
		return -1;
	return ref.arg >= 0 ? s->arg[ref.arg] : s->out[ref.node][ref.out];
}

static int attr_type(const struct message_node *m)
{
	const struct message_attr *a = message_attr(m, "dtype");

	return a ? (int)a->i : VALUE_F32;
}

static void make_constant(struct value *v, const struct message_node *m)
{
	const struct message_attr *a = message_attr(m, "value");

	v->is_const = 1;
	v->elem = attr_type(m);
	if (!a || !a->tensor)
		return;
	v->shape = a->tensor->shape;
	v->kept = a->tensor->kept;
	v->elem = a->tensor->elem;
}

static void make_variable(struct value *v, const struct message_node *m)
{
	const struct message_attr *a = message_attr(m, "shape");

	v->is_const = 1;
	v->elem = attr_type(m);
	if (a && a->shape && a->shape->rank >= 0)
		v->shape = *a->shape;
	for (int i = 0; i < v->shape.rank; i++)
		if (!v->shape.dim[i])
			v->shape.dim[i] = DIM_UNKNOWN;
}

static void make_input(struct reader *r, struct value *v, const struct message_node *m)
{
	const struct message_attr *a = message_attr(m, "shape");
	const struct message_end *end = map_get(&r->inputs, m->name, strlen(m->name));
	const struct shape *s = a ? a->shape : NULL;

	if ((!s || s->rank < 0) && end)
		s = end->shape;
	v->is_input = 1;
	v->declared = declare(r, s, attr_type(m));
	v->elem = v->declared->elem;
}

/* Makes the value of a node that has no inputs; 0: it is no such node. */
static int make_source(struct reader *r, const struct scope *s, int i)
{
	const struct message_node *m = &s->node[i];
	struct value *v = r->b.g->value[s->out[i][0]];

	if (!strcmp(m->type, "Const"))
		make_constant(v, m);
	else if (words_are(TENSORFLOW_VARIABLES, m->type))
		make_variable(v, m);
	else if (words_are("Placeholder PlaceholderV2", m->type))
		make_input(r, v, m);
	else
		return 0;
	return 1;
}

static int put_node(struct reader *r, const struct scope *s, int i, struct err *e)
{
	const struct message_node *m = &s->node[i];
	struct call n = {.b = &r->b,
			 .type = m->type,
			 .name = m->name,
			 .domain = "tensorflow",
			 .out = s->out[i],
			 .nout = s->nout[i],
			 .read = convert_attribute,
			 .at = m};
	int *in = arena_array(r->b.a, int, m->nin + 1), first = r->b.g->nnode, rc;

	n.in = in;
	for (int k = 0; k < (is_join(m) ? 1 : m->nin); k++)
		if (!is_control(m->in[k]))
			in[n.nin++] = scope_value(s, m->in[k]);
	r->loops += !strcmp(m->type, "LoopCond");
	rc = call_put(r, s, &n, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	tensorflow_operator(&n);
	if (r->b.g->nnode > first)
		r->b.g->node[first].name = m->name;
	return 0;
}

int scope_put(struct reader *r, struct scope *s, const char *const *result, int n, struct err *e)
{
	int rc;

	if (count_seen(r, s->nnode, e))
		return -1;
	name_nodes(r, s);
	s->nout = arena_array(r->b.a, int, s->nnode + 1);
	rc = need_all(r, s, result, n, e) || make_values(r, s, e) ? -1 : 0;
	/* Constants first, for other operators look at them. */
	for (int i = 0; !rc && i < s->nnode; i++)
		if (s->nout[i])
			s->nout[i] = make_source(r, s, i) ? -s->nout[i] : s->nout[i];
	for (int i = 0; !rc && i < s->nnode; i++)
		if (s->nout[i] > 0)
			rc = put_node(r, s, i, e);
	return rc;
}

/* ---- the graph ---- */

/* serving_default, or else the first. */
static const struct message_signature *choose(const struct message_graph *m)
{
	for (int i = 0; i < m->nsignature; i++)
		if (!strcmp(m->signature[i].name, "serving_default"))
			return &m->signature[i];
	for (int i = 0; i < m->nsignature; i++)
		if (m->signature[i].nout && strncmp(m->signature[i].name, "__", 2) != 0)
			return &m->signature[i];
	return NULL;
}

/* The results of a graph without signature: what nothing reads, but for what is there for its
 * effects. */
static const char **unread(struct reader *r, int *n)
{
	static const char effects[] = "NoOp Assert SaveV2 RestoreV2 Const Placeholder VarHandleOp "
				      "Assign AssignVariableOp";
	const struct message_graph *m = r->m;
	const char **list = arena_array(r->b.a, const char *, m->nnode + 1);
	struct map read = MAP_INIT;

	for (int i = 0; i < m->nnode; i++)
		for (int k = 0; k < m->node[i].nin; k++)
			*map_put(&read, m->node[i].in[k], strcspn(m->node[i].in[k], ":"), NULL) = r;
	*n = 0;
	for (int i = 0; i < m->nnode; i++)
		if (!map_get(&read, m->node[i].name, strlen(m->node[i].name)) &&
		    !words_are(effects, m->node[i].type))
			list[(*n)++] = m->node[i].name;
	map_free(&read);
	return list;
}

static const char **results(struct reader *r, int *n)
{
	const char **list;

	if (!r->signature)
		return unread(r, n);
	list = arena_array(r->b.a, const char *, r->signature->nout + 1);
	*n = r->signature->nout;
	for (int i = 0; i < *n; i++)
		list[i] = r->signature->out[i].tensor;
	return list;
}

/* An input is "NAME:0" in the signature; the first one that says so counts. */
static void name_inputs(struct reader *r)
{
	for (int i = r->signature ? r->signature->nin - 1 : -1; i >= 0; i--) {
		const char *tensor = r->signature->in[i].tensor;

		*map_put(&r->inputs, tensor, strcspn(tensor, ":"), NULL) = &r->signature->in[i];
	}
}

int tensorflow_build(struct graph *g, const struct message_graph *m, int64_t *loops, struct err *e)
{
	struct reader r = {.b = {.a = g->a, .g = g}, .m = m, .signature = choose(m)};
	struct scope s = {.node = m->node, .nnode = m->nnode};
	int n, rc;
	const char **result = results(&r, &n);

	r.names = arena_array(g->a, struct map, m->nfunction + 1);
	name_inputs(&r);
	for (int i = 0; i < m->nfunction; i++)
		*put_name(&r.functions, m->function[i].name) = &m->function[i];
	rc = n ? scope_put(&r, &s, result, n, e)
	       : err_set(e, "it holds no graph that computes something");
	for (int i = 0; !rc && i < n; i++) {
		int v = scope_value(&s, result[i]);

		if (v >= 0)
			g->value[v]->is_output = 1;
	}
	*loops = r.loops;
	for (int i = 0; i <= m->nfunction; i++)
		map_free(&r.names[i]);
	map_free(&r.inputs);
	map_free(&r.functions);
	return rc ? -1 : graph_link(g, e);
}

/* Where the length at h[i] ends; 0: it is longer than three bytes, or not all there. */
static size_t behind_length(const unsigned char *h, size_t n, size_t i, size_t *length)
{
	*length = 0;
	for (int k = 0; k < 3 && i < n; k++, i++) {
		*length |= (size_t)(h[i] & 0x7f) << 7 * k;
		if (!(h[i] & 0x80))
			return i + 1;
	}
	return 0;
}

enum tensorflow_kind tensorflow_claims(const unsigned char *h, size_t n)
{
	size_t i = 3, length;

	/* The version, then a MetaGraphDef that begins with its MetaInfoDef. */
	if (n > 9 && h[0] == 0x08 && h[1] == 0x01 && h[2] == 0x12) {
		while (i < 8 && h[i] & 0x80)
			i++;
		return h[i + 1] == 0x0a ? TENSORFLOW_SAVED_MODEL : TENSORFLOW_NONE;
	}
	/* A node that begins with its name and its type. */
	if (n < 8 || h[0] != 0x0a || !(i = behind_length(h, n, 1, &length)) || h[i] != 0x0a ||
	    !(i = behind_length(h, n, i + 1, &length)))
		return TENSORFLOW_NONE;
	i += length;
	return i + 2 < n && h[i] == 0x12 && h[i + 2] >= 'A' && h[i + 2] <= 'Z' ? TENSORFLOW_GRAPH
									       : TENSORFLOW_NONE;
}
