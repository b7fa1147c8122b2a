#include "lib/run/constants.h"

#include <float.h>
#include <math.h>

#include "lib/base/rng.h"
#include "lib/extract/graph/element.h"

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

/* Does a node read this input as parameters that training found? */
static int reads_parameters(const struct graph_node *n, int input)
{
	static const enum node_op op[] = {OP_Conv,
					  OP_ConvTranspose,
					  OP_Gemm,
					  OP_MatMul,
					  OP_BatchNormalization,
					  OP_LayerNormalization,
					  OP_InstanceNormalization};

	for (size_t i = 0; input > 0 && i < sizeof op / sizeof *op; i++)
		if (node_is(n, op[i]))
			return 1;
	return 0;
}

/* Are they bytes of packed weights, or of their zero points? */
static int is_packed(const struct graph *g, int value)
{
	const struct value *v = g->value[value];
	int input = 0;
	const struct graph_node *n = v->elem == VALUE_U8 ? reader(g, value, &input) : NULL;

	return n && node_is(n, OP_DequantizePacked);
}

int constant_is_weights(const struct graph *g, int value)
{
	const struct value *v = g->value[value];
	const struct graph_node *n;
	int input = 0;

	if (!v->is_const || v->is_fixed || !shape_known(&v->shape) || v->shape.rank == 0 ||
	    shape_count(&v->shape) <= 1)
		return 0;
	if (!elem_is_real(v->elem))
		return v->producer < 0 && is_packed(g, value);
	if (v->producer < 0)
		return 1;
	n = reader(g, value, &input);
	return n && node_is(&g->node[v->producer], OP_ConstantOfShape) &&
	       reads_parameters(n, input);
}

/* How many values each sum of a product or convolution has; 0: it is something else. */
static int64_t inputs_of(const struct graph_node *n, const struct shape *s, int input)
{
	if (input != 1)
		return 0;
	if (node_is(n, OP_Conv) && s->rank > 2)
		return shape_count(s) / (s->dim[0] ? s->dim[0] : 1);
	if (node_is(n, OP_Gemm) && s->rank == 2)
		return s->dim[node_int(n, "transB", 0) ? 1 : 0];
	if (node_is(n, OP_MatMul) && s->rank >= 2)
		return s->dim[s->rank - 2];
	return 0;
}

/* Bytes of any bits, and scales by which the numbers are as large as weights of a product. */
static void fill_packed(const struct graph_node *n, const struct value *v, struct random_fill *f)
{
	const int64_t rows = node_int(n, "K", 1), bits = node_int(n, "bits", 4);

	f->is_whole = elem_is_int(v->elem);
	f->low = 0;
	f->high = 256;
	if (f->is_whole)
		return;
	f->high = ldexp(sqrt(6.0 / (double)(rows > 0 ? rows : 1)), 1 - (int)(bits & 15));
	f->low = f->high / 2;
}

struct random_fill constant_random(const struct graph *g, int value, uint64_t seed)
{
	const struct value *v = g->value[value];
	struct random_fill f = {v->name, seed, -0.1, 0.1};
	int input = 0;
	const struct graph_node *n = reader(g, value, &input);
	int64_t inputs = n ? inputs_of(n, &v->shape, input) : 0;

	if (n && node_is(n, OP_DequantizePacked)) {
		fill_packed(n, v, &f);
	} else if (inputs) {
		f.high = sqrt(6.0 / (double)inputs);
		f.low = -f.high;
	} else if (n && (node_is(n, OP_Mul) || node_is(n, OP_Div) ||
			 (node_is(n, OP_LayerNormalization) && input == 1) ||
			 (node_is(n, OP_BatchNormalization) && (input == 1 || input == 4)))) {
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
	for (int64_t i = 0; f->is_whole && i < n; i++)
		to[i] = floorf(to[i]);
}

static void fill_random(void *with, float *to, int64_t n)
{
	constant_fill(with, to, n);
}

static int random_memory(struct plan *p, const struct graph *g, int value, uint64_t seed)
{
	struct random_fill *f = arena_new(p->a, struct random_fill);

	*f = constant_random(g, value, seed);
	return plan_filled(p, fill_random, f, shape_count(&g->value[value]->shape));
}

/* ---- what the file says ---- */

static int is_unknown(int elem, union scalar v)
{
	return elem_is_real(elem) ? isnan(v.f) : v.i == INT_UNKNOWN;
}

/* Does a node make what its attributes say, and nothing else? */
static int is_constant_node(const struct graph_node *n)
{
	return node_is(n, OP_Constant) || node_is(n, OP_ConstantOfShape);
}

static int reads_drawn(const struct graph *g, const struct graph_node *n)
{
	for (int i = 0; i < n->nin; i++) {
		const struct value *v = node_in(g, n, i);

		if (v && (v->is_drawn || constant_is_weights(g, n->in[i])))
			return 1;
	}
	return 0;
}

void constants_draw(const struct graph *g)
{
	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[g->order[i]];
		const int is_drawn = reads_drawn(g, n);

		for (int k = 0; is_drawn && k < n->nout; k++) {
			struct value *v = node_out(g, n, k);

			if (v)
				v->is_drawn = elem_is_real(v->elem) && !(v->told && v->told->kept);
		}
	}
}

