#include "lib/extract/call/call.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lib/base/words.h"

/* ---- attributes ---- */

/* The next of the words at *list, or NULL. */
static const char *word(const struct call *c, const char **list)
{
	const char *first = *list;
	const size_t n = strcspn(first, " ");

	*list += n + (first[n] == ' ');
	if (!n || !first[n])
		return n ? first : NULL;
	return arena_printf(c->b->a, "%.*s", (int)n, first);
}

int call_get(const struct call *c, const char *names, enum call_kind kind, struct call_value *v)
{
	const char *name;

	while ((name = word(c, &names)))
		if (c->read(c, name, kind, v) > 0)
			return 1;
	return 0;
}

int64_t call_int(const struct call *c, const char *names, int64_t otherwise)
{
	struct call_value v;

	return call_get(c, names, CALL_INT, &v) ? v.i : otherwise;
}

double call_real(const struct call *c, const char *names, double otherwise)
{
	struct call_value v;

	return call_get(c, names, CALL_REAL, &v) ? v.f : otherwise;
}

int call_flag(const struct call *c, const char *names, int otherwise)
{
	struct call_value v;

	return call_get(c, names, CALL_FLAG, &v) ? (int)v.i : otherwise;
}

const char *call_text(const struct call *c, const char *name)
{
	struct call_value v;

	return call_get(c, name, CALL_TEXT, &v) ? v.s : NULL;
}

int call_is(const struct call *c, const char *name, const char *word)
{
	const char *text = call_text(c, name);

	return text && !strcasecmp(text, word);
}

int call_ints(const struct call *c, const char *name, int count, int64_t v[GRAPH_MAX_RANK])
{
	struct call_value list;
	const int r = c->read(c, name, CALL_INTS, &list);
	int n = r > 0 ? list.n : r;

	if (n > 0)
		memcpy(v, list.ints, sizeof *v * (size_t)n);
	if (n == 1)
		while (n < count)
			v[n++] = v[0];
	return n;
}

int call_elem(const struct call *c, int value)
{
	return value < 0 ? VALUE_UNKNOWN : c->b->g->value[value]->declared->elem;
}

/* 5, or {"as_int": 5}. */
static int number(const struct call *c, const struct json *v, int64_t *out)
{
	return json_int(v, out) && json_int(json_get(c->doc, v, "as_int"), out) ? -1 : 0;
}

static int json_list(const struct call *c, const struct json *list, int64_t v[GRAPH_MAX_RANK])
{
	int n = 0;

	if (!list || list->type != JSON_ARR)
		return !number(c, list, v);
	for (const struct json *i = json_first(c->doc, list); i; i = json_next(c->doc, list, i))
		if (n == GRAPH_MAX_RANK || number(c, i, &v[n++]))
			return 0;
	return n;
}

int call_json(const struct call *c, const char *name, enum call_kind kind, struct call_value *v)
{
	const struct json *is = c->json(c, name);
	int flag;

	switch (kind) {
	case CALL_INT:
		return !number(c, is, &v->i);
	case CALL_REAL:
		return !json_num(is, &v->f);
	case CALL_FLAG:
		if (json_bool(is, &flag))
			return 0;
		v->i = flag;
		return 1;
	case CALL_INTS:
		v->n = json_list(c, is, v->ints);
		return 1;
	default:
		return !json_str(is, c->b->a, &v->s);
	}
}

static void put(const struct call *c, struct graph_node *n, const struct call_attr *a)
{
	int64_t v[GRAPH_MAX_RANK];
	const char *text, *names = a->theirs;
	int count = 0;

	switch (a->kind) {
	case CALL_INT:
		build_int(c->b, n, a->onnx,
			  a->theirs ? call_int(c, a->theirs, (int64_t)a->otherwise)
				    : (int64_t)a->otherwise);
		break;
	case CALL_FLAG:
		build_int(c->b, n, a->onnx, call_flag(c, a->theirs, (int)a->otherwise));
		break;
	case CALL_REAL:
		build_float(
			c->b, n, a->onnx,
			(float)(a->theirs ? call_real(c, a->theirs, a->otherwise) : a->otherwise));
		break;
	case CALL_INTS:
		count = call_ints(c, a->theirs, 0, v);
		if (count > 0)
			build_ints(c->b, n, a->onnx, v, count);
		break;
	case CALL_EACH:
		while ((text = word(c, &names)))
			v[count++] = call_int(c, text, (int64_t)a->otherwise);
		build_ints(c->b, n, a->onnx, v, count);
		break;
	case CALL_TEXT:
		text = call_text(c, a->theirs);
		if (text)
			build_str(c->b, n, a->onnx, text);
		break;
	case CALL_WHEN:
		if (call_is(c, a->theirs, a->word) || call_flag(c, a->theirs, 0))
			build_str(c->b, n, a->onnx, a->word);
		break;
	case CALL_ELEM:
		build_int(c->b, n, a->onnx, call_elem(c, call_out(c, 0)));
		break;
	default:
		build_str(c->b, n, a->onnx, a->word);
	}
}

