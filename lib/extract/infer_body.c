/* Operators with graphs inside: If, Loop, Scan, and TensorFlow's While. Their graphs are walked in
 * place, with the values that they read from around them; graph.times says how often they run.
 *
 * Of an If whose condition is not known both branches are walked, and what they agree on is known
 * of its outputs; which of them counts is decided where multiply-adds are known. A Loop that may
 * end at any time, or whose number of turns is not known, counts as one turn.
 *
 * Loops and branches of other formats have no rule here: their readers tell how often a graph runs
 * and the shapes of what it begins with.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/infer.h"

enum {
	WALK_MOST = 1 << 22,  /* nodes and values of such graphs, each time that they are walked */
	TURNS_FOLLOWED = 256, /* of a Loop, one after the other */
	NODES_FOLLOWED = 65536, /* in all of them */
};

static void copy_known(struct value *to, const struct value *from)
{
	to->shape = from->shape;
	to->elem = from->elem;
	to->kept = from->kept;
	to->sequence = from->sequence;
	to->quantized = from->quantized;
	to->blame = from->blame;
}

/* Forgets what an earlier walk found. */
static void forget(struct graph *sub)
{
	for (int i = 0; i < sub->nvalue; i++) {
		struct value *v = sub->value[i];

		if (v->producer < 0)
			continue;
		v->shape.rank = RANK_UNKNOWN;
		v->elem = VALUE_UNKNOWN;
		v->kept = NULL;
		v->sequence = NULL;
		v->blame = NULL;
		v->is_const = v->quantized = 0;
	}
}

/* Infers the graph, whose inputs are set. 1: done; 0: there was too much of it already; -1. */
static int walk(struct infer *x, struct graph *sub, struct err *e)
{
	struct graph *outer = x->g;
	int r = 0;

	if (x->walked > WALK_MOST) {
		sub->times = 0; /* what an earlier walk found may not fit its inputs any more */
		sub->is_dead = 0;
		return 0;
	}
	x->walked += 1 + sub->nnode + sub->nvalue;
	forget(sub);
	for (int i = 0; i < sub->nvalue; i++) {
		struct value *v = sub->value[i];
		const struct value *from = v->is_captured ? graph_find(outer, v->name) : NULL;

		if (from) {
			copy_known(v, from);
			v->is_const = from->is_const;
		}
	}
	x->g = sub;
	for (int i = 0; i < sub->nnode && !r; i++)
		r = infer_node(x, &sub->node[sub->order[i]], e);
	x->g = outer;
	return r ? -1 : 1;
}

/* What the reader told of a body: how often it runs, and the shapes of its beginning. */
int infer_told_bodies(struct infer *x, const struct graph_node *n, struct err *e)
{
	for (int i = 0; i < n->nattr; i++) {
		struct graph *sub = n->attr[i].subgraph;
		int r;

		for (int k = 0; sub && k < sub->nvalue; k++) {
			struct value *v = sub->value[k];

			if (!v->is_input)
				continue;
			v->shape = v->declared->shape;
			v->elem = v->declared->elem;
			v->blame = n->type;
		}
		r = sub ? walk(x, sub, e) : 1;
		if (r < 0)
			return -1;
		if (!r)
			sub->times = 0;
	}
	return 0;
}

static struct graph *graph_of(const struct graph_node *n, const char *name)
{
	const struct attr *a = node_attr(n, name);

	return a ? a->subgraph : NULL;
}

static struct value *end_of(const struct graph *sub, const struct ends *list, int i)
{
	return i < list->n ? sub->value[list->at[i]] : NULL;
}

/* What both shapes agree on. */
static void agree(struct shape *s, const struct shape *other)
{
	if (s->rank != other->rank)
		s->rank = RANK_UNKNOWN;
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] != other->dim[i])
			s->dim[i] = DIM_UNKNOWN;
}

/* The truth of a condition; -1: it is not known. */
static int truth(const struct value *v)
{
	if (!v || !v->kept || !shape_known(&v->shape) || shape_count(&v->shape) != 1 ||
	    !elem_is_int(v->elem) || v->kept[0].i == INT_UNKNOWN)
		return -1;
	return v->kept[0].i != 0;
}

