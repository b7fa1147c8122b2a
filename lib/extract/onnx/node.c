/* NodeProto and AttributeProto. */
#include "lib/extract/onnx/parse.h"

#include <string.h>

void *parse_settle(struct parse *p, const struct buf *b)
{
	void *to = arena_alloc(p->a, b->n + 1);

	if (b->n)
		memcpy(to, b->s, b->n);
	return to;
}

static int parse_floats(struct parse *p, const struct wire_field *f, struct buf *b, struct err *e)
{
	const uint64_t n = f->type == WIRE_BYTES ? f->end - pull_offset(p->wire.in) : sizeof(float);
	float v;

	if (p->elements != ONNX_SMALL && b->n + n > LIST_MAX)
		return err_set(e, "it holds a list of more than %d floats",
			       (int)(LIST_MAX / sizeof v));
	if (f->type == WIRE_BYTES && n > LIST_MAX)
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

int parse_attr(struct parse *p, uint64_t end, struct attr *at, struct err *e)
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
	at->ints = parse_settle(p, &ints);
	at->nfloats = (int)(floats.n / sizeof *at->floats);
	at->floats = parse_settle(p, &floats);
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

int parse_node(struct parse *p, uint64_t end, struct graph *g, struct err *e)
{
	struct buf in = BUF_INIT, out = BUF_INIT, attrs = BUF_INIT;
	struct graph_node n = {.name = "", .type = "", .domain = ""};
	int r = parse_node_fields(p, end, g, &n, &in, &out, &attrs, e);

	n.nattr = (int)(attrs.n / sizeof *n.attr);
	n.attr = parse_settle(p, &attrs);
	n.nin = (int)(in.n / sizeof *n.in);
	n.ndeps = (int)(in.n / sizeof *n.in);
	n.in = parse_settle(p, &in);
	n.nout = (int)(out.n / sizeof *n.out);
	n.out = parse_settle(p, &out);
	if (!r && !n.type[0])
		r = err_set(e, "it holds a node without an operator type");
	*graph_add_node(g) = n;
	buf_free(&in);
	buf_free(&out);
	buf_free(&attrs);
	return r;
}
