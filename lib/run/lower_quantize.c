/* QuantizeLinear and DequantizeLinear become expressions of elements, which read and write memory
 * of 8 bits. So a chain of reals between two quantized values is one nest, and nothing lies in
 * single precision between them. What dequantizes is so cheap that each reader does it anew, from a
 * quarter of the memory. A maximum is taken of the whole numbers, and what is quantized again by
 * the units that it had stays as it is.
 */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/rescale.h"
#include "lib/run/table.h"

/* 1.5 * 2^23: a sum with it has no bits behind the point, for numbers below 2^22. Larger ones stay
 * large. */
static const double rounder = 12582912;

enum elem lower_bytes(int elem)
{
	return elem == VALUE_U8 ? ELEM_U8 : elem == VALUE_I8 ? ELEM_S8 : ELEM_F32;
}

/* Makes input i, the scale or the zero point, an operand of m. Returns the number of the operation
 * that reads it; -1. */
static int unit(struct lowering *l, const struct graph_node *n, struct pointwise *m, int i,
		struct err *e)
{
	struct place p;
	double x;
	int axis;

	if (lower_number(l, n->in[i], &x))
		return pointwise_const(m, x);
	axis = lower_quantized_axis(l, n, m->out.rank, e);
	if (axis < 0 || lower_along_axis(l, n, i, axis, &m->out, &p, e))
		return -1;
	return pointwise_input(m, &p);
}

/* Begins an expression that reads the node's first input, by operation *x. NULL: an error. */
static struct pointwise *begin(struct lowering *l, const struct graph_node *n, int *x,
			       struct err *e)
{
	struct pointwise *m = arena_new(l->p->a, struct pointwise);

	if (lower_shape(l, n->out[0], &m->out, e))
		return NULL;
	*x = lower_operand(l, m, n->in[0], 2, 8, e);
	return *x < 0 ? NULL : m;
}

const struct pointwise *lower_dequantized(const struct lowering *l, int value)
{
	const struct pointwise *m = l->waiting[value];

	return m && m->units.is ? m : NULL;
}

void lower_put_dequantized(struct lowering *l, int value, const struct pointwise *like,
			   const struct place *from)
{
	struct pointwise *m = arena_new(l->p->a, struct pointwise);

	*m = *like;
	m->in[0] = m->out = *from;
	m->out.memory = MEMORY_NONE;
	m->out.elem = ELEM_F32;
	l->waiting[value] = m;
}

/* Makes (x - zero) * scale. */
static int dequantize(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int has_zero = node_in(l->g, n, 2) != NULL;
	struct units u = {.is = 1};
	struct pointwise *m;
	int x, y;

	m = begin(l, n, &x, e);
	if (!m)
		return -1;
	/* By such a scale reals keep all numbers apart. */
	u.is = m->nin == 1 && m->nop == 1 && elem_size(m->in[0].elem) == 1 &&
	       lower_number(l, n->in[1], &u.scale) && u.scale > 1e-30 && u.scale < 1e30 &&
	       (!has_zero || lower_number(l, n->in[2], &u.zero));
	if (has_zero) {
		y = unit(l, n, m, 2, e);
		if (y < 0)
			return -1;
		x = pointwise_op(m, PW_SUB, x, y);
	}
	y = unit(l, n, m, 1, e);
	if (y < 0)
		return -1;
	pointwise_op(m, PW_MUL, x, y);
	m->units = u;
	l->waiting[n->out[0]] = m;
	return 0;
}

/* Is the input a value that was quantized by the same units? Then the output is that. */
static int is_undone(struct lowering *l, const struct graph_node *n, enum elem elem)
{
	const struct pointwise *m = lower_dequantized(l, n->in[0]);
	double scale, zero = 0;

	if (!m || m->in[0].elem != elem || !lower_number(l, n->in[1], &scale) ||
	    scale != m->units.scale || (node_in(l->g, n, 2) && !lower_number(l, n->in[2], &zero)) ||
	    zero != m->units.zero || !place_same_shape(&m->in[0], &m->out))
		return 0;
	lower_put(l, n->out[0], &m->in[0]);
	return 1;
}

/* The operand whose order the output takes: the first that has all the elements, but among rows one
 * that lies row by row goes before. The number of operands: none has all the elements. */
static int leader_of(const struct pointwise *m)
{
	enum { IMAGE = 4 };
	int first = m->nin;

	for (int i = m->nin; i-- > 0;)
		if (!place_repeats(&m->in[i]))
			first = i;
	for (int i = first; i < m->nin && m->out.rank < IMAGE; i++)
		if (!place_repeats(&m->in[i]) && place_is_dense(&m->in[i], NULL))
			return i;
	return first;
}

/* Chooses where the output goes. */
static void find_room(struct lowering *l, struct pointwise *m, int value, enum elem elem)
{
	const struct place *want = &l->want[value];
	const int leader = leader_of(m);
	int order[PLACE_RANK];

	if (want->memory >= 0 && want->elem == elem) {
		m->out = *want;
		return;
	}
	if (leader < m->nin)
		place_order(&m->in[leader], order);
	place_dense(&m->out, m->out.rank, m->out.dim, leader < m->nin ? order : NULL);
	lower_room_as(l, &m->out, elem);
}

/* Computes an expression whose result has 8 bits: by a table, or by multiply-adds where these are
 * quicker. */
static int compute(struct lowering *l, struct pointwise *m, const char *name, const char *what,
		   struct err *e)
{
	const int is_wide = table_is_wide(l->lanes);
	int rc;

	if (!is_wide)
		rescale_find(m);
	rc = m->sum.is ? 0 : lower_table(l, m, name, what, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (is_wide)
		rescale_find(m);
	return lower_pointwise(l, m, name, what, e);
}

/* Makes round(x / scale) + zero; the store cuts off what the type does not have. */
static int quantize(struct lowering *l, const struct graph_node *n, enum elem elem, struct err *e)
{
	struct pointwise *m;
	double zero = 0;
	int x, y;

	if (is_undone(l, n, elem))
		return 0;
	m = begin(l, n, &x, e);
	y = m ? unit(l, n, m, 1, e) : -1;
	if (y < 0)
		return -1;
	x = pointwise_op(m, PW_DIV, x, y);
	x = pointwise_op(m, PW_ADD, x, pointwise_const(m, rounder));
	if (!node_in(l->g, n, 2) || lower_number(l, n->in[2], &zero)) {
		pointwise_op(m, PW_ADD, x, pointwise_const(m, zero - rounder));
	} else {
		x = pointwise_op(m, PW_SUB, x, pointwise_const(m, rounder));
		y = unit(l, n, m, 2, e);
		if (y < 0)
			return -1;
		pointwise_op(m, PW_ADD, x, y);
	}
	find_room(l, m, n->out[0], elem);
	lower_put(l, n->out[0], &m->out);
	return compute(l, m, node_label(l->g, n), n->type, e);
}

int lower_quantize(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct value *out = node_out(l->g, n, 0);
	const enum elem elem = lower_bytes(out->elem);

	if (!node_in(l->g, n, 0) || !node_in(l->g, n, 1))
		return lower_bad(l, n, e, "lacks its %s",
				 node_in(l->g, n, 0) ? "scale" : "operand");
	if (node_is(n, OP_DequantizeLinear))
		return node_int(n, "block_size", 0) ? lower_dequantize_blocks(l, n, e)
						    : dequantize(l, n, e);
	return elem == ELEM_F32 ? lower_quantize_plain(l, n, e) : quantize(l, n, elem, e);
}
