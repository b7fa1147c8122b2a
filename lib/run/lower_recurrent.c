/* ONNX's LSTM, GRU and RNN: the product of the inputs is the kernel of a workload, that which
 * tl-extract finds (task_rnn.c), and recurrent.h computes the steps in time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/recurrent.h"

/* A node that names no functions has these. */
static const char *const defaults[] = {
	[RECURRENT_LSTM] = "Sigmoid,Tanh,Tanh",
	[RECURRENT_GRU] = "Sigmoid,Tanh",
	[RECURRENT_SIMPLE] = "Tanh",
};

/* Takes the next of a list of parameters. */
static void take(const struct attr *list, int *next, float *to)
{
	if (list && *next < list->nfloats)
		*to = list->floats[(*next)++];
}

/* Reads the names of all functions, and then their parameters, which only some of them have. */
static int read_functions(struct lowering *l, const struct graph_node *n, struct recurrent *r,
			  struct err *e)
{
	const struct attr *alpha = node_attr(n, "activation_alpha");
	const struct attr *beta = node_attr(n, "activation_beta");
	const char *names = node_str(n, "activations", ""), *at = names;
	const int count = recurrent_functions(r->kind);
	int nalpha = 0, nbeta = 0;

	for (int i = 0; i < count * (int)r->directions; i++) {
		struct recurrent_function *f = &r->function[i / count][i % count];
		char name[32];
		int parameters;

		if (i % count == 0 && !*names)
			at = defaults[r->kind];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
		at += strcspn(at, ",");
		at += *at == ',';
		if (recurrent_function(name, f, &parameters))
			return lower_bad(l, n, e, "has a function \"%s\" that is not known", name);
		if (parameters > 0)
			take(alpha, &nalpha, &f->alpha);
		if (parameters > 1)
			take(beta, &nbeta, &f->beta);
		if (isnan(f->alpha) || isnan(f->beta))
			return lower_bad(l, n, e, "lacks the parameters of %s", name);
	}
	return 0;
}

static int read(struct lowering *l, const struct graph_node *n, struct recurrent *r, struct err *e)
{
	const struct shape *x = &l->g->value[n->in[0]]->shape, *w = &l->g->value[n->in[2]]->shape;
	const char *direction = node_str(n, "direction", "forward");
	const int is_two = !strcmp(direction, "bidirectional");
	struct place known;

	for (int i = 0; i < 3; i++)
		if (lower_shape(l, n->in[i], &known, e))
			return -1;
	*r = (struct recurrent){.kind = node_is(n, OP_LSTM)  ? RECURRENT_LSTM
					: node_is(n, OP_GRU) ? RECURRENT_GRU
							     : RECURRENT_SIMPLE,
				.is_batch_first = node_int(n, "layout", 0) != 0,
				.resets_behind =
					node_is(n, OP_GRU) && node_int(n, "linear_before_reset", 0),
				.couples = node_is(n, OP_LSTM) && node_int(n, "input_forget", 0),
				.limit = node_float(n, "clip", 0),
				.lanes = l->lanes,
				.directions = w->dim[0],
				.hidden = w->dim[2]};
	r->steps = x->dim[r->is_batch_first];
	r->batch = x->dim[!r->is_batch_first];
	r->is_backward[0] = !strcmp(direction, "reverse");
	r->is_backward[1] = 1;
	if (r->directions != 1 + is_two ||
	    (!is_two && !r->is_backward[0] && strcmp(direction, "forward") != 0))
		return lower_bad(l, n, e, "has weights for other directions than its own");
	if (w->dim[1] != recurrent_gates(r->kind) * r->hidden ||
	    node_int(n, "hidden_size", r->hidden) != r->hidden)
		return lower_bad(l, n, e, "has weights of another number of gates");
	return read_functions(l, n, r, e);
}

/* Gets an input that may be left out, and refuses it where it has not so many elements. */
static int get(struct lowering *l, const struct graph_node *n, int i, int64_t count,
	       struct place *to, struct err *e)
{
	*to = (struct place){.memory = MEMORY_NONE};
	if (!node_in(l->g, n, i))
		return 0;
	if (lower_get_dense(l, n->in[i], NULL, to, e))
		return -1;
	return place_count(to) == count
		       ? 0
		       : lower_bad(l, n, e, "has '%s', which does not fit its weights",
				   l->g->value[n->in[i]]->name);
}

