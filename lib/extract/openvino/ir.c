#include "lib/extract/openvino/ir.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MOST = 1 << 18,	  /* layers, ports, edges and attributes together */
	MOST_DEPTH = 64,  /* of elements that are read */
	LONGEST_DIM = 32, /* characters of a number */
	FIRST_VERSION = 10,
};

/* Where in the document an element is; what is none of these is passed over. */
enum place {
	IN_DOCUMENT,
	IN_NET,
	IN_LAYERS,
	IN_LAYER,
	IN_INPUT,
	IN_OUTPUT,
	IN_PORT,
	IN_DIM,
	IN_EDGES,
	IN_MAP,
};

struct frame {
	enum place place;
	struct ir_net *net;
	struct ir_layer *layer;
	struct ir_port *port;
	/* Where the next of each list goes. */
	struct ir_layer **next_layer;
	struct ir_edge **next_edge;
	struct ir_port **next_port;
	struct ir_map **next_map;
};

struct parser {
	XML_Parser xml;
	struct arena *a;
	struct ir_net *net; /* the outermost */
	struct frame frame[MOST_DEPTH];
	int depth;	/* of frames */
	int64_t passed; /* elements that are open inside one that is passed over */
	int64_t count;
	char dim[LONGEST_DIM];
	size_t ndim;
	int failed;
	struct err *e;
};

int ir_number(const char *text, int64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoll(text, &end, 10);
	return errno || end == text || *end ? -1 : 0;
}

/* "FP32", "I64" and so on: the names of ours, but for these. */
static int element(const char *word)
{
	const int is_real = word && !strncasecmp(word, "fp", 2);
	char plain[8];

	if (!word || strlen(word) > sizeof plain - 1)
		return VALUE_UNKNOWN;
	snprintf(plain, sizeof plain, "%s%s", is_real ? "f" : "", word + 2 * is_real);
	for (int e = VALUE_F32; e <= VALUE_I4; e++)
		if (!strcasecmp(plain, elem_name(e)) && e != VALUE_C64 && e != VALUE_C128)
			return e;
	return strcasecmp(word, "boolean") ? VALUE_UNKNOWN : VALUE_BOOL;
}

const char *ir_attr(const struct ir_layer *l, const char *name)
{
	for (const struct ir_attr *a = l->attr; a; a = a->next)
		if (!strcmp(a->name, name))
			return a->value;
	return NULL;
}

/* ---- errors ---- */

/* Fills in the sentence, and stops the parser. */
#define FAIL(p, ...)                                                                               \
	do {                                                                                       \
		err_set((p)->e, __VA_ARGS__);                                                      \
		stop(p);                                                                           \
	} while (0)

static void stop(struct parser *p)
{
	p->failed = 1;
	err_in(p->e, "line %lu", (unsigned long)XML_GetCurrentLineNumber(p->xml));
	XML_StopParser(p->xml, XML_FALSE);
}

/* One more of what a document may have MOST of. 0: there are too many. */
static int counts(struct parser *p)
{
	if (p->failed)
		return 0;
	if (++p->count <= MOST)
		return 1;
	FAIL(p, "it has more than %d layers, ports, edges and attributes", MOST);
	return 0;
}

/* ---- elements ---- */

static const char *word(const XML_Char **attr, const char *name)
{
	for (; *attr; attr += 2)
		if (!strcmp(attr[0], name))
			return attr[1];
	return NULL;
}

static int64_t number(struct parser *p, const XML_Char **attr, const char *element,
		      const char *name)
{
	const char *text = word(attr, name);
	int64_t v = 0;

	if (!p->failed && !text)
		FAIL(p, "the element <%.40s> has no %s", element, name);
	else if (!p->failed && ir_number(text, &v))
		FAIL(p, "the %s of an element <%.40s> is \"%.40s\", which is no number", name,
		     element, text);
	return v;
}

static int64_t number_or(struct parser *p, const XML_Char **attr, const char *element,
			 const char *name, int64_t otherwise)
{
	return word(attr, name) ? number(p, attr, element, name) : otherwise;
}

static const char *copy(struct parser *p, const char *text)
{
	return arena_strdup(p->a, text ? text : "");
}

/* Enters an element that is read; what it holds goes into the frame of the one around it, unless
 * the caller changes that. */
static struct frame *enter(struct parser *p, enum place place)
{
	if (p->depth == MOST_DEPTH) {
		FAIL(p, "its elements are nested more than %d deep", MOST_DEPTH);
		return NULL;
	}
	p->frame[p->depth] = p->frame[p->depth - 1];
	p->frame[p->depth].place = place;
	return &p->frame[p->depth++];
}

static struct ir_net *enter_net(struct parser *p, const XML_Char **attr)
{
	struct ir_net *net = arena_new(p->a, struct ir_net);
	struct frame *f = enter(p, IN_NET);

	net->name = copy(p, word(attr, "name"));
	if (!f)
		return NULL;
	f->net = net;
	f->next_layer = &net->layer;
	f->next_edge = &net->edge;
	return net;
}

