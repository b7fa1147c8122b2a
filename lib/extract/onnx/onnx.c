#include "lib/extract/onnx/onnx.h"

#include <string.h>

#include "lib/extract/onnx/parse.h"
#include "lib/extract/onnx/finish.h"

static int parse_graph(struct parse *p, uint64_t end, struct graph *g, struct err *e);

int onnx_claims(const unsigned char *head, size_t n)
{
	/* ir_version first, as every exporter writes it, then one of the other fields of a
	 * ModelProto. */
	return n > 2 && head[0] == 0x08 && head[1] > 0 && head[1] < 0x40 && head[2] &&
	       strchr("\x12\x1a\x22\x28\x32\x3a\x42\x72\xa2\xca", head[2]);
}

/* A list gathered in a buffer, moved to the arena. */
static void *settle(struct parse *p, const struct buf *b)
{
	void *to = arena_alloc(p->a, b->n + 1);

	if (b->n)
		memcpy(to, b->s, b->n);
	return to;
}

static int parse_floats(struct parse *p, const struct wire_field *f, struct buf *b, struct err *e)
{
	float v;

	if (f->type == WIRE_BYTES && f->end - pull_offset(p->wire.in) > LIST_MAX)
		return wire_drop(&p->wire, f, e);
	if (f->type == WIRE_BYTES)
		return wire_bytes(&p->wire, f, b, e);
	if (wire_float(&p->wire, f, &v, e))
		return -1;
	if (b->n < LIST_MAX)
		buf_add(b, &v, sizeof v);
	return 0;
}

static int parse_subgraph(struct parse *p, const struct wire_field *f, struct attr *at,
			  struct err *e)
{
	int r;

	if (p->depth >= DEPTH_MAX)
		return err_set(e, "its graphs are nested more than %d deep", DEPTH_MAX);
	if (wire_message(&p->wire, f, e))
		return -1;
	at->subgraph = arena_new(p->a, struct graph);
	graph_init(at->subgraph, p->a);
	p->depth++;
	r = parse_graph(p, f->end, at->subgraph, e);
	p->depth--;
	return r;
}

static int parse_attr_field(struct parse *p, const struct wire_field *f, struct attr *at,
			    struct buf *ints, struct buf *floats, struct err *e)
{
	switch (f->number) {
	case 1:
		return parse_name(p, f, &at->name, e);
	case 2:
		return wire_float(&p->wire, f, &at->f, e);
	case 3:
		return wire_int(&p->wire, f, &at->i, e);
	case 4:
		if (f->type == WIRE_BYTES && f->end - pull_offset(p->wire.in) > NAME_MAX_BYTES)
			return wire_skip(&p->wire, f, e); /* contrib blobs */
		return parse_name(p, f, &at->s, e);
	case 5:
		if (wire_message(&p->wire, f, e))
			return -1;
		at->tensor = arena_new(p->a, struct value);
		return parse_tensor(p, f->end, at->tensor, e);
	case 6:
	case 11:
		if (at->subgraph)
			return err_set(e, "an attribute '%s' holds several graphs", at->name);
		return parse_subgraph(p, f, at, e);
	case 7:
		return parse_floats(p, f, floats, e);
	case 8:
		return parse_ints(p, f, LIST_MAX, ints, e);
	case 21:
		return parse_name(p, f, &at->ref, e);
	default:
		return wire_skip(&p->wire, f, e);
	}
}

static int parse_attr(struct parse *p, uint64_t end, struct attr *at, struct err *e)
{
	struct buf ints = BUF_INIT, floats = BUF_INIT;
	struct wire_field f;
	int r;

	*at = (struct attr){.name = ""};
	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		r = parse_attr_field(p, &f, at, &ints, &floats, e);
		if (r)
			break;
	}
	at->nints = (int)(ints.n / sizeof *at->ints);
	at->ints = settle(p, &ints);
	at->nfloats = (int)(floats.n / sizeof *at->floats);
	at->floats = settle(p, &floats);
	buf_free(&ints);
	buf_free(&floats);
	return r;
}

/* An empty name means "left out". */
static int parse_ref(struct parse *p, const struct wire_field *f, struct graph *g, struct buf *list,
		     struct err *e)
{
	const char *name;
	int v;

	if (parse_name(p, f, &name, e))
		return -1;
	v = name[0] ? graph_value(g, name) : -1;
	buf_add(list, &v, sizeof v);
	return 0;
}

