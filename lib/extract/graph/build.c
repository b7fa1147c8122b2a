#include "lib/extract/graph/build.h"

#include <string.h>

int build_value(struct build *b, const char *name)
{
	int before = b->g->nvalue, v;

	for (const char *s = name[0] ? name : "tensor";;
	     s = arena_printf(b->a, "%s#%lld", name, (long long)++b->fresh)) {
		v = graph_value(b->g, s);
		if (b->g->nvalue > before)
			return v;
	}
}

int build_between(struct build *b, int like)
{
	int v = build_value(b, arena_printf(b->a, "%s/sum", b->g->value[like]->name));

	b->g->value[v]->declared = b->g->value[like]->declared;
	return v;
}

int build_part(struct build *b, int of, const char *what)
{
	return build_value(b, arena_printf(b->a, "%s/%s", b->g->value[of]->name, what));
}

int build_like(struct build *b, int of, const char *what, int like, const struct shape *s)
{
	const int v = build_part(b, of, what);
	struct declared *d = arena_new(b->a, struct declared);

	*d = *b->g->value[like]->declared;
	d->shape = *s;
	b->g->value[v]->declared = d;
	return v;
}

int build_parameter(struct build *b, const char *name, int64_t size)
{
	int i = build_value(b, name);
	struct value *v = b->g->value[i];

	v->is_const = 1;
	v->elem = VALUE_F32;
	if (size > 0)
		v->shape = (struct shape){1, {size}};
	return i;
}

int build_numbers(struct build *b, const double *number, int n)
{
	int i = build_parameter(b, "number", n);
	struct value *v = b->g->value[i];

	v->kept = arena_array(b->a, union scalar, n);
	for (int k = 0; k < n; k++)
		v->kept[k].f = number[k];
	return i;
}

int build_integers(struct build *b, const int64_t *list, int n)
{
	int i = build_parameter(b, "number", n);
	struct value *v = b->g->value[i];

	v->elem = VALUE_I64;
	v->kept = arena_array(b->a, union scalar, n);
	for (int k = 0; k < n; k++)
		v->kept[k].i = list[k];
	return i;
}

int build_number(struct build *b, double number)
{
	int i = build_numbers(b, &number, 1);

	b->g->value[i]->shape.rank = 0;
	return i;
}

static int *copy(struct build *b, const int *v, int n)
{
	int *to = arena_array(b->a, int, n);

	if (n)
		memcpy(to, v, sizeof *v * (size_t)n);
	return to;
}

struct graph_node *build_node(struct build *b, const char *type, const int *in, int nin,
			      const int *out, int nout)
{
	struct graph_node *n = graph_add_node(b->g);

	*n = (struct graph_node){.name = "", .type = type, .domain = "", .nin = nin, .ndeps = nin};
	n->in = copy(b, in, nin);
	n->out = copy(b, out, nout);
	n->nout = nout;
	return n;
}

/* Room grows by doubling: there is some at each power of two. */
static struct attr *add(struct build *b, struct graph_node *n, const char *name)
{
	if (!(n->nattr & (n->nattr - 1))) {
		struct attr *more = arena_array(b->a, struct attr, n->nattr ? 2 * n->nattr : 1);

		if (n->nattr)
			memcpy(more, n->attr, sizeof *more * (size_t)n->nattr);
		n->attr = more;
	}
	n->attr[n->nattr].name = name;
	return &n->attr[n->nattr++];
}

void build_int(struct build *b, struct graph_node *n, const char *name, int64_t v)
{
	add(b, n, name)->i = v;
}

void build_float(struct build *b, struct graph_node *n, const char *name, float v)
{
	add(b, n, name)->f = v;
}

void build_str(struct build *b, struct graph_node *n, const char *name, const char *s)
{
	add(b, n, name)->s = s;
}

void build_ints(struct build *b, struct graph_node *n, const char *name, const int64_t *v,
		int count)
{
	struct attr *a = add(b, n, name);

	a->ints = arena_array(b->a, int64_t, count);
	if (count)
		memcpy(a->ints, v, sizeof *v * (size_t)count);
	a->nints = count;
}

void build_attr(struct build *b, struct graph_node *n, const struct attr *a)
{
	*add(b, n, a->name) = *a;
}

const struct shape *build_shape(const struct build *b, int value)
{
	static const struct shape unknown = {.rank = RANK_UNKNOWN};

	return value >= 0 && b->g->value[value]->declared ? &b->g->value[value]->declared->shape
							  : &unknown;
}

const union scalar *build_elements(const struct build *b, int value, int64_t *count)
{
	const struct value *v = value >= 0 ? b->g->value[value] : NULL;

	if (!v || !v->kept || !elem_is_int(v->elem))
		return NULL;
	*count = shape_count(&v->shape);
	return v->kept;
}
