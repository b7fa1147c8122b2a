/* What operators have in common: their attributes and nodes. */
#include "lib/extract/mxnet/operator.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

/* Since MXNet 1.0 all are in "attrs", and in "attr" before. Before 0.9 those of the operator were
 * in "param". */
static const char *text(const struct call *o, const char *key)
{
	static const char *const places[] = {"attrs", "param", "attr"};
	const struct mx_node *n = o->at;
	const char *s;

	for (int i = 0; i < 3; i++)
		if (!json_str(json_get(n->doc, json_get(n->doc, n->node, places[i]), key), o->b->a,
			      &s))
			return s;
	return NULL;
}

const char *mx_text(const struct call *o, const char *key, const char *otherwise)
{
	const char *s = text(o, key);

	return s ? s : otherwise;
}

static int flag(const struct call *o, const char *key, int *v)
{
	const char *s = mx_text(o, key, "");

	*v = !strcmp(s, "1") || !strcasecmp(s, "true");
	return *v || !strcmp(s, "0") || !strcasecmp(s, "false") ? 0 : -1;
}

static int real(const struct call *o, const char *key, double *v)
{
	const char *s = mx_text(o, key, "");
	char *end;

	*v = strtod(s, &end);
	return end == s || *end ? -1 : 0;
}

/* An integer at s, which Python 2 ended with an L; a real one that is whole, too. NULL: none. */
static const char *read_int(const char *s, int64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoll(s, &end, 10);
	if (end == s || errno)
		return NULL;
	if (*end == '.' && !end[1 + strspn(end + 1, "0")])
		end += 1 + strspn(end + 1, "0");
	return *end == 'L' ? end + 1 : end;
}

static int integer(const struct call *o, const char *key, int64_t *v)
{
	const char *end = read_int(mx_text(o, key, ""), v);

	return end && !*end ? 0 : -1;
}

int mx_list(const char *s, int64_t v[GRAPH_MAX_RANK])
{
	int n = 0;

	while (*s) {
		while (isspace((unsigned char)*s) || (*s && strchr("([,)]", *s)))
			s++;
		if (!*s)
			break;
		if (n == GRAPH_MAX_RANK)
			return -1;
		if (!strncmp(s, "None", 4)) {
			v[n++] = INT_UNKNOWN;
			s += 4;
		} else if (!(s = read_int(s, &v[n++]))) {
			return -1;
		}
	}
	return n;
}

static int ints(const struct call *o, const char *key, int64_t v[GRAPH_MAX_RANK])
{
	const char *s = text(o, key);

	return !s || !strcmp(s, "None") ? 0 : mx_list(s, v);
}

const struct call_reader mx_reader = {integer, real, flag, ints, text, NULL};

int mx_elem(const char *text, int otherwise)
{
	static const struct {
		const char *name, *number;
		int elem;
	} known[] = {
		{"float32", "0", VALUE_F32},	{"float64", "1", VALUE_F64},
		{"float16", "2", VALUE_F16},	{"uint8", "3", VALUE_U8},
		{"int32", "4", VALUE_I32},	{"int8", "5", VALUE_I8},
		{"int64", "6", VALUE_I64},	{"bool", "7", VALUE_BOOL},
		{"bfloat16", "12", VALUE_BF16},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(text, known[i].name) || !strcmp(text, known[i].number))
			return known[i].elem;
	return otherwise;
}

/* ---- nodes ---- */

int mx_part(const struct call *o, const char *what)
{
	return build_value(o->b, arena_printf(o->b->a, "%s/%s", o->name, what));
}

struct graph_node *mx_step(const struct call *o, const char *type, int in, int *out)
{
	*out = mx_part(o, "step");
	return build_node(o->b, type, &in, 1, out, 1);
}

int mx_reshape_to(const struct call *o, int in, const int64_t *codes, int n, int is_backward,
		  int out)
{
	struct graph_node *node = build_node(o->b, "Reshape", &in, 1, &out, 1);
	int has_codes = is_backward;

	for (int i = 0; i < n; i++)
		has_codes |= codes[i] < -1;
	build_ints(o->b, node, "shape", codes, n);
	if (has_codes)
		build_int(o->b, node, "codes", 1);
	if (is_backward)
		build_int(o->b, node, "reverse", 1);
	return out;
}

int mx_reshape(const struct call *o, int in, const int64_t *codes, int n)
{
	return mx_reshape_to(o, in, codes, n, 0, mx_part(o, "step"));
}

int mx_transpose(const struct call *o, int in, const int64_t *perm, int n)
{
	int out;

	build_ints(o->b, mx_step(o, "Transpose", in, &out), "perm", perm, n);
	return out;
}
