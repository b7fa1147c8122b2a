/* NodeProto and AttributeProto. */
#include "lib/extract/onnx/parse.h"

#include <string.h>

void *parse_settle(struct wire *w, const struct buf *b)
{
	void *to = arena_alloc(w->a, b->n + 1);

	if (b->n)
		memcpy(to, b->s, b->n);
	return to;
}

/* An attribute, and its lists as far as they are read. */
struct reading_attr {
	struct attr is;
	struct buf ints, floats, texts;
};

static int read_ints(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	return parse_ints(w, f, LIST_MAX, to, e);
}

static int read_floats(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	const struct parse *p = w->reader;
	const uint64_t n = f->type == WIRE_BYTES ? f->end - pull_offset(w->in) : sizeof(float);
	struct buf *b = to;
	float v;

	if (p->elements != ONNX_SMALL && b->n + n > LIST_MAX)
		return err_set(e, "it holds a list of more than %d floats",
			       (int)(LIST_MAX / sizeof v));
	if (f->type == WIRE_BYTES)
		return n > LIST_MAX ? wire_drop(w, f, e) : wire_bytes(w, f, b, e);
	if (wire_float(w, f, &v, e))
		return -1;
	if (b->n < LIST_MAX)
		buf_add(b, &v, sizeof v);
	return 0;
}

static int read_subgraph(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct parse *p = w->reader;
	struct attr *at = to;
	int r;

	if (at->subgraph)
		return err_set(e, "an attribute '%s' holds several graphs", at->name);
	if (p->depth >= DEPTH_MAX)
		return err_set(e, "its graphs are nested more than %d deep", DEPTH_MAX);
	at->subgraph = arena_new(w->a, struct graph);
	graph_init(at->subgraph, w->a);
	p->depth++;
	r = parse_graph(w, f, at->subgraph, e);
	p->depth--;
	return r;
}

/* Long ones are blobs of other domains. */
static int read_text(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	if (f->type == WIRE_BYTES && f->end - pull_offset(w->in) > NAME_MAX_BYTES)
		return wire_skip(w, f, e);
	return wire_text(w, f, to, e);
}

/* A list of texts becomes one, with a comma behind each, of which parse_attr() takes the last away.
 */
static int read_texts(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct buf *b = to;
	const char *text = "";

	if (f->type == WIRE_BYTES && b->n + (f->end - pull_offset(w->in)) > NAME_MAX_BYTES)
		return wire_skip(w, f, e);
	if (wire_text(w, f, &text, e))
		return -1;
	buf_fmt(b, "%s,", text);
	return 0;
}

static int read_tensor(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct attr *at = to;

	at->tensor = arena_new(w->a, struct value);
	return parse_tensor(w, f, at->tensor, e);
}

PROTO_TABLE(attr, NULL, {1, PROTO_TEXT, PROTO_AT(reading_attr, is.name)},
	    {2, PROTO_REAL, PROTO_AT(reading_attr, is.f)},
	    {3, PROTO_INT, PROTO_AT(reading_attr, is.i)},
	    {4, PROTO_BY, PROTO_AT(reading_attr, is.s), .fn = read_text},
	    {5, PROTO_BY, PROTO_AT(reading_attr, is), .fn = read_tensor},
	    {6, PROTO_BY, PROTO_AT(reading_attr, is), .fn = read_subgraph},
	    {11, PROTO_BY, PROTO_AT(reading_attr, is), .fn = read_subgraph},
	    {7, PROTO_BY, PROTO_AT(reading_attr, floats), .fn = read_floats},
	    {8, PROTO_BY, PROTO_AT(reading_attr, ints), .fn = read_ints},
	    {9, PROTO_BY, PROTO_AT(reading_attr, texts), .fn = read_texts},
	    {21, PROTO_TEXT, PROTO_AT(reading_attr, is.ref)});

int parse_attr(struct wire *w, const struct wire_field *f, void *attrs, struct err *e)
{
	struct reading_attr x = {.is = {.name = ""}};
	const int r = proto_inside(w, f, &attr, &x, e);

	x.is.nints = (int)(x.ints.n / sizeof *x.is.ints);
	x.is.ints = parse_settle(w, &x.ints);
	x.is.nfloats = (int)(x.floats.n / sizeof *x.is.floats);
	x.is.floats = parse_settle(w, &x.floats);
	if (x.texts.n) {
		x.texts.s[--x.texts.n] = '\0';
		x.is.s = parse_settle(w, &x.texts);
	}
	buf_free(&x.texts);
	buf_free(&x.ints);
	buf_free(&x.floats);
	buf_add(attrs, &x.is, sizeof x.is); /* a broken one too: it may own a subgraph */
	return r;
}

struct reading_node {
	struct graph_node is;
	struct graph *g;
	struct buf in, out, attrs;
};

/* An input or an output. An empty name means "left out". */
static int read_ref(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct reading_node *n = to;
	const char *name;
	int v;

	if (wire_text(w, f, &name, e))
		return -1;
	v = name[0] ? graph_value(n->g, name) : -1;
	buf_add(f->number == 1 ? &n->in : &n->out, &v, sizeof v);
	return 0;
}

PROTO_TABLE(node, NULL, {1, PROTO_BY, .fn = read_ref}, {2, PROTO_BY, .fn = read_ref},
	    {3, PROTO_TEXT, PROTO_AT(reading_node, is.name)},
	    {4, PROTO_TEXT, PROTO_AT(reading_node, is.type)},
	    {5, PROTO_BY, PROTO_AT(reading_node, attrs), .fn = parse_attr},
	    {7, PROTO_TEXT, PROTO_AT(reading_node, is.domain)},
	    {8, PROTO_TEXT, PROTO_AT(reading_node, is.overload)});

int parse_node(struct wire *w, const struct wire_field *f, void *graph, struct err *e)
{
	struct reading_node x = {.is = {.name = "", .type = "", .domain = ""}, .g = graph};
	int r = proto_inside(w, f, &node, &x, e);

	x.is.nattr = (int)(x.attrs.n / sizeof *x.is.attr);
	x.is.attr = parse_settle(w, &x.attrs);
	x.is.nin = x.is.ndeps = (int)(x.in.n / sizeof *x.is.in);
	x.is.in = parse_settle(w, &x.in);
	x.is.nout = (int)(x.out.n / sizeof *x.is.out);
	x.is.out = parse_settle(w, &x.out);
	if (!r && !x.is.type[0])
		r = err_set(e, "it holds a node without an operator type");
	*graph_add_node(graph) = x.is;
	buf_free(&x.in);
	buf_free(&x.out);
	buf_free(&x.attrs);
	return r;
}
