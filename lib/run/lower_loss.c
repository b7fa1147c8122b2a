/* Losses (loss.h). */
#include <string.h>

#include "lib/run/lines.h"
#include "lib/run/loss.h"
#include "lib/run/lower.h"

int lower_loss(struct lowering *l, const struct graph_node *n, struct err *e)
{
	static const char *const names[] = {"none", "sum", "mean"};
	const char *name = node_str(n, "reduction", "mean");
	const double param[LINES_PARAMS] = {0};
	unsigned char marked[PLACE_RANK] = {0, 1};
	struct loss *s = arena_new(l->p->a, struct loss);
	const struct value *logarithms = node_out(l->g, n, 1);
	struct place scores;
	int reduction = 0;

	while (reduction < LOSS_REDUCTIONS && strcmp(names[reduction], name) != 0)
		reduction++;
	if (reduction == LOSS_REDUCTIONS)
		return lower_bad(l, n, e, "reduces by \"%s\", which is not known", name);
	if (lower_shape(l, n->in[0], &scores, e))
		return -1;
	if (scores.rank < 2)
		return lower_bad(l, n, e, "has scores without classes");
	*s = (struct loss){.batches = scores.dim[0],
			   .classes = scores.dim[1],
			   .inner = 1,
			   .reduction = (enum loss_reduction)reduction,
			   .is_softmax = node_is(n, OP_SoftmaxCrossEntropyLoss),
			   .ignores = node_attr(n, "ignore_index") != NULL,
			   .ignored = node_int(n, "ignore_index", 0)};
	for (int i = 2; i < scores.rank; i++)
		s->inner *= scores.dim[i];
	if (!node_in(l->g, n, 1) ||
	    shape_count(&node_in(l->g, n, 1)->shape) != s->batches * s->inner ||
	    (node_in(l->g, n, 2) && shape_count(&node_in(l->g, n, 2)->shape) != s->classes))
		return lower_bad(l, n, e, "has labels or weights that do not fit its scores");
	if (value_is_read(logarithms) && lower_lines(l, n, "LogSoftmax", marked, param, 1, e))
		return -1;
	return lower_plain(l, n, &(struct plain){loss_run, s, "a label is none of the classes"}, 3,
			   0, e);
}