int64_t call_param(const struct call *c, const struct call_row *row, const char *onnx,
		   int64_t otherwise)
{
	int64_t v[GRAPH_MAX_RANK], bits = 0;
	int count = 0;

	for (const struct call_attr *a = row->attrs; a && a->kind; a++) {
		if (strcmp(a->onnx, onnx) != 0)
			continue;
		if (a->kind == CALL_FLAG)
			return call_flag(c, a->theirs, (int)a->otherwise);
		if (a->kind == CALL_INT)
			return call_int(c, a->theirs, (int64_t)a->otherwise);
		count = call_ints(c, a->theirs, 0, v);
		for (int i = 0; i < count; i++)
			bits |= (int64_t)(v[i] != 0) << i;
		return bits;
	}
	return otherwise;
}

/* ---- nodes ---- */

static int named(const struct call *c, const char *names, int in[CALL_OPERANDS])
{
	const char *name;
	int n = 0;

	while ((name = word(c, &names)))
		in[n++] = isdigit((unsigned char)name[0]) ? call_in(c, name[0] - '0')
							  : call_input(c, name);
	return n;
}

int call_operands(const struct call *c, const struct call_row *row, const int **in)
{
	int *to, n = 0;

	*in = c->in;
	if (!row->operands)
		return c->nin;
	*in = to = arena_array(c->b->a, int, CALL_OPERANDS);
	for (int i = 0; i < CALL_OPERANDS; i++)
		to[i] = -1;
	if (row->operands[strspn(row->operands, "-0123456789")])
		n = named(c, row->operands, to);
	else
		for (const char *s = row->operands; *s; s++)
			to[n++] = *s == '-' ? -1 : call_in(c, *s - '0');
	while (n && to[n - 1] < 0)
		n--;
	return n;
}

struct graph_node *call_node(const struct call *c, const char *type, const int *in, int nin)
{
	struct graph_node *n = build_node(c->b, type, in, nin, c->out, c->nout);

	n->is_told = c->is_told;
	return n;
}

struct graph_node *call_node_of(const struct call *c, const struct call_row *row, const int *in,
				int nin)
{
	struct graph_node *n = call_node(c, row->onnx, in, nin);

	for (const struct call_attr *a = row->attrs; a && a->kind; a++)
		put(c, n, a);
	return n;
}

struct graph_node *call_between(const struct call *c, const char *type, const int *in, int nin,
				int out)
{
	struct graph_node *n = build_node(c->b, type, in, nin, &out, 1);

	n->is_told = c->is_told;
	return n;
}

static int between(const struct formula *f, const char *name)
{
	const struct call *c = f->ctx;
	const int out = call_out(c, 0), is_like = !strcmp(name, "sum");

	if (c->between && !is_like)
		return c->between(c);
	if (out < 0)
		return build_value(f->b, name);
	return is_like ? build_between(f->b, out) : build_part(f->b, out, name);
}

struct formula call_formula(const struct call *c)
{
	return (struct formula){.b = c->b,
				.in = c->in,
				.out = c->out,
				.nin = c->nin,
				.nout = c->nout,
				.is_told = c->is_told,
				.between = between,
				.ctx = (void *)c};
}

struct graph_node *call_own(const struct call *c)
{
	struct graph_node *n = call_node(c, c->type, c->in, c->nin);

	n->domain = c->domain;
	return n;
}

/* ---- rows ---- */

/* These have no attributes that matter here, and mean the same wherever they are called so. */
#define ALIKE(name, operands)                                                                      \
	{                                                                                          \
		name, name, operands, NULL, NULL, 0                                                \
	}
