/* Loop, and TensorFlow's While: followed turn by turn as far as their conditions are known. One
 * that may end at any time, or whose number of turns is not known, counts as one turn.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/graph/infer_body.h"

enum {
	TURNS_FOLLOWED = 256,	/* of a Loop, one after the other */
	NODES_FOLLOWED = 65536, /* in all of them */
};

/* An integer that a turn begins with; -1: it is not known. */
static void set_integer(struct infer *x, struct value *v, int64_t i, int elem)
{
	if (!v)
		return;
	v->shape = (struct shape){0};
	v->elem = elem;
	v->kept = NULL;
	if (i < 0)
		return;
	v->kept = arena_new(x->g->a, union scalar);
	v->kept[0].i = i;
}

/* The number of a turn, counted from the first one that is left of the Loop. */
static void set_turn(struct infer *x, const struct graph_node *n, struct value *v, int64_t turn)
{
	set_integer(x, v, turn < 0 ? -1 : turn + n->turns, VALUE_I64);
}

/* The outputs of one turn, from `first_out` on, are the inputs of the next, all at once: old has
 * room for them. */
static void hand_on(struct graph *sub, int first_in, int first_out, int states, struct value *old)
{
	for (int i = 0; i < states; i++)
		if (body_end(sub, &sub->outputs, first_out + i))
			old[i] = *body_end(sub, &sub->outputs, first_out + i);
	for (int i = 0; i < states; i++)
		if (body_end(sub, &sub->inputs, first_in + i) &&
		    body_end(sub, &sub->outputs, first_out + i))
			body_copy(body_end(sub, &sub->inputs, first_in + i), &old[i]);
}

/* A loop that is followed inside of others. */
struct followed {
	int64_t turn;
	int is_split;
};

static struct followed begin_following(struct infer *x)
{
	const struct followed outer = {x->turn, x->is_split};

	x->is_split = 0;
	return outer;
}

/* Were branches chosen in some turns alone? The graphs inside tell of the last turn, so the loop is
 * then walked once more, as any turn finds it. */
static int end_following(struct infer *x, const struct followed *outer)
{
	const int is_split = x->is_split;

	x->turn = outer->turn;
	x->is_split = outer->is_split;
	return is_split;
}

/* Turn after turn, as far as the condition stays known, if there is one. most: -1: the condition
 * alone ends the loop. The number of turns, or -1. */
