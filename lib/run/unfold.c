#include "lib/run/unfold.h"

#include <math.h>

#include "lib/extract/graph/copy.h"
#include "lib/extract/graph/formula.h"
#include "lib/extract/graph/infer_body.h"
#include "lib/run/unfold_einsum.h"
#include "lib/run/unfold_lists.h"
#include "lib/run/unfold_old.h"
#include "lib/run/unfold_tables.h"

/* A loop may have so many nodes in all its turns, and all loops may make so many nodes and values.
 */
enum { UNFOLD_MOST = 1 << 16, MADE_MOST = 1 << 20 };

/* Keeps what is known of the node that is unfolded. */
struct unfolding {
	struct copying c;
	const struct graph_node *n;
	const struct graph *body;
	int *value;  /* of the graph around, for each value of the body, in this turn */
	int *weight; /* those that all turns share; -1: none */
	int64_t turns;
};

/* ---- which nodes ---- */

/* Returns the branch that an If takes; NULL: that is not known. */
static const struct graph *branch_of(const struct graph_node *n)
{
	const struct graph *yes = body_graph(n, "then_branch"), *no = body_graph(n, "else_branch");

	if (!yes || !no || !yes->times == !no->times || (yes->is_dead && no->is_dead))
		return NULL;
	return yes->times ? yes : no;
}

/* Returns the graph of a node whose turns are known; NULL: there is none. */
static const struct graph *unfolds(const struct graph_node *n, int64_t opset)
{
	const struct graph *body;

	if (node_is(n, OP_If))
		return branch_of(n);
	if (!node_is(n, OP_Loop) && (!node_is(n, OP_Scan) || opset < 9))
		return NULL;
	body = body_graph(n, "body");
	return body && (body->times || body->is_dead) && !body->is_once && !body->may_end ? body
											  : NULL;
}

/* Returns the body of a Loop of which it is known that there is another turn, and no more. */
static struct graph *has_turn(const struct graph *g, const struct graph_node *n)
{
	struct graph *body = node_is(n, OP_Loop) ? body_graph(n, "body") : NULL;
	const struct value *most = node_in(g, n, 0), *go = node_in(g, n, 1);
	int64_t limit = 1;

	if (!body || !body->is_once || body->may_end || !go || body_truth(go) != 1 ||
	    (most && (!value_whole(most, &limit) || limit < 1)) || n->turns >= UNFOLD_AHEAD)
		return NULL;
	return body;
}

static int is_known_value(const struct value *v)
{
	if (!v->kept || !shape_known(&v->shape))
		return 0;
	for (int64_t i = 0; i < shape_count(&v->shape); i++)
		if (elem_is_int(v->elem) ? v->kept[i].i == INT_UNKNOWN : isnan(v->kept[i].f))
			return 0;
	return 1;
}

/* Are the elements known of all that somebody reads? */
static int is_known(const struct graph *g, const struct graph_node *n)
{
	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(g, n, i);

		if (value_is_read(v) && !is_known_value(v))
			return 0;
	}
	return 1;
}

/* ---- a turn ---- */

static int between(struct unfolding *u, const char *what)
{
	return build_value(&u->c.b, arena_printf(u->c.b.a, "%s" COPY_NAME, u->c.name, what));
}

/* Moves a constant of the body into the graph, once for all turns. Returns its value there. */
static int weight(struct unfolding *u, int i)
{
	struct value *from = u->body->value[i], *to;
	const char *name;

	if (u->weight[i] >= 0)
		return u->weight[i];
	u->weight[i] = between(u, from->name);
	to = u->c.b.g->value[u->weight[i]];
	name = to->name;
	*to = *from;
	to->name = name;
	to->is_input = to->is_output = 0;
	to->uses = to->asked = 0;
	to->first = to->consumer = -1;
	from->data = NULL;
	from->data_bytes = 0;
	return u->weight[i];
}

static int end_at(const struct ends *list, int i)
{
	return i < list->n ? list->at[i] : -1;
}

/* Adds the nodes of a turn, whose inputs are set. */
static int turn(struct unfolding *u, struct err *e)
{
	for (int i = 0; i < u->body->nvalue; i++) {
		const struct value *v = u->body->value[i];

		if (v->is_captured)
			u->value[i] = graph_value(u->c.b.g, v->name);
		else if (v->producer >= 0)
			u->value[i] = between(u, v->name);
		else if (v->is_const && u->value[i] < 0)
			u->value[i] = weight(u, i);
	}
	for (int i = 0; i < u->body->nnode; i++) {
		struct graph_node made;
		int r = copy_node(&u->c, &u->body->node[i], &made, e);

		*graph_add_node(u->c.b.g) = made;
		if (r)
			return -1;
	}
	return 0;
}

