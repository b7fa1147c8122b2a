/* The graph of a model: which layer is called with what, models within models. */
#include <string.h>

#include "lib/extract/keras/keras.h"

enum {
	DEEPEST = 16,	      /* models within models, and lists within arguments */
	MOST_CALLS = 1 << 17, /* of layers, in all models */
	MOST_INPUTS = 4096,   /* of a call */
};

struct reader {
	struct build b;
	const struct json_doc *d;
	int calls;
};

struct list {
	int at[MOST_INPUTS], n;
	int missing; /* of what is referred to, something is not made yet */
};

/* A model that is put into the graph: what its layers made so far. */
struct model {
	struct reader *r;
	struct map made;  /* "layer/call/tensor" -> index of the value + 1 */
	const int *given; /* values of its inputs, where it is called; NULL: they are the graph's
			     own */
	int ngiven, taken;
	int depth;
	struct list in, out; /* of the call at hand */
};

static const struct json *get(const struct model *m, const struct json *object, const char *key)
{
	return json_get(m->r->d, object, key);
}

static const char *text(const struct model *m, const struct json *v)
{
	const char *s;

	return json_str(v, m->r->b.a, &s) ? "" : s;
}

static int fail(struct err *e, const char *what)
{
	return err_set(e, "it is no Keras model, or damaged (%s)", what);
}

/* ---- shapes that the file tells ---- */

/* [null, 224, 224, 3]; 0: an open dimension. */
static struct declared *declare(const struct model *m, const struct json *shape,
				const struct json *dtype)
{
	struct declared *d = arena_new(m->r->b.a, struct declared);
	const char *type = text(m, dtype);

	d->elem = !strncmp(type, "int64", 5) ? VALUE_I64
		  : !strncmp(type, "int", 3) ? VALUE_I32
					     : VALUE_F32;
	d->shape.rank = RANK_UNKNOWN;
	if (!shape || shape->type != JSON_ARR || shape->size > GRAPH_MAX_RANK)
		return d;
	d->shape.rank = 0;
	for (const struct json *s = json_first(m->r->d, shape); s;
	     s = json_next(m->r->d, shape, s)) {
		int64_t size = 0;

		json_int(s, &size);
		d->shape.dim[d->shape.rank++] = size > 0 ? size : 0;
	}
	return d;
}

/* ---- references ---- */

/* ["name", 0, 0]: result `tensor` of call `call` of a layer. */
static void add(struct model *m, const struct json *ref, struct list *l)
{
	const struct json *name = json_first(m->r->d, ref), *call, *tensor;
	int64_t k = 0, t = 0;
	char *key;
	intptr_t i;

	call = name ? json_next(m->r->d, ref, name) : NULL;
	tensor = call ? json_next(m->r->d, ref, call) : NULL;
	json_int(call, &k);
	json_int(tensor, &t);
	key = arena_printf(m->r->b.a, "%s/%lld/%lld", text(m, name), (long long)k, (long long)t);
	i = (intptr_t)map_get(&m->made, key, strlen(key));
	if (!i)
		l->missing++;
	else if (l->n < MOST_INPUTS)
		l->at[l->n++] = (int)(i - 1);
}

static int is_reference(const struct model *m, const struct json *v)
{
	const struct json *name = v->type == JSON_ARR ? json_first(m->r->d, v) : NULL, *call;

	call = name && name->type == JSON_STR ? json_next(m->r->d, v, name) : NULL;
	return call && call->type == JSON_INT;
}

/* All tensors in an argument, whatever lists and objects they stand in. */
static void collect(struct model *m, const struct json *v, int depth, struct list *l)
{
	const struct json *history;

	if (!v || depth > DEEPEST || (v->type != JSON_ARR && v->type != JSON_OBJ))
		return;
	history = v->type == JSON_OBJ ? get(m, get(m, v, "config"), "keras_history") : NULL;
	if (history || is_reference(m, v)) {
		add(m, history ? history : v, l);
		if (history)
			return;
		/* Arguments of a call of Keras 2 may hold further tensors. */
		for (const struct json *i = json_first(m->r->d, v); i; i = json_next(m->r->d, v, i))
			if (i->type == JSON_OBJ)
				collect(m, i, depth + 1, l);
		return;
	}
	for (const struct json *i = json_first(m->r->d, v); i; i = json_next(m->r->d, v, i))
		collect(m, v->type == JSON_OBJ ? i + 1 : i, depth + 1, l);
}

static void note_made(struct model *m, const char *layer, int call, int tensor, int value)
{
	const char *key = arena_printf(m->r->b.a, "%s/%d/%d", layer, call, tensor);

	void **slot = map_put(&m->made, key, strlen(key), NULL);

	if (!*slot)
		*slot = (void *)(intptr_t)(value + 1);
}

/* ---- models ---- */

static int put_model(struct model *m, const struct json *model, struct list *out, struct err *e);

static int is_model(const char *type)
{
	return !strcmp(type, "Functional") || !strcmp(type, "Sequential") || !strcmp(type, "Model");
}

static const struct json *input_shape(const struct model *m, const struct json *config)
{
	static const char *const keys[] = {"batch_shape", "batch_input_shape", "build_input_shape"};

	for (int i = 0; i < 3; i++)
		if (get(m, config, keys[i]))
			return get(m, config, keys[i]);
	return NULL;
}

/* An input of the model: what it is called with, or an input of the graph. */
static int put_input(struct model *m, const char *name, const struct json *config)
{
	const struct json *shape = input_shape(m, config);
	struct value *v;
	int i;

	if (m->given)
		return m->taken < m->ngiven ? m->given[m->taken++] : -1;
	/* Before Keras 3.? a shape may be in a list of one. */
	if (shape && shape->type == JSON_ARR && json_first(m->r->d, shape) &&
	    json_first(m->r->d, shape)->type == JSON_ARR)
		shape = json_first(m->r->d, shape);
	i = build_value(&m->r->b, name);
	v = m->r->b.g->value[i];
	v->is_input = 1;
	v->declared = declare(m, shape, get(m, config, "dtype"));
	v->elem = v->declared->elem;
	return i;
}