static void start_document(struct parser *p, const char *name, const XML_Char **attr)
{
	int64_t version;

	if (strcmp(name, "net") != 0) {
		FAIL(p, "it is no OpenVINO IR (its element is <%.40s>, not <net>)", name);
		return;
	}
	version = number(p, attr, name, "version");
	if (p->failed)
		return;
	if (version < FIRST_VERSION) {
		FAIL(p,
		     "it is an OpenVINO IR of version %lld; versions from %d on are read (OpenVINO "
		     "2020 and later)",
		     (long long)version, FIRST_VERSION);
		return;
	}
	p->net = enter_net(p, attr);
}

static void start_layer(struct parser *p, const XML_Char **attr)
{
	struct frame *around = &p->frame[p->depth - 1], *f;
	struct ir_layer *l;

	if (!counts(p) || !(f = enter(p, IN_LAYER)))
		return;
	l = arena_new(p->a, struct ir_layer);
	l->id = number(p, attr, "layer", "id");
	l->name = copy(p, word(attr, "name"));
	l->type = copy(p, word(attr, "type"));
	l->version = copy(p, word(attr, "version"));
	*around->next_layer = l;
	around->next_layer = &l->next;
	f->layer = l;
	f->next_map = &l->map;
}

static void start_data(struct parser *p, const XML_Char **attr)
{
	struct ir_layer *l = p->frame[p->depth - 1].layer;

	for (; *attr && counts(p); attr += 2) {
		struct ir_attr *to = arena_new(p->a, struct ir_attr);

		*to = (struct ir_attr){copy(p, attr[0]), copy(p, attr[1]), l->attr};
		l->attr = to;
	}
}

/* The first of the names in a list; a comma in a name has a backslash before it. */
static const char *first_name(struct parser *p, const char *names)
{
	struct buf b = BUF_INIT;
	const char *name = NULL;

	for (const char *s = names; s && *s && *s != ','; s++) {
		s += *s == '\\' && s[1];
		buf_ch(&b, *s);
	}
	if (b.n)
		name = copy(p, b.s);
	buf_free(&b);
	return name;
}

static void start_port(struct parser *p, const XML_Char **attr)
{
	struct frame *around = &p->frame[p->depth - 1], *f;
	const int is_output = around->place == IN_OUTPUT;
	struct ir_port *port;

	if (!counts(p) || !(f = enter(p, IN_PORT)))
		return;
	port = arena_new(p->a, struct ir_port);
	port->id = number(p, attr, "port", "id");
	port->elem = element(word(attr, "precision"));
	port->value = -1;
	if (is_output)
		port->name = first_name(p, word(attr, "names"));
	*around->next_port = port;
	around->next_port = &port->next;
	*(is_output ? &around->layer->nout : &around->layer->nin) += 1;
	f->port = port;
}

static void start_ports(struct parser *p, enum place place)
{
	struct frame *f = enter(p, place);

	if (!f)
		return;
	f->next_port = place == IN_OUTPUT ? &f->layer->out : &f->layer->in;
	if (*f->next_port)
		FAIL(p, "a layer has two lists of its inputs, or of its outputs");
}

static void start_body(struct parser *p, const XML_Char **attr, int i)
{
	struct ir_layer *l = p->frame[p->depth - 1].layer;
	struct ir_net *net = enter_net(p, attr);

	if (net)
		l->body[i] = net;
}

static void start_edge(struct parser *p, const XML_Char **attr)
{
	struct frame *f = &p->frame[p->depth - 1];
	struct ir_edge *edge;

	if (!counts(p))
		return;
	edge = arena_new(p->a, struct ir_edge);
	edge->from_layer = number(p, attr, "edge", "from-layer");
	edge->from_port = number(p, attr, "edge", "from-port");
	edge->to_layer = number(p, attr, "edge", "to-layer");
	edge->to_port = number(p, attr, "edge", "to-port");
	*f->next_edge = edge;
	f->next_edge = &edge->next;
}

static void start_map(struct parser *p, const char *name, const XML_Char **attr)
{
	struct frame *f = &p->frame[p->depth - 1];
	struct ir_map *m;

	if (!counts(p))
		return;
	m = arena_new(p->a, struct ir_map);
	m->is_output = !strcmp(name, "output");
	m->external = number_or(p, attr, name, "external_port_id", -1);
	m->internal = number(p, attr, name, "internal_layer_id");
	m->axis = number_or(p, attr, name, "axis", -1);
	m->start = number_or(p, attr, name, "start", 0);
	m->end = number_or(p, attr, name, "end", -1);
	m->part = number_or(p, attr, name, "part_size", 1);
	*f->next_map = m;
	f->next_map = &m->next;
}

