/* The graph of a network, and of the bodies of its loops. */
#include "lib/extract/openvino/openvino.h"

#include <string.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/graph/infer.h"
#include "lib/io/file.h"

enum { WIDEST = 8 }; /* bytes of an element */

/* A network: that of the file, or a body. */
struct scope {
	struct build b;
	const struct ir_net *net;
	struct ov_weights *weights; /* bodies share them */
	int is_body;
	struct map layer; /* id -> struct ir_layer * */
	struct map port;  /* struct port_key -> struct ir_port * */
	struct err *e;
};

static int read_net(struct scope *s);

static struct ir_layer *find_layer(const struct scope *s, int64_t id)
{
	return map_get(&s->layer, (const char *)&id, sizeof id);
}

struct port_key {
	int64_t layer, port, is_output;
};

static struct ir_port *find_port(const struct scope *s, const struct ir_layer *l, int is_output,
				 int64_t id)
{
	const struct port_key key = {l->id, id, is_output};

	return map_get(&s->port, (const char *)&key, sizeof key);
}

/* The first of an id counts. */
static void add_ports(struct scope *s, const struct ir_layer *l, int is_output, struct ir_port *p)
{
	for (; p; p = p->next) {
		const struct port_key key = {l->id, p->id, is_output};
		int isnew;
		void **slot = map_put(&s->port, (const char *)&key, sizeof key, &isnew);

		if (isnew)
			*slot = p;
	}
}

static int is_type(const struct ir_layer *l, const char *type)
{
	return !strcmp(l->type, type);
}

/* ---- values ---- */

/* "[2,?,16..64]" of a Parameter is "..." where even the number of dimensions is open; its port then
 * has none, as that of a scalar. */
static int has_open_rank(const struct ir_layer *l)
{
	const char *shape = ir_attr(l, "shape");

	return is_type(l, "Parameter") ? shape && !strncmp(shape, "...", 3) : !is_type(l, "Const");
}

/* Keeps the elements of a constant, if they are few, of it and of all, and the file has them. */
static int keep(struct arena *a, const struct ir_layer *l, struct value *v, struct ov_weights *w,
		struct err *e)
{
	const size_t size = value_elem_size(v->elem);
	const int is_real = v->elem == VALUE_F16 || v->elem == VALUE_F32 || v->elem == VALUE_F64;
	unsigned char raw[KEEP_INTS * WIDEST];
	const char *text = ir_attr(l, "offset");
	int64_t n, offset;
	int r;

	if (w->fd < 0 || !size || size > WIDEST || !shape_known(&v->shape) ||
	    (!is_real && !elem_is_int(v->elem)))
		return 0;
	n = shape_count(&v->shape);
	if (n > (is_real ? KEEP_REALS : KEEP_INTS) || n > KEEP_CONSTANTS - w->kept || !text ||
	    ir_number(text, &offset))
		return 0;
	if (offset < 0 || offset > INT64_MAX - (int64_t)sizeof raw)
		return 0;
	r = file_read_at(w->fd, raw, (size_t)n * size, offset, w->path, e);
	if (r <= 0)
		return r;
	w->kept += n;
	v->kept = arena_array(a, union scalar, n);
	for (int64_t i = 0; i < n; i++)
		v->kept[i] = element_at(v->elem, raw, i);
	return 0;
}

static int declare(struct scope *s, const struct ir_layer *l, const struct ir_port *port,
		   struct value *v)
{
	struct declared *d = arena_new(s->b.a, struct declared);

	d->elem = port->elem;
	d->shape = port->shape;
	if (!d->shape.rank && has_open_rank(l))
		d->shape.rank = RANK_UNKNOWN;
	v->declared = d;
	v->elem = d->elem;
	if (is_type(l, "Const")) {
		v->is_const = 1;
		v->shape = d->shape;
		return keep(s->b.a, l, v, s->weights, s->e);
	}
	if (is_type(l, "Parameter")) {
		v->is_input = 1;
		for (int i = 0; i < d->shape.rank && !s->is_body; i++) /* 0: open */
			d->shape.dim[i] = d->shape.dim[i] < 0 ? 0 : d->shape.dim[i];
	}
	return 0;
}

static int make_values(struct scope *s, struct ir_layer *l)
{
	struct build *b = &s->b;
	int i = 0;

	for (struct ir_port *p = l->out; p; p = p->next, i++) {
		const char *name = p->name	 ? p->name
				   : l->nout > 1 ? arena_printf(b->a, "%s.%d", l->name, i)
						 : l->name;

		if (infer_absurd(&p->shape))
			return err_set(s->e, "the layer '%s' (%s) makes a tensor of absurd size",
				       l->name, l->type);
		p->value = build_value(b, name);
		if (declare(s, l, p, b->g->value[p->value]))
			return -1;
	}
	return 0;
}

static int add_layers(struct scope *s)
{
	for (struct ir_layer *l = s->net->layer; l; l = l->next) {
		int isnew;
		void **slot = map_put(&s->layer, (const char *)&l->id, sizeof l->id, &isnew);

		if (!isnew)
			return err_set(s->e, "two layers have the id %lld", (long long)l->id);
		*slot = l;
		add_ports(s, l, 0, l->in);
		add_ports(s, l, 1, l->out);
		if (make_values(s, l))
			return -1;
	}
	return 0;
}

