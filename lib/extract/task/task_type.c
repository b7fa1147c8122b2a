/* Element types of tasks, however a model says that it computes in 8 bits (task.h). */
#include "lib/extract/task/task.h"

#include <string.h>

static int type_of(int elem, enum dtype *type)
{
	static const struct {
		int elem;
		enum dtype type;
	} types[] = {{VALUE_F32, DTYPE_F32}, {VALUE_F16, DTYPE_F16}, {VALUE_BF16, DTYPE_BF16},
		     {VALUE_I8, DTYPE_S8},   {VALUE_U8, DTYPE_U8},   {VALUE_I32, DTYPE_S32},
		     {VALUE_U4, DTYPE_U4},   {VALUE_I4, DTYPE_S4}};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].elem == elem) {
			*type = types[i].type;
			return 1;
		}
	return 0;
}

/* Finds what a value is in memory: where it is a float in form only, what was dequantized. */
static const struct value *stored(const struct graph *g, const struct value *v)
{
	while (v->quantized && elem_is_real(v->elem) && v->producer >= 0) {
		const struct graph_node *n = &g->node[v->producer];
		const struct value *in = node_in(g, n, 0);

		if (!in || node_is(n, OP_DequantizeLinear))
			return in ? in : v;
		v = in; /* it was only moved since */
	}
	return v;
}

/* The type that an operator makes: where it tells a zero point, of that. */
static int elem_made(const struct graph *g, const struct graph_node *n, const struct value *data,
		     const struct value *out)
{
	const struct value *zero = node_is(n, OP_QLinearConv) || node_is(n, OP_QLinearMatMul)
					   ? node_in(g, n, 7)
					   : NULL;

	if (zero)
		return zero->elem;
	if (node_is(n, OP_ConvInteger) || node_is(n, OP_MatMulInteger))
		return VALUE_I32;
	return out ? out->elem : data->elem; /* a recurrent network may make its last state alone */
}

const char *task_types(const struct graph *g, const struct graph_node *n, const struct value *data,
		       const struct value *weights, struct arena *a, struct dtypes *types)
{
	const int wei = stored(g, weights)->elem;
	/* What was dequantized for a product with reals is a real. */
	const int elem[] = {elem_is_int(wei) ? stored(g, data)->elem : data->elem, wei,
			    elem_made(g, n, data, node_out(g, n, 0))};
	enum dtype *const type[] = {&types->src, &types->wei, &types->dst};

	for (int i = 0; i < 3; i++)
		if (!type_of(elem[i], type[i]))
			return arena_printf(a, "%s, no element type of workloads",
					    elem_name(elem[i]));
	return dtypes_check(types);
}

int task_is_int(const struct task *t)
{
	return dtype_is_int(t->w.dtype.src);
}

/* What makes the result of whole numbers that of other types: QuantizeLinear behind an operator on
 * dequantized values, and Cast behind one that sums up in 32 bits. */
int task_take_type(const struct graph *g, const struct graph_node *n, struct task *t)
{
	const struct value *out = node_out(g, n, 0);
	struct dtypes types = t->w.dtype;

	if (!task_is_int(t) || !out || !type_of(out->elem, &types.dst))
		return 0;
	if (node_is(n, OP_QuantizeLinear) ? dtype_is_int(t->w.dtype.dst)
					  : !node_is(n, OP_Cast) || t->w.dtype.dst != DTYPE_S32)
		return 0;
	if (node_is(n, OP_QuantizeLinear) && !task_can_quantize(g, n, t))
		return 0;
	if (node_is(n, OP_Cast) && dtype_is_int(types.dst))
		return 0;
	t->w.dtype = types;
	return 1;
}

/* DequantizeLinear of what one task alone reads is part of that task. */
void task_take_dequantizers(const struct graph *g, const struct task *t, int inputs,
			    unsigned char *absorbed)
{
	const struct graph_node *n = &g->node[t->node];

	for (int i = 0; i < n->nin && i < inputs; i++) {
		const struct value *v = node_in(g, n, i);

		if (v && v->uses == 1 && !v->is_output && v->producer >= 0 &&
		    node_is(&g->node[v->producer], OP_DequantizeLinear))
			absorbed[v->producer] = 1;
	}
}