/* In a layer. 0: it is passed over. */
static int start_part(struct parser *p, const char *name, const XML_Char **attr)
{
	if (!strcmp(name, "input"))
		start_ports(p, IN_INPUT);
	else if (!strcmp(name, "output"))
		start_ports(p, IN_OUTPUT);
	else if (!strcmp(name, "body") || !strcmp(name, "then_body"))
		start_body(p, attr, 0);
	else if (!strcmp(name, "else_body"))
		start_body(p, attr, 1);
	else if (!strcmp(name, "port_map"))
		enter(p, IN_MAP);
	else
		return 0;
	return 1;
}

/* 0: the element is passed over, with what is in it. */
static int start_element(struct parser *p, const char *name, const XML_Char **attr)
{
	switch (p->frame[p->depth - 1].place) {
	case IN_DOCUMENT:
		start_document(p, name, attr);
		return 1;
	case IN_NET:
		if (strcmp(name, "layers") != 0 && strcmp(name, "edges") != 0)
			return 0;
		enter(p, name[0] == 'l' ? IN_LAYERS : IN_EDGES);
		return 1;
	case IN_LAYERS:
		if (strcmp(name, "layer") != 0)
			return 0;
		start_layer(p, attr);
		return 1;
	case IN_LAYER:
		if (!strcmp(name, "data"))
			start_data(p, attr);
		return start_part(p, name, attr);
	case IN_INPUT:
	case IN_OUTPUT:
		if (strcmp(name, "port") != 0)
			return 0;
		start_port(p, attr);
		return 1;
	case IN_PORT:
		if (strcmp(name, "dim") != 0)
			return 0;
		p->ndim = 0;
		enter(p, IN_DIM);
		return 1;
	case IN_EDGES:
		if (!strcmp(name, "edge"))
			start_edge(p, attr);
		return 0;
	case IN_MAP:
		if (!strcmp(name, "input") || !strcmp(name, "output"))
			start_map(p, name, attr);
		return 0;
	default:
		return 0;
	}
}

static void add_dim(struct parser *p)
{
	struct ir_port *port = p->frame[p->depth - 1].port;
	struct shape *s = &port->shape;
	int64_t v = 0;

	p->dim[p->ndim] = 0;
	if (ir_number(p->dim, &v) || v < DIM_UNKNOWN || v > MAX_ELEMENTS) {
		FAIL(p, "a port has the dimension \"%s\"", p->dim);
		return;
	}
	if (s->rank == GRAPH_MAX_RANK)
		s->rank = RANK_UNKNOWN;
	if (s->rank >= 0)
		s->dim[s->rank++] = v;
}

/* ---- what expat calls ---- */

static void XMLCALL on_start(void *ctx, const XML_Char *name, const XML_Char **attr)
{
	struct parser *p = ctx;

	if (p->failed)
		return;
	if (p->passed || !start_element(p, name, attr))
		p->passed++;
}

static void XMLCALL on_end(void *ctx, const XML_Char *name)
{
	struct parser *p = ctx;

	(void)name;
	if (p->failed)
		return;
	if (p->passed) {
		p->passed--;
		return;
	}
	if (p->frame[p->depth - 1].place == IN_DIM)
		add_dim(p);
	p->depth--;
}

static void XMLCALL on_text(void *ctx, const XML_Char *s, int n)
{
	struct parser *p = ctx;

	if (p->failed || p->passed || p->frame[p->depth - 1].place != IN_DIM)
		return;
	if (p->ndim + (size_t)n >= sizeof p->dim) {
		FAIL(p, "a port has a dimension of more than %d characters", LONGEST_DIM - 1);
		return;
	}
	memcpy(p->dim + p->ndim, s, (size_t)n);
	p->ndim += (size_t)n;
}

static void XMLCALL on_document_type(void *ctx, const XML_Char *name, const XML_Char *system,
				     const XML_Char *public_id, int has_subset)
{
	struct parser *p = ctx;

	(void)name;
	(void)system;
	(void)public_id;
	(void)has_subset;
	FAIL(p, "it declares a document type, which no OpenVINO IR does");
}

int ir_read(struct ir_net **net, const char *s, size_t n, struct arena *a, struct err *e)
{
	struct parser *p = arena_new(a, struct parser);
	int r = 0;

	*p = (struct parser){.xml = XML_ParserCreate("UTF-8"), .a = a, .depth = 1, .e = e};
	if (!p->xml)
		die_no_memory();
	XML_SetUserData(p->xml, p);
	XML_SetParamEntityParsing(p->xml, XML_PARAM_ENTITY_PARSING_NEVER);
	XML_SetElementHandler(p->xml, on_start, on_end);
	XML_SetCharacterDataHandler(p->xml, on_text);
	XML_SetStartDoctypeDeclHandler(p->xml, on_document_type);
	if (XML_Parse(p->xml, s, (int)n, 1) != XML_STATUS_OK) {
		r = -1;
		if (!p->failed)
			err_set(e, "line %lu: it is no OpenVINO IR, or damaged (XML: %s)",
				(unsigned long)XML_GetCurrentLineNumber(p->xml),
				XML_ErrorString(XML_GetErrorCode(p->xml)));
	}
	XML_ParserFree(p->xml);
	*net = p->net;
	return r;
}
