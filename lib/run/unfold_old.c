#include "lib/run/unfold_old.h"

#include "lib/extract/graph/formula.h"
#include "lib/extract/graph/infer.h"

/* Returns the dimension of the first operand beside which the first one of the second stands, if
 * the last dimensions of both do not stand beside each other; else -1. */
static int beside(const struct graph *g, const struct graph_node *n)
{
	const struct value *a = node_in(g, n, 0), *b = node_in(g, n, 1);
	int axis;

	if (!a || !b || !shape_known(&a->shape) || !shape_known(&b->shape) || b->shape.rank < 1)
		return -1;
	if (node_is(n, OP_PRelu))
		axis = b->shape.rank == 1 && b->shape.dim[0] > 1 && a->shape.rank > 2 ? 1 : -1;
	else
		axis = node_int(n, "broadcast", 0) && node_attr(n, "axis")
			       ? infer_axis(node_int(n, "axis", 0), a->shape.rank)
			       : -1;
	return axis >= 0 && axis + b->shape.rank < a->shape.rank ? axis : -1;
}

int unfold_has_old(const struct graph *g, const struct graph_node *n, int64_t opset)
{
	return opset < 7 && beside(g, n) >= 0;
}

void unfold_old(struct build *b, const struct graph_node *n)
{
	const struct shape *from = &node_in(b->g, n, 0)->shape, *s = &node_in(b->g, n, 1)->shape;
	const int axis = beside(b->g, n);
	int64_t dim[GRAPH_MAX_RANK];

	for (int i = 0; i < from->rank - axis; i++)
		dim[i] = i < s->rank ? s->dim[i] : 1;
	formula_of_node(b, n, "beside = Reshape(1 @%d); $0 = %s(0 beside)",
			build_integers(b, dim, from->rank - axis), n->type);
	build_last(b)->name = n->name;
}
