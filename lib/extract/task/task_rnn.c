/* Recurrent networks as their products: that of the inputs, for all steps at once, and that of the
 * state, for one step after the other; both directions have such products of their own. */
#include "lib/extract/graph/infer.h"
#include "lib/extract/task/task.h"

/* Part 1 and 2 have the shapes of what one direction multiplies, and the reasons of the weights. */
int task_rnn(const struct graph *g, const struct graph_node *n, struct arena *a, struct task *t)
{
	const struct value *x = node_in(g, n, 0), *w = node_in(g, n, 1), *r = node_in(g, n, 2);
	const struct value *const all[] = {x, w, r};
	const int64_t *s = x->shape.dim;
	int swapped = node_int(n, "layout", 0) != 0;
	int64_t steps = s[swapped], batch = s[!swapped], hidden, gates, directions;

	if (!shape_known(&x->shape) || !shape_known(&w->shape) || !shape_known(&r->shape)) {
		t->why = task_unknown_shape(a, all, 3);
		return 1;
	}
	directions = r->shape.dim[0];
	gates = r->shape.dim[1];
	hidden = r->shape.dim[2];
	t[1] = t[0];
	for (int i = 0; i < 2; i++) {
		const struct value *weights = i ? r : w;

		if (i)
			task_set_matmul(&t[i], 1, batch, hidden, gates, weights->is_const);
		else
			task_set_matmul(&t[i], 1, task_times(steps, batch), s[2], gates,
					weights->is_const);
		t[i].part = i + 1;
		t[i].times = i ? task_times(directions, steps) : directions;
		t[i].macs = task_times(t[i].macs, t[i].times);
		t[i].why = task_types(g, n, x, weights, a, &t[i].w.dtype);
		if (!t[i].why && t[i].macs < 0)
			t[i].why = "of absurd size";
		else if (!t[i].why && t[i].macs == 0)
			t[i].why = "a size of 0";
		else if (!t[i].why && t[i].times > TIMES_MOST)
			t[i].why = "more than 100000 steps";
	}
	return 2;
}
