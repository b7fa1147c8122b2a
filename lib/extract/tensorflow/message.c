#include "lib/extract/tensorflow/message.h"

#include <string.h>

#include "lib/extract/tensorflow/tensor.h"
#include "lib/extract/read/proto.h"

enum {
	NAME_MAX_BYTES = 1 << 16,
	MOST_NODES = 1 << 20, /* of the graph and all functions */
	MOST_TEXTS = 64,      /* of a list of an attribute that are kept */
};

const struct message_attr *message_attr(const struct message_node *n, const char *name)
{
	for (int i = 0; i < n->nattr; i++)
		if (!strcmp(n->attr[i].name, name))
			return &n->attr[i];
	return NULL;
}

/* The first member is a name, which is empty if the file has none. */
static int begin_named(struct wire *w, void *to, struct err *e)
{
	(void)w;
	(void)e;
	*(const char **)to = "";
	return 0;
}

/* Only the name is read of a function in an attribute, and of an ArgDef. */
PROTO_TABLE(named, NULL, {1, PROTO_TEXT});

/* ---- attributes ---- */

static int list_text(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct message_attr *at = to;

	return at->ntexts < MOST_TEXTS
		       ? wire_text(w, f,
				   arena_add(w->a, &at->texts, &at->ntexts, sizeof *at->texts), e)
		       : wire_skip(w, f, e);
}

static int add_int(struct wire *w, int64_t v, void *to, struct err *e)
{
	struct message_attr *at = to;

	(void)e;
	if (at->nints < LIST_MAX)
		*(int64_t *)arena_add(w->a, &at->ints, &at->nints, sizeof v) = v;
	return 0;
}

static int list_ints(struct wire *w, const struct wire_field *f, void *at, struct err *e)
{
	return wire_ints(w, f, add_int, at, e);
}

static int list_shape(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct message_attr *at = to;

	return at->nshapes < LIST_MAX
		       ? tensor_shape(
				 w, f,
				 arena_add(w->a, &at->shapes, &at->nshapes, sizeof *at->shapes), e)
		       : wire_skip(w, f, e);
}

static int read_type(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	int64_t *type = to;

	if (wire_int(w, f, type, e))
		return -1;
	*type = tensor_element(*type);
	return 0;
}

static int read_shape(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct shape *s = arena_new(w->a, struct shape);

	*(struct shape **)to = s;
	return tensor_shape(w, f, s, e);
}

static int read_tensor(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct message_attr *at = to;

	at->tensor = arena_new(w->a, struct value);
	return tensor_read(w, f, at->tensor, &at->words, &at->nwords, e);
}

PROTO_TABLE(list, NULL, {2, PROTO_BY, .fn = list_text}, {3, PROTO_BY, .fn = list_ints},
	    {6, PROTO_BY, .fn = list_ints}, {7, PROTO_BY, .fn = list_shape});
PROTO_TABLE(attr_value, NULL, {1, PROTO_INSIDE, .table = &list},
	    {2, PROTO_TEXT, PROTO_AT(message_attr, s)}, {3, PROTO_INT, PROTO_AT(message_attr, i)},
	    {4, PROTO_REAL, PROTO_AT(message_attr, f)}, {5, PROTO_INT, PROTO_AT(message_attr, i)},
	    {6, PROTO_BY, PROTO_AT(message_attr, i), .fn = read_type},
	    {7, PROTO_BY, PROTO_AT(message_attr, shape), .fn = read_shape},
	    {8, PROTO_BY, .fn = read_tensor},
	    {10, PROTO_INSIDE, PROTO_AT(message_attr, s), .table = &named});
PROTO_TABLE(attr, begin_named, {1, PROTO_TEXT, PROTO_AT(message_attr, name)},
	    {2, PROTO_INSIDE, .table = &attr_value});

/* ---- nodes and functions ---- */

static int begin_node(struct wire *w, void *to, struct err *e)
{
	struct message_node *n = to;
	struct reader *r = w->reader;

	n->name = n->type = "";
	return ++r->nodes > MOST_NODES ? err_set(e, "it has more than %d nodes", MOST_NODES) : 0;
}

PROTO_TABLE(node, begin_node, {1, PROTO_TEXT, PROTO_AT(message_node, name)},
	    {2, PROTO_TEXT, PROTO_AT(message_node, type)},
	    {3, PROTO_TEXTS, PROTO_LIST(message_node, in, nin)},
	    {5, PROTO_EACH, PROTO_LIST(message_node, attr, nattr), .table = &attr});

