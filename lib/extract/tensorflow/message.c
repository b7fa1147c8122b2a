#include "lib/extract/tensorflow/message.h"

#include <stddef.h>
#include <string.h>

#include "lib/extract/tensorflow/tensor.h"
#include "lib/extract/read/wire.h"

enum {
	NAME_MAX_BYTES = 1 << 16,
	MOST_NODES = 1 << 20, /* of the graph and all functions */
	MOST_ATTR_BYTES = 1 << 16,
	MOST_TEXTS = 64, /* of a list of an attribute that are kept */
};

/* ---- lists ---- */

static int name(struct reader *r, const struct wire_field *f, const char **out, struct err *e)
{
	return wire_string(&r->wire, f, NAME_MAX_BYTES, r->a, out, e);
}

static int add_name(struct reader *r, const struct wire_field *f, const char ***list, int *n,
		    struct err *e)
{
	return name(r, f, arena_add(r->a, list, n, sizeof **list), e);
}

const struct message_attr *message_attr(const struct message_node *n, const char *name)
{
	for (int i = 0; i < n->nattr; i++)
		if (!strcmp(n->attr[i].name, name))
			return &n->attr[i];
	return NULL;
}

/* ---- messages as tables ---- */

struct table;

/* A field of a message, and the member that it becomes. */
struct field {
	uint32_t number;
	enum {
		TEXT,
		TEXTS,
		INSIDE, /* a message; its fields are those of a part of the same thing, or of all */
		EACH,	/* a message, which becomes an item of a list */
		BY,	/* what a function reads */
	} kind;
	size_t at;	    /* of the member */
	size_t count, size; /* of a list: of the number of its items; of one of them */
	const struct table *table;
	int (*fn)(struct reader *r, const struct wire_field *f, void *to, struct err *e);
};

struct table {
	const struct field *field;
	size_t n;
	int (*begin)(struct reader *r, void *to, struct err *e); /* NULL: nothing is to be done */
};

#define FIELD(type, member) offsetof(struct type, member)
#define LIST(type, list, n)                                                                        \
	FIELD(type, list), FIELD(type, n), sizeof *((const struct type *)NULL)->list