static int64_t follow(struct infer *x, const struct graph_node *n, struct graph *sub, int states,
		      int64_t most, struct value *old, struct err *e, int *r)
{
	const int is_counted = !node_in(x->g, n, 1);
	const int64_t last = most < 0 ? NODES_FOLLOWED / (sub->nnode + 1) : most;
	int goes;

	for (int64_t turn = 0; turn < last && (most >= 0 || x->walked < WALK_MOST / 2); turn++) {
		set_turn(x, n, body_end(sub, &sub->inputs, 0), turn);
		if (turn)
			hand_on(sub, 2, 1, states, old);
		x->turn += turn > 0;
		*r = body_walk(x, sub, e);
		if (*r <= 0)
			return -1;
		goes = body_truth(body_end(sub, &sub->outputs, 0));
		sub->may_end |= is_counted && goes != 1;
		switch (is_counted ? 1 : goes) {
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
		const struct value *from = body_end(sub, &sub->outputs, 1 + i);
		struct value *to = node_out(x->g, n, i);
		struct shape s;

		if (!to || !from)
			continue;
		if (i < states) {
			body_copy(to, turns == 0 ? node_in(x->g, n, 2 + i) ? node_in(x->g, n, 2 + i)
									   : from
						 : from);
			if (turns < 0 || sub->may_end) {
				to->kept = NULL;
				to->sequence = NULL;
			}
			continue;
		}
		to->elem = from->elem;
		s = from->shape;
		if (s.rank < 0 || s.rank == GRAPH_MAX_RANK)
			continue;
		shape_insert(&s, 0, turns < 0 ? DIM_UNKNOWN : turns);
		if (infer_set(x, n, i, &s, e))
			return -1;
	}
	return 0;
}

INFER(loop)
{
	struct graph *sub = body_graph(n, "body");
	const struct value *most = node_in(x->g, n, 0), *go = node_in(x->g, n, 1);
	int states = n->nin > 2 ? n->nin - 2 : 0, r = 1, goes = go ? body_truth(go) : 1;
	const int is_counted = !go;
	int is_split = 0;
	struct value *old;
	int64_t limit = -1, turns = -1;

	if (!sub)
		return infer_bad(x, n, e, "lacks a body");
	if (states > sub->inputs.n - 2)
		states = sub->inputs.n > 2 ? sub->inputs.n - 2 : 0;
	if (value_whole(most, &limit))
		limit = limit > TIMES_MOST ? -1 : limit < 0 ? 0 : limit;
	for (int i = 0; i < states; i++)
		if (body_end(sub, &sub->inputs, 2 + i))
			body_begin(body_end(sub, &sub->inputs, 2 + i), node_in(x->g, n, 2 + i), 1);
	sub->may_end = 0;
	if (is_counted)
		set_integer(x, body_end(sub, &sub->inputs, 1), 1, VALUE_BOOL);
	else if (body_end(sub, &sub->inputs, 1))
		body_begin(body_end(sub, &sub->inputs, 1), go, 1);
	if (goes == 1 &&
	    (limit < 0 ? !is_counted
		       : limit <= TURNS_FOLLOWED && limit * sub->nnode <= NODES_FOLLOWED)) {
		const struct followed outer = begin_following(x);

		old = xcalloc((size_t)states + 1, sizeof *old);
		turns = follow(x, n, sub, states, limit, old, e, &r);
		free(old);
		is_split = end_following(x, &outer);
	}
	if (goes == 0 || limit == 0)
		turns = 0;
	if (r > 0 && (turns <= 0 || is_split)) { /* as any turn finds it */
		set_turn(x, n, body_end(sub, &sub->inputs, 0), -1);
		for (int i = 0; i < states; i++)
			if (body_end(sub, &sub->inputs, 2 + i))
				body_begin(body_end(sub, &sub->inputs, 2 + i),
					   node_in(x->g, n, 2 + i), 0);
		r = body_walk_any_turn(x, sub, 2, states, e);
		sub->may_end |=
			is_counted && turns < 0 && body_truth(body_end(sub, &sub->outputs, 0)) != 1;
		if (r > 0 && turns < 0 && limit >= 0 && goes == 1 &&
		    (is_counted || body_truth(body_end(sub, &sub->outputs, 0)) == 1))
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
		body_copy(cond->value[cond->inputs.at[i]], body->value[body->inputs.at[i]]);
	*r = body_walk(x, cond, e);
	return *r > 0 ? body_truth(body_end(cond, &cond->outputs, 0)) : -1;
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
		x->turn += turn > 0;
		*r = body_walk(x, body, e);
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

		body_begin(to, from, keep || stays);
		to->is_const = stays && from && from->is_const;
	}
}

/* Not of ONNX: the inputs are states, as are the outputs; the graph "condition" of the states says
 * whether the graph "body" makes the next ones of them. */
INFER(while)
{
	struct graph *cond = body_graph(n, "condition"), *body = body_graph(n, "body");
	struct followed outer;
	struct value *old;
	int64_t turns;
	int r = 1, is_split;

	if (!cond || !body || cond->inputs.n != n->nin || body->inputs.n != n->nin ||
	    body->outputs.n != n->nin)
		return infer_bad(x, n, e, "lacks a body, or a condition");
	begin_while(x, n, body, 1);
	outer = begin_following(x);
	old = xcalloc((size_t)n->nin + 1, sizeof *old);
	turns = follow_while(x, cond, body, n->nin, old, e, &r);
	free(old);
	is_split = end_following(x, &outer);
	if (r < 0)
		return -1;
	if (turns < 0 || is_split) {
		begin_while(x, n, body, 0);
		r = body_walk_any_turn(x, body, 0, n->nin, e);
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
		body_copy(to, body_end(body, turns < 0 ? &body->outputs : &body->inputs, i));
		if (turns < 0) {
			to->kept = NULL;
			to->sequence = NULL;
		}
	}
	return 0;
}
