/* The graph of a symbol: its variables, its nodes in their order, graphs inside of nodes. */
#include <string.h>

#include "lib/extract/mxnet/operator.h"

enum {
	DEEPEST = 8,		/* graphs within graphs */
	MOST_RESULTS = 1 << 12, /* of a node */
	MOST_VALUES = 1 << 20,	/* of all graphs */
};

struct reader {
	struct build b;
	const struct json_doc *d;
	const struct infer_options *options;
	int values; /* so far */
};

/* A graph, as its nodes are added. */
struct symbol {
	struct reader *r;
	const struct json **node;
	int n;
	int *results;	  /* of each node, as many as are read by others */
	int *first;	  /* of each node, in value */
	char *as_data;	  /* of each node: is it data that another one reads? */
	int *value;	  /* -1: not made yet */
	const int *given; /* for the variables of a graph inside */
	int ngiven, taken;
	int is_quantized; /* whole numbers are given for reals */
	int depth;
};

static int fail(struct err *e, const char *what)
{
	return err_set(e, "it is no symbol of MXNet, or damaged (%s)", what);
}

static const struct json *get(const struct reader *r, const struct json *object, const char *key)
{
	return json_get(r->d, object, key);
}

static const char *text(const struct reader *r, const struct json *object, const char *key)
{
	const char *s;

	return json_str(get(r, object, key), r->b.a, &s) ? "" : s;
}

/* The node as a call without inputs, of which attributes are asked for. */
static struct call call_of(struct symbol *s, int i, struct mx_node *n)
{
	*n = (struct mx_node){.doc = s->r->d, .node = s->node[i]};
	return (struct call){.b = &s->r->b,
			     .name = text(s->r, s->node[i], "name"),
			     .type = text(s->r, s->node[i], "op"),
			     .domain = "mxnet",
			     .reader = &mx_reader,
			     .at = n};
}

/* ---- references ---- */

/* [node, result], and perhaps a version; `end`: the nodes before it can be meant. */
static int read_reference(const struct symbol *s, const struct json *ref, int end, int *node,
			  int *result, struct err *e)
{
	const struct json *first = ref->type == JSON_ARR ? json_first(s->r->d, ref) : NULL;
	const struct json *second = first ? json_next(s->r->d, ref, first) : NULL;
	int64_t i, k = 0;

	if (json_int(first, &i) || (second && json_int(second, &k)))
		return fail(e, "an input that is no pair of numbers");
	if (i < 0 || i >= end)
		return fail(e, "a node that reads a later one, or none");
	if (k < 0 || k >= MOST_RESULTS)
		return fail(e, "a node of too many results");
	*node = (int)i;
	*result = (int)k;
	return 0;
}

/* Which results of nodes are read, and as what. */
static int count_reads(struct symbol *s, const struct json *list, int end, int ndata, struct err *e)
{
	int at = 0, node, result;

	for (const struct json *ref = json_first(s->r->d, list); ref;
	     ref = json_next(s->r->d, list, ref), at++) {
		if (read_reference(s, ref, end, &node, &result, e))
			return -1;
		if (s->results[node] <= result)
			s->results[node] = result + 1;
		s->as_data[node] |= !ndata || at < ndata;
	}
	return 0;
}

/* The values that a list refers to. */
static int *values_of(const struct symbol *s, const struct json *list, int end, int *n)
{
	int *v = arena_array(s->r->b.a, int, list && list->type == JSON_ARR ? list->size + 1 : 1);
	int node, result;

	*n = 0;
	for (const struct json *ref = json_first(s->r->d, list); ref;
	     ref = json_next(s->r->d, list, ref))
		if (!read_reference(s, ref, end, &node, &result, NULL))
			v[(*n)++] = s->value[s->first[node] + result];
	return v;
}

static int is_list(const struct json *v)
{
	return v && v->type == JSON_ARR;
}

