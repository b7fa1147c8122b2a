#include "lib/extract/graph/infer.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/words.h"

/* The rules for shapes, by operator. */
static infer_fn *const rules[OPERATORS] = {
#define OPERATOR(name, elements, inputs, shape, task) [OP_##name] = infer_##shape,
#include "lib/extract/graph/operators.def"
#undef OPERATOR
};

/* These operators of the com.microsoft domain make the shape of input 0. */
static const char contrib_like_first[] =
	"Gelu QuickGelu SimplifiedLayerNormalization BiasAdd GroupNorm QLinearLeakyRelu "
	"QLinearSigmoid QLinearSoftmax RotaryEmbedding Trilu";

/* The rules of an operator. fn is NULL: it has none. */
struct rule {
	infer_fn *fn;
	enum element_rule elements;
	int inputs; /* that it needs */
	int needs_rank;
};

static struct rule find_rule(const struct graph_node *n)
{
	enum node_op op = n->op;

	if (!strcmp(n->domain, "com.microsoft")) {
		if (words_are(contrib_like_first, n->type))
			return (struct rule){infer_unary, ELEM_SAME, 1};
		op = operator_find(n->type);
		if (op != OP_QuantizeLinear && op != OP_DequantizeLinear)
			op = OP_NONE;
	}
	return (struct rule){rules[op], operator_rows[op].elements, operator_rows[op].inputs,
			     operator_rows[op].needs_rank};
}

static int apply(struct infer *x, const struct graph_node *n, struct rule rule, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape made = {.rank = RANK_UNKNOWN};
	int r;

	for (int i = 0; i < rule.inputs; i++)
		if (!node_in(x->g, n, i))
			return infer_lacks(x, n, e);
	if (in)
		made = in->shape;
	if (rule.needs_rank && made.rank < 0)
		return 0;
	r = rule.fn(x, n, in, &made, e);
	return r > 0 ? infer_set(x, n, 0, &made, e) : r;
}

static void set_type(struct infer *x, const struct graph_node *n, enum element_rule kind)
{
	const int of_result = node_is(n, OP_QuantizeLinear) ? 2 : 7; /* its zero point */
	const struct value *in = node_in(x->g, n, 0), *zero = node_in(x->g, n, of_result);
	const struct value *second = node_in(x->g, n, 1);

	for (int i = 0; i < n->nout; i++) {
		struct value *v = node_out(x->g, n, i);

		if (!v || kind == ELEM_OWN)
			continue;
		v->elem = in ? in->elem : VALUE_UNKNOWN;
		v->quantized = kind == ELEM_FLOATS || (kind == ELEM_MOVES && in && in->quantized);
		v->quantized |= v->declared && v->declared->quantized;
		if (kind == ELEM_SAME && node_attr(n, "dtype")) /* RandomNormalLike and its kin */
			v->elem = (int)node_int(n, "dtype", v->elem);
		else if (kind == ELEM_BOOLEAN)
			v->elem = VALUE_BOOL;
		else if (kind == ELEM_INDEX)
			v->elem = VALUE_I64;
		else if (kind == ELEM_INT32)
			v->elem = VALUE_I32;
		else if (kind == ELEM_CAST)
			v->elem = (int)node_int(n, "to", VALUE_UNKNOWN);
		else if (kind == ELEM_FLOATS || kind == ELEM_CAST_LIKE)
			v->elem = second ? second->elem : VALUE_F32;
		else if (kind == ELEM_BYTES && node_int(n, "output_dtype", VALUE_UNKNOWN))
			v->elem = (int)node_int(n, "output_dtype", VALUE_UNKNOWN);
		else if (kind == ELEM_BYTES)
			v->elem = zero ? zero->elem : VALUE_U8;
	}
}

/* The declaration fills in what inference left open. */
static void use_declared(const struct infer *x, struct value *v)
{
	const struct declared *d = v->declared;
	const struct shape inferred = v->shape;

	if (!d)
		return;
	if (v->elem == VALUE_UNKNOWN)
		v->elem = d->elem;
	if (x->reshaped || d->shape.rank < 0 || infer_absurd(&d->shape))
		return;
	if (v->shape.rank < 0)
		infer_open(&v->shape, d->shape.rank);
	if (v->shape.rank != d->shape.rank)
		return;
	for (int i = 0; i < d->shape.rank; i++) {
		if (v->shape.dim[i] >= 0)
			continue;
		if (d->shape.dim[i] > 0)
			v->shape.dim[i] = d->shape.dim[i];
		else if (d->symbol[i])
			(void)symbol_size(d->symbol[i], &x->symbols, &v->shape.dim[i]);
	}
	if (infer_absurd(&v->shape)) /* together, though neither is */
		v->shape = inferred;
}

static void use_told(struct value *v)
{
	if (!v->told || !v->told->kept)
		return;
	v->shape = v->told->shape;
	v->elem = v->told->elem;
	v->kept = v->told->kept;
}

void infer_count(struct map *m, struct arena *a, const char *key)
{
	int64_t **n = (int64_t **)map_put(m, key, strlen(key), NULL);

	if (!*n)
		*n = arena_new(a, int64_t);
	++**n;
}

