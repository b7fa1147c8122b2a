/* The graph of an exported program. */
#include <stdio.h>
#include <string.h>

#include "lib/extract/graph/symbol.h"
#include "lib/extract/torch/torch.h"

enum { MOST_LINKS = 1 << 20 }; /* inputs and outputs of all calls */

struct reader {
	struct build b;
	const struct json_doc *d;
	const struct infer_options *o;
	struct map sizes;  /* of symbols: name -> int64_t * */
	struct map tensor; /* name -> index of the value + 1 */
	struct map given;  /* inputs of the user -> anything */
	struct map values; /* what the file tells of tensors: name -> const struct json * */
	int64_t links;
};

/* As torch/_export/serde/schema.py numbers them. */
static int element(int64_t type)
{
	static const unsigned char elem[] = {
		VALUE_UNKNOWN, VALUE_U8,   VALUE_I8,   VALUE_I16,  VALUE_I32,
		VALUE_I64,     VALUE_F16,  VALUE_F32,  VALUE_F64,  VALUE_UNKNOWN,
		VALUE_C64,     VALUE_C128, VALUE_BOOL, VALUE_BF16,
	};

	return type >= 0 && type < (int64_t)sizeof elem ? elem[type] : VALUE_UNKNOWN;
}

static const char *expression(struct reader *r, const struct json *size)
{
	const struct json *e = json_get(r->d, size, "as_expr");
	const char *text;

	return json_str(json_get(r->d, e, "expr_str"), r->b.a, &text) ? NULL : text;
}

/* ---- symbols ---- */

/* The one name that an expression holds. */
struct only {
	char name[40];
	int n;
};

static void note_name(void *ctx, const char *name, size_t len)
{
	struct only *o = ctx;

	snprintf(o->name, sizeof o->name, "%.*s", (int)(len < sizeof o->name ? len : 0), name);
	o->n++;
}

/* Dimension i of an input is a symbol: its size is what the options say; a first one is the batch,
 * others have the size of the example that the program was exported with. */
static void bind(struct reader *r, const struct json *size, const char *symbol,
		 const struct input_shape *given, int i)
{
	int64_t **v = (int64_t **)map_put(&r->sizes, symbol, strlen(symbol), NULL);
	const struct json *example = json_get(r->d, json_get(r->d, size, "as_expr"), "hint");
	int64_t dim = infer_given_dim(r->o, symbol), hint = 0;

	if (*v)
		return;
	*v = arena_new(r->b.a, int64_t);
	json_int(json_get(r->d, example, "as_int"), &hint);
	if (given && i < given->shape.rank)
		**v = given->shape.dim[i];
	else if (dim != DIM_UNKNOWN)
		**v = dim;
	else if (i == 0)
		**v = r->o->batch ? r->o->batch : 1;
	else
		**v = hint;
}

static void bind_input(struct reader *r, const char *name)
{
	const struct json *told = map_get(&r->values, name, strlen(name));
	const struct json *sizes = json_get(r->d, told, "sizes");
	const struct input_shape *given = infer_given_shape(r->o, name);
	int i = 0;

	for (const struct json *s = json_first(r->d, sizes); s;
	     s = json_next(r->d, sizes, s), i++) {
		const char *text = expression(r, s);
		struct only symbol = {.n = 0};

		if (text)
			symbol_names(text, note_name, &symbol);
		if (symbol.n == 1 && symbol.name[0])
			bind(r, s, symbol.name, given, i);
	}
	*map_put(&r->given, name, strlen(name), NULL) = r;
}

/* The inputs that are neither parameters nor buffers. */
static void bind_inputs(struct reader *r, const struct json *module)
{
	const struct json *specs =
		json_get(r->d, json_get(r->d, module, "signature"), "input_specs");

	for (const struct json *s = json_first(r->d, specs); s; s = json_next(r->d, specs, s)) {
		const struct json *user = json_get(r->d, s, "user_input");
		const struct json *arg = json_get(r->d, json_get(r->d, user, "arg"), "as_tensor");
		const char *name;

		if (!json_str(json_get(r->d, arg, "name"), r->b.a, &name))
			bind_input(r, name);
	}
}

/* ---- tensors ---- */

/* A size that is computed, and is 0, is taken for open. */
static void read_sizes(struct reader *r, const struct json *sizes, struct shape *s)
{
	s->rank = RANK_UNKNOWN;
	if (!sizes || sizes->type != JSON_ARR || sizes->size > GRAPH_MAX_RANK)
		return;
	s->rank = 0;
	for (const struct json *v = json_first(r->d, sizes); v; v = json_next(r->d, sizes, v)) {
		const char *text = expression(r, v);
		int64_t size = 0;

		if (text && (symbol_size(text, &r->sizes, &size) || !size))
			size = -1;
		else if (!text && json_int(v, &size) &&
			 json_int(json_get(r->d, v, "as_int"), &size))
			size = -1;
		s->dim[s->rank++] = size < 0 ? DIM_UNKNOWN : size;
	}
}

static void read_tensor(struct reader *r, const char *name, const struct json *meta)
{
	struct declared *d = arena_new(r->b.a, struct declared);
	int i = build_value(&r->b, name);
	int64_t type = 0;

	json_int(json_get(r->d, meta, "dtype"), &type);
	read_sizes(r, json_get(r->d, meta, "sizes"), &d->shape);
	d->elem = element(type);
	r->b.g->value[i]->declared = d;
	*map_put(&r->tensor, name, strlen(name), NULL) = (void *)(intptr_t)(i + 1);
}

/* The first of a name counts. */
static void name_tensors(struct reader *r, const struct json *values)
{
	const char *name;
	int isnew;

	for (const struct json *k = json_first(r->d, values); k; k = json_next(r->d, values, k)) {
		void **slot;

		if (json_str(k, r->b.a, &name))
			continue;
		slot = map_put(&r->values, name, strlen(name), &isnew);
		if (isnew)
			*slot = (void *)(k + 1);
	}
}

