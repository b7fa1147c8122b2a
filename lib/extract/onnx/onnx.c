#include "lib/extract/onnx/onnx.h"

#include <string.h>

#include "lib/extract/onnx/parse.h"
#include "lib/extract/onnx/finish.h"

int onnx_claims(const unsigned char *head, size_t n)
{
	/* ir_version first, as every exporter writes it, then one of the other fields of a
	 * ModelProto. */
	return n > 2 && head[0] == 0x08 && head[1] > 0 && head[1] < 0x40 && head[2] &&
	       strchr("\x12\x1a\x22\x28\x32\x3a\x42\x72\xa2\xca", head[2]);
}

/* In two steps: graph_value() may move the table. */
static struct value *value_named(struct graph *g, const char *name)
{
	int i = graph_value(g, name);

	return g->value[i];
}

enum info { INFO_INPUT = 11, INFO_OUTPUT = 12, INFO_VALUE = 13 };

struct value_info {
	struct declared declared;
	const char *name;
};

PROTO_TABLE(value_info, NULL, {1, PROTO_TEXT, PROTO_AT(value_info, name)},
	    {2, PROTO_BY, PROTO_AT(value_info, declared), .fn = parse_type});

static int read_info(struct wire *w, const struct wire_field *f, void *graph, struct err *e)
{
	const enum info what = (enum info)f->number;
	struct value_info *is = arena_new(w->a, struct value_info);
	struct graph *g = graph;
	struct value *v;

	*is = (struct value_info){.declared = {.shape = {.rank = RANK_UNKNOWN}}, .name = ""};
	if (proto_inside(w, f, &value_info, is, e))
		return -1;
	if (!is->name[0])
		return 0;
	v = value_named(g, is->name);
	v->declared = &is->declared;
	if (what == INFO_INPUT)
		graph_add_end(g, &g->inputs, graph_value(g, is->name));
	else if (what == INFO_OUTPUT)
		graph_add_end(g, &g->outputs, graph_value(g, is->name));
	v->is_input |= what == INFO_INPUT && !v->is_const;
	v->is_output |= what == INFO_OUTPUT;
	return 0;
}

static int read_initializer(struct wire *w, const struct wire_field *f, void *graph, struct err *e)
{
	struct parse *p = w->reader;
	struct value t = {0}, *v;
	int r;

	p->is_initializer = 1;
	r = parse_tensor(w, f, &t, e);
	p->is_initializer = 0;
	if (r || (!t.name[0] && err_set(e, "it holds an initializer without a name"))) {
		value_drop(&t);
		return -1;
	}
	v = value_named(graph, t.name);
	value_drop(v);
	v->data = t.data;
	v->data_bytes = t.data_bytes;
	v->shape = t.shape;
	v->elem = t.elem;
	v->kept = t.kept;
	v->is_const = 1;
	v->is_input = 0; /* before ir_version 4, initializers are listed as inputs too */
	return 0;
}

PROTO_TABLE(graph, NULL, {1, PROTO_BY, .fn = parse_node}, {2, PROTO_TEXT, PROTO_AT(graph, name)},
	    {5, PROTO_BY, .fn = read_initializer}, {INFO_INPUT, PROTO_BY, .fn = read_info},
	    {INFO_OUTPUT, PROTO_BY, .fn = read_info}, {INFO_VALUE, PROTO_BY, .fn = read_info});

int parse_graph(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	return proto_inside(w, f, &graph, to, e);
}

/* FunctionProto */
struct reading_function {
	struct function is;
	const char *domain, *name, *overload;
	struct buf attrs;
};

static int read_end(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct function *fn = to;
	const char *name;

	if (wire_text(w, f, &name, e))
		return -1;
	graph_add_end(&fn->body, f->number == 4 ? &fn->in : &fn->out, graph_value(&fn->body, name));
	return 0;
}

PROTO_TABLE(function, NULL, {1, PROTO_TEXT, PROTO_AT(reading_function, name)},
	    {4, PROTO_BY, .fn = read_end}, {5, PROTO_BY, .fn = read_end},
	    {7, PROTO_BY, PROTO_AT(reading_function, is.body), .fn = parse_node},
	    {10, PROTO_TEXT, PROTO_AT(reading_function, domain)},
	    {11, PROTO_BY, PROTO_AT(reading_function, attrs), .fn = parse_attr},
	    {13, PROTO_TEXT, PROTO_AT(reading_function, overload)});