/* What a node makes is constant if all that it reads is constant, also where no rule knows the
 * node. What it reads of unknown shape is to blame for its own. */
static void set_origin(struct infer *x, const struct graph_node *n, struct rule rule)
{
	int all_const = n->ndeps || node_is(n, OP_Constant);
	const char *blame = rule.fn ? NULL : n->type;

	for (int i = 0; i < n->ndeps; i++) {
		const struct value *v = n->in[i] >= 0 ? x->g->value[n->in[i]] : NULL;

		if (v && !v->is_const)
			all_const = 0;
		if (v && v->blame && !blame && !shape_known(&v->shape))
			blame = v->blame;
	}
	/* Some make other elements each time. */
	if (all_const && words_in("andom rand ernoulli ultinomial runcatedNormal oisson", n->type))
		all_const = 0;
	for (int i = 0; i < n->nout; i++) {
		struct value *v = node_out(x->g, n, i);

		if (!v)
			continue;
		v->is_const = all_const;
		if (!shape_known(&v->shape))
			v->blame = blame ? blame : n->type;
	}
}

/* Does the file tell the shapes of all that a node makes? */
static int is_told(const struct infer *x, const struct graph_node *n)
{
	if (!n->is_told || x->reshaped)
		return 0;
	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(x->g, n, i);

		if (v && (!v->declared || !shape_known(&v->declared->shape) ||
			  infer_absurd(&v->declared->shape)))
			return 0;
	}
	return 1;
}

static void take_told(const struct infer *x, const struct graph_node *n, struct rule rule)
{
	const struct value *in = node_in(x->g, n, 0);

	for (int i = 0; i < n->nout; i++) {
		struct value *v = node_out(x->g, n, i);

		if (!v)
			continue;
		v->shape = v->declared->shape;
		v->elem = v->declared->elem;
		v->quantized = v->declared->quantized || rule.elements == ELEM_FLOATS ||
			       (rule.elements == ELEM_MOVES && in && in->quantized);
	}
}

/* The elements of what a node makes, where open sizes of others may depend on them: its rule knows
 * them, and its shape is told. */
static void follow_elements(struct infer *x, const struct graph_node *n, struct rule rule)
{
	struct value *v = node_out(x->g, n, 0);
	struct shape told;

	if (!rule.fn || !v || x->g->is_shaped || !elem_is_int(v->elem) ||
	    shape_count(&v->shape) > KEEP_INTS)
		return;
	told = v->shape;
	if (apply(x, n, rule, NULL) || !shape_equal(&v->shape, &told))
		v->kept = NULL;
	v->shape = told;
	for (int i = 1; i < n->nout; i++) {
		struct value *other = node_out(x->g, n, i);

		if (other && other->declared)
			other->shape = other->declared->shape;
	}
}

int infer_node(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct rule rule = find_rule(n);

	if (is_told(x, n)) {
		/* Operators that multiply rely on the checks of their rules. */
		if (operator_multiplies(n->op) && apply(x, n, rule, e))
			return -1;
		take_told(x, n, rule);
		follow_elements(x, n, rule);
		set_origin(x, n, rule);
		return 0;
	}
	if (rule.fn) {
		infer_parameters(x, n);
		set_type(x, n, rule.elements);
		if (apply(x, n, rule, e))
			return -1;
	} else if (node_is_walked(n)) {
		if (infer_told_bodies(x, n, e))
			return -1;
	} else {
		infer_count(&x->unknown, x->g->a, n->type);
	}
	for (int i = 0; i < n->nout; i++)
		if (node_out(x->g, n, i)) {
			use_declared(x, node_out(x->g, n, i));
			use_told(node_out(x->g, n, i));
		}
	set_origin(x, n, rule);
	return 0;
}

/* A node may contradict itself because a size was taken for 1. */
static int blame_assumed(const struct infer *x, struct err *e)
{
	const char *name = x->assumed.n ? x->assumed.item[0].key : NULL;
	size_t n = strlen(e->msg);

	if (name && !strncmp(name, "a dimension of ", 15))
		snprintf(
			e->msg + n, sizeof e->msg - n,
			"; %s was taken for a batch of 1, and --batch or --shape give another size",
			name);
	else if (name)
		snprintf(e->msg + n, sizeof e->msg - n,
			 "; '%s' was taken for a batch of 1, and --dim %s=SIZE gives another size",
			 name, name);
	return -1;
}

int infer_run(struct infer *x, struct graph *g, int64_t opset, const struct infer_options *o,
	      struct err *e)
{
	*x = (struct infer){.g = g, .options = o, .opset = opset > 0 ? opset : 1};
	if (infer_inputs(x, e))
		return -1;
	for (int i = 0; i < g->nnode; i++)
		if (infer_node(x, &g->node[g->order[i]], e))
			return blame_assumed(x, e);
	return 0;
}

void infer_free(struct infer *x)
{
	map_free(&x->symbols);
	map_free(&x->unknown);
	map_free(&x->open);
	map_free(&x->unsized);
	map_free(&x->assumed);
}