#define TABLE(name, begin, ...)                                                                    \
	static const struct field name##_fields[] = {__VA_ARGS__};                                 \
	static const struct table name = {name##_fields,                                           \
					  sizeof name##_fields / sizeof *name##_fields, begin}

static int walk(struct reader *r, uint64_t end, const struct table *t, void *to, struct err *e);

static int inside(struct reader *r, const struct wire_field *f, const struct table *t, void *to,
		  struct err *e)
{
	if (wire_message(&r->wire, f, e) || (t->begin && t->begin(r, to, e)))
		return -1;
	return walk(r, f->end, t, to, e);
}

static int take(struct reader *r, const struct wire_field *f, const struct field *is, void *to,
		struct err *e)
{
	void *at = (char *)to + is->at;
	int *n = (void *)((char *)to + is->count);

	switch (is->kind) {
	case TEXT:
		return name(r, f, at, e);
	case TEXTS:
		return add_name(r, f, at, n, e);
	case INSIDE:
		return inside(r, f, is->table, at, e);
	case EACH:
		return inside(r, f, is->table, arena_add(r->a, at, n, is->size), e);
	default:
		return is->fn(r, f, at, e);
	}
}

/* All fields of a message; those that are not in the table are passed over. */
static int walk(struct reader *r, uint64_t end, const struct table *t, void *to, struct err *e)
{
	struct wire_field f;
	int rc;

	while ((rc = wire_field(&r->wire, end, &f, e)) > 0) {
		size_t i = 0;

		while (i < t->n && t->field[i].number != f.number)
			i++;
		if (i < t->n ? take(r, &f, &t->field[i], to, e) : wire_skip(&r->wire, &f, e))
			return -1;
	}
	return rc;
}

/* The first member is a name, which is empty if the file has none. */
static int begin_named(struct reader *r, void *to, struct err *e)
{
	(void)r;
	(void)e;
	*(const char **)to = "";
	return 0;
}

/* Only the name is read of a function in an attribute, and of an ArgDef. */
TABLE(named, NULL, {1, TEXT});

/* ---- attributes ---- */

static int list_text(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	struct message_attr *at = to;

	return at->ntexts < MOST_TEXTS ? add_name(r, f, &at->texts, &at->ntexts, e)
				       : wire_skip(&r->wire, f, e);
}

static int add_int(struct reader *r, struct message_attr *at, int64_t v)
{
	if (at->nints < LIST_MAX)
		*(int64_t *)arena_add(r->a, &at->ints, &at->nints, sizeof v) = v;
	return 0;
}

static int list_ints(struct reader *r, const struct wire_field *f, void *at, struct err *e)
{
	uint64_t v;
	int64_t one;

	if (f->type != WIRE_BYTES)
		return wire_int(&r->wire, f, &one, e) ? -1 : add_int(r, at, one);
	while (pull_offset(r->wire.in) < f->end)
		if (wire_varint(&r->wire, f->end, &v, e) || add_int(r, at, (int64_t)v))
			return -1;
	return 0;
}

static int list_shape(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	struct message_attr *at = to;

	return at->nshapes < LIST_MAX
		       ? tensor_shape(
				 r, f,
				 arena_add(r->a, &at->shapes, &at->nshapes, sizeof *at->shapes), e)
		       : wire_skip(&r->wire, f, e);
}

static int read_text(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	if (f->type == WIRE_BYTES && f->end - pull_offset(r->wire.in) > MOST_ATTR_BYTES)
		return wire_drop(&r->wire, f, e);
	return wire_string(&r->wire, f, MOST_ATTR_BYTES, r->a, to, e);
}

static int read_int(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	return wire_int(&r->wire, f, to, e);
}

static int read_real(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	return wire_float(&r->wire, f, to, e);
}

static int read_type(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	int64_t *type = to;

	if (wire_int(&r->wire, f, type, e))
		return -1;
	*type = tensor_element(*type);
	return 0;
}

static int read_shape(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	struct shape *s = arena_new(r->a, struct shape);

	*(struct shape **)to = s;
	return tensor_shape(r, f, s, e);
}

static int read_tensor(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	struct message_attr *at = to;

	at->tensor = arena_new(r->a, struct value);
	return tensor_read(r, f, at->tensor, &at->words, &at->nwords, e);
}

TABLE(list, NULL, {2, BY, .fn = list_text}, {3, BY, .fn = list_ints}, {6, BY, .fn = list_ints},
      {7, BY, .fn = list_shape});
TABLE(attr_value, NULL, {1, INSIDE, .table = &list},
      {2, BY, FIELD(message_attr, s), .fn = read_text},
      {3, BY, FIELD(message_attr, i), .fn = read_int},
      {4, BY, FIELD(message_attr, f), .fn = read_real},
      {5, BY, FIELD(message_attr, i), .fn = read_int},
      {6, BY, FIELD(message_attr, i), .fn = read_type},
      {7, BY, FIELD(message_attr, shape), .fn = read_shape}, {8, BY, .fn = read_tensor},
      {10, INSIDE, FIELD(message_attr, s), .table = &named});
TABLE(attr, begin_named, {1, TEXT, FIELD(message_attr, name)}, {2, INSIDE, .table = &attr_value});

/* ---- nodes and functions ---- */

static int begin_node(struct reader *r, void *to, struct err *e)
{
	struct message_node *n = to;

	n->name = n->type = "";
	return ++r->nodes > MOST_NODES ? err_set(e, "it has more than %d nodes", MOST_NODES) : 0;
}

TABLE(node, begin_node, {1, TEXT, FIELD(message_node, name)}, {2, TEXT, FIELD(message_node, type)},
      {3, TEXTS, LIST(message_node, in, nin)},
      {5, EACH, LIST(message_node, attr, nattr), .table = &attr});

/* OpDef: the names of the function, its arguments and its results. */
TABLE(head, NULL, {1, TEXT, FIELD(message_function, name)},
      {2, EACH, LIST(message_function, arg, narg), .table = &named},
      {3, EACH, LIST(message_function, out, nout), .table = &named});

/* A function, and which values of its nodes its results are. */
struct whole {
	struct message_function fn;
	struct map returned;
};

/* An entry of a map from texts to texts. */
struct pair {
	const char *key, *value;
};
TABLE(pair, NULL, {1, TEXT, FIELD(pair, key)}, {2, TEXT, FIELD(pair, value)});

static int read_returned(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	struct pair p = {"", ""};

	if (inside(r, f, &pair, &p, e))
		return -1;
	*map_put(to, p.key, strlen(p.key), NULL) = (void *)p.value;
	return 0;
}

TABLE(function, NULL, {1, INSIDE, .table = &head},
      {3, EACH, LIST(message_function, node, nnode), .table = &node},
      {4, BY, FIELD(whole, returned), .fn = read_returned});

static int read_function(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	struct message_graph *m = to;
	struct whole w = {.fn = {.name = ""}, .returned = MAP_INIT};
	struct message_function *fn = &w.fn;
	const int rc = inside(r, f, &function, &w, e);

	fn->returned = arena_array(r->a, const char *, fn->nout);
	for (int i = 0; i < fn->nout; i++)
		if (fn->out[i])
			fn->returned[i] = map_get(&w.returned, fn->out[i], strlen(fn->out[i]));
	map_free(&w.returned);
	fn = arena_add(r->a, &m->function, &m->nfunction, sizeof *m->function);
	*fn = w.fn;
	return rc;
}

TABLE(library, NULL, {1, BY, .fn = read_function});
TABLE(graph, NULL, {1, EACH, LIST(message_graph, node, nnode), .table = &node},
      {2, INSIDE, .table = &library});

/* ---- SavedModel ---- */

static int read_element(struct reader *r, const struct wire_field *f, void *to, struct err *e)
{
	int64_t type;

	if (wire_int(&r->wire, f, &type, e))
		return -1;
	*(int *)to = tensor_element(type);
	return 0;
}

TABLE(tensor_info, NULL, {1, TEXT, FIELD(message_end, tensor)},
      {2, BY, FIELD(message_end, elem), .fn = read_element},
      {3, BY, FIELD(message_end, shape), .fn = read_shape});
TABLE(end, begin_named, {2, INSIDE, .table = &tensor_info});
TABLE(ends, NULL, {1, EACH, LIST(message_signature, in, nin), .table = &end},
      {2, EACH, LIST(message_signature, out, nout), .table = &end});
TABLE(signature, begin_named, {1, TEXT, FIELD(message_signature, name)},
      {2, INSIDE, .table = &ends});
TABLE(meta_graph, NULL, {2, INSIDE, .table = &graph},
      {5, EACH, LIST(message_graph, signature, nsignature), .table = &signature});

/* The first of its graphs: others are the same for other devices. */
static int read_saved_model(struct reader *r, struct message_graph *m, struct err *e)
{
	struct wire_field f;
	int rc, graphs = 0;

	while ((rc = wire_field(&r->wire, WIRE_TO_THE_END, &f, e)) > 0)
		if (f.number == 2 && !graphs++ ? inside(r, &f, &meta_graph, m, e)
					       : wire_drop(&r->wire, &f, e))
			return -1;
	return rc;
}

int message_read(struct message_graph *m, struct pull *in, int is_saved_model, struct arena *a,
		 struct id *hash, struct err *e)
{
	struct reader r = {.a = a};
	int rc;

	*m = (struct message_graph){0};
	wire_init(&r.wire, in,
		  is_saved_model ? "SavedModel of TensorFlow" : "GraphDef of TensorFlow");
	rc = is_saved_model ? read_saved_model(&r, m, e) : walk(&r, WIRE_TO_THE_END, &graph, m, e);
	if (!rc)
		wire_digest(&r.wire, hash);
	wire_free(&r.wire);
	return rc;
}
