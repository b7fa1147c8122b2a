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

static int parse_value_info(struct parse *p, uint64_t end, struct graph *g, enum info what,
			    struct err *e)
{
	struct declared *d = arena_new(p->a, struct declared);
	const char *name = "";
	struct wire_field f;
	struct value *v;
	int r;

	d->shape.rank = RANK_UNKNOWN;
	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		if (f.number == 1)
			r = parse_name(p, &f, &name, e);
		else if (f.number != 2)
			r = wire_skip(&p->wire, &f, e);
		else if (!(r = wire_message(&p->wire, &f, e)))
			r = parse_type(p, f.end, d, e);
		if (r)
			return -1;
	}
	if (r || !name[0])
		return r;
	v = value_named(g, name);
	v->declared = d;
	if (what == INFO_INPUT)
		graph_add_end(g, &g->inputs, graph_value(g, name));
	else if (what == INFO_OUTPUT)
		graph_add_end(g, &g->outputs, graph_value(g, name));
	v->is_input |= what == INFO_INPUT && !v->is_const;
	v->is_output |= what == INFO_OUTPUT;
	return 0;
}

static int parse_initializer(struct parse *p, uint64_t end, struct graph *g, struct err *e)
{
	struct value t = {0}, *v;

	int r;

	p->is_initializer = 1;
	r = parse_tensor(p, end, &t, e);
	p->is_initializer = 0;
	if (r || (!t.name[0] && err_set(e, "it holds an initializer without a name"))) {
		value_drop(&t);
		return -1;
	}
	v = value_named(g, t.name);
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

static int parse_graph_field(struct parse *p, const struct wire_field *f, struct graph *g,
			     struct err *e)
{
	if (f->number == 2)
		return parse_name(p, f, &g->name, e);
	if (f->number != 1 && f->number != 5 && (f->number < 11 || f->number > 13))
		return wire_skip(&p->wire, f, e);
	if (wire_message(&p->wire, f, e))
		return -1;
	if (f->number == 1)
		return parse_node(p, f->end, g, e);
	if (f->number == 5)
		return parse_initializer(p, f->end, g, e);
	return parse_value_info(p, f->end, g, (enum info)f->number, e);
}

int parse_graph(struct parse *p, uint64_t end, struct graph *g, struct err *e)
{
	struct wire_field f;
	int r;

	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		r = parse_graph_field(p, &f, g, e);
		if (r)
			return -1;
	}
	return r;
}

static int parse_end(struct parse *p, const struct wire_field *f, struct graph *g,
		     struct ends *list, struct err *e)
{
	const char *name;

	if (parse_name(p, f, &name, e))
		return -1;
	graph_add_end(g, list, graph_value(g, name));
	return 0;
}

static int parse_function_attr(struct parse *p, const struct wire_field *f, struct buf *attrs,
			       struct err *e)
{
	struct attr at = {.name = ""};
	int r = wire_message(&p->wire, f, e);

	if (!r)
		r = parse_attr(p, f->end, &at, e);
	buf_add(attrs, &at, sizeof at);
	return r;
}

static int parse_function_fields(struct parse *p, uint64_t end, struct function *fn,
				 const char *key[3], struct buf *attrs, struct err *e)
{
	struct wire_field f;
	int r;

	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		if (f.number == 1)
			r = parse_name(p, &f, &key[1], e);
		else if (f.number == 10 || f.number == 13)
			r = parse_name(p, &f, &key[f.number == 13 ? 2 : 0], e);
		else if (f.number == 4 || f.number == 5)
			r = parse_end(p, &f, &fn->body, f.number == 4 ? &fn->in : &fn->out, e);
		else if (f.number == 11)
			r = parse_function_attr(p, &f, attrs, e);
		else if (f.number != 7)
			r = wire_skip(&p->wire, &f, e);
		else if (!(r = wire_message(&p->wire, &f, e)))
			r = parse_node(p, f.end, &fn->body, e);
		if (r)
			return -1;
	}
	return r;
}

/* FunctionProto */
static int parse_function(struct parse *p, uint64_t end, struct onnx_model *m, struct err *e)
{
	struct function *fn = arena_new(p->a, struct function);
	const char *name[3] = {"", "", ""};
	char key[FUNCTION_KEY_BYTES];
	size_t n = m->functions.n;
	struct buf attrs = BUF_INIT;
	int r;

	graph_init(&fn->body, p->a);
	r = parse_function_fields(p, end, fn, name, &attrs, e);
	fn->nattr = (int)(attrs.n / sizeof *fn->attr);
	fn->attr = parse_settle(p, &attrs);
	buf_free(&attrs);
	if (!r && function_key(key, name[0], name[1], name[2]))
		r = err_set(e, "it holds a function whose name has more than %d bytes",
			    FUNCTION_NAME_MOST);
	if (r || map_get(&m->functions, key, strlen(key)))
		/* Nothing calls it. It is kept to be given back, under a key that no name makes. */
		*map_put(&m->functions, (const char *)&n, sizeof n, NULL) = fn;
	else
		*map_put(&m->functions, key, strlen(key), NULL) = fn;
	return r;
}

/* OperatorSetIdProto */
static int parse_opset(struct parse *p, uint64_t end, struct onnx_model *m, struct err *e)
{
	const char *domain = "";
	struct wire_field f;
	int64_t version = 0;
	int r;

	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		if (f.number == 1)
			r = parse_name(p, &f, &domain, e);
		else if (f.number == 2)
			r = wire_int(&p->wire, &f, &version, e);
		else
			r = wire_skip(&p->wire, &f, e);
		if (r)
			return -1;
	}
	if (!domain[0] || !strcmp(domain, "ai.onnx"))
		m->opset = version;
	else if (!m->opset)
		m->opset = -1; /* only other domains so far */
	return r;
}

static int parse_model(struct parse *p, struct onnx_model *m, struct err *e)
{
	struct wire_field f;
	int r, graphs = 0;

	while ((r = wire_field(&p->wire, WIRE_TO_THE_END, &f, e)) > 0) {
		switch (f.number) {
		case 1:
			r = wire_int(&p->wire, &f, &m->ir_version, e);
			break;
		case 7:
			if (graphs++)
				r = err_set(e, "it is no ONNX model (it holds two graphs)");
			else if (!(r = wire_message(&p->wire, &f, e)))
				r = parse_graph(p, f.end, &m->graph, e);
			break;
		case 8:
			r = wire_message(&p->wire, &f, e);
			if (!r)
				r = parse_opset(p, f.end, m, e);
			break;
		case 25:
			r = wire_message(&p->wire, &f, e);
			if (!r)
				r = parse_function(p, f.end, m, e);
			break;
		default:
			r = wire_skip(&p->wire, &f, e);
		}
		if (r)
			return -1;
	}
	if (r)
		return -1;
	if (!graphs || !m->graph.nnode)
		return err_set(e, "it is no ONNX model, or cut off (%s)",
			       graphs ? "its graph has no nodes" : "it holds no graph");
	if (!m->opset && m->ir_version >= 3)
		return err_set(e, "it is no ONNX model, or cut off (it names no operator set)");
	return 0;
}

static int read_model(struct onnx_model *m, struct pull *in, enum onnx_elements elements,
		      const char *folder, struct arena *a, struct err *e)
{
	struct parse p = {.a = a, .elements = elements, .folder = folder};
	int r;

	*m = (struct onnx_model){0};
	graph_init(&m->graph, a);
	wire_init(&p.wire, in, "ONNX model");
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