/* OpDef: the names of the function, its arguments and its results. */
PROTO_TABLE(head, NULL, {1, PROTO_TEXT, PROTO_AT(message_function, name)},
	    {2, PROTO_EACH, PROTO_LIST(message_function, arg, narg), .table = &named},
	    {3, PROTO_EACH, PROTO_LIST(message_function, out, nout), .table = &named});

/* A function, and which values of its nodes its results are. */
struct whole {
	struct message_function fn;
	struct map returned;
};

static int read_returned(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct proto_pair p;

	if (proto_pair(w, f, &p, e))
		return -1;
	*map_put(to, p.key, strlen(p.key), NULL) = (void *)p.value;
	return 0;
}

PROTO_TABLE(function, NULL, {1, PROTO_INSIDE, .table = &head},
	    {3, PROTO_EACH, PROTO_LIST(message_function, node, nnode), .table = &node},
	    {4, PROTO_BY, PROTO_AT(whole, returned), .fn = read_returned});

static int read_function(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct message_graph *m = to;
	struct whole x = {.fn = {.name = ""}, .returned = MAP_INIT};
	struct message_function *fn = &x.fn;
	const int rc = proto_inside(w, f, &function, &x, e);

	fn->returned = arena_array(w->a, const char *, fn->nout);
	for (int i = 0; i < fn->nout; i++)
		if (fn->out[i])
			fn->returned[i] = map_get(&x.returned, fn->out[i], strlen(fn->out[i]));
	map_free(&x.returned);
	fn = arena_add(w->a, &m->function, &m->nfunction, sizeof *m->function);
	*fn = x.fn;
	return rc;
}

PROTO_TABLE(library, NULL, {1, PROTO_BY, .fn = read_function});
PROTO_TABLE(graph, NULL, {1, PROTO_EACH, PROTO_LIST(message_graph, node, nnode), .table = &node},
	    {2, PROTO_INSIDE, .table = &library});

/* ---- SavedModel ---- */

PROTO_TABLE(tensor_info, NULL, {1, PROTO_TEXT, PROTO_AT(message_end, tensor)},
	    {2, PROTO_MAP, PROTO_AT(message_end, elem), .map = tensor_element},
	    {3, PROTO_BY, PROTO_AT(message_end, shape), .fn = read_shape});
PROTO_TABLE(end, begin_named, {2, PROTO_INSIDE, .table = &tensor_info});
PROTO_TABLE(ends, NULL, {1, PROTO_EACH, PROTO_LIST(message_signature, in, nin), .table = &end},
	    {2, PROTO_EACH, PROTO_LIST(message_signature, out, nout), .table = &end});
PROTO_TABLE(signature, begin_named, {1, PROTO_TEXT, PROTO_AT(message_signature, name)},
	    {2, PROTO_INSIDE, .table = &ends});
PROTO_TABLE(meta_graph, NULL, {2, PROTO_INSIDE, .table = &graph},
	    {5, PROTO_EACH, PROTO_LIST(message_graph, signature, nsignature), .table = &signature});

/* The first of its graphs: others are the same for other devices. */
static int read_saved_model(struct wire *w, struct message_graph *m, struct err *e)
{
	struct wire_field f;
	int rc, graphs = 0;

	while ((rc = wire_field(w, WIRE_TO_THE_END, &f, e)) > 0)
		if (f.number == 2 && !graphs++ ? proto_inside(w, &f, &meta_graph, m, e)
					       : wire_drop(w, &f, e))
			return -1;
	return rc;
}

int message_read(struct message_graph *m, struct pull *in, int is_saved_model, struct arena *a,
		 struct id *hash, struct err *e)
{
	struct reader r = {.wire = {.in = in,
				    .what = is_saved_model ? "SavedModel of TensorFlow"
							   : "GraphDef of TensorFlow",
				    .a = a,
				    .longest = NAME_MAX_BYTES,
				    .reader = &r}};
	int rc;

	*m = (struct message_graph){0};
	rc = is_saved_model ? read_saved_model(&r.wire, m, e)
			    : proto_read(&r.wire, WIRE_TO_THE_END, &graph, m, e);
	if (!rc)
		wire_digest(&r.wire, hash);
	wire_free(&r.wire);
	return rc;
}
