#include "lib/extract/tensorflow/message.h"

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

/* ---- attributes ---- */

static int add_int(struct reader *r, struct message_attr *at, int64_t v)
{
	if (at->nints < LIST_MAX)
		*(int64_t *)arena_add(r->a, &at->ints, &at->nints, sizeof v) = v;
	return 0;
}

static int add_ints(struct reader *r, const struct wire_field *f, struct message_attr *at,
		    struct err *e)
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

static int read_list(struct reader *r, uint64_t end, struct message_attr *at, struct err *e)
{
	struct wire_field f;
	int rc;

	while ((rc = wire_field(&r->wire, end, &f, e)) > 0) {
		if (f.number == 2 && at->ntexts < MOST_TEXTS)
			rc = add_name(r, &f, &at->texts, &at->ntexts, e);
		else if (f.number == 3 || f.number == 6) /* i, type */
			rc = add_ints(r, &f, at, e);
		else if (f.number == 7 && at->nshapes < LIST_MAX)
			rc = tensor_shape(
				r, &f,
				arena_add(r->a, &at->shapes, &at->nshapes, sizeof *at->shapes), e);
		else
			rc = wire_skip(&r->wire, &f, e);
		if (rc)
			return -1;
	}
	return rc;
}

/* NameAttrList: of a function only its name matters. */
static int read_function_name(struct reader *r, const struct wire_field *field, const char **out,
			      struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0)
		if (f.number == 1 ? name(r, &f, out, e) : wire_skip(&r->wire, &f, e))
			return -1;
	return rc;
}

static int read_value_field(struct reader *r, const struct wire_field *f, struct message_attr *at,
			    struct err *e)
{
	switch (f->number) {
	case 1:
		return wire_message(&r->wire, f, e) || read_list(r, f->end, at, e) ? -1 : 0;
	case 2:
		if (f->type == WIRE_BYTES && f->end - pull_offset(r->wire.in) > MOST_ATTR_BYTES)
			return wire_drop(&r->wire, f, e);
		return wire_string(&r->wire, f, MOST_ATTR_BYTES, r->a, &at->s, e);
	case 3:
	case 5:
		return wire_int(&r->wire, f, &at->i, e);
	case 4:
		return wire_float(&r->wire, f, &at->f, e);
	case 6:
		if (wire_int(&r->wire, f, &at->i, e))
			return -1;
		at->i = tensor_element(at->i);
		return 0;
	case 7:
		at->shape = arena_new(r->a, struct shape);
		return tensor_shape(r, f, at->shape, e);
	case 8:
		at->tensor = arena_new(r->a, struct value);
		return tensor_read(r, f, at->tensor, &at->words, &at->nwords, e);
	case 10:
		return read_function_name(r, f, &at->s, e);
	default:
		return wire_skip(&r->wire, f, e);
	}
}

/* An entry of the map of attributes: key and value. */
static int read_attr(struct reader *r, const struct wire_field *field, struct message_attr *at,
		     struct err *e)
{
	struct wire_field f, v;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	at->name = "";
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 1) {
			rc = name(r, &f, &at->name, e);
		} else if (f.number == 2) {
			rc = wire_message(&r->wire, &f, e) ? -1 : 1;
			while (rc > 0 && (rc = wire_field(&r->wire, f.end, &v, e)) > 0)
				rc = read_value_field(r, &v, at, e) ? -1 : 1;
		} else {
			rc = wire_skip(&r->wire, &f, e);
		}
		rc = rc < 0 ? -1 : 1;
	}
	return rc;
}

/* ---- nodes and functions ---- */

static int read_node(struct reader *r, const struct wire_field *field, struct message_node *n,
		     struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	if (++r->nodes > MOST_NODES)
		return err_set(e, "it has more than %d nodes", MOST_NODES);
	n->name = n->type = "";
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 1)
			rc = name(r, &f, &n->name, e);
		else if (f.number == 2)
			rc = name(r, &f, &n->type, e);
		else if (f.number == 3)
			rc = add_name(r, &f, &n->in, &n->nin, e);
		else if (f.number == 5)
			rc = read_attr(r, &f, arena_add(r->a, &n->attr, &n->nattr, sizeof *n->attr),
				       e);
		else
			rc = wire_skip(&r->wire, &f, e);
		rc = rc ? -1 : 1;
	}
	return rc;
}

/* OpDef: the names of the function, its arguments and its results. */
static int read_head(struct reader *r, const struct wire_field *field, struct message_function *fn,
		     struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 1)
			rc = name(r, &f, &fn->name, e);
		else if (f.number == 2) /* an ArgDef, whose field 1 is the name */
			rc = read_function_name(
				r, &f, arena_add(r->a, &fn->arg, &fn->narg, sizeof *fn->arg), e);
		else if (f.number == 3)
			rc = read_function_name(
				r, &f, arena_add(r->a, &fn->out, &fn->nout, sizeof *fn->out), e);
		else
			rc = wire_skip(&r->wire, &f, e);
		rc = rc ? -1 : 1;
	}
	return rc;
}

/* An entry of a map from texts to texts. */
static int read_pair(struct reader *r, const struct wire_field *field, struct map *to,
		     struct err *e)
{
	const char *pair[2] = {"", ""};
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0)
		if (f.number == 1 || f.number == 2 ? name(r, &f, &pair[f.number - 1], e)
						   : wire_skip(&r->wire, &f, e))
			return -1;
	if (!rc)
		*map_put(to, pair[0], strlen(pair[0]), NULL) = (void *)pair[1];
	return rc;
}