/* Multiplies the inputs by the weights of one direction. */
static int multiply(struct lowering *l, const struct graph_node *n, const struct recurrent *r,
		    int64_t direction, struct place *out, struct err *e)
{
	const int64_t gates = recurrent_gates(r->kind) * r->hidden, rows = r->steps * r->batch;
	struct task t[TASK_PARTS] = {{.node = (int)(n - l->g->node)}};
	struct place x, w, flat;
	int64_t size;

	if (lower_get_dense(l, n->in[0], NULL, &x, e) || lower_get_dense(l, n->in[1], NULL, &w, e))
		return -1;
	size = x.dim[2];
	if (place_count(&w) != r->directions * gates * size)
		return lower_bad(l, n, e, "has weights of another size than its input");
	place_reshape(&x, 2, (int64_t[]){rows, size}, &flat);
	task_rnn(l->g, n, l->p->a, t);
	if (t->why)
		return lower_bad(l, n, e, "is not computed here: %s", t->why);
	w.at += direction * gates * size;
	place_dense(&w, 2, (int64_t[]){gates, size}, NULL);
	return lower_product(l, n, t, &flat, &w, out, e);
}

/* Puts the weights of the states in the order in which steps read them; only once where they are
 * constant. */
static int turn_weights(struct lowering *l, const struct graph_node *n, const struct recurrent *r,
			struct place *to, struct err *e)
{
	const struct plain plain = {recurrent_pack, r, NULL};
	const int64_t gates = r->directions * recurrent_gates(r->kind);
	struct place operand[2];

	if (get(l, n, 2, gates * r->hidden * r->hidden, &operand[0], e))
		return -1;
	place_dense(&operand[1], 1, (int64_t[]){gates * recurrent_wide(r) * r->hidden}, NULL);
	lower_room(l, &operand[1]);
	plan_plain(l->p, node_label(l->g, n), "weights", &plain, operand, 2);
	*to = operand[1];
	return 0;
}

/* Output i is a part of what the step makes. */
static int put(struct lowering *l, const struct graph_node *n, int i, const struct place *all,
	       int64_t at, struct err *e)
{
	struct place p;

	if (!node_out(l->g, n, i))
		return 0;
	if (lower_shape(l, n->out[i], &p, e))
		return -1;
	place_dense(&p, p.rank, p.dim, NULL);
	p.memory = all->memory;
	p.at = at;
	lower_put(l, n->out[i], &p);
	return 0;
}

int lower_recurrent(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct recurrent *r = arena_new(l->p->a, struct recurrent);
	struct plain plain = {recurrent_run, r, "there is no memory"};
	struct place operand[RECURRENT_TO + 1], *to = &operand[RECURRENT_TO];
	int64_t gates, ends, room = 0;

	if (read(l, n, r, e))
		return -1;
	gates = recurrent_gates(r->kind);
	ends = r->directions * r->batch * r->hidden;
	operand[RECURRENT_BACK] = (struct place){.memory = MEMORY_NONE};
	for (int64_t i = 0; i < r->directions; i++)
		if (multiply(l, n, r, i, &operand[RECURRENT_FORTH + i], e))
			return -1;
	if (turn_weights(l, n, r, &operand[RECURRENT_WEIGHTS], e) ||
	    get(l, n, 3, r->directions * 2 * gates * r->hidden, &operand[RECURRENT_BIAS], e) ||
	    get(l, n, 4, r->batch, &operand[RECURRENT_LENGTHS], e) ||
	    get(l, n, 5, ends, &operand[RECURRENT_STATE], e) ||
	    get(l, n, 6, ends, &operand[RECURRENT_CELL], e) ||
	    get(l, n, 7, r->directions * 3 * r->hidden, &operand[RECURRENT_PEEPHOLES], e))
		return -1;
	if (recurrent_shares(r, l->p->threads, l->p->limits.l2)) {
		plain.turn = recurrent_step;
		plain.turns = (int)recurrent_turns(r);
		room = recurrent_room(r);
	}
	place_dense(to, 1, (int64_t[]){(r->steps + 2) * ends + room}, NULL);
	lower_room(l, to);
	plan_plain(l->p, node_label(l->g, n), n->type, &plain, operand, RECURRENT_TO + 1);
	return put(l, n, 0, to, 0, e) || put(l, n, 1, to, r->steps * ends, e) ||
			       put(l, n, 2, to, (r->steps + 1) * ends, e)
		       ? -1
		       : 0;
}