int infer_if(struct infer *x, const struct graph_node *n, struct err *e)
{
	struct graph *branch[] = {graph_of(n, "else_branch"), graph_of(n, "then_branch")};
	int taken = truth(node_in(x->g, n, 0));

	if (!branch[0] || !branch[1])
		return infer_bad(x, n, e, "lacks a branch");
	for (int b = 0; b < 2; b++) {
		int r;

		branch[b]->times = taken < 0 || taken == b;
		branch[b]->is_dead = !branch[b]->times;
		if (!branch[b]->times)
			continue;
		r = walk(x, branch[b], e);
		if (r < 0)
			return -1;
		branch[b]->times = r;
		for (int i = 0; r && i < n->nout; i++) {
			const struct value *from = end_of(branch[b], &branch[b]->outputs, i);
			struct value *to = node_out(x->g, n, i);

			if (!to || !from)
				continue;
			if (taken >= 0 || !b) {
				copy_known(to, from);
				continue;
			}
			agree(&to->shape, &from->shape);
			to->kept = NULL;
			to->sequence = NULL;
		}
	}
	return 0;
}

/* A value of a body's beginning: what it has in its first turn. */
static void begin(struct value *to, const struct value *from, int keep)
{
	const struct declared *d = to->declared;

	if (from) {
		copy_known(to, from);
	} else {
		to->shape.rank = RANK_UNKNOWN;
		to->elem = d ? d->elem : VALUE_UNKNOWN;
	}
	if (!keep) {
		to->kept = NULL;
		to->sequence = NULL;
	}
	if (to->shape.rank < 0 && d && d->shape.rank == 0)
		to->shape.rank = 0;
}

static void set_turn(struct infer *x, struct value *v, int64_t turn)
{
	if (!v)
		return;
	v->shape = (struct shape){0};
	v->elem = VALUE_I64;
	v->kept = NULL;
	if (turn < 0)
		return;
	v->kept = arena_new(x->g->a, union scalar);
	v->kept[0].i = turn;
}

/* Walks until the shapes of what one turn hands to the next stay as they are. If they do not soon,
 * nothing is known of them. */
static int walk_any_turn(struct infer *x, struct graph *sub, int skip, int states, struct err *e)
{
	int changed = 1;

	for (int again = 0; changed && again < 3; again++) {
		int r = walk(x, sub, e);

		if (r <= 0)
			return r;
		changed = 0;
		for (int i = 0; i < states; i++) {
			struct value *in = end_of(sub, &sub->inputs, skip + i);
			const struct value *out = end_of(sub, &sub->outputs, skip / 2 + i);
			struct shape s;

			if (!in || !out)
				continue;
			s = in->shape;
			agree(&s, &out->shape);
			changed |= s.rank != in->shape.rank ||
				   memcmp(s.dim, in->shape.dim,
					  sizeof *s.dim * (size_t)(s.rank > 0 ? s.rank : 0)) != 0;
			in->shape = s;
		}
	}
	if (!changed)
		return 1;
	for (int i = 0; i < states; i++)
		if (end_of(sub, &sub->inputs, skip + i))
			end_of(sub, &sub->inputs, skip + i)->shape.rank = RANK_UNKNOWN;
	return walk(x, sub, e);
}

/* The outputs of one turn, from `first_out` on, are the inputs of the next, all at once: old has
 * room for them. */
static void hand_on(struct graph *sub, int first_in, int first_out, int states, struct value *old)
{
	for (int i = 0; i < states; i++)
		if (end_of(sub, &sub->outputs, first_out + i))
			old[i] = *end_of(sub, &sub->outputs, first_out + i);
	for (int i = 0; i < states; i++)
		if (end_of(sub, &sub->inputs, first_in + i) &&
		    end_of(sub, &sub->outputs, first_out + i))
			copy_known(end_of(sub, &sub->inputs, first_in + i), &old[i]);
}

/* Turn after turn, as far as the condition stays known; is_counted: there is none. The number of
 * turns, or -1. */
static int64_t follow(struct infer *x, struct graph *sub, int states, int64_t most, int is_counted,
		      struct value *old, struct err *e, int *r)
{
	for (int64_t turn = 0; turn < most; turn++) {
		set_turn(x, end_of(sub, &sub->inputs, 0), turn);
		if (turn)
			hand_on(sub, 2, 1, states, old);
		*r = walk(x, sub, e);
		if (*r <= 0)
			return -1;
		switch (is_counted ? 1 : truth(end_of(sub, &sub->outputs, 0))) {
		case 0:
			return turn + 1;
		case 1:
			continue;
		default:
			return -1;
		}
	}
	return most;
}