static int read_function(struct reader *r, const struct wire_field *field,
			 struct message_function *fn, struct err *e)
{
	struct wire_field f;
	struct map returned = MAP_INIT;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	fn->name = "";
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 1)
			rc = read_head(r, &f, fn, e);
		else if (f.number == 3)
			rc = read_node(r, &f,
				       arena_add(r->a, &fn->node, &fn->nnode, sizeof *fn->node), e);
		else if (f.number == 4)
			rc = read_pair(r, &f, &returned, e);
		else
			rc = wire_skip(&r->wire, &f, e);
		rc = rc ? -1 : 1;
	}
	fn->returned = arena_array(r->a, const char *, fn->nout);
	for (int i = 0; i < fn->nout; i++)
		if (fn->out[i])
			fn->returned[i] = map_get(&returned, fn->out[i], strlen(fn->out[i]));
	map_free(&returned);
	return rc;
}

static int read_library(struct reader *r, const struct wire_field *field, struct message_graph *m,
			struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 1)
			rc = read_function(
				r, &f,
				arena_add(r->a, &m->function, &m->nfunction, sizeof *m->function),
				e);
		else
			rc = wire_skip(&r->wire, &f, e);
		rc = rc ? -1 : 1;
	}
	return rc;
}

static int read_graph(struct reader *r, uint64_t end, struct message_graph *m, struct err *e)
{
	struct wire_field f;
	int rc;

	while ((rc = wire_field(&r->wire, end, &f, e)) > 0) {
		if (f.number == 1)
			rc = read_node(r, &f, arena_add(r->a, &m->node, &m->nnode, sizeof *m->node),
				       e);
		else if (f.number == 2)
			rc = read_library(r, &f, m, e);
		else
			rc = wire_skip(&r->wire, &f, e);
		if (rc)
			return -1;
	}
	return rc;
}

/* ---- SavedModel ---- */

/* An entry of a map from names to TensorInfo. */
static int read_end(struct reader *r, const struct wire_field *field, struct message_end *end,
		    struct err *e)
{
	struct wire_field f, v;
	int64_t type;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	end->tensor = "";
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number != 2) {
			rc = wire_skip(&r->wire, &f, e) ? -1 : 1;
			continue;
		}
		rc = wire_message(&r->wire, &f, e) ? -1 : 1;
		while (rc > 0 && (rc = wire_field(&r->wire, f.end, &v, e)) > 0) {
			if (v.number == 1) {
				rc = name(r, &v, &end->tensor, e);
			} else if (v.number == 2) {
				rc = wire_int(&r->wire, &v, &type, e);
				end->elem = rc ? VALUE_UNKNOWN : tensor_element(type);
			} else if (v.number == 3) {
				end->shape = arena_new(r->a, struct shape);
				rc = tensor_shape(r, &v, end->shape, e);
			} else {
				rc = wire_skip(&r->wire, &v, e);
			}
			rc = rc ? -1 : 1;
		}
		rc = rc < 0 ? -1 : 1;
	}
	return rc;
}

static int read_signature_value(struct reader *r, const struct wire_field *field,
				struct message_signature *s, struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 1)
			rc = read_end(r, &f, arena_add(r->a, &s->in, &s->nin, sizeof *s->in), e);
		else if (f.number == 2)
			rc = read_end(r, &f, arena_add(r->a, &s->out, &s->nout, sizeof *s->out), e);
		else
			rc = wire_skip(&r->wire, &f, e);
		rc = rc ? -1 : 1;
	}
	return rc;
}

static int read_signature(struct reader *r, const struct wire_field *field,
			  struct message_signature *s, struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	s->name = "";
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 1)
			rc = name(r, &f, &s->name, e);
		else if (f.number == 2)
			rc = read_signature_value(r, &f, s, e);
		else
			rc = wire_skip(&r->wire, &f, e);
		rc = rc ? -1 : 1;
	}
	return rc;
}

static int read_meta_graph(struct reader *r, const struct wire_field *field,
			   struct message_graph *m, struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 2)
			rc = wire_message(&r->wire, &f, e) || read_graph(r, f.end, m, e);
		else if (f.number == 5)
			rc = read_signature(r, &f,
					    arena_add(r->a, &m->signature, &m->nsignature,
						      sizeof *m->signature),
					    e);
		else
			rc = wire_skip(&r->wire, &f, e);
		rc = rc ? -1 : 1;
	}
	return rc;
}

/* The first of its graphs: others are the same for other devices. */
static int read_saved_model(struct reader *r, struct message_graph *m, struct err *e)
{
	struct wire_field f;
	int rc, graphs = 0;

	while ((rc = wire_field(&r->wire, WIRE_TO_THE_END, &f, e)) > 0)
		if (f.number == 2 && !graphs++ ? read_meta_graph(r, &f, m, e)
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
	rc = is_saved_model ? read_saved_model(&r, m, e) : read_graph(&r, WIRE_TO_THE_END, m, e);
	if (!rc)
		wire_digest(&r.wire, hash);
	wire_free(&r.wire);
	return rc;
}
