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

/* The node, by the function of that name. */
static int lower_by(struct lowering *l, const struct graph_node *n, const char *function,
		    struct err *e)
{
	struct scalar_map *s = arena_new(l->p->a, struct scalar_map);
	struct place operand[SCALAR_INPUTS + 1];
	int order[PLACE_RANK];
	struct place shape;

	s->fn = scalar_find(function, &s->nin);
	s->a = node_is(n, "Mod") ? (float)node_int(n, "fmod", 0) : node_float(n, "alpha", 1);
	if (lower_shape(l, n->out[0], &shape, e))
		return -1;
	for (int i = 0; i < s->nin; i++)
		if (operand_place(l, n, i, &shape, &s->in[i], e))
			return -1;
	s->out = shape;
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

int lower_scalar(struct lowering *l, const struct graph_node *n, struct err *e)
{
	return lower_by(l, n, n->type, e);
}

/* Integers are floats here: to make one of a fraction, it is cut off. Truth is 0 or 1. */
int lower_cast(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct value *from = node_in(l->g, n, 0), *to = node_out(l->g, n, 0);

	if (from && to && to->elem == VALUE_BOOL && from->elem != VALUE_BOOL)
		return lower_by(l, n, "truth", e);
	if (from && to && elem_is_real(from->elem) && elem_is_int(to->elem))
		return lower_by(l, n, "truncate", e);
	return lower_alias(l, n, e);
}