/* The outputs of a Loop: what the last turn hands on, and one part of each turn. */
static int loop_outputs(struct infer *x, const struct graph_node *n, struct graph *sub, int states,
			int64_t turns, struct err *e)
{
	for (int i = 0; i < n->nout; i++) {
		const struct value *from = end_of(sub, &sub->outputs, 1 + i);
		struct value *to = node_out(x->g, n, i);
		struct shape s;

		if (!to || !from)
			continue;
		if (i < states) {
			copy_known(to, turns == 0 ? node_in(x->g, n, 2 + i)
							    ? node_in(x->g, n, 2 + i)
							    : from
						  : from);
			if (turns < 0) {
				to->kept = NULL;
				to->sequence = NULL;
			}
			continue;
		}
		to->elem = from->elem;
		s.rank = from->shape.rank;
		if (s.rank < 0 || s.rank == GRAPH_MAX_RANK)
			continue;
		s.dim[s.rank++] = 0;
		s.dim[0] = turns < 0 ? DIM_UNKNOWN : turns;
		memcpy(s.dim + 1, from->shape.dim, sizeof *s.dim * (size_t)from->shape.rank);
		if (infer_set(x, n, i, &s, e))
			return -1;
	}
	return 0;
}

int infer_loop(struct infer *x, const struct graph_node *n, struct err *e)
{
	struct graph *sub = graph_of(n, "body");
	const struct value *most = node_in(x->g, n, 0), *go = node_in(x->g, n, 1);
	int states = n->nin > 2 ? n->nin - 2 : 0, r = 1, goes = go ? truth(go) : 1;
	const int is_counted = !go;
	struct value *old;
	int64_t limit = truth(most) < 0 ? -1 : most->kept[0].i, turns = -1;

	if (!sub)
		return infer_bad(x, n, e, "lacks a body");
	if (states > sub->inputs.n - 2)
		states = sub->inputs.n > 2 ? sub->inputs.n - 2 : 0;
	limit = limit > TIMES_MOST ? -1 : limit;
	for (int i = 0; i < states; i++)
		if (end_of(sub, &sub->inputs, 2 + i))
			begin(end_of(sub, &sub->inputs, 2 + i), node_in(x->g, n, 2 + i), 1);
	if (end_of(sub, &sub->inputs, 1))
		begin(end_of(sub, &sub->inputs, 1), go, 1);
	if (limit >= 0 && limit <= TURNS_FOLLOWED && limit * sub->nnode <= NODES_FOLLOWED &&
	    goes == 1) {
		old = xcalloc((size_t)states + 1, sizeof *old);
		turns = follow(x, sub, states, limit, is_counted, old, e, &r);
		free(old);
	}
	if (goes == 0)
		turns = 0;
	if (r > 0 && turns <= 0) { /* as any turn finds it */
		set_turn(x, end_of(sub, &sub->inputs, 0), -1);
		for (int i = 0; i < states; i++)
			if (end_of(sub, &sub->inputs, 2 + i))
				begin(end_of(sub, &sub->inputs, 2 + i), node_in(x->g, n, 2 + i), 0);
		r = walk_any_turn(x, sub, 2, states, e);
		if (r > 0 && turns < 0 && limit >= 0 && goes == 1 &&
		    (is_counted || truth(end_of(sub, &sub->outputs, 0)) == 1))
			turns = limit;
	}
	if (r <= 0)
		return r;
	sub->times = turns < 0 ? 1 : turns;
	sub->is_dead = !sub->times;
	sub->is_once = turns < 0;
	return loop_outputs(x, n, sub, states, turns, e);
}

/* ---- While ---- */

/* The condition of the states that the next turn of the body begins with; -1: it is not known. */
static int goes_on(struct infer *x, struct graph *cond, const struct graph *body, int states,
		   struct err *e, int *r)
{
	for (int i = 0; i < states; i++)
		copy_known(cond->value[cond->inputs.at[i]], body->value[body->inputs.at[i]]);
	*r = walk(x, cond, e);
	return *r > 0 ? truth(end_of(cond, &cond->outputs, 0)) : -1;
}

/* Turn after turn, as long as the condition is known. The number of turns, or -1. */
static int64_t follow_while(struct infer *x, struct graph *cond, struct graph *body, int states,
			    struct value *old, struct err *e, int *r)
{
	const int64_t nodes = cond->nnode + body->nnode + 1;

	for (int64_t turn = 0; turn * nodes <= NODES_FOLLOWED && x->walked < WALK_MOST / 2;
	     turn++) {
		const int goes = goes_on(x, cond, body, states, e, r);

		if (goes <= 0)
			return goes < 0 ? -1 : turn;
		*r = walk(x, body, e);
		if (*r <= 0)
			return -1;
		hand_on(body, 0, 0, states, old);
	}
	return -1;
}

