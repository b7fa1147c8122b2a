/* Element-wise operators by C functions (scalar.h), and those that are sums of others. */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/scalar.h"

static int operand_place(struct lowering *l, const struct graph_node *n, int i,
			 const struct place *shape, struct place *out, struct err *e)
{
	struct place p;

	if (!node_in(l->g, n, i))
		return lower_bad(l, n, e, "lacks an operand");
	if (lower_get(l, n->in[i], &p, e))
		return -1;
	if (place_broadcast(&p, shape->rank, shape->dim, out))
		return lower_bad(l, n, e, "has operands whose shapes do not fit");
	return 0;
}

/* In the order of the first operand that has all the elements. */
static void find_order(const struct scalar_map *s, int order[PLACE_RANK])
{
	for (int i = 0; i < s->out.rank; i++)
		order[i] = i;
	for (int i = 0; i < s->nin; i++)
		if (!place_repeats(&s->in[i])) {
			place_order(&s->in[i], order);
			return;
		}
}

/* Puts the dimensions of a place into the order of memory, so that rows are long. */
static void sorted(struct place *p, const int order[PLACE_RANK])
{
	const struct place from = *p;

	for (int i = 0; i < p->rank; i++) {
		p->dim[i] = from.dim[order[i]];
		p->stride[i] = from.stride[order[i]];
	}
}

/* The step, once the operands are known. */
static int emit(struct lowering *l, const struct graph_node *n, struct scalar_map *s,
		const struct place *shape, struct err *e)
{
	struct place operand[SCALAR_INPUTS + 1];
	int order[PLACE_RANK];

	s->out = *shape;
	find_order(s, order);
	if (lower_new(l, n->out[0], order, &s->out, e))
		return -1;
	lower_put(l, n->out[0], &s->out);
	for (int i = 0; i < s->nin; i++) {
		operand[i] = s->in[i];
		sorted(&s->in[i], order);
	}
	operand[s->nin] = s->out;
	sorted(&s->out, order);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){scalar_run, s, NULL},
		   operand, s->nin + 1)
		->elementwise = s->nin;
	return 0;
}

/* Bits of an unsigned type; 0: it is another one. */
static int unsigned_bits(const struct value *v)
{
	const int elem = v ? v->elem : VALUE_UNKNOWN;

	return elem == VALUE_U8 || elem == VALUE_U16 || elem == VALUE_U32
		       ? 8 * (int)value_elem_size(elem)
		       : 0;
}

/* The parameters of a function, from the attributes of the node. */
static void set_parameters(const struct lowering *l, const struct graph_node *n,
			   struct scalar_map *s)
{
	s->a = node_float(n, "alpha", 1);
	if (node_is(n, OP_Mod)) {
		s->a = (float)node_int(n, "fmod", 0);
	} else if (node_is(n, OP_IsInf)) {
		s->a = (float)(node_int(n, "detect_negative", 1) != 0) +
		       2 * (float)(node_int(n, "detect_positive", 1) != 0);
	} else if (node_is(n, OP_Shrink)) {
		s->a = node_float(n, "lambd", 0.5F);
		s->more[0] = node_float(n, "bias", 0);
	} else if (node_is(n, OP_BitwiseNot) || node_is(n, OP_BitShift)) {
		s->a = (float)unsigned_bits(node_in(l->g, n, 0));
		s->more[0] = !strcmp(node_str(n, "direction", "LEFT"), "RIGHT");
	}
}

/* The step, of operands that are the node's inputs, but for those that it lacks. */
static int emit_inputs(struct lowering *l, const struct graph_node *n, struct scalar_map *s,
		       struct err *e)
{
	struct place shape;
	int from = 0;

	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	for (int i = 0; i < s->nin; i++, from++) {
		while (from < n->nin && !node_in(l->g, n, from))
			from++;
		if (operand_place(l, n, from, &shape, &s->in[i], e))
			return -1;
	}
	return emit(l, n, s, &shape, e);
}

int lower_by(struct lowering *l, const struct graph_node *n, const char *function, double a,
	     struct err *e)
{
	struct scalar_map *s = arena_new(l->p->a, struct scalar_map);

	s->fn = scalar_find(function, &s->nin);
	s->a = (float)a;
	return emit_inputs(l, n, s, e);
}

int lower_scalar(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct scalar_map *s = arena_new(l->p->a, struct scalar_map);

	s->fn = scalar_find(n->type, &s->nin);
	set_parameters(l, n, s);
	return emit_inputs(l, n, s, e);
}