/* Returns the value that the turn made as output i of the body; -1: it made none. */
static int output(const struct unfolding *u, int i)
{
	const int at = end_at(&u->body->outputs, i);

	return at < 0 ? -1 : u->value[at];
}

static void hand_out(struct unfolding *u, int value, int out)
{
	if (out >= 0 && value >= 0)
		formula_of_node(&u->c.b, u->n, "@%d = Identity(@%d)", out, value);
}

/* ---- loops ---- */

/* Makes a list without parts, if its shape is known. */
static void join_none(struct unfolding *u, int out)
{
	const struct value *v = u->c.b.g->value[out];

	if (shape_known(&v->shape))
		formula_of_node(&u->c.b, u->n,
				"none = ConstantOfShape(@%d); @%d = Cast(none) to=%d",
				build_integers(&u->c.b, v->shape.dim, v->shape.rank), out, v->elem);
}

/* Joins the parts of all turns along an axis. */
static void join(struct unfolding *u, const int *parts, int out, int64_t axis)
{
	if (out >= 0 && !u->turns)
		join_none(u, out);
	else if (out >= 0)
		build_int(&u->c.b, build_node(&u->c.b, "Concat", parts, (int)u->turns, &out, 1),
			  "axis", axis);
}

static void join_two(struct unfolding *u, int first, int rest, int out)
{
	const int parts[] = {first, rest};

	build_int(&u->c.b, build_node(&u->c.b, "Concat", parts, 2, &out, 1), "axis", 0);
}

/* Makes a part of a list: this turn gives the value, which gets a dimension more. */
static int part(struct unfolding *u, int value, int64_t axis)
{
	return formula_of_node(&u->c.b, u->n, "part = Unsqueeze(@%d) axes=[%lld]", value,
			       (long long)axis);
}

/* Makes a constant of one element and no dimension. */
static int scalar(struct unfolding *u, int64_t v, int elem)
{
	int i = build_integers(&u->c.b, &v, 1);

	u->c.b.g->value[i]->shape.rank = 0;
	u->c.b.g->value[i]->elem = elem;
	return i;
}

static void set(const struct unfolding *u, int input, int value)
{
	const int at = end_at(&u->body->inputs, input);

	if (at >= 0)
		u->value[at] = value;
}

static int64_t axis_of(const struct graph_node *n, const char *name, int i)
{
	const struct attr *a = node_attr(n, name);

	return a && i < a->nints ? a->ints[i] : 0;
}

/* Takes item `turn` out of a list, counted from its end if the node says so. */
static int item(struct unfolding *u, int scan, int list, int64_t turn)
{
	const int back = axis_of(u->n, "scan_input_directions", scan) != 0;

	return formula_of_node(&u->c.b, u->n, "item = Gather(@%d @%d) axis=%lld", list,
			       scalar(u, back ? u->turns - 1 - turn : turn, VALUE_I64),
			       (long long)axis_of(u->n, "scan_input_axes", scan));
}

/* Says which inputs and outputs of the node and its body come first. */
struct layout {
	int in, out; /* of the node: before its states */
	int begin;   /* of the body: inputs before its states */
	int end;     /* and outputs */
	int states, lists;
};

static struct layout layout_of(const struct unfolding *u)
{
	const struct graph_node *n = u->n;
	const int lists = node_is(n, OP_Scan) ? (int)node_int(n, "num_scan_inputs", 0) : 0;

	if (node_is(n, OP_Scan))
		return (struct layout){.states = n->nin - lists, .lists = lists};
	return (struct layout){
		.in = 2, .begin = 2, .end = 1, .states = n->nin > 2 ? n->nin - 2 : 0};
}

static void begin_turn(struct unfolding *u, const struct layout *l, const int *state, int64_t at)
{
	if (node_is(u->n, OP_Loop)) {
		set(u, 0, scalar(u, at + u->n->turns, VALUE_I64));
		set(u, 1, scalar(u, 1, VALUE_BOOL));
	}
	for (int i = 0; i < l->states; i++)
		set(u, l->begin + i, state[i]);
	for (int i = 0; i < l->lists; i++)
		set(u, l->states + i, item(u, i, u->n->in[l->states + i], at));
}