/* Calls a layer; results go to out. */
static int put_call(struct model *m, const struct json *layer, const struct list *in,
		    struct list *out, struct err *e)
{
	const char *type = text(m, get(m, layer, "class_name"));
	const struct json *config = get(m, layer, "config");
	struct keras_layer l = {.b = &m->r->b, .doc = m->r->d, .config = config, .type = type};

	if (++m->r->calls > MOST_CALLS)
		return err_set(e, "its layers are called more than %d times", MOST_CALLS);
	l.name = text(m, get(m, config, "name"));
	l.in = in->at;
	l.nin = in->n;
	out->n = 0;
	if (is_model(type)) {
		struct model inner = {
			.r = m->r, .given = in->at, .ngiven = in->n, .depth = m->depth + 1};
		int rc = put_model(&inner, layer, out, e);

		map_free(&inner.made);
		return rc;
	}
	if (!strcmp(type, "InputLayer"))
		out->at[0] = in->n ? in->at[0] : put_input(m, l.name, config);
	else
		out->at[0] = in->n ? keras_layer(&l) : -1;
	out->n = 1;
	return out->at[0] < 0 ? fail(e, "a layer without input") : 0;
}

/* The calls of a layer that can be made now. Returns how many; -1: an error. done: calls made so
 * far. */
static int put_layer(struct model *m, const struct json *layer, int *done, struct err *e)
{
	const struct json *nodes = get(m, layer, "inbound_nodes");
	const char *name = text(m, get(m, get(m, layer, "config"), "name"));
	struct list *in = arena_new(m->r->b.a, struct list),
		    *out = arena_new(m->r->b.a, struct list);
	int made = 0, k = 0;

	if (get(m, layer, "name"))
		name = text(m, get(m, layer, "name"));
	if (!json_first(m->r->d, nodes) && !*done) {
		if (put_call(m, layer, in, out, e))
			return -1;
		note_made(m, name, 0, 0, out->at[0]);
		*done = 1;
		return 1;
	}
	for (const struct json *n = json_first(m->r->d, nodes); n;
	     n = json_next(m->r->d, nodes, n), k++) {
		if (k < *done)
			continue;
		in->n = in->missing = 0;
		collect(m, n, 0, in);
		if (in->missing)
			break;
		if (put_call(m, layer, in, out, e))
			return -1;
		for (int t = 0; t < out->n; t++) {
			/* Keras 2 counts the making of a model as its call 0. */
			if (n->type == JSON_ARR && is_model(text(m, get(m, layer, "class_name"))))
				note_made(m, name, k + 1, t, out->at[t]);
			note_made(m, name, k, t, out->at[t]);
		}
		++*done;
		made++;
	}
	return made;
}

static int put_functional(struct model *m, const struct json *config, struct list *out,
			  struct err *e)
{
	const struct json *layers = get(m, config, "layers");
	const struct json *results = get(m, config, "output_layers");
	int *done = arena_array(m->r->b.a, int, layers ? layers->size + 1 : 1), progress = 1;

	while (progress > 0) {
		int i = 0;

		progress = 0;
		for (const struct json *l = json_first(m->r->d, layers); l;
		     l = json_next(m->r->d, layers, l), i++) {
			int made = put_layer(m, l, &done[i], e);

			if (made < 0)
				return -1;
			progress += made;
		}
	}
	out->n = out->missing = 0;
	collect(m, results, 0, out);
	return out->n && !out->missing ? 0 : fail(e, "results that no layer makes");
}

static int put_sequential(struct model *m, const struct json *config, struct list *out,
			  struct err *e)
{
	const struct json *layers = get(m, config, "layers"), *first = json_first(m->r->d, layers);
	const int has_input = json_is(get(m, first, "class_name"), "InputLayer");
	struct list *in = &m->in;

	if (!first)
		return fail(e, "a model without layers");
	if (!has_input) {
		const struct json *inner = get(m, first, "config");

		out->at[0] = put_input(m, "input", input_shape(m, inner) ? inner : config);
		out->n = 1;
		if (out->at[0] < 0)
			return fail(e, "a layer without input");
	}
	for (const struct json *l = first; l; l = json_next(m->r->d, layers, l)) {
		*in = *out;
		if (l == first && has_input)
			in->n = 0;
		if (put_call(m, l, in, out, e))
			return -1;
	}
	return 0;
}

static int put_model(struct model *m, const struct json *model, struct list *out, struct err *e)
{
	const struct json *config = get(m, model, "config");
	const char *type = text(m, get(m, model, "class_name"));

	if (m->depth > DEEPEST)
		return err_set(e, "its models are nested more than %d deep", DEEPEST);
	if (!is_model(type))
		return err_set(
			e,
			"it is a Keras model of an own class (%.60s), which its file does not describe",
			type);
	return strcmp(type, "Sequential") ? put_functional(m, config, out, e)
					  : put_sequential(m, config, out, e);
}

int keras_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e)
{
	struct reader r = {.b = {.a = g->a, .g = g}, .d = d};
	struct model m = {.r = &r};
	struct list *out = arena_new(g->a, struct list);
	int rc = put_model(&m, d->tok, out, e);

	(void)o; /* shapes of the inputs are the inference's matter */
	for (int i = 0; !rc && i < out->n; i++)
		g->value[out->at[i]]->is_output = 1;
	map_free(&m.made);
	return rc ? -1 : graph_link(g, e);
}
