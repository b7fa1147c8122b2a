/* The arguments of a call: {"name": "stride", "arg": {"as_ints": [2, 2]}}. */
#include <string.h>

#include "lib/extract/torch/torch.h"

/* What an argument is: the one member of its "arg". NULL: it is not given, or none. */
static const struct json *argument(const struct torch_call *c, const char *name)
{
	const struct json_doc *d = c->doc;

	for (const struct json *i = json_first(d, c->inputs); i; i = json_next(d, c->inputs, i)) {
		const struct json *arg = json_get(d, i, "arg"), *key;

		if (!json_is(json_get(d, i, "name"), name))
			continue;
		key = arg && arg->type == JSON_OBJ ? json_first(d, arg) : NULL;
		if (!key || key->n > 40)
			return NULL;
		return key + 1;
	}
	return NULL;
}

/* Finds the value of a tensor: {"name": "x"}, {"as_tensor": {"name": "x"}} or nothing. */
static int value_of(const struct torch_call *c, const struct json *v)
{
	const struct json *inner = json_get(c->doc, v, "as_tensor");
	const struct json *name = json_get(c->doc, inner ? inner : v, "name");
	const char *text;

	if (json_str(name, c->a, &text))
		return -1;
	return (int)((intptr_t)map_get(c->tensor, text, strlen(text)) - 1);
}

static int input(const struct call *call, const char *name)
{
	const struct torch_call *c = call->at;
	const struct json *v = argument(c, name);

	return v && v->type == JSON_OBJ ? value_of(c, v) : -1;
}

int torch_tensors(const struct call *call, const char *name, int **in)
{
	const struct torch_call *c = call->at;
	const struct json *v = argument(c, name);
	int n = 0;

	*in = arena_array(call->b->a, int, v && v->type == JSON_ARR ? v->size : 1);
	if (!v)
		return 0;
	if (v->type != JSON_ARR) {
		**in = value_of(c, v);
		return **in >= 0;
	}
	for (const struct json *i = json_first(c->doc, v); i; i = json_next(c->doc, v, i))
		(*in)[n++] = value_of(c, i);
	return n;
}

/* 5, or {"as_int": 5}. */
static int number(const struct torch_call *c, const struct json *v, int64_t *out)
{
	return json_int(v, out) && json_int(json_get(c->doc, v, "as_int"), out);
}

static int integer(const struct call *c, const char *name, int64_t *v)
{
	const struct json *is = argument(c->at, name);

	return is && !number(c->at, is, v) ? 0 : -1;
}

static int real(const struct call *c, const char *name, double *v)
{
	return json_num(argument(c->at, name), v);
}

static int flag(const struct call *c, const char *name, int *v)
{
	return json_bool(argument(c->at, name), v);
}

static const char *text(const struct call *c, const char *name)
{
	const char *text;

	return json_str(argument(c->at, name), c->b->a, &text) ? NULL : text;
}

static int ints(const struct call *call, const char *name, int64_t v[GRAPH_MAX_RANK])
{
	const struct torch_call *c = call->at;
	const struct json *list = argument(c, name);
	int n = 0;

	if (!list || list->type != JSON_ARR)
		return list && !number(c, list, v);
	for (const struct json *i = json_first(c->doc, list); i; i = json_next(c->doc, list, i))
		if (n == GRAPH_MAX_RANK || number(c, i, &v[n++]))
			return 0;
	return n;
}

const struct call_reader torch_reader = {integer, real, flag, ints, text, input};
