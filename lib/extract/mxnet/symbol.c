/* The graph of a symbol file. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/mxnet/mxnet.h"

enum { MOST_NODES = 1 << 18, MOST_OUTPUTS = 4096 };

struct reader {
	struct build b;
	const struct json_doc *d;
	const struct infer_options *o;
	const struct json **node; /* of the file */
	int nnode;
	int *nout;	    /* of each node: outputs that are read */
	char *is_parameter; /* of each node without operator */
	int **out;	    /* values of the outputs */
};

static const char *text(struct reader *r, const struct json *object, const char *key)
{
	const char *s;

	return json_str(json_get(r->d, object, key), r->b.a, &s) ? "" : s;
}

/* Their name changed from version to version. */
static const struct json *attributes(struct reader *r, const struct json *node)
{
	static const char *const keys[] = {"attrs", "attr", "param"};

	for (int i = 0; i < 3; i++)
		if (json_get(r->d, node, keys[i]))
			return json_get(r->d, node, keys[i]);
	return NULL;
}

static int is_variable(struct reader *r, int i)
{
	return !strcmp(text(r, r->node[i], "op"), "null");
}

/* [node, output, version]. -1: there is no such node before node `limit`. */
static int reference(struct reader *r, const struct json *v, int limit, int *out)
{
	const struct json *first = json_first(r->d, v), *second;
	int64_t i = -1, k = 0;

	second = first && v->type == JSON_ARR ? json_next(r->d, v, first) : NULL;
	if (json_int(first, &i) || i < 0 || i >= limit || (second && json_int(second, &k)) ||
	    k < 0 || k >= MOST_OUTPUTS)
		return -1;
	*out = (int)k;
	return (int)i;
}

static int read_nodes(struct reader *r, const struct json *nodes, struct err *e)
{
	int i = 0;

	if (!nodes || nodes->type != JSON_ARR || !nodes->size)
		return err_set(e, "it is no symbol file of MXNet (it has no nodes)");
	if (nodes->size > MOST_NODES)
		return err_set(e, "it has more than %d nodes", MOST_NODES);
	r->nnode = nodes->size;
	r->node = arena_array(r->b.a, const struct json *, r->nnode);
	r->nout = arena_array(r->b.a, int, r->nnode);
	r->out = arena_array(r->b.a, int *, r->nnode);
	r->is_parameter = arena_alloc(r->b.a, (size_t)r->nnode);
	for (const struct json *n = json_first(r->d, nodes); n; n = json_next(r->d, nodes, n))
		r->node[i++] = n;
	return 0;
}

/* Notes which outputs are read, and which variables are parameters. */
static int note_reads(struct reader *r, struct err *e)
{
	for (int i = 0; i < r->nnode; i++) {
		const struct json *in = json_get(r->d, r->node[i], "inputs");
		const char *type = text(r, r->node[i], "op");
		int nth = 0;

		r->nout[i] += !r->nout[i];
		for (const struct json *v = json_first(r->d, in); v;
		     v = json_next(r->d, in, v), nth++) {
			int out, from = reference(r, v, i, &out);

			if (from < 0)
				return err_set(
					e, "its node %d reads a node that does not come before it",
					i);
			if (r->nout[from] <= out)
				r->nout[from] = out + 1;
			r->is_parameter[from] |= (char)mxnet_is_parameter(type, nth);
		}
	}
	return 0;
}

static int ends_in(const char *name, const char *ending)
{
	const size_t n = strlen(name), k = strlen(ending);

	return n >= k && !strcmp(name + n - k, ending);
}

/* A parameter, an input, or a label, which nothing that is computed depends on. */
static int put_variable(struct reader *r, int i, struct err *e)
{
	const char *name = text(r, r->node[i], "name");
	const struct mxnet_node n = {.b = &r->b, .doc = r->d, .attrs = attributes(r, r->node[i])};
	struct value *v = r->b.g->value[r->out[i][0]];
	struct declared *d = arena_new(r->b.a, struct declared);
	int64_t dim[GRAPH_MAX_RANK];
	int rank = mxnet_numbers(mxnet_text(&n, "__shape__"), dim), is_open = rank < 1;

	v->elem = d->elem = VALUE_F32;
	d->shape.rank = rank > 0 ? rank : RANK_UNKNOWN;
	for (int k = 0; k < rank; k++) {
		d->shape.dim[k] = dim[k] > 0 ? dim[k] : 0;
		is_open |= dim[k] < 1; /* Gluon writes 0 for what follows from the data */
	}
	v->declared = d;
	if (r->is_parameter[i] || ends_in(name, "label")) {
		v->is_const = 1;
		if (!is_open)
			v->shape = d->shape;
		return 0;
	}
	v->is_input = 1;
	if (rank < 1 && !infer_given_shape(r->o, v->name))
		return err_set(
			e,
			"its input '%s' has no shape; --shape %s:1,3,224,224 or the like gives it",
			v->name, v->name);
	return 0;
}

static void make_values(struct reader *r, int i)
{
	const char *name = text(r, r->node[i], "name");

	r->out[i] = arena_array(r->b.a, int, r->nout[i]);
	for (int k = 0; k < r->nout[i]; k++)
		r->out[i][k] =
			build_value(&r->b, k ? arena_printf(r->b.a, "%s:%d", name, k) : name);
}

static void put_operator(struct reader *r, int i)
{
	const struct json *in = json_get(r->d, r->node[i], "inputs");
	struct mxnet_node n = {.b = &r->b, .doc = r->d, .attrs = attributes(r, r->node[i])};
	const int first = r->b.g->nnode;

	n.name = text(r, r->node[i], "name");
	n.type = text(r, r->node[i], "op");
	n.out = r->out[i];
	n.nout = r->nout[i];
	n.in = arena_array(r->b.a, int, in ? in->size + 1 : 1);
	for (const struct json *v = json_first(r->d, in); v; v = json_next(r->d, in, v)) {
		int out, from = reference(r, v, i, &out);

		n.in[n.nin++] = r->out[from][out];
	}
	mxnet_operator(&n);
	if (r->b.g->nnode > first)
		r->b.g->node[first].name = n.name;
}

static void mark_results(struct reader *r)
{
	const struct json *heads = json_get(r->d, r->d->tok, "heads");

	for (const struct json *h = json_first(r->d, heads); h; h = json_next(r->d, heads, h)) {
		int out, i = reference(r, h, r->nnode, &out);

		if (i >= 0 && out < r->nout[i])
			r->b.g->value[r->out[i][out]]->is_output = 1;
	}
}

int mxnet_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e)
{
	struct reader r = {.b = {.a = g->a, .g = g}, .d = d, .o = o};

	if (read_nodes(&r, json_get(d, d->tok, "nodes"), e) || note_reads(&r, e))
		return -1;
	for (int i = 0; i < r.nnode; i++) {
		make_values(&r, i);
		if (!is_variable(&r, i))
			put_operator(&r, i);
		else if (put_variable(&r, i, e))
			return -1;
	}
	mark_results(&r);
	return graph_link(g, e);
}