static int add_edges(struct scope *s)
{
	for (const struct ir_edge *e = s->net->edge; e; e = e->next) {
		struct ir_layer *from = find_layer(s, e->from_layer);
		struct ir_layer *to = find_layer(s, e->to_layer);
		struct ir_port *source = from ? find_port(s, from, 1, e->from_port) : NULL;
		struct ir_port *target = to ? find_port(s, to, 0, e->to_port) : NULL;

		if (!source || !target)
			return err_set(s->e,
				       "an edge goes from port %lld of layer %lld to port %lld of "
				       "layer %lld, and not both are there",
				       (long long)e->from_port, (long long)e->from_layer,
				       (long long)e->to_port, (long long)e->to_layer);
		if (target->value >= 0)
			return err_set(s->e, "two edges go to port %lld of layer '%s'",
				       (long long)e->to_port, to->name);
		target->value = source->value;
	}
	return 0;
}

/* ---- bodies ---- */

/* How often a loop runs: the size that it cuts or joins, over that of a part. 0: it is not told. */
static int64_t runs(const struct scope *s, const struct ir_layer *l)
{
	for (const struct ir_map *m = l->map; m; m = m->next) {
		const struct ir_port *port = find_port(s, l, m->is_output, m->external);
		const struct shape *shape = port ? build_shape(&s->b, port->value) : NULL;

		if (m->axis < 0 || !shape || m->axis >= shape->rank || m->part < 1)
			continue;
		if (m->start > 0 || m->start < -1 || m->end > 0 || m->end < -1)
			continue; /* a part of the range; another entry may have all of it */
		if (shape->dim[m->axis] > 0)
			return (shape->dim[m->axis] + m->part - 1) / m->part;
	}
	return 0;
}

/* A body as a graph; turns: how often it runs, 0: it is not told. NULL: it is a false one. */
static struct graph *add_body(struct scope *s, const struct ir_net *net, int64_t turns)
{
	struct graph *sub = arena_new(s->b.a, struct graph);
	struct scope body = {.b = {.a = s->b.a, .g = sub},
			     .net = net,
			     .weights = s->weights,
			     .is_body = 1,
			     .e = s->e};
	int r;

	graph_init(sub, s->b.a);
	r = read_net(&body);
	map_free(&body.layer);
	map_free(&body.port);
	sub->is_once = turns < 1 || turns > TIMES_MOST;
	sub->times = sub->is_once ? 1 : turns;
	if (!r && !graph_link(sub, s->e))
		return sub;
	graph_free(sub);
	return NULL;
}

/* A loop or an If: its bodies stay graphs inside its node. */
static int add_bodies(struct scope *s, const struct call *c)
{
	const struct ir_layer *l = c->at;
	struct graph_node *n = call_own(c);
	const int64_t turns = is_type(l, "If") ? 1 : runs(s, l);

	n->name = l->name;
	n->is_told = 0;
	n->attr = arena_array(s->b.a, struct attr, IR_BODIES);
	for (int i = 0; i < IR_BODIES; i++) {
		if (!l->body[i])
			continue;
		n->attr[n->nattr] = (struct attr){.name = i ? "else_body" : "body",
						  .subgraph = add_body(s, l->body[i], turns)};
		if (!n->attr[n->nattr++].subgraph)
			return -1;
	}
	return 0;
}

/* ---- layers ---- */

/* All values of a list of ports. */
static int *values(struct arena *a, const struct ir_port *p, int n)
{
	int *v = arena_array(a, int, n ? n : 1);

	for (int i = 0; p; p = p->next)
		v[i++] = p->value;
	return v;
}

static int add_layer(struct scope *s, const struct ir_layer *l)
{
	struct build *b = &s->b;
	struct call c = {.b = b,
			 .type = l->type,
			 .name = l->name,
			 .domain = "openvino",
			 .nin = l->nin,
			 .nout = l->nout,
			 .is_told = 1,
			 .read = openvino_attribute,
			 .at = l};

	if (is_type(l, "Parameter") || is_type(l, "Const"))
		return 0;
	if (is_type(l, "Result")) {
		if (l->in && l->in->value >= 0)
			b->g->value[l->in->value]->is_output = 1;
		return 0;
	}
	c.in = values(b->a, l->in, l->nin);
	c.out = values(b->a, l->out, l->nout);
	if (l->body[0] || l->body[1])
		return add_bodies(s, &c);
	openvino_call(&c);
	return 0;
}

static int read_net(struct scope *s)
{
	if (add_layers(s) || add_edges(s))
		return -1;
	for (const struct ir_layer *l = s->net->layer; l; l = l->next)
		if (add_layer(s, l))
			return -1;
	return 0;
}

int openvino_read(struct graph *g, const struct ir_net *net, struct ov_weights *w, struct err *e)
{
	struct scope s = {.b = {.a = g->a, .g = g}, .net = net, .weights = w, .e = e};
	int r;

	if (!net->layer)
		return err_set(e, "it is an OpenVINO IR without layers");
	r = read_net(&s);
	map_free(&s.layer);
	map_free(&s.port);
	return r ? -1 : graph_link(g, e);
}