static void read_tensors(struct reader *r)
{
	for (size_t i = 0; i < r->values.n; i++)
		read_tensor(r, arena_strdup(r->b.a, r->values.item[i].key),
			    r->values.item[i].value);
}

static int index_of(struct reader *r, const struct json *v)
{
	const struct torch_call c = {.a = r->b.a, .doc = r->d, .tensor = &r->tensor};

	return torch_index(&c, v);
}

static struct value *named(struct reader *r, const struct json *v)
{
	int i = index_of(r, v);

	return i < 0 ? NULL : r->b.g->value[i];
}

static void mark_ends(struct reader *r, const struct json *graph)
{
	const struct json *in = json_get(r->d, graph, "inputs"),
			  *out = json_get(r->d, graph, "outputs");

	for (const struct json *i = json_first(r->d, in); i; i = json_next(r->d, in, i)) {
		struct value *v = named(r, i);

		if (!v)
			continue;
		v->elem = v->declared->elem;
		if (map_get(&r->given, v->name, strlen(v->name))) {
			v->is_input = 1;
		} else {
			v->is_const = 1;
			v->shape = v->declared->shape;
		}
	}
	for (const struct json *o = json_first(r->d, out); o; o = json_next(r->d, out, o)) {
		struct value *v = named(r, o);

		if (v)
			v->is_output = 1;
	}
}

/* ---- calls ---- */

/* Appends the tensors that an argument or output names; there is room for all. */
static void add_tensors(struct reader *r, const struct json *v, int *to, int *n)
{
	const struct json *list = json_get(r->d, v, "as_tensors");

	if (!list)
		list = json_get(r->d, v, "as_optional_tensors");
	for (const struct json *i = json_first(r->d, list); i; i = json_next(r->d, list, i)) {
		to[*n] = index_of(r, i);
		*n += to[*n] >= 0;
	}
	to[*n] = list ? -1 : index_of(r, v);
	*n += to[*n] >= 0;
}

/* All tensors of a list of arguments or outputs. */
static int *collect(struct reader *r, const struct json *list, int is_input, int *n)
{
	/* The list has at least a token for each of them. */
	int *to = arena_array(r->b.a, int, list ? list->next - (list - r->d->tok) + 1 : 1);

	*n = 0;
	for (const struct json *i = json_first(r->d, list); i; i = json_next(r->d, list, i))
		add_tensors(r, is_input ? json_get(r->d, i, "arg") : i, to, n);
	return to;
}

/* torch.ops.aten.add_.Tensor is "add", whose overload "Tensor" says nothing more. Operators of
 * other libraries keep all of their names. */
static const char *name_operator(struct arena *a, const char *target)
{
	static const char *const known[] = {"torch.ops.aten.", "torch.ops.torchvision.",
					    "torch.ops.quantized_decomposed.",
					    "torch.ops.torchao."};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const size_t skip = strlen(known[i]);
		size_t n;

		if (strncmp(target, known[i], skip) != 0)
			continue;
		target += skip;
		n = strcspn(target, ".");
		n -= n > 1 && target[n - 1] == '_' && target[0] != '_'; /* the same in place */
		return arena_printf(a, "%.*s", (int)n, target);
	}
	return target;
}

static int read_call(struct reader *r, const struct json *node, struct err *e)
{
	struct torch_call t = {.a = r->b.a, .doc = r->d, .tensor = &r->tensor};
	struct call c = {.b = &r->b,
			 .name = "",
			 .domain = "torch",
			 .is_told = 1,
			 .read = call_json,
			 .json = torch_argument,
			 .doc = r->d,
			 .input = torch_input,
			 .at = &t};
	const char *target;

	if (json_str(json_get(r->d, node, "target"), r->b.a, &target))
		return err_set(e,
			       "it is no exported program, or damaged (a node without a target)");
	json_str(json_get(r->d, node, "name"), r->b.a, &c.name);
	c.type = name_operator(r->b.a, target);
	t.inputs = json_get(r->d, node, "inputs");
	c.in = collect(r, t.inputs, 1, &c.nin);
	c.out = collect(r, json_get(r->d, node, "outputs"), 0, &c.nout);
	r->links += c.nin + c.nout;
	if (r->links > MOST_LINKS)
		return err_set(e, "its operators have more than %d inputs and outputs", MOST_LINKS);
	if (c.nout) /* the others are about sizes */
		torch_convert(&c);
	return 0;
}

static int read_graph(struct reader *r, struct err *e)
{
	const struct json *module = json_get(r->d, r->d->tok, "graph_module");
	const struct json *graph = json_get(r->d, module, "graph");
	const struct json *nodes = json_get(r->d, graph, "nodes");
	const struct json *values = json_get(r->d, graph, "tensor_values");

	if (!nodes || nodes->type != JSON_ARR || !values || values->type != JSON_OBJ)
		return err_set(e, "it is no program of torch.export (it has no graph)");
	name_tensors(r, values);
	bind_inputs(r, module);
	read_tensors(r);
	mark_ends(r, graph);
	for (const struct json *n = json_first(r->d, nodes); n; n = json_next(r->d, nodes, n))
		if (read_call(r, n, e))
			return -1;
	return graph_link(r->b.g, e);
}

int torch_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e)
{
	struct reader r = {.b = {.a = g->a, .g = g}, .d = d, .o = o};
	int rc;

	g->is_shaped = 1;
	rc = read_graph(&r, e);
	map_free(&r.tensor);
	map_free(&r.values);
	map_free(&r.given);
	map_free(&r.sizes);
	return rc;
}