static int parse_node_fields(struct parse *p, uint64_t end, struct graph *g, struct graph_node *n,
			     struct buf *in, struct buf *out, struct buf *attrs, struct err *e)
{
	struct wire_field f;
	int r;

	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		struct attr at;

		switch (f.number) {
		case 1:
			r = parse_ref(p, &f, g, in, e);
			break;
		case 2:
			r = parse_ref(p, &f, g, out, e);
			break;
		case 3:
			r = parse_name(p, &f, &n->name, e);
			break;
		case 4:
			r = parse_name(p, &f, &n->type, e);
			break;
		case 5:
			at = (struct attr){.name = ""};
			r = wire_message(&p->wire, &f, e);
			if (!r)
				r = parse_attr(p, f.end, &at, e);
			buf_add(attrs, &at,
				sizeof at); /* a broken one too: it may own a subgraph */
			break;
		case 7:
			r = parse_name(p, &f, &n->domain, e);
			break;
		case 8:
			r = parse_name(p, &f, &n->overload, e);
			break;
		default:
			r = wire_skip(&p->wire, &f, e);
		}
		if (r)
			break;
	}
	return r;
}

static int parse_node(struct parse *p, uint64_t end, struct graph *g, struct err *e)
{
	struct buf in = BUF_INIT, out = BUF_INIT, attrs = BUF_INIT;
	struct graph_node n = {.name = "", .type = "", .domain = ""};
	int r = parse_node_fields(p, end, g, &n, &in, &out, &attrs, e);

	n.nattr = (int)(attrs.n / sizeof *n.attr);
	n.attr = settle(p, &attrs);
	n.nin = (int)(in.n / sizeof *n.in);
	n.ndeps = (int)(in.n / sizeof *n.in);
	n.in = settle(p, &in);
	n.nout = (int)(out.n / sizeof *n.out);
	n.out = settle(p, &out);
	if (!r && !n.type[0])
		r = err_set(e, "it holds a node without an operator type");
	*graph_add_node(g) = n;
	buf_free(&in);
	buf_free(&out);
	buf_free(&attrs);
	return r;
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

	if (parse_tensor(p, end, &t, e) ||
	    (!t.name[0] && err_set(e, "it holds an initializer without a name"))) {
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

static int parse_graph(struct parse *p, uint64_t end, struct graph *g, struct err *e)
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
	const char *key[3] = {"", "", ""}, *full;
	struct buf attrs = BUF_INIT;
	int r;

	graph_init(&fn->body, p->a);
	r = parse_function_fields(p, end, fn, key, &attrs, e);
	fn->nattr = (int)(attrs.n / sizeof *fn->attr);
	fn->attr = settle(p, &attrs);
	buf_free(&attrs);
	/* One of the same name as another, too, so that it is given back. */
	full = function_key(p->a, key[0], key[1], key[2]);
	while (map_get(&m->functions, full, strlen(full)))
		full = arena_printf(p->a, "%s again", full);
	*map_put(&m->functions, full, strlen(full), NULL) = fn;
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
		return err_set(e, "it is no ONNX model, or cut off (it holds no graph)");
	if (!m->opset && m->ir_version >= 3)
		return err_set(e, "it is no ONNX model, or cut off (it names no operator set)");
	return 0;
}

static int read_model(struct onnx_model *m, struct pull *in, int weights, const char *folder,
		      struct arena *a, struct err *e)
{
	struct parse p = {.a = a, .weights = weights, .folder = folder};
	int r;

	*m = (struct onnx_model){0};
	graph_init(&m->graph, a);
	wire_init(&p.wire, in, "ONNX model");
	r = parse_model(&p, m, e);
	if (!r) {
		struct finish f = {.a = a, .functions = &m->functions, .rewrites = !weights};

		wire_digest(&p.wire, &m->hash);
		r = onnx_finish(&f, &m->graph, e);
	}
	wire_free(&p.wire);
	buf_free(&p.raw);
	return r;
}

int onnx_read(struct onnx_model *m, struct pull *in, struct arena *a, struct err *e)
{
	return read_model(m, in, 0, NULL, a, e);
}

int onnx_read_weights(struct onnx_model *m, struct pull *in, const char *folder, struct arena *a,
		      struct err *e)
{
	return read_model(m, in, 1, folder, a, e);
}

void onnx_free(struct onnx_model *m)
{
	graph_free(&m->graph);
	for (size_t i = 0; i < m->functions.n; i++)
		graph_free(&((struct function *)m->functions.item[i].value)->body);
	map_free(&m->functions);
}
