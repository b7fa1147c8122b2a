#include "lib/run/unfold_lists.h"

#include "lib/extract/graph/copy.h"
#include "lib/extract/graph/formula.h"
#include "lib/extract/graph/infer.h"

/* ---- which nodes ---- */

static struct list *read_by(const struct unfold_lists *l, const struct graph_node *n)
{
	return n->nin && n->in[0] >= 0 ? &l->of[n->in[0]] : NULL;
}

/* Are the sizes of all parts known? */
static int are_sized(const struct graph_node *n, const struct value *from, const struct sequence *s)
{
	const int axis = infer_axis(node_int(n, "axis", 0), from->shape.rank);

	if (axis < 0)
		return 0;
	for (int64_t i = 0; i < s->n; i++)
		if (s->item[i]->shape.rank == from->shape.rank && s->item[i]->shape.dim[axis] < 0)
			return 0;
	return 1;
}

/* Does it hand on what it reads? */
static int hands_on(const struct graph_node *n)
{
	return node_is(n, OP_Identity) || node_is(n, OP_Optional) ||
	       node_is(n, OP_OptionalGetElement);
}

/* Does the node make a sequence whose items are values, or can be? */
static int makes_items(const struct unfold_lists *l, const struct graph *g,
		       const struct graph_node *n)
{
	const struct value *out = node_out(g, n, 0);
	const struct list *from = read_by(l, n);

	if (!out || !out->sequence)
		return 0;
	if (node_is(n, OP_SplitToSequence))
		return are_sized(n, node_in(g, n, 0), out->sequence);
	if (node_is(n, OP_SequenceInsert) || node_is(n, OP_SequenceErase) || hands_on(n))
		return from && from->is_known;
	return node_is(n, OP_SequenceConstruct) || node_is(n, OP_SequenceEmpty);
}

static int takes(const struct unfold_lists *l, const struct graph *g, const struct graph_node *n)
{
	const struct list *from = read_by(l, n);
	int64_t count, at;

	if (!from || !from->is_known || !node_out(g, n, 0))
		return 0;
	count = node_in(g, n, 0)->sequence->n;
	at = node_is(n, OP_SequenceAt) ? infer_place(g, n, 1, count, -1) : 0;
	return node_is(n, OP_SequenceLength) ||
	       (node_is(n, OP_SequenceAt) && at >= 0 && at < count) ||
	       (node_is(n, OP_ConcatFromSequence) && count > 0);
}

/* Does a node go whose sequence nobody reads but nodes that go, too? */
static int goes(const struct unfold_lists *l, const struct graph *g, const struct graph_node *n)
{
	return makes_items(l, g, n) && !l->of[n->out[0]].is_read && !node_out(g, n, 0)->is_output;
}

void unfold_lists_find(struct unfold_lists *l, const struct graph *g)
{
	l->of = arena_array(g->a, struct list, g->nvalue + 1);
	l->takers = 0;
	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[g->order[i]];

		if (makes_items(l, g, n))
			l->of[n->out[0]].is_known = 1;
		l->takers += takes(l, g, n);
	}
	for (int i = g->nnode; i-- > 0;) {
		const struct graph_node *n = &g->node[g->order[i]];
		const int stays = !takes(l, g, n) && !goes(l, g, n);

		for (int k = 0; k < n->ndeps && stays; k++)
			if (n->in[k] >= 0)
				l->of[n->in[k]].is_read = 1;
	}
}

/* ---- sequences ---- */

/* Parts of a tensor become a Split, behind which a dimension may go. */
static void split(struct build *b, const struct graph_node *n, struct list *to)
{
	const struct sequence *s = node_out(b->g, n, 0)->sequence;
	const struct value *from = node_in(b->g, n, 0);
	const int drops = node_in(b->g, n, 1) == NULL && !node_int(n, "keepdims", 1);
	const int64_t axis = infer_axis(node_int(n, "axis", 0), from->shape.rank);
	int64_t *sizes = arena_array(b->a, int64_t, s->n + 1);
	struct graph_node *made;
	int *at = arena_array(b->a, int, s->n + 1);

	for (int64_t i = 0; i < s->n; i++) {
		sizes[i] = drops ? 1 : s->item[i]->shape.dim[axis];
		at[i] = build_value(b, arena_printf(b->a, COPY_NAME "/part", node_label(b->g, n)));
	}
	if (s->n) {
		made = build_node(b, "Split", n->in, 1, at, (int)s->n);
		build_int(b, made, "axis", axis);
		build_ints(b, made, "split", sizes, (int)s->n);
	}
	for (int64_t i = 0; i < s->n && drops; i++)
		at[i] = formula_of_node(b, n, "item = Squeeze(@%d) axes=[%lld]", at[i],
					(long long)axis);
	to->at = at;
	to->n = s->n;
}

