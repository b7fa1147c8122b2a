/* Operators that are one step of plain C over dense operands. */
#include <string.h>

#include "lib/run/lower.h"

int lower_plain(struct lowering *l, const struct graph_node *n, const struct plain *c, int inputs,
		int out, struct err *e)
{
	struct place operand[PLAIN_INPUTS + 1];
	struct place p;

	for (int i = 0; i < inputs; i++) {
		operand[i] = (struct place){.memory = MEMORY_NONE};
		if (!node_in(l->g, n, i))
			continue;
		if (lower_get_dense(l, n->in[i], NULL, &p, e))
			return -1;
		operand[i] = p;
	}
	if (lower_is_counted(n) && !shape_known(&l->g->value[n->out[out]]->shape))
		p = (struct place){.memory = MEMORY_NONE}; /* it is only counted: one element */
	else if (lower_shape(l, n->out[out], &p, e))
		return -1;
	lower_room(l, &p);
	lower_put(l, n->out[out], &p);
	operand[inputs] = p;
	plan_plain(l->p, node_label(l->g, n), n->type, c, operand, inputs + 1);
	return 0;
}
