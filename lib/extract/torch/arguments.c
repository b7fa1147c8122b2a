/* The arguments of a call: {"name": "stride", "arg": {"as_ints": [2, 2]}}. */
#include <string.h>

#include "lib/extract/torch/torch.h"

/* What an argument is: the one member of its "arg". NULL: it is not given, or none. */
const struct json *torch_argument(const struct call *call, const char *name)
{
	const struct torch_call *c = call->at;
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

int torch_index(const struct torch_call *c, const struct json *v)
{
	const struct json *inner = json_get(c->doc, v, "as_tensor");
	const struct json *name = json_get(c->doc, inner ? inner : v, "name");
	const char *text;

	if (json_str(name, c->a, &text))
		return -1;
	return (int)((intptr_t)map_get(c->tensor, text, strlen(text)) - 1);
}

int torch_input(const struct call *call, const char *name)
{
	const struct json *v = torch_argument(call, name);

	return v && v->type == JSON_OBJ ? torch_index(call->at, v) : -1;
}

int torch_tensors(const struct call *call, const char *name, int **in)
{
	const struct torch_call *c = call->at;
	const struct json *v = torch_argument(call, name);
	int n = 0;

	*in = arena_array(call->b->a, int, v && v->type == JSON_ARR ? v->size : 1);
	if (!v)
		return 0;
	if (v->type != JSON_ARR) {
		**in = torch_index(c, v);
		return **in >= 0;
	}
	for (const struct json *i = json_first(c->doc, v); i; i = json_next(c->doc, v, i))
		(*in)[n++] = torch_index(c, i);
	return n;
}
