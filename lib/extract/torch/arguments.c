/* The arguments of a call: {"name": "stride", "arg": {"as_ints": [2, 2]}}. */
#include <string.h>

#include "lib/extract/torch/torch.h"

/* What an argument is: the one member of its "arg". NULL: it is not given, or none. */
static const struct json *argument(const struct torch_call *c, const char *name, const char **kind)
{
	const struct json_doc *d = c->doc;

	for (const struct json *i = json_first(d, c->inputs); i; i = json_next(d, c->inputs, i)) {
		const struct json *arg = json_get(d, i, "arg"), *key;

		if (!json_is(json_get(d, i, "name"), name))
			continue;
		key = arg && arg->type == JSON_OBJ ? json_first(d, arg) : NULL;
		if (!key || key->n > 40)
			return NULL;
		*kind = key->s;
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

	if (json_str(name, c->b->a, &text))
		return -1;
	return (int)((intptr_t)map_get(c->tensor, text, strlen(text)) - 1);
}

int torch_tensor(const struct torch_call *c, const char *name)
{
	const char *kind;
	const struct json *v = argument(c, name, &kind);

	return v && v->type == JSON_OBJ ? value_of(c, v) : -1;
}

int torch_tensors(const struct torch_call *c, const char *name, int **in)
{
	const char *kind;
	const struct json *v = argument(c, name, &kind);
	int n = 0;

	*in = arena_array(c->b->a, int, v && v->type == JSON_ARR ? v->size : 1);
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
static int integer(const struct torch_call *c, const struct json *v, int64_t *out)
{
	return json_int(v, out) && json_int(json_get(c->doc, v, "as_int"), out);
}

int64_t torch_int(const struct torch_call *c, const char *name, int64_t otherwise)
{
	const char *kind;
	const struct json *v = argument(c, name, &kind);
	int64_t i;

	return v && !integer(c, v, &i) ? i : otherwise;
}

double torch_real(const struct torch_call *c, const char *name, double otherwise)
{
	const char *kind;
	double r;

	return json_num(argument(c, name, &kind), &r) ? otherwise : r;
}

int torch_flag(const struct torch_call *c, const char *name, int otherwise)
{
	const char *kind;
	int flag;

	return json_bool(argument(c, name, &kind), &flag) ? otherwise : flag;
}

const char *torch_text(const struct torch_call *c, const char *name)
{
	const char *kind, *text;

	return json_str(argument(c, name, &kind), c->b->a, &text) ? NULL : text;
}

int torch_ints(const struct torch_call *c, const char *name, int count, int64_t v[GRAPH_MAX_RANK])
{
	const char *kind;
	const struct json *list = argument(c, name, &kind);
	int n = 0;

	if (list && list->type == JSON_ARR) {
		for (const struct json *i = json_first(c->doc, list); i;
		     i = json_next(c->doc, list, i))
			if (n == GRAPH_MAX_RANK || integer(c, i, &v[n++]))
				return 0;
	} else if (list && !integer(c, list, v)) {
		n = 1;
	}
	while (n && n < count)
		v[n++] = v[0];
	return n;
}