int constant_is_kept(const struct graph *g, const struct value *v)
{
	if (!v->kept || v->is_drawn || !shape_known(&v->shape))
		return 0;
	if (v->producer < 0 || is_constant_node(&g->node[v->producer]))
		return 1;
	/* A number that inference does not know is computed. */
	for (int64_t i = 0; i < shape_count(&v->shape); i++)
		if (is_unknown(v->elem, v->kept[i]))
			return 0;
	return 1;
}

/* The elements as the file has them, of a node that makes nothing but them. */
static const struct value *with_elements(const struct graph *g, const struct value *v)
{
	const struct graph_node *n = v->producer >= 0 ? &g->node[v->producer] : NULL;
	const struct attr *a = n && node_is(n, OP_Constant) ? node_attr(n, "value") : NULL;

	return v->kept || v->data || !a || !a->tensor ? v : a->tensor;
}

/* The value of which a node makes another shape, order or type; -1: it does more. */
static int made_of(const struct graph *g, const struct value *v)
{
	static const enum node_op op[] = {OP_Cast,    OP_CastLike, OP_Flatten,	 OP_Identity,
					  OP_Reshape, OP_Squeeze,  OP_Transpose, OP_Unsqueeze};
	const struct graph_node *n = v->producer >= 0 ? &g->node[v->producer] : NULL;

	for (size_t i = 0; n && i < sizeof op / sizeof *op; i++)
		if (node_is(n, op[i]))
			return n->in[0];
	return -1;
}

int constant_is_finite(const struct graph *g, int value, const uint64_t *seed)
{
	const struct value *v = with_elements(g, g->value[value]);
	const int from = made_of(g, g->value[value]);

	if (seed && constant_is_weights(g, value))
		return 1;
	if (from >= 0)
		return constant_is_finite(g, from, seed);
	if (!shape_known(&v->shape) || (!v->kept && !v->data))
		return 0;
	for (int64_t i = 0; i < shape_count(&v->shape); i++) {
		const union scalar x = v->kept ? v->kept[i] : element_at(v->elem, v->data, i);

		if (!(fabs(element_number(v->elem, x)) <= (double)FLT_MAX))
			return 0;
	}
	return 1;
}

/* Does the node make a real of its input i in single precision, which rounds in any case, or add it
 * to sums as the whole number that it is (constant_whole())? */
static int makes_real(const struct graph *g, const struct graph_node *n, int i)
{
	enum { BIAS = 8 };

	if (node_is(n, OP_DequantizeLinear))
		return i == 0;
	if (node_is(n, OP_Cast)) {
		const int to = g->value[n->out[0]]->elem;

		return elem_is_real(to) && to != VALUE_F64;
	}
	return node_is(n, OP_QLinearConv) && i == BIAS;
}

/* Do all that read the value make reals of it? */
static int is_for_reals(const struct graph *g, int value)
{
	for (int i = 0; i < g->outputs.n; i++)
		if (g->outputs.at[i] == value)
			return 0;
	for (int i = 0; i < g->nnode; i++)
		for (int k = 0; k < g->node[i].ndeps; k++)
			if (g->node[i].in[k] == value && !makes_real(g, &g->node[i], k))
				return 0;
	return 1;
}

/* Does the element stand for the least integer of 64 bits, which a float holds? That one itself
 * means "unknown". */
static int is_least(const struct value *v, int64_t element)
{
	return v->kept && v->elem == VALUE_I64 && element == -INT64_MAX;
}

/* The first whole number of a constant that a float does not hold, about; 0: it holds all. */
static double find_cut(const struct value *v)
{
	const int64_t n = shape_count(&v->shape);

	if (!elem_is_int(v->elem) || (!v->kept && (!v->data || value_elem_size(v->elem) < 4)))
		return 0;
	for (int64_t i = 0; i < n; i++) {
		const union scalar x = v->kept ? v->kept[i] : element_at(v->elem, v->data, i);

		if (element_is_cut(v->elem, x) && !is_least(v, x.i))
			return element_number(v->elem, x);
	}
	return 0;
}

/* A step computes with floats. Those of a quantized bias, in the units of small scales, are often
 * large. */
static int check_whole(const struct graph *g, int value, struct err *e)
{
	const double cut = find_cut(g->value[value]);

	if (cut == 0 || is_for_reals(g, value))
		return 0;
	return err_set(
		e,
		"the constant '%s' has about %.0f, and tl-run holds no whole number beyond 2^24 "
		"that a float does not hold",
		g->value[value]->name, cut);
}

