/* Operators that have no steps of their own: why those that inference and unfolding left are
 * refused.
 */
#include <string.h>

#include "lib/extract/graph/infer.h"
#include "lib/run/lower.h"
#include "lib/run/unfold.h"

#define INPUT_TELLS "(--input tells those that follow from inputs of at most one dimension)"

/* Does it make, or change, a sequence of tensors? Those whose items are known are gone
 * (unfold_lists.h). */
static int makes_list(const struct graph_node *n)
{
	return node_is(n, OP_SequenceConstruct) || node_is(n, OP_SequenceEmpty) ||
	       node_is(n, OP_SequenceInsert) || node_is(n, OP_SequenceErase) ||
	       node_is(n, OP_SplitToSequence);
}

/* Do others stand for it where its sizes are known (unfold_tables.h)? */
static int is_by_sizes(const struct graph_node *n)
{
	return node_is(n, OP_DFT) || node_is(n, OP_STFT) || node_is(n, OP_AffineGrid) ||
	       node_is(n, OP_HannWindow) || node_is(n, OP_HammingWindow) ||
	       node_is(n, OP_BlackmanWindow) || node_is(n, OP_TensorScatter);
}

/* Is one of the integers of input i unknown? */
static int is_open_input(const struct graph *g, const struct graph_node *n, int i)
{
	const int64_t *list;
	int count, r = infer_list(g, n, NULL, i, &count, &list);

	for (int k = 0; k < count && r == 1; k++)
		if (list[k] == INT_UNKNOWN)
			r = -1;
	return r < 0;
}

/* Is a size, or an integer that sizes follow from, unknown? */
static int is_open(const struct graph *g, const struct graph_node *n)
{
	const struct value *out = node_out(g, n, 0);

	for (int i = 0; i < n->nin; i++) {
		const struct value *v = node_in(g, n, i);

		if (v && (!shape_known(&v->shape) ||
			  (elem_is_int(v->elem) && !node_is(n, OP_TensorScatter) &&
			   is_open_input(g, n, i))))
			return 1;
	}
	return !out || !shape_known(&out->shape);
}

/* Names the first node that reads or changes a sequence at a place that the sequence lacks. 0:
 * there is none. */
static int refuse_place(const struct lowering *l, struct err *e)
{
	for (int i = 0; i < l->g->nnode; i++) {
		const struct graph_node *n = &l->g->node[i];
		const struct value *list = node_in(l->g, n, 0);
		const int input = node_is(n, OP_SequenceInsert) ? 2 : 1;
		int64_t at, count;

		if ((!node_is(n, OP_SequenceAt) && !node_is(n, OP_SequenceErase) &&
		     !node_is(n, OP_SequenceInsert)) ||
		    !list || !list->sequence || infer_one(l->g, n, input, &at) != 1)
			continue;
		count = list->sequence->n;
		if (at < -count || at >= count + node_is(n, OP_SequenceInsert))
			return lower_bad(l, n, e, "has the place %lld of a sequence of %lld items",
					 (long long)at, (long long)count);
	}
	return 0;
}

static int may_end(const struct graph_node *n)
{
	const struct attr *a = node_is(n, OP_Loop) ? node_attr(n, "body") : NULL;

	return a && a->subgraph && a->subgraph->may_end;
}

int lower_refuse(const struct lowering *l, const struct graph_node *n, struct err *e)
{
	if (may_end(n))
		return lower_bad(l, n, e,
				 "has no condition, but its body makes one that is not known to be "
				 "true, and implementations disagree whether it counts");
	if (n->turns >= UNFOLD_AHEAD)
		return lower_bad(l, n, e,
				 "has more than %d turns whose number follows from what they "
				 "compute",
				 UNFOLD_AHEAD);
	if (node_is_walked(n))
		return lower_bad(
			l, n, e,
			"has a branch or turns that are known only when the model runs " INPUT_TELLS);
	if ((makes_list(n) || node_is(n, OP_SequenceAt)) && refuse_place(l, e))
		return -1;
	if (makes_list(n))
		return lower_bad(l, n, e,
				 "makes a sequence whose items are known only when the model runs, "
				 "or which is an output");
	if (is_by_sizes(n) && is_open(l->g, n))
		return lower_bad(l, n, e,
				 "has sizes that are known only when the model runs " INPUT_TELLS);
	if (n->domain[0] && strcmp(n->domain, "ai.onnx") != 0)
		return lower_bad(l, n, e,
				 "is an operator of %.100s, or a form of one, that tl-run does not "
				 "know",
				 n->domain);
	return lower_bad(l, n, e, "is an operator, or a form of one, that tl-run does not know");
}