/* What the loop begins with; what no turn changes stays the constant that it is. */
static void begin_while(const struct infer *x, const struct graph_node *n, struct graph *body,
			int keep)
{
	for (int i = 0; i < n->nin; i++) {
		struct value *to = body->value[body->inputs.at[i]];
		const struct value *from = node_in(x->g, n, i);
		const int stays = body->inputs.at[i] == body->outputs.at[i];

		begin(to, from, keep || stays);
		to->is_const = stays && from && from->is_const;
	}
}

/* Not of ONNX: the inputs are states, as are the outputs; the graph "condition" of the states says
 * whether the graph "body" makes the next ones of them. */
int infer_while(struct infer *x, const struct graph_node *n, struct err *e)
{
	struct graph *cond = graph_of(n, "condition"), *body = graph_of(n, "body");
	struct value *old;
	int64_t turns;
	int r = 1;

	if (!cond || !body || cond->inputs.n != n->nin || body->inputs.n != n->nin ||
	    body->outputs.n != n->nin)
		return infer_bad(x, n, e, "lacks a body, or a condition");
	begin_while(x, n, body, 1);
	old = xcalloc((size_t)n->nin + 1, sizeof *old);
	turns = follow_while(x, cond, body, n->nin, old, e, &r);
	free(old);
	if (r < 0)
		return -1;
	if (turns < 0) {
		begin_while(x, n, body, 0);
		r = walk_any_turn(x, body, 0, n->nin, e);
		if (r <= 0)
			return r;
	}
	body->times = turns < 0 ? 1 : turns < TIMES_MOST ? turns : TIMES_MOST;
	body->is_dead = !turns;
	body->is_once = turns < 0;
	cond->times = 0; /* it multiplies nothing */
	cond->is_dead = 1;
	for (int i = 0; i < n->nout; i++) {
		struct value *to = node_out(x->g, n, i);

		if (!to || i >= n->nin)
			continue;
		copy_known(to, end_of(body, turns < 0 ? &body->outputs : &body->inputs, i));
		if (turns < 0) {
			to->kept = NULL;
			to->sequence = NULL;
		}
	}
	return 0;
}

/* ---- Scan ---- */

/* Axis i of a list, 0 where it is not given. */
static int axis_at(const struct graph_node *n, const char *name, int i, int rank)
{
	const struct attr *a = node_attr(n, name);

	return a && i < a->nints ? infer_axis(a->ints[i], rank) : rank > 0 ? 0 : -1;
}

static void drop_dim(struct shape *s, int axis)
{
	memmove(s->dim + axis, s->dim + axis + 1, sizeof *s->dim * (size_t)(s->rank - axis - 1));
	s->rank--;
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
		struct value *to = end_of(sub, &sub->inputs, i);
		const struct value *from = node_in(x->g, n, i + c->old);
		int axis;

		if (!to || !from)
			return infer_lacks(x, n, e);
		begin(to, from, 0);
		if (c->old && to->shape.rank > 0) {
			c->batch = to->shape.dim[0];
			drop_dim(&to->shape, 0);
		}
		if (i < c->states || to->shape.rank < 0)
			continue;
		axis = c->old ? 0 : axis_at(n, "scan_input_axes", i - c->states, to->shape.rank);
		if (axis < 0 || !to->shape.rank)
			return infer_bad(x, n, e, "scans a dimension that is not there");
		c->steps = to->shape.dim[axis];
		drop_dim(&to->shape, axis);
	}
	return 0;
}

static int scan_outputs(struct infer *x, const struct graph_node *n, struct graph *sub,
			const struct scan *c, struct err *e)
{
	for (int i = 0; i < n->nout; i++) {
		const struct value *from = end_of(sub, &sub->outputs, i);
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
			memmove(s.dim + axis + 1, s.dim + axis,
				sizeof *s.dim * (size_t)(s.rank - axis));
			s.rank++;
			s.dim[axis] = c->steps;
		}
		if (c->old) {
			memmove(s.dim + 1, s.dim, sizeof *s.dim * (size_t)s.rank);
			s.rank++;
			s.dim[0] = c->batch;
		}
		if (infer_set(x, n, i, &s, e))
			return -1;
	}
	return 0;
}

int infer_scan(struct infer *x, const struct graph_node *n, struct err *e)
{
	struct graph *sub = graph_of(n, "body");
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
	r = walk_any_turn(x, sub, 0, c.states, e);
	if (r <= 0)
		return r;
	sub->is_once = c.steps < 0 || c.batch < 0 || c.steps > TIMES_MOST || c.batch > TIMES_MOST ||
		       c.steps * c.batch > TIMES_MOST;
	sub->times = sub->is_once ? 1 : c.steps * c.batch;
	sub->is_dead = !sub->times;
	return scan_outputs(x, n, sub, &c, e);
}