static int read_function(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct onnx_model *m = to;
	struct reading_function *x = arena_new(w->a, struct reading_function);
	char key[FUNCTION_KEY_BYTES];
	size_t n = m->functions.n;
	int r;

	*x = (struct reading_function){.domain = "", .name = "", .overload = ""};
	graph_init(&x->is.body, w->a);
	r = proto_inside(w, f, &function, x, e);
	x->is.nattr = (int)(x->attrs.n / sizeof *x->is.attr);
	x->is.attr = parse_settle(w, &x->attrs);
	buf_free(&x->attrs);
	if (!r && function_key(key, x->domain, x->name, x->overload))
		r = err_set(e, "it holds a function whose name has more than %d bytes",
			    FUNCTION_NAME_MOST);
	if (r || map_get(&m->functions, key, strlen(key)))
		/* Nothing calls it. It is kept to be given back, under a key that no name makes. */
		*map_put(&m->functions, (const char *)&n, sizeof n, NULL) = &x->is;
	else
		*map_put(&m->functions, key, strlen(key), NULL) = &x->is;
	return r;
}

/* OperatorSetIdProto */
struct opset {
	const char *domain;
	int64_t version;
};

PROTO_TABLE(opset, NULL, {1, PROTO_TEXT, PROTO_AT(opset, domain)},
	    {2, PROTO_INT, PROTO_AT(opset, version)});

static int read_opset(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct onnx_model *m = to;
	struct opset is = {.domain = ""};

	if (proto_inside(w, f, &opset, &is, e))
		return -1;
	if (!is.domain[0] || !strcmp(is.domain, "ai.onnx"))
		m->opset = is.version;
	else if (!m->opset)
		m->opset = -1; /* only other domains so far */
	return 0;
}

static int read_graph(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct parse *p = w->reader;

	return p->graphs++ ? err_set(e, "it is no ONNX model (it holds two graphs)")
			   : parse_graph(w, f, to, e);
}

PROTO_TABLE(model, NULL, {1, PROTO_INT, PROTO_AT(onnx_model, ir_version)},
	    {7, PROTO_BY, PROTO_AT(onnx_model, graph), .fn = read_graph},
	    {8, PROTO_BY, .fn = read_opset}, {25, PROTO_BY, .fn = read_function});

static int parse_model(struct parse *p, struct onnx_model *m, struct err *e)
{
	if (proto_read(&p->wire, WIRE_TO_THE_END, &model, m, e))
		return -1;
	if (!p->graphs || !m->graph.nnode)
		return err_set(e, "it is no ONNX model, or cut off (%s)",
			       p->graphs ? "its graph has no nodes" : "it holds no graph");
	if (!m->opset && m->ir_version >= 3)
		return err_set(e, "it is no ONNX model, or cut off (it names no operator set)");
	return 0;
}

static int read_model(struct onnx_model *m, struct pull *in, enum onnx_elements elements,
		      const char *folder, struct arena *a, struct err *e)
{
	struct parse p = {.wire = {.in = in,
				   .what = "ONNX model",
				   .a = a,
				   .longest = NAME_MAX_BYTES,
				   .reader = &p},
			  .elements = elements,
			  .folder = folder};
	int r;

	*m = (struct onnx_model){0};
	graph_init(&m->graph, a);
	r = parse_model(&p, m, e);
	if (!r) {
		struct finish f = {
			.a = a, .functions = &m->functions, .rewrites = elements == ONNX_SMALL};

		wire_digest(&p.wire, &m->hash);
		r = onnx_finish(&f, &m->graph, e);
	}
	wire_free(&p.wire);
	buf_free(&p.raw);
	return r;
}

int onnx_read(struct onnx_model *m, struct pull *in, struct arena *a, struct err *e)
{
	return read_model(m, in, ONNX_SMALL, NULL, a, e);
}

int onnx_read_weights(struct onnx_model *m, struct pull *in, enum onnx_elements which,
		      const char *folder, struct arena *a, struct err *e)
{
	return read_model(m, in, which, folder, a, e);
}

void onnx_free(struct onnx_model *m)
{
	graph_free(&m->graph);
	for (size_t i = 0; i < m->functions.n; i++) {
		struct function *fn = m->functions.item[i].value;

		attrs_free(fn->attr, fn->nattr);
		graph_free(&fn->body);
	}
	map_free(&m->functions);
}
