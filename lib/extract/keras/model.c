/* The graph of a model: which layer is called with what, models within models. */
#include <math.h>
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/keras/keras.h"
#include "lib/extract/keras/tensors.h"

enum {
	DEEPEST = 16,	      /* models within models */
	MOST_CALLS = 1 << 17, /* of layers, in all models */
	MOST_WORK = 1 << 22,  /* layers that are tried, and values in their arguments */
};

struct reader {
	struct build b;
	const struct json_doc *d;
	int calls;
	int64_t work;
};

/* A model that is put into the graph. */
struct model {
	struct reader *r;
	struct tensors made; /* by its layers so far */
	const int *given;    /* values of its inputs, where it is called; NULL: they are the graph's
				own */
	int ngiven, taken;
	int depth;
	struct tensor_list in, out; /* of the call at hand */
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

/* ---- models ---- */

static int put_model(struct model *m, const struct json *model, struct tensor_list *out,
		     struct err *e);

static void begin(struct model *m)
{
	m->made = (struct tensors){.b = &m->r->b,
				   .doc = m->r->d,
				   .is_inner = m->given != NULL,
				   .work = &m->r->work,
				   .most_work = MOST_WORK};
}

static int is_model(const char *type)
{
	return words_are("Functional Sequential Model", type);
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
	/* Some versions of Keras put the shape into a list of one. */
	if (shape && shape->type == JSON_ARR && json_first(m->r->d, shape) &&
	    json_first(m->r->d, shape)->type == JSON_ARR)
		shape = json_first(m->r->d, shape);
	i = build_value(&m->r->b, name);
	v = m->r->b.g->value[i];
	v->is_input = 1;
	v->declared = tensors_declare(&m->made, shape, get(m, config, "dtype"));
	v->elem = v->declared->elem;
	return i;
}

/* Calls a layer; results go to out. */
static int put_call(struct model *m, const struct json *layer, const struct tensor_list *in,
		    struct tensor_list *out, struct err *e)
{
	const char *type = text(m, get(m, layer, "class_name"));
	const struct json *config = get(m, layer, "config");
	struct keras_more more = {.n = 0};
	struct keras_layer own = {.doc = m->r->d, .config = config, .more = &more};
	struct call l = keras_call(&m->r->b, &own, type, text(m, get(m, config, "name")));

	if (++m->r->calls > MOST_CALLS)
		return err_set(e, "its layers are called more than %d times", MOST_CALLS);
	l.in = in->at;
	l.nin = in->n;
	own.number = in->numbers == 1 ? in->number : NAN;
	own.number_first = in->numbers == 1 && !in->number_at;
	out->n = 0;
	if (is_model(type)) {
		struct model inner = {
			.r = m->r, .given = in->at, .ngiven = in->n, .depth = m->depth + 1};
		int rc;

		begin(&inner);
		rc = put_model(&inner, layer, out, e);
		tensors_free(&inner.made);
		return rc;
	}
	if (!strcmp(type, "InputLayer"))
		out->at[0] = in->n ? in->at[0] : put_input(m, l.name, config);
	else
		out->at[0] = in->n ? keras_layer(&l) : -1;
	out->n = 1;
	for (int i = 0; i < more.n; i++)
		out->at[out->n++] = more.at[i];
	return out->at[0] < 0 ? fail(e, "a layer without input") : 0;
}

/* Layers may stand before those that they read: each is tried again as long as others were made. */
static int count_work(struct model *m, struct err *e)
{
	return ++m->r->work < MOST_WORK
		       ? 0
		       : err_set(e, "its layers stand in an order that takes too long to follow");
}

/* Keras 2 counts the making of a model as its call 0. */
static int has_call_of_making(const struct model *m, const struct json *layer,
			      const struct json *call)
{
	return call->type == JSON_ARR && is_model(text(m, get(m, layer, "class_name")));
}

/* The call of a layer of which no calls are told: an input. */
static int put_uncalled(struct model *m, const struct json *layer, const struct json *name,
			struct err *e)
{
	tensors_clear(&m->in);
	if (put_call(m, layer, &m->in, &m->out, e))
		return -1;
	tensors_note(&m->made, name, 0, 0, m->out.at[0]);
	return 0;
}

/* The calls of a layer that can be made now. Returns how many; -1: an error. done: calls made so
 * far. */
static int put_layer(struct model *m, const struct json *layer, int *done, struct err *e)
{
	const struct json *nodes = get(m, layer, "inbound_nodes"), *name = get(m, layer, "name");
	struct tensor_list *in = &m->in, *out = &m->out;
	int made = 0, k = 0;

	if (count_work(m, e))
		return -1;
	if (!name)
		name = get(m, get(m, layer, "config"), "name");
	if (!json_first(m->r->d, nodes) && !*done) {
		*done = 1;
		return put_uncalled(m, layer, name, e) ? -1 : 1;
	}
	for (const struct json *n = json_first(m->r->d, nodes); n;
	     n = json_next(m->r->d, nodes, n), k++) {
		if (k < *done) {
			m->r->work++;
			continue;
		}
		tensors_clear(in);
		tensors_collect(&m->made, n, in);
		if (count_work(m, e))
			return -1;
		if (in->missing)
			break;
		if (put_call(m, layer, in, out, e))
			return -1;
		for (int t = 0; t < out->n; t++) {
			if (has_call_of_making(m, layer, n))
				tensors_note(&m->made, name, k + 1, t, out->at[t]);
			tensors_note(&m->made, name, k, t, out->at[t]);
		}
		++*done;
		made++;
	}
	return made;
}

static int put_functional(struct model *m, const struct json *config, struct tensor_list *out,
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
	tensors_clear(out);
	tensors_collect(&m->made, results, out);
	return out->n && !out->missing ? 0 : fail(e, "results that no layer makes");
}

static int put_sequential(struct model *m, const struct json *config, struct tensor_list *out,
			  struct err *e)
{
	const struct json *layers = get(m, config, "layers"), *first = json_first(m->r->d, layers);
	const int has_input = json_is(get(m, first, "class_name"), "InputLayer");
	struct tensor_list *in = &m->in;

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
		in->n = out->n;
		memcpy(in->at, out->at, sizeof *in->at * (size_t)out->n);
		if (l == first && has_input)
			in->n = 0;
		if (put_call(m, l, in, out, e))
			return -1;
	}
	return 0;
}

static int put_model(struct model *m, const struct json *model, struct tensor_list *out,
		     struct err *e)
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
	struct tensor_list *out = arena_new(g->a, struct tensor_list);
	int rc;

	begin(&m);
	rc = put_model(&m, d->tok, out, e);
	(void)o; /* shapes of the inputs are the inference's matter */
	for (int i = 0; !rc && i < out->n; i++)
		g->value[out->at[i]]->is_output = 1;
	tensors_free(&m.made);
	return rc ? -1 : graph_link(g, e);
}