int lower_again(struct lowering *l, const struct graph_node *n, const char *function, double a,
		const char *bad, struct err *e)
{
	struct scalar_map *s = arena_new(l->p->a, struct scalar_map);
	struct place operand[2];
	int order[PLACE_RANK];

	if (lower_get(l, n->out[0], &s->in[0], e))
		return -1;
	s->fn = scalar_find(function, &s->nin);
	s->a = (float)a;
	s->nan_is_bad = bad != NULL;
	place_order(&s->in[0], order);
	place_dense(&s->out, s->in[0].rank, s->in[0].dim, order);
	lower_room(l, &s->out);
	lower_put(l, n->out[0], &s->out);
	operand[0] = s->in[0];
	operand[1] = s->out;
	sorted(&s->in[0], order);
	sorted(&s->out, order);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){scalar_run, s, bad}, operand,
		   2)
		->elementwise = 1;
	return 0;
}

/* Floats that hold two whole numbers also hold their AND, OR and XOR, and NOT unless it makes a
 * large number of a small one. A shift of wide integers would lose bits, so it is refused. */
int lower_bits(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct value *v = node_in(l->g, n, 0);

	if (!v || !elem_is_int(v->elem) ||
	    (value_elem_size(v->elem) > 2 &&
	     (node_is(n, OP_BitShift) || (node_is(n, OP_BitwiseNot) && unsigned_bits(v)))))
		return lower_bad(l, n, e, "computes with the bits of %s, which are not all kept",
				 v ? elem_name(v->elem) : "nothing");
	if (node_is(n, OP_BitShift) && !unsigned_bits(v))
		return lower_bad(l, n, e, "shifts %s", elem_name(v->elem));
	return lower_scalar(l, n, e);
}

/* ---- quantization ---- */

int lower_along_axis(struct lowering *l, const struct graph_node *n, int i, int axis,
		     const struct place *shape, struct place *out, struct err *e)
{
	struct place p;

	if (lower_get(l, n->in[i], &p, e))
		return -1;
	if (place_count(&p) != 1 && (p.rank != 1 || p.dim[0] != shape->dim[axis]))
		return lower_bad(l, n, e, "has scales of blocks, which are not computed here");
	*out = *shape;
	out->memory = p.memory;
	out->at = p.at;
	for (int k = 0; k < shape->rank; k++)
		out->stride[k] = k == axis && place_count(&p) != 1 ? p.stride[0] : 0;
	return 0;
}

static const struct {
	int elem;
	float low, high;
} bounds[] = {{VALUE_U8, 0, 255},	  {VALUE_I8, -128, 127}, {VALUE_U16, 0, 65535},
	      {VALUE_I16, -32768, 32767}, {VALUE_U4, 0, 15},	 {VALUE_I4, -8, 7}};

/* The bounds of the type that is made. */
static int set_bounds(const struct lowering *l, const struct graph_node *n, struct scalar_map *s,
		      struct err *e)
{
	const int elem = node_out(l->g, n, 0)->elem;

	for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
		if (bounds[i].elem == elem) {
			s->a = bounds[i].low;
			s->more[0] = bounds[i].high;
			return 0;
		}
	return lower_bad(l, n, e, "makes %s, which is not computed here", elem_name(elem));
}

static int zero_place(struct lowering *l, const struct place *shape, struct place *out)
{
	*out = *shape;
	out->memory = plan_const(l->p, arena_array(l->p->a, float, 1), 1);
	out->at = 0;
	for (int k = 0; k < shape->rank; k++)
		out->stride[k] = 0;
	return 0;
}

int lower_quantized_axis(const struct lowering *l, const struct graph_node *n, int rank,
			 struct err *e)
{
	int axis = (int)node_int(n, "axis", 1); /* of a vector it says nothing */

	axis = rank > 1 ? infer_axis(axis, rank) : 0;
	return axis < 0 ? lower_bad(l, n, e, "has an axis that is none") : axis;
}

int lower_quantize_plain(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct scalar_map *s = arena_new(l->p->a, struct scalar_map);
	struct place shape;
	int axis;

	s->fn = scalar_find(n->type, &s->nin);
	if (!node_in(l->g, n, 1) || set_bounds(l, n, s, e))
		return node_in(l->g, n, 1) ? -1 : lower_bad(l, n, e, "lacks its scale");
	if (lower_shape(l, n->out[0], &shape, e) || operand_place(l, n, 0, &shape, &s->in[0], e))
		return -1;
	axis = lower_quantized_axis(l, n, shape.rank, e);
	if (axis < 0 || lower_along_axis(l, n, 1, axis, &shape, &s->in[1], e))
		return -1;
	if (node_in(l->g, n, 2) ? lower_along_axis(l, n, 2, axis, &shape, &s->in[2], e)
				: zero_place(l, &shape, &s->in[2]))
		return -1;
	return emit(l, n, s, &shape, e);
}
