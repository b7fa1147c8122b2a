#include "lib/run/constants.h"

#include <math.h>

#include "lib/base/rng.h"

int constant_is_weights(const struct value *v)
{
	return v->is_const && v->producer < 0 && v->elem == VALUE_F32 && shape_known(&v->shape) &&
	       v->shape.rank > 0 && shape_count(&v->shape) > 1;
}

/* The first node that reads the value, and as which input. */
static const struct graph_node *reader(const struct graph *g, int value, int *input)
{
	for (int i = 0; i < g->nnode; i++)
		for (int k = 0; k < g->node[i].nin; k++)
			if (g->node[i].in[k] == value) {
				*input = k;
				return &g->node[i];
			}
	return NULL;
}

/* How many values each sum of a product or convolution has; 0: it is something else. */
static int64_t inputs_of(const struct graph_node *n, const struct shape *s, int input)
{
	if (input != 1)
		return 0;
	if (node_is(n, "Conv") && s->rank > 2)
		return shape_count(s) / (s->dim[0] ? s->dim[0] : 1);
	if (node_is(n, "Gemm") && s->rank == 2)
		return s->dim[node_int(n, "transB", 0) ? 1 : 0];
	if (node_is(n, "MatMul") && s->rank >= 2)
		return s->dim[s->rank - 2];
	return 0;
}

struct random_fill constant_random(const struct graph *g, int value, uint64_t seed)
{
	const struct value *v = g->value[value];
	struct random_fill f = {v->name, seed, -0.1, 0.1};
	int input = 0;
	const struct graph_node *n = reader(g, value, &input);
	int64_t inputs = n ? inputs_of(n, &v->shape, input) : 0;

	if (inputs) {
		f.high = sqrt(6.0 / (double)inputs);
		f.low = -f.high;
	} else if (n && (node_is(n, "Mul") || node_is(n, "Div") ||
			 (node_is(n, "LayerNormalization") && input == 1) ||
			 (node_is(n, "BatchNormalization") && (input == 1 || input == 4)))) {
		f.low = 0.5;
		f.high = 1.5;
	}
	return f;
}

void constant_fill(const struct random_fill *f, float *to, int64_t n)
{
	struct rng r;

	rng_seed(&r, f->seed, f->name);
	for (int64_t i = 0; i < n; i++)
		to[i] = (float)(f->low + (f->high - f->low) * rng_unit(&r));
}

static void fill(void *with, float *to, int64_t n)
{
	constant_fill(with, to, n);
}

static void drop(void *with)
{
	value_drop(with);
}

static int random_memory(struct plan *p, const struct graph *g, int value, uint64_t seed)
{
	struct random_fill *f = arena_new(p->a, struct random_fill);
	int m = plan_const(p, NULL, shape_count(&g->value[value]->shape));

	*f = constant_random(g, value, seed);
	p->memory[m].fill = fill;
	p->memory[m].fill_with = f;
	return m;
}

/* Small ones are kept as doubles or integers. */
static int kept_memory(struct plan *p, const struct value *v)
{
	int64_t n = shape_count(&v->shape);
	float *data = arena_array(p->a, float, n ? n : 1);

	for (int64_t i = 0; i < n; i++)
		data[i] = elem_is_int(v->elem) ? (float)v->kept[i].i : (float)v->kept[i].f;
	return plan_const(p, data, n);
}

int constant_memory(struct plan *p, const struct graph *g, int value, const uint64_t *seed,
		    struct err *e)
{
	struct value *v = g->value[value];
	int m;

	if (seed && constant_is_weights(v))
		return random_memory(p, g, value, *seed);
	if (v->data && v->elem == VALUE_F32) {
		m = plan_const(p, v->data, shape_count(&v->shape));
		p->memory[m].drop = drop;
		p->memory[m].drop_with = v;
		return m;
	}
	if (v->kept)
		return kept_memory(p, v);
	return err_set(e, "the elements of the constant '%s' (%s) are not in the file", v->name,
		       elem_name(v->elem));
}