static int read_nodes(struct symbol *s, const struct json *graph, struct err *e)
{
	const struct json *nodes = get(s->r, graph, "nodes"), *heads = get(s->r, graph, "heads");
	struct arena *a = s->r->b.a;
	int all = 0;

	if (!is_list(nodes) || !nodes->size || !is_list(heads))
		return fail(e, "no nodes, or no heads");
	s->node = arena_array(a, const struct json *, nodes->size);
	s->results = arena_array(a, int, nodes->size);
	s->first = arena_array(a, int, nodes->size);
	s->as_data = arena_array(a, char, nodes->size);
	for (const struct json *n = json_first(s->r->d, nodes); n;
	     n = json_next(s->r->d, nodes, n)) {
		const struct json *inputs = get(s->r, n, "inputs");

		if (n->type != JSON_OBJ || !text(s->r, n, "op")[0] || (inputs && !is_list(inputs)))
			return fail(e, "a node without an operator, or inputs that are no list");
		s->node[s->n] = n;
		s->results[s->n] = 1;
		if (count_reads(s, inputs, s->n, mxnet_data_inputs(text(s->r, n, "op")), e))
			return -1;
		s->n++;
	}
	if (count_reads(s, heads, s->n, 0, e))
		return -1;
	for (int i = 0; i < s->n; i++) {
		s->first[i] = all;
		all += s->results[i];
		s->r->values += s->results[i];
		if (s->r->values > MOST_VALUES)
			return err_set(e, "its nodes make more than %d results", MOST_VALUES);
	}
	s->value = arena_array(a, int, all);
	return 0;
}

/* ---- variables ---- */

/* What the file says of a variable; an open dimension is 0 there, too. */
static struct declared *declare(const struct call *o)
{
	struct declared *d = arena_new(o->b->a, struct declared);
	int64_t v[GRAPH_MAX_RANK];
	const int n = call_ints(o, "__shape__", 0, v);

	d->elem = mx_elem(mx_text(o, "__dtype__", ""), VALUE_UNKNOWN);
	d->shape.rank = n > 0 ? n : RANK_UNKNOWN;
	for (int i = 0; i < n; i++)
		d->shape.dim[i] = v[i] > 0 ? v[i] : 0;
	return d;
}

/* Gluon says of its parameters how fast they learn, or how they begin. Nothing that is computed
 * depends on a label. */
static int is_parameter(const struct call *o)
{
	const size_t n = strlen(o->name), label = strlen("label");

	return (n >= label && !strcmp(o->name + n - label, "label")) ||
	       mx_text(o, "__lr_mult__", NULL) || mx_text(o, "__wd_mult__", NULL) ||
	       mx_text(o, "__init__", NULL);
}

static int put_variable(struct symbol *s, int i)
{
	struct mx_node n;
	const struct call o = call_of(s, i, &n);
	const int at = build_value(&s->r->b, o.name);
	struct value *v = s->r->b.g->value[at];
	struct declared *d = declare(&o);

	if (infer_given_shape(s->r->options, o.name) || (s->as_data[i] && !is_parameter(&o))) {
		v->is_input = 1;
		v->declared = d;
		d->elem = d->elem == VALUE_UNKNOWN ? VALUE_F32 : d->elem;
		v->elem = d->elem;
		return at;
	}
	v->is_const = 1;
	v->elem = d->elem;
	/* Elsewhere the shape follows from the data, in the order that ONNX has. */
	if (s->as_data[i] && shape_known(&d->shape) && !infer_absurd(&d->shape)) {
		v->shape = d->shape;
		v->elem = d->elem == VALUE_UNKNOWN ? VALUE_F32 : d->elem;
		for (int k = 0; k < d->shape.rank; k++)
			if (!d->shape.dim[k])
				v->shape.rank = RANK_UNKNOWN;
	}
	return at;
}

/* ---- nodes ---- */

static int put_symbol(struct symbol *s, const struct json *graph, int **out, int *nout,
		      struct err *e);

static int convert(struct build *b, const char *type, int in)
{
	int out = build_part(b, in, type);

	build_node(b, type, &in, 1, &out, 1);
	return out;
}

/* Says what variable i, data or weights, is in a graph of whole numbers that stand for reals. */
static int dequantize(struct build *b, int value, int i)
{
	struct value *v = b->g->value[value];

	if (i == 1 && v->is_const)
		v->elem = VALUE_I8;
	return i == 1 || !v->is_const ? convert(b, "DequantizeLinear", value) : value;
}

/* Behind a function that is never negative the numbers are unsigned. */
static int quantize(const struct call *o, int result)
{
	const int is_unsigned = call_flag(o, "with_postsum_act", 0) ||
				(call_flag(o, "with_act", 0) && !call_flag(o, "with_sum", 0)) ||
				call_flag(o, "with_eltwise", 0) || call_flag(o, "with_relu", 0);

	if (call_flag(o, "enable_float_output", 0))
		return result;
	result = convert(o->b, "QuantizeLinear", result);
	build_int(o->b, &o->b->g->node[o->b->g->nnode - 1], "output_dtype",
		  !mx_text(o, "min_calib_range", NULL) ? VALUE_I32
		  : is_unsigned			       ? VALUE_U8
						       : VALUE_I8);
	return result;
}

