/* If, Call, and what all operators with graphs inside have in common.
 *
 * Of an If whose condition is not known both branches are walked, and what they agree on is known
 * of its outputs; which of them counts is decided where multiply-adds are known. Loops of OpenVINO
 * have no rule: the reader tells how often a graph runs and the shapes of what it begins with.
 */
#include "lib/extract/graph/infer_body.h"

#include <string.h>

void body_copy(struct value *to, const struct value *from)
{
	to->shape = from->shape;
	to->elem = from->elem;
	to->kept = from->kept;
	to->sequence = from->sequence;
	to->quantized = from->quantized;
	to->blame = from->blame;
}

int body_walk(struct infer *x, struct graph *sub, struct err *e)
{
	struct graph *outer = x->g;
	int r = 0;

	if (x->walked > WALK_MOST) {
		sub->times = 0; /* what an earlier walk found may not fit its inputs any more */
		sub->is_dead = 0;
		return 0;
	}
	x->walked += 1 + sub->nnode + sub->nvalue;
	graph_forget(sub);
	for (int i = 0; i < sub->nvalue; i++) {
		struct value *v = sub->value[i];
		const struct value *from = v->is_captured ? graph_find(outer, v->name) : NULL;

		if (from) {
			body_copy(v, from);
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
		r = sub ? body_walk(x, sub, e) : 1;
		if (r < 0)
			return -1;
		if (!r)
			sub->times = 0;
	}
	return 0;
}

struct graph *body_graph(const struct graph_node *n, const char *name)
{
	const struct attr *a = node_attr(n, name);

	return a ? a->subgraph : NULL;
}

struct value *body_end(const struct graph *sub, const struct ends *list, int i)
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

int body_truth(const struct value *v)
{
	int64_t truth;

	return value_whole(v, &truth) ? truth != 0 : -1;
}

/* Gives a branch what it reads by inputs of its own, which branches of ONNX have not: those of the
 * node from the first on. */
static void begin_branch(const struct infer *x, const struct graph_node *n, int first,
			 struct graph *branch)
{
	for (int i = 0; i < branch->inputs.n; i++) {
		const struct value *from = node_in(x->g, n, first + i);
		struct value *to = body_end(branch, &branch->inputs, i);

		body_begin(to, from, 1);
		to->is_const = from && from->is_const;
	}
}

INFER(if)
{
	struct graph *branch[] = {body_graph(n, "else_branch"), body_graph(n, "then_branch")};
	int taken = body_truth(node_in(x->g, n, 0));

	if (!branch[0] || !branch[1])
		return infer_bad(x, n, e, "lacks a branch");
	for (int b = 0; b < 2; b++) {
		int r;

		branch[b]->times = taken < 0 || taken == b;
		x->is_split |= x->turn > 0 && branch[b]->is_dead != !branch[b]->times;
		branch[b]->is_dead = !branch[b]->times;
		if (!branch[b]->times)
			continue;
		begin_branch(x, n, 1, branch[b]);
		r = body_walk(x, branch[b], e);
		if (r < 0)
			return -1;
		branch[b]->times = r;
		for (int i = 0; r && i < n->nout; i++) {
			const struct value *from = body_end(branch[b], &branch[b]->outputs, i);
			struct value *to = node_out(x->g, n, i);

			if (!to || !from)
				continue;
			if (taken >= 0 || !b) {
				body_copy(to, from);
				continue;
			}
			agree(&to->shape, &from->shape);
			to->kept = NULL;
			to->sequence = NULL;
		}
	}
	return 0;
}

/* Not of ONNX: the graph "body" runs once. */
INFER(call)
{
	struct graph *body = body_graph(n, "body");
	int r;

	if (!body)
		return infer_bad(x, n, e, "lacks a body");
	begin_branch(x, n, 0, body);
	r = body_walk(x, body, e);
	if (r < 0)
		return -1;
	body->times = r;
	for (int i = 0; r && i < n->nout; i++)
		if (node_out(x->g, n, i) && body_end(body, &body->outputs, i))
			body_copy(node_out(x->g, n, i), body_end(body, &body->outputs, i));
	return 0;
}

void body_begin(struct value *to, const struct value *from, int keep)
{
	const struct declared *d = to->declared;

	if (from) {
		body_copy(to, from);
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

int body_walk_any_turn(struct infer *x, struct graph *sub, int skip, int states, struct err *e)
{
	int changed = 1;

	for (int again = 0; changed && again < 3; again++) {
		int r = body_walk(x, sub, e);

		if (r <= 0)
			return r;
		changed = 0;
		for (int i = 0; i < states; i++) {
			struct value *in = body_end(sub, &sub->inputs, skip + i);
			const struct value *out = body_end(sub, &sub->outputs, skip / 2 + i);
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
		if (body_end(sub, &sub->inputs, skip + i))
			body_end(sub, &sub->inputs, skip + i)->shape.rank = RANK_UNKNOWN;
	return body_walk(x, sub, e);
}
