/* Scan: a body runs once for each item of its lists. */
#include "lib/extract/graph/infer_body.h"

/* Axis i of a list, 0 where it is not given. */
static int axis_at(const struct graph_node *n, const char *name, int i, int rank)
{
	const struct attr *a = node_attr(n, name);

	return a && i < a->nints ? infer_axis(a->ints[i], rank) : rank > 0 ? 0 : -1;
}

/* Before opset 9 the batch is a dimension before the others, and input 0 has lengths. */
struct scan {
	int old, states, scans;
	int64_t batch, steps;
};

static int scan_inputs(struct infer *x, const struct graph_node *n, struct graph *sub,
		       struct scan *c, struct err *e)
{
	for (int i = 0; i < c->states + c->scans; i++) {
		struct value *to = body_end(sub, &sub->inputs, i);
		const struct value *from = node_in(x->g, n, i + c->old);
		int axis;

		if (!to || !from)
			return infer_lacks(x, n, e);
		body_begin(to, from, 0);
		if (c->old && to->shape.rank > 0) {
			c->batch = to->shape.dim[0];
			shape_drop(&to->shape, 0);
		}
		if (i < c->states || to->shape.rank < 0)
			continue;
		axis = c->old ? 0 : axis_at(n, "scan_input_axes", i - c->states, to->shape.rank);
		if (axis < 0 || !to->shape.rank)
			return infer_bad(x, n, e, "scans a dimension that is not there");
		c->steps = to->shape.dim[axis];
		shape_drop(&to->shape, axis);
	}
	return 0;
}

static int scan_outputs(struct infer *x, const struct graph_node *n, struct graph *sub,
			const struct scan *c, struct err *e)
{
	for (int i = 0; i < n->nout; i++) {
		const struct value *from = body_end(sub, &sub->outputs, i);
		struct value *to = node_out(x->g, n, i);
		struct shape s;
		int axis;

		if (!to || !from)
			continue;
		to->elem = from->elem;
		if (from->shape.rank < 0 || from->shape.rank + 2 > GRAPH_MAX_RANK)
			continue;
		s = from->shape;
		if (i >= c->states) {
			axis = c->old ? 0
				      : axis_at(n, "scan_output_axes", i - c->states, s.rank + 1);
			if (axis < 0)
				return infer_bad(x, n, e, "stacks a dimension that is not there");
			shape_insert(&s, axis, c->steps);
		}
		if (c->old)
			shape_insert(&s, 0, c->batch);
		if (infer_set(x, n, i, &s, e))
			return -1;
	}
	return 0;
}

INFER(scan)
{
	struct graph *sub = body_graph(n, "body");
	int64_t scans = node_int(n, "num_scan_inputs", 0);
	struct scan c = {.old = x->opset < 9, .batch = 1, .steps = DIM_UNKNOWN};
	int r;

	if (!sub)
		return infer_bad(x, n, e, "lacks a body");
	if (scans < 1 || scans > n->nin - c.old)
		return infer_bad(x, n, e, "has a number of inputs that makes no sense");
	c.scans = (int)scans;
	c.states = n->nin - c.old - c.scans;
	if (scan_inputs(x, n, sub, &c, e))
		return -1;
	r = body_walk_any_turn(x, sub, 0, c.states, e);
	if (r <= 0)
		return r;
	sub->is_once = c.steps < 0 || c.batch < 0 || c.steps > TIMES_MOST || c.batch > TIMES_MOST ||
		       c.steps * c.batch > TIMES_MOST;
	sub->times = sub->is_once ? 1 : c.steps * c.batch;
	sub->is_dead = !sub->times;
	return scan_outputs(x, n, sub, &c, e);
}