static const struct call_row alike[] = {
	ALIKE("Abs", "0"),	 ALIKE("Acos", "0"),	   ALIKE("Acosh", "0"),
	ALIKE("Asin", "0"),	 ALIKE("Asinh", "0"),	   ALIKE("Atan", "0"),
	ALIKE("Atanh", "0"),	 ALIKE("Ceil", "0"),	   ALIKE("Cos", "0"),
	ALIKE("Cosh", "0"),	 ALIKE("Equal", "01"),	   ALIKE("Erf", "0"),
	ALIKE("Exp", "0"),	 ALIKE("Floor", "0"),	   ALIKE("Greater", "01"),
	ALIKE("HardSwish", "0"), ALIKE("IsInf", "0"),	   ALIKE("IsNaN", "0"),
	ALIKE("Less", "01"),	 ALIKE("Log", "0"),	   ALIKE("Mish", "0"),
	ALIKE("Neg", "0"),	 ALIKE("Reciprocal", "0"), ALIKE("Relu", "0"),
	ALIKE("Roll", "0"),	 ALIKE("Round", "0"),	   ALIKE("Selu", "0"),
	ALIKE("Sigmoid", "0"),	 ALIKE("Sign", "0"),	   ALIKE("Sin", "0"),
	ALIKE("Sinh", "0"),	 ALIKE("Softplus", "0"),   ALIKE("Softsign", "0"),
	ALIKE("Sqrt", "0"),	 ALIKE("Tan", "0"),	   ALIKE("Tanh", "0"),
};

/* Are the names equal, but for capital letters and underscores? */
static int is_alike(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += *a == '_';
		b += *b == '_';
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return 0;
		if (!*a)
			return 1;
	}
}

/* TensorFlow, TFLite and OpenVINO call these alike, and have no attributes of them that matter. */
static const struct call_row shared[] = {
	{"AddN", "Sum"},
	{"ArgMax", "ArgMax", .fn = call_arg},
	{"ArgMin", "ArgMin", .fn = call_arg},
	{"BatchToSpaceND", "BatchToSpace"},
	{"BroadcastTo", "Expand"},
	{"Cumsum", "CumSum"},
	{"Elu", "Elu"},
	{"ExpandDims", "Unsqueeze"},
	{"Fill", "Expand", "10"},
	{"FloorDiv", "FloorDiv"},
	{"FloorMod", "Mod"},
	{"GatherND", "GatherND"},
	{"GreaterEqual", "GreaterOrEqual"},
	{"LessEqual", "LessOrEqual"},
	{"LogicalAnd", "And"},
	{"LogicalNot", "Not", "0"},
	{"LogicalOr", "Or"},
	{"LogicalXor", "Xor"},
	{"Maximum", "Max"},
	{"Minimum", "Min"},
	{"NotEqual", "sum = Equal(0 1); $0 = Not(sum)"},
	{"Pow", "Pow"},
	{"Range", "Range"},
	{"Rank", "sizes = Shape(0); $0 = Size(sizes)"}, /* the size of the list of sizes */
	{"Relu6", "Clip", "0", CALL_CLIP(0, 6)},
	{"Rsqrt", CALL_RSQRT},
	{"Select", "Where"},
	{"SelectV2", "Where"},
	{"SpaceToBatchND", "SpaceToBatch"},
	{"Square", CALL_SQUARE},
	{"SquaredDifference", "sum = Sub(0 1); $0 = Mul(sum sum)"},
	{"Tile", "Tile"},
	{"TopKV2", "TopK"},
	{"Transpose", "Transpose"},
};

static const struct call_row *find_alike(const struct call_row *rows, size_t n, const char *theirs)
{
	for (size_t i = 0; i < n; i++)
		if (is_alike(rows[i].theirs, theirs))
			return &rows[i];
	return NULL;
}

const struct call_row *call_find(const struct call_row *rows, size_t n, const char *theirs)
{
	const size_t letters = strlen(theirs);

	for (size_t i = 0; i < n; i++)
		if (words_have(rows[i].theirs, theirs, letters))
			return &rows[i];
	return find_alike(alike, sizeof alike / sizeof *alike, theirs);
}

const struct call_row *call_find_shared(const struct call_row *rows, size_t n, const char *theirs)
{
	const struct call_row *row = call_find(rows, n, theirs);

	return row ? row : find_alike(shared, sizeof shared / sizeof *shared, theirs);
}

static int plain(const struct call *c, const struct call_row *row)
{
	const int is_formula = strchr(row->onnx, '=') != NULL;
	const int *in;
	const int n = call_operands(c, row, &in);

	if (is_formula && (c->nout != 1 || c->out[0] < 0))
		return -1;
	if (is_formula)
		call_make(c, "%s", row->onnx);
	else
		call_node_of(c, row, in, n);
	return 0;
}

void call_convert(const struct call *c, const struct call_row *row)
{
	if (!row || (row->fn ? row->fn : plain)(c, row) < 0)
		call_own(c);
}