static int unfold_turns(struct unfolding *u, struct err *e)
{
	const struct layout l = layout_of(u);
	const int lists = u->n->nout > l.states ? u->n->nout - l.states : 0;
	const char *name = u->c.name;
	int *state = arena_array(u->c.b.a, int, l.states + 1);
	int *parts = arena_array(u->c.b.a, int, (int64_t)lists * u->turns + 1);

	for (int i = 0; i < l.states; i++)
		state[i] = u->n->in[l.in + i];
	for (int64_t t = 0; t < u->turns; t++) {
		u->c.name = arena_printf(u->c.b.a, COPY_NAME "%lld/", name,
					 (long long)(t + u->n->turns));
		begin_turn(u, &l, state, t);
		if (turn(u, e))
			return -1;
		for (int i = 0; i < l.states; i++)
			state[i] = output(u, l.end + i);
		for (int i = 0; i < lists; i++) {
			int back = axis_of(u->n, "scan_output_directions", i) != 0;

			parts[i * u->turns + (back ? u->turns - 1 - t : t)] =
				part(u, output(u, l.end + l.states + i),
				     axis_of(u->n, "scan_output_axes", i));
		}
	}
	for (int i = 0; i < l.states && i < u->n->nout; i++)
		hand_out(u, state[i], u->n->out[i]);
	for (int i = 0; i < lists; i++)
		join(u, parts + i * u->turns, u->n->out[l.states + i],
		     axis_of(u->n, "scan_output_axes", i));
	return 0;
}

/* Makes the Loop that is left behind its first turn. Its outputs are those of the old one, but for
 * lists, which get others. */
static struct graph_node *left_of(struct unfolding *u, const struct layout *l)
{
	const struct graph_node *n = u->n;
	int *in = arena_array(u->c.b.a, int, n->nin),
	    *out = arena_array(u->c.b.a, int, n->nout + 1);
	struct graph_node *rest;
	int64_t limit;

	in[0] = node_in(u->c.b.g, n, 0) && value_whole(node_in(u->c.b.g, n, 0), &limit)
			? scalar(u, limit - 1, VALUE_I64)
			: -1;
	in[1] = output(u, 0);
	for (int i = 0; i < l->states; i++)
		in[l->in + i] = output(u, l->end + i);
	for (int i = 0; i < n->nout; i++)
		out[i] = i < l->states || n->out[i] < 0 ? n->out[i] : between(u, "rest");
	rest = build_node(&u->c.b, n->type, in, n->nin, out, n->nout);
	rest->name = n->name;
	rest->domain = n->domain;
	rest->turns = n->turns + 1;
	for (int i = 0; i < n->nattr; i++)
		build_attr(&u->c.b, rest, &n->attr[i]);
	return rest;
}

/* Makes nodes of the first turn of a Loop, and a Loop of those that are left. */
static int unfold_turn(struct unfolding *u, struct graph *body, struct err *e)
{
	const struct layout l = layout_of(u);
	const int *rest;

	u->c.name = arena_printf(u->c.b.a, COPY_NAME "%d/", u->c.name, u->n->turns);
	body->lent = u->weight;
	begin_turn(u, &l, u->n->in + l.in, 0);
	if (turn(u, e))
		return -1;
	rest = left_of(u, &l)->out;
	for (int i = l.states; i < u->n->nout; i++)
		if (u->n->out[i] >= 0)
			join_two(u, part(u, output(u, l.end + i), 0), rest[i], u->n->out[i]);
	return 0;
}

static int unfold_if(struct unfolding *u, struct err *e)
{
	if (turn(u, e))
		return -1;
	for (int i = 0; i < u->n->nout; i++)
		hand_out(u, output(u, i), u->n->out[i]);
	return 0;
}

/* ---- the graph ---- */

/* Has the body all the ends that the node needs? Inference does not ask that. */
static int is_whole(const struct unfolding *u)
{
	const struct layout l = layout_of(u);
	const int lists = u->n->nout - l.states;

	for (int i = 0; i < u->n->nin; i++)
		if (i >= l.in && u->n->in[i] < 0)
			return 0;
	return u->body->inputs.n == l.begin + l.states + l.lists &&
	       u->body->outputs.n >= l.end + l.states + (lists > 0 ? lists : 0);
}