/* A node that MXNet has put together of several: they stand in its graph. */
static int put_fused(struct symbol *s, const struct call *o, int at, struct err *e)
{
	const struct json *graphs = get(s->r, s->node[at], "subgraphs");
	struct symbol inner = {.r = s->r, .ngiven = o->nin, .depth = s->depth + 1};
	int *out, nout;

	inner.given = o->in;
	inner.is_quantized = call_flag(o, "quantized", 0);
	if (put_symbol(&inner, json_first(s->r->d, graphs), &out, &nout, e))
		return -1;
	for (int i = 0; i < s->results[at]; i++)
		s->value[s->first[at] + i] =
			i < nout
				? out[i]
				: build_parameter(&s->r->b, "range", 0); /* of a quantized result */
	if (inner.is_quantized)
		s->value[s->first[at]] = quantize(o, out[0]);
	return 0;
}

static int put_node(struct symbol *s, int i, struct err *e)
{
	struct mx_node n;
	struct call o = call_of(s, i, &n);
	int *out = s->value + s->first[i];

	if (!strcmp(o.type, "null")) {
		if (s->given && s->taken == s->ngiven)
			return fail(e, "a graph inside with more variables than it is given");
		out[0] = s->given ? s->given[s->taken] : put_variable(s, i);
		if (s->is_quantized)
			out[0] = dequantize(&s->r->b, out[0], s->taken);
		s->taken++;
		for (int k = 1; k < s->results[i]; k++)
			out[k] = out[0];
		return 0;
	}
	o.in = values_of(s, get(s->r, n.node, "inputs"), i, &o.nin);
	if (!strncmp(o.type, "_sg_", 4) && json_first(s->r->d, get(s->r, n.node, "subgraphs")))
		return put_fused(s, &o, i, e);
	for (int k = 0; k < s->results[i]; k++)
		out[k] = build_value(&s->r->b,
				     k ? arena_printf(s->r->b.a, "%s/%d", o.name, k) : o.name);
	o.out = out;
	o.nout = 1;
	n.nout = s->results[i];
	mxnet_operator(&o);
	return 0;
}

/* out: the values of its heads. */
static int put_symbol(struct symbol *s, const struct json *graph, int **out, int *nout,
		      struct err *e)
{
	if (s->depth > DEEPEST)
		return err_set(e, "its graphs are nested more than %d deep", DEEPEST);
	if (read_nodes(s, graph, e))
		return -1;
	for (int i = 0; i < s->n; i++)
		if (put_node(s, i, e))
			return -1;
	*out = values_of(s, get(s->r, graph, "heads"), s->n, nout);
	return *nout ? 0 : fail(e, "no heads");
}

/* Without the shape of one input at least nothing is known. */
static int check_shapes(const struct reader *r, struct err *e)
{
	struct buf names = BUF_INIT;
	const char *first = NULL;
	int known = 0, unknown = 0;

	for (int i = 0; i < r->b.g->nvalue; i++) {
		const struct value *v = r->b.g->value[i];

		if (!v->is_input)
			continue;
		if (v->declared->shape.rank >= 0 || infer_given_shape(r->options, v->name)) {
			known++;
			continue;
		}
		if (!unknown++)
			first = v->name;
		if (unknown <= 4)
			buf_fmt(&names, "%s'%.60s'", unknown > 1 ? ", " : "", v->name);
	}
	if (!known && unknown)
		err_set(e,
			"a symbol of MXNet does not tell the shape of its input%s %s%s: give it by "
			"--shape, such as --shape %.60s:1,3,224,224",
			unknown > 1 ? "s" : "", names.s, unknown > 4 ? ", ..." : "", first);
	buf_free(&names);
	return !known && unknown ? -1 : 0;
}

int mxnet_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e)
{
	struct reader r = {.b = {.a = g->a, .g = g}, .d = d, .options = o};
	struct symbol s = {.r = &r};
	int *out, nout;

	if (put_symbol(&s, d->tok, &out, &nout, e))
		return -1;
	for (int i = 0; i < nout; i++)
		g->value[out[i]]->is_output = 1;
	return check_shapes(&r, e) || graph_link(g, e) ? -1 : 0;
}