/* Small ones are kept as doubles or integers. */
static int kept_memory(struct plan *p, const struct value *v)
{
	int64_t n = shape_count(&v->shape);
	float *data = arena_array(p->a, float, n ? n : 1);

	for (int64_t i = 0; i < n; i++)
		data[i] = (float)element_number(v->elem, v->kept[i]);
	return plan_const(p, data, n);
}

static void drop(void *with)
{
	value_drop(with);
}

/* Elements of another type are made floats when they are needed, and not before. */
static void fill_floats(void *with, float *to, int64_t n)
{
	struct value *v = with;

	element_floats(v->elem, v->data, n, to);
	value_drop(v);
}

/* Several values may have the elements of one: calls of a function share its constants. */
static int data_memory(struct plan *p, struct value *v)
{
	int64_t n = shape_count(&v->shape);
	int m;

	for (m = 0; m < p->nmemory; m++)
		if (p->memory[m].elem == ELEM_F32 &&
		    (p->memory[m].drop_with == v || p->memory[m].fill_with == v))
			return m;
	if (v->elem != VALUE_F32)
		return plan_filled(p, fill_floats, v, n);
	m = plan_const(p, v->data, n);
	p->memory[m].drop = drop;
	p->memory[m].drop_with = v;
	return m;
}

static void fill_same(void *with, float *to, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = *(const float *)with;
}

/* A ConstantOfShape that is too large to be kept. */
static int same_memory(struct plan *p, const struct graph_node *n, int64_t count)
{
	const struct attr *a = node_attr(n, "value");
	float *x = arena_new(p->a, float);

	if (a && a->tensor && !a->tensor->kept)
		return -1;
	if (a && a->tensor)
		*x = (float)element_number(a->tensor->elem, a->tensor->kept[0]);
	return plan_filled(p, fill_same, x, count);
}

/* The list of a Constant. */
static int list_memory(struct plan *p, const struct graph_node *n)
{
	const struct attr *floats = node_attr(n, "value_floats");
	const struct attr *ints = node_attr(n, "value_ints");
	float *data;

	if (floats)
		return plan_const(p, floats->floats, floats->nfloats);
	if (!ints)
		return -1;
	data = arena_array(p->a, float, ints->nints);
	for (int i = 0; i < ints->nints; i++)
		data[i] = (float)ints->ints[i];
	return plan_const(p, data, ints->nints);
}

/* What a node makes of nothing but its attributes. -1: it is another one, or a sparse tensor. */
static int made_memory(struct plan *p, const struct graph_node *n, const struct value *v)
{
	const struct attr *a;

	if (node_is(n, OP_ConstantOfShape))
		return same_memory(p, n, shape_count(&v->shape));
	if (!node_is(n, OP_Constant))
		return -1;
	a = node_attr(n, "value");
	if (!a || !a->tensor)
		return list_memory(p, n);
	return a->tensor->data ? data_memory(p, a->tensor) : -1;
}

int constant_memory(struct plan *p, const struct graph *g, int value, const uint64_t *seed,
		    struct err *e)
{
	struct value *v = g->value[value];
	const struct graph_node *n = v->producer >= 0 ? &g->node[v->producer] : NULL;
	int m;

	if (seed && constant_is_weights(g, value))
		return random_memory(p, g, value, *seed);
	if (check_whole(g, value, e))
		return -1;
	if (constant_is_kept(g, v))
		return kept_memory(p, v);
	m = n ? made_memory(p, n, v) : v->data ? data_memory(p, v) : -1;
	if (m >= 0)
		return m;
	if (n && !is_constant_node(n))
		return err_set(e, "tl-run does not compute '%s', an output of the node %s (%s)",
			       v->name, node_label(g, n), n->type);
	if (!value_elems_size(v->elem, 1))
		return err_set(e, "tl-run does not read the type of the constant '%s' (%s)",
			       v->name, elem_name(v->elem));
	return err_set(e, "the elements of the constant '%s' (%s) are not in the file", v->name,
		       elem_name(v->elem));
}

int constant_whole(struct plan *p, const struct graph *g, int value)
{
	const struct value *v = with_elements(g, g->value[value]);
	const int64_t n = shape_known(&v->shape) ? shape_count(&v->shape) : 0;
	float *data;
	int m;

	if (v->elem != VALUE_I32 || !n || (!v->data && !constant_is_kept(g, v)))
		return MEMORY_NONE;
	for (m = 0; m < p->nmemory; m++)
		if (p->memory[m].drop_with == v && p->memory[m].elem == ELEM_S32)
			return m;
	data = arena_array(p->a, float, n);
	for (int64_t i = 0; i < n; i++) {
		const union scalar x = v->data ? element_at(v->elem, v->data, i) : v->kept[i];

		elem_write(ELEM_S32, data, i, (double)x.i);
	}
	m = plan_const(p, data, n);
	p->memory[m].elem = ELEM_S32;
	p->memory[m].drop_with = (void *)v;
	return m;
}
