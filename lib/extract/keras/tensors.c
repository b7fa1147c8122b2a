#include "lib/extract/keras/tensors.h"

#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/keras/layer.h"

enum { DEEPEST = 16 }; /* lists within arguments */

void tensors_free(struct tensors *t)
{
	map_free(&t->made);
	buf_free(&t->key);
}

static const struct json *get(const struct tensors *t, const struct json *object, const char *key)
{
	return json_get(t->doc, object, key);
}

/* ---- shapes that the file tells ---- */

static int elem_of(const char *dtype)
{
	if (!strncmp(dtype, "int64", 5))
		return VALUE_I64;
	if (!strncmp(dtype, "int", 3))
		return VALUE_I32;
	return strcmp(dtype, "bool") ? VALUE_F32 : VALUE_BOOL;
}

struct declared *tensors_declare(const struct tensors *t, const struct json *shape,
				 const struct json *dtype)
{
	struct declared *d = arena_new(t->b->a, struct declared);
	const char *type;

	d->elem = elem_of(json_str(dtype, t->b->a, &type) ? "" : type);
	d->shape.rank = RANK_UNKNOWN;
	if (!shape || shape->type != JSON_ARR || shape->size > GRAPH_MAX_RANK)
		return d;
	d->shape.rank = 0;
	for (const struct json *s = json_first(t->doc, shape); s; s = json_next(t->doc, shape, s)) {
		int64_t size = 0;

		json_int(s, &size);
		d->shape.dim[d->shape.rank++] = size > 0 ? size : 0;
	}
	if (d->shape.rank && !d->shape.dim[0])
		d->symbol[0] = "batch";
	return d;
}

/* ---- what is made ---- */

static void set_key(struct tensors *t, const struct json *layer, int64_t call, int64_t result)
{
	const int is_named = layer && layer->type == JSON_STR;

	buf_clear(&t->key);
	buf_fmt(&t->key, "%lld/%lld/", (long long)call, (long long)result);
	if (is_named)
		buf_add(&t->key, layer->s, layer->n);
}

/* The index, -1: it is not made. */
static int find(struct tensors *t, const struct json *layer, int64_t call, int64_t result)
{
	set_key(t, layer, call, result);
	return (int)((intptr_t)map_get(&t->made, t->key.s, t->key.n) - 1);
}

void tensors_note(struct tensors *t, const struct json *layer, int64_t call, int64_t result,
		  int value)
{
	void **slot;

	set_key(t, layer, call, result);
	slot = map_put(&t->made, t->key.s, t->key.n, NULL);
	if (!*slot)
		*slot = (void *)(intptr_t)(value + 1);
}

/* Makes another result of a layer that is read as if it made one. Nothing is known of it. */
static int other_result(struct tensors *t, int first)
{
	const int out = build_part(t->b, first, "result");

	build_node(t->b, "Result", &first, 1, &out, 1)->domain = "keras";
	return out;
}

/* ---- references ---- */

/* ["name", 0, 0]: a layer, its call and result. -1: it is not made yet. */
static int resolve(struct tensors *t, const struct json *ref)
{
	const struct json *layer = json_first(t->doc, ref), *call, *result;
	int64_t k = 0, r = 0;
	int at, first;

	call = layer ? json_next(t->doc, ref, layer) : NULL;
	result = call ? json_next(t->doc, ref, call) : NULL;
	json_int(call, &k);
	json_int(result, &r);
	at = find(t, layer, k, r);
	if (at >= 0 || r < 1)
		return at;
	first = find(t, layer, k, 0);
	if (first < 0)
		return -1;
	at = other_result(t, first);
	tensors_note(t, layer, k, r, at);
	return at;
}

/* Returns the value, or -1. */
static int add(struct tensors *t, const struct json *ref, struct tensor_list *l)
{
	const int at = resolve(t, ref);

	if (at < 0)
		l->missing++;
	else if (l->n < TENSORS_MOST)
		l->at[l->n++] = at;
	return at;
}

/* {"class_name": "__keras_tensor__", "config": {"shape": .., "keras_history": [..]}}, of Keras 3 */
static void add_told(struct tensors *t, const struct json *config, const struct json *history,
		     struct tensor_list *l)
{
	const int at = add(t, history, l);
	struct value *v = at < 0 ? NULL : t->b->g->value[at];

	if (v && !t->is_inner && !v->declared)
		v->declared = tensors_declare(t, get(t, config, "shape"), get(t, config, "dtype"));
}

static int is_reference(const struct tensors *t, const struct json *v)
{
	const struct json *name = v->type == JSON_ARR ? json_first(t->doc, v) : NULL, *call;

	call = name && name->type == JSON_STR ? json_next(t->doc, v, name) : NULL;
	return call && call->type == JSON_INT;
}

static void note_number(const struct json *v, struct tensor_list *l)
{
	if (!v || json_num(v, &l->number))
		return;
	l->number_at = l->n;
	l->numbers++;
}

static void collect(struct tensors *t, const struct json *v, int depth, struct tensor_list *l);

/* ["name", 0, 0, {..}], of Keras 2: the arguments of the call may hold further tensors. A constant
 * is written as ["_CONSTANT_VALUE", -1, 1.0, {..}]. */
static void add_with_arguments(struct tensors *t, const struct json *ref, int depth,
			       struct tensor_list *l)
{
	const struct json *name = json_first(t->doc, ref);

	if (json_is(name, "_CONSTANT_VALUE"))
		note_number(json_next(t->doc, ref, json_next(t->doc, ref, name)), l);
	else
		add(t, ref, l);
	for (const struct json *i = json_first(t->doc, ref); i; i = json_next(t->doc, ref, i))
		if (i->type == JSON_OBJ)
			collect(t, i, depth + 1, l);
}

static void collect(struct tensors *t, const struct json *v, int depth, struct tensor_list *l)
{
	/* These arguments change no shape. */
	static const char masks[] = "mask attention_mask query_mask value_mask key_mask";
	const struct json *config, *history;

	note_number(v, l);
	if (!v || depth > DEEPEST || (v->type != JSON_ARR && v->type != JSON_OBJ))
		return;
	if (is_reference(t, v)) {
		++*t->work;
		add_with_arguments(t, v, depth, l);
		return;
	}
	config = v->type == JSON_OBJ ? get(t, v, "config") : NULL;
	history = get(t, config, "keras_history");
	if (history) {
		add_told(t, config, history, l);
		return;
	}
	for (const struct json *i = json_first(t->doc, v); i && *t->work < t->most_work;
	     i = json_next(t->doc, v, i)) {
		++*t->work;
		if (v->type == JSON_ARR || !words_have(masks, i->s, i->n))
			collect(t, v->type == JSON_OBJ ? i + 1 : i, depth + 1, l);
	}
}

void tensors_clear(struct tensor_list *l)
{
	l->n = l->missing = l->numbers = 0;
}

void tensors_collect(struct tensors *t, const struct json *argument, struct tensor_list *l)
{
	collect(t, argument, 0, l);
}