/* Makes the list without the item at a place, or with a value before it. */
static void change(struct build *b, const struct list *from, int add, int64_t place,
		   struct list *to)
{
	to->n = from->n + (add < 0 ? -1 : 1);
	to->at = arena_array(b->a, int, to->n + 1);
	for (int64_t i = 0; i < to->n; i++)
		to->at[i] = add < 0	 ? from->at[i + (i >= place)]
			    : i == place ? add
					 : from->at[i - (i > place)];
}

static void make_items(struct unfold_lists *l, struct build *b, const struct graph_node *n)
{
	const struct list *from = read_by(l, n);
	struct list *to = &l->of[n->out[0]];

	if (node_is(n, OP_SplitToSequence)) {
		split(b, n, to);
	} else if (node_is(n, OP_SequenceInsert)) {
		change(b, from, n->in[1], infer_place(b->g, n, 2, from->n, from->n), to);
	} else if (node_is(n, OP_SequenceErase)) {
		change(b, from, -1, infer_place(b->g, n, 1, from->n, from->n - 1), to);
	} else if (hands_on(n)) {
		to->at = from->at;
		to->n = from->n;
	} else {
		to->at = n->in;
		to->n = n->nin;
	}
}

/* ---- who reads them ---- */

/* Gives each item a dimension more, once for all who ask for the same. */
static const int *widen(struct build *b, const struct graph_node *n, struct list *from,
			int64_t axis)
{
	int *at;

	if (from->wide && from->axis == axis)
		return from->wide;
	at = arena_array(b->a, int, from->n);
	for (int64_t i = 0; i < from->n; i++)
		at[i] = formula_of_node(b, n, "part = Unsqueeze(@%d) axes=[%lld]", from->at[i],
					(long long)axis);
	from->wide = at;
	from->axis = axis;
	return at;
}

static void join(struct build *b, const struct graph_node *n, struct list *from)
{
	const int64_t axis = node_int(n, "axis", 0);
	const int *at = node_int(n, "new_axis", 0) ? widen(b, n, from, axis) : from->at;

	build_int(b, build_node(b, "Concat", at, (int)from->n, n->out, 1), "axis", axis);
}

/* Items take part in what is made for the node: parts of a tensor, or of a list that is joined. */
static int count(struct unfold_lists *l, const struct build *b, const struct graph_node *n,
		 struct err *e)
{
	const struct value *out = node_out(b->g, n, 0);
	const struct list *from = read_by(l, n);
	int64_t items = 0;

	if (takes(l, b->g, n))
		items = node_is(n, OP_ConcatFromSequence) ? from->n : 1;
	else if (makes_items(l, b->g, n) && !hands_on(n))
		items = out->sequence->n;
	*l->made += 2 * items; /* a node and a value at most */
	if (*l->made > l->most)
		return err_set(
			e,
			"the node %s (%s) has %lld items, and with those of other nodes they "
			"are too many to make nodes of them",
			node_label(b->g, n), n->type, (long long)items);
	return 0;
}

int unfold_lists_node(struct unfold_lists *l, struct build *b, const struct graph_node *n,
		      struct err *e)
{
	struct list *from = read_by(l, n);

	if (count(l, b, n, e))
		return -1;

	if (!takes(l, b->g, n)) {
		if (!goes(l, b->g, n))
			*graph_add_node(b->g) = *n;
		if (makes_items(l, b->g, n))
			make_items(l, b, n);
	} else if (node_is(n, OP_SequenceAt)) {
		formula_of_node(b, n, "$0 = Identity(@%d)",
				from->at[infer_place(b->g, n, 1, from->n, -1)]);
	} else if (node_is(n, OP_SequenceLength)) {
		const int length = build_integers(b, &from->n, 1);

		b->g->value[length]->shape.rank = 0;
		formula_of_node(b, n, "$0 = Identity(@%d)", length);
	} else {
		join(b, n, from);
	}
	return 0;
}