static int unfold_node(struct graph *g, const struct graph_node *n, const struct graph *body,
		       struct unfolded *all, struct err *e)
{
	struct copies copies = {.made = all->made};
	struct unfolding u = {.c = {.all = &copies,
				    .b = {.a = g->a, .g = g, .fresh = all->fresh},
				    .body = body,
				    .links = 1},
			      .n = n,
			      .body = body,
			      .turns = body->times};
	const int64_t size = body->nvalue + body->inputs.n + body->outputs.n;
	struct graph *const turn = has_turn(g, n);
	int rc;

	if (u.turns * (body->nnode + 1) > UNFOLD_MOST || all->turns + u.turns * size > MADE_MOST)
		return err_set(e,
			       "the node %s (%s) has %lld turns of %d nodes, too many to make "
			       "nodes of all of them",
			       node_label(g, n), n->type, (long long)u.turns, body->nnode);
	all->turns += u.turns * size;
	u.c.name = arena_printf(g->a, COPY_NAME "/", node_label(g, n));
	u.c.value = u.value = arena_array(g->a, int, body->nvalue + 1);
	u.weight = body->lent ? body->lent : arena_array(g->a, int, body->nvalue + 1);
	for (int i = 0; i < body->nvalue; i++) {
		u.value[i] = -1;
		u.weight[i] = body->lent ? u.weight[i] : -1;
	}
	rc = node_is(n, OP_If) ? unfold_if(&u, e)
	     : turn	       ? unfold_turn(&u, turn, e)
			       : unfold_turns(&u, e);
	all->made = copies.made;
	all->fresh = u.c.b.fresh;
	return rc;
}

/* Forgets what links and inference have told of values. */
static void forget(struct graph *g)
{
	for (int i = 0; i < g->nvalue; i++) {
		struct value *v = g->value[i];

		v->uses = v->asked = 0;
		v->first = v->consumer = -1;
		if (v->producer < 0)
			continue;
		v->producer = -1;
		value_forget(v);
	}
}

static const struct graph *wanted(const struct graph *g, const struct graph_node *n, int64_t opset)
{
	const struct graph *known = unfolds(n, opset), *body = known ? known : has_turn(g, n);
	const struct unfolding u = {.n = n, .body = body};

	if (!body || is_known(g, n) || (!node_is(n, OP_If) && !is_whole(&u)))
		return NULL;
	return body;
}

/* Can other nodes stand for a node that has no graph inside? */
static int has_flat(const struct graph *g, const struct graph_node *n, int64_t opset)
{
	return unfold_has_table(g, n, opset) || unfold_has_einsum(g, n) ||
	       unfold_has_old(g, n, opset);
}

/* Adds what stands for such a node, or the node itself. */
static int unfold_flat(struct unfold_lists *lists, struct build *b, const struct graph_node *n,
		       int64_t opset, struct unfolded *all, struct err *e)
{
	if (unfold_has_table(b->g, n, opset))
		return unfold_table(b, n, opset, &all->table, e);
	if (unfold_has_einsum(b->g, n))
		unfold_einsum(b, n);
	else if (unfold_has_old(b->g, n, opset))
		unfold_old(b, n);
	else
		return unfold_lists_node(lists, b, n, e);
	return 0;
}

/* Puts what stands for the nodes in their place, in the order in which they compute. */
static int unfold_nodes(struct graph *g, const struct graph **body, struct unfold_lists *lists,
			int64_t opset, struct unfolded *all, struct err *e)
{
	const int *order = g->order;
	int n;
	const struct graph_node *old = graph_start_over(g, &n);

	for (int i = 0; i < n; i++) {
		const struct graph_node *from = &old[order[i]];
		struct build b = {.a = g->a, .g = g, .fresh = all->fresh};

		if (body[order[i]]) {
			if (unfold_node(g, from, body[order[i]], all, e))
				return -1;
			continue;
		}
		if (unfold_flat(lists, &b, from, opset, all, e))
			return -1;
		all->fresh = b.fresh;
	}
	return 0;
}

int unfold(struct graph *g, int64_t opset, struct unfolded *all, struct err *e)
{
	const struct graph **body = arena_array(g->a, const struct graph *, g->nnode + 1);
	struct unfold_lists lists = {.made = &all->turns, .most = MADE_MOST};
	int any = 0;

	for (int i = 0; i < g->nnode; i++) {
		body[i] = wanted(g, &g->node[i], opset);
		any |= body[i] || has_flat(g, &g->node[i], opset);
	}
	unfold_lists_find(&lists, g);
	if (!any && !lists.takers)
		return 0;
	if (unfold_nodes(g, body, &lists, opset, all, e))
		return -1;
	forget(g);
	return graph_link(g, e) ? -1 : 1;
}
