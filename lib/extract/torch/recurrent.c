/* Recurrent layers as nodes of ONNX, which has one for each layer, with both of its directions. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/torch/torch.h"

enum { MOST_LAYERS = 1000 };

struct layers {
	const struct call *c;
	const char *type; /* of ONNX */
	int *weight;	  /* of each layer and direction: of the inputs, of the state, biases */
	int each;	  /* how many of them a direction has */
	int count, directions, is_batch_first;
	int *state, nstate; /* what comes in: h, and c of an LSTM */
	int64_t steps, batch, hidden;
};

/* A value of this shape between the nodes of the call, of the type of its first output. */
static int part(const struct layers *l, const char *what, int rank, const int64_t *dim)
{
	struct shape s = {.rank = rank};

	memcpy(s.dim, dim, sizeof *dim * (size_t)rank);
	return build_like(l->c->b, l->c->out[0], what, l->c->out[0], &s);
}

/* The weights of both directions as one constant. */
static int stacked(const struct layers *l, const char *what, int first)
{
	const struct shape *one = build_shape(l->c->b, first);
	const int64_t dim[] = {l->directions, one->dim[0], one->dim[1]};
	int i = part(l, what, 3, dim);
	struct value *v = l->c->b->g->value[i];

	v->is_const = 1;
	v->elem = v->declared->elem;
	v->shape = v->declared->shape;
	return i;
}

static struct graph_node *node(const struct layers *l, const char *type, const int *in, int nin,
			       const int *out, int nout)
{
	struct graph_node *n = build_node(l->c->b, type, in, nin, out, nout);

	n->is_told = 1;
	return n;
}

/* ONNX has the steps' directions apart, PyTorch one behind the other. */
static void join(const struct layers *l, int y, int out)
{
	const int64_t perm[] = {0, 2, 1, 3};
	const int64_t dim[] = {l->steps, l->batch, l->directions, l->hidden};

	if (!l->is_batch_first) {
		int turned = part(l, "turned", 4, dim);

		build_ints(l->c->b, node(l, "Transpose", &y, 1, &turned, 1), "perm", perm, 4);
		y = turned;
	}
	node(l, "Reshape", &y, 1, &out, 1);
}

/* Layer i of the rows x, whose result is out; after: its last states. */
static void layer(const struct layers *l, int i, int x, int out, int *after)
{
	const int *w = l->weight + (int64_t)i * l->directions * l->each;
	const int64_t state[] = {l->directions, l->batch, l->hidden};
	const int64_t first[] = {l->steps, l->directions, l->batch, l->hidden};
	const int64_t batch[] = {l->batch, l->steps, l->directions, l->hidden};
	int in[7] = {x, stacked(l, "inputs", w[0]), stacked(l, "states", w[1]), -1, -1, -1, -1};
	int made[3] = {part(l, "steps", 4, l->is_batch_first ? batch : first), -1, -1};
	struct graph_node *n;

	for (int k = 0; k < l->nstate; k++) {
		in[5 + k] = l->state[k];
		if (l->count > 1) {
			in[5 + k] = part(l, "before", 3, state);
			node(l, "Slice", &l->state[k], 1, &in[5 + k], 1);
		}
		made[1 + k] = after[k] = part(l, "after", 3, state);
	}
	n = node(l, l->type, in, 5 + l->nstate, made, 1 + l->nstate);
	build_int(l->c->b, n, "hidden_size", l->hidden);
	build_int(l->c->b, n, "layout", l->is_batch_first);
	build_str(l->c->b, n, "direction", l->directions > 1 ? "bidirectional" : "forward");
	join(l, made[0], out);
}

/* 0: the weights are constants, and as many as the layers have, of the sizes that they must have.
 */
static int check(const struct layers *l, int nweight)
{
	const struct graph *g = l->c->b->g;
	int64_t gates;

	if (l->count < 1 || nweight != l->count * l->directions * l->each || l->steps < 1 ||
	    l->batch < 1 || l->hidden < 1)
		return -1;
	for (int i = 0; i < nweight; i++)
		if (l->weight[i] < 0 || !g->value[l->weight[i]]->is_const)
			return -1;
	gates = build_shape(l->c->b, l->weight[1])->dim[0];
	for (int i = 0; i < nweight; i += l->each)
		for (int k = 0; k < 2; k++) {
			const struct shape *s = build_shape(l->c->b, l->weight[i + k]);

			if (s->rank != 2 || s->dim[0] != gates || s->dim[1] < 1)
				return -1;
		}
	/* An LSTM whose states are projected has another size here, and one more matrix. */
	return build_shape(l->c->b, l->weight[1])->dim[1] == l->hidden ? 0 : -1;
}

/* The last states of all layers, one behind the other. */
static void leave(const struct layers *l, const int *after)
{
	int *all = arena_array(l->c->b->a, int, l->count);

	for (int k = 0; k < l->nstate && k + 1 < l->c->nout; k++) {
		for (int i = 0; i < l->count; i++)
			all[i] = after[2 * i + k];
		build_int(l->c->b, node(l, "Concat", all, l->count, &l->c->out[1 + k], 1), "axis",
			  0);
	}
}

/* -1 from here on: the call has what ONNX's operator has not, and nothing was added. */
static int recurrent(const struct call *c, const char *onnx)
{
	const int input = call_input(c, "input"), has_biases = call_flag(c, "has_biases", 1);
	struct layers l = {.c = c, .type = onnx, .each = has_biases ? 4 : 2};
	const struct shape *x = input < 0 ? NULL : build_shape(c->b, input);
	const int64_t count = call_int(c, "num_layers", 1);
	int nweight = torch_tensors(c, "params", &l.weight), *after, out;

	l.nstate = torch_tensors(c, "hx", &l.state);
	l.count = count < 1 || count > MOST_LAYERS ? 0 : (int)count;
	l.directions = 1 + call_flag(c, "bidirectional", 0);
	l.is_batch_first = call_flag(c, "batch_first", 0);
	if (!x || x->rank != 3 || build_shape(c->b, c->out[0])->rank != 3 || l.nstate < 1 ||
	    l.nstate > 2 || l.state[0] < 0 || l.state[l.nstate - 1] < 0)
		return -1;
	l.steps = x->dim[l.is_batch_first];
	l.batch = x->dim[!l.is_batch_first];
	l.hidden = build_shape(c->b, c->out[0])->dim[2] / l.directions;
	if (check(&l, nweight))
		return -1;
	after = arena_array(c->b->a, int, 2 * l.count);
	for (int i = 0, from = input; i < l.count; i++, from = out) {
		const int64_t s = l.is_batch_first ? l.batch : l.steps;
		const int64_t dim[] = {s, l.is_batch_first ? l.steps : l.batch,
				       l.directions * l.hidden};

		out = i + 1 < l.count ? part(&l, "layer", 3, dim) : c->out[0];
		layer(&l, i, from, out, after + 2 * i);
	}
	leave(&l, after);
	return 0;
}

/* One step: the products of the input and of the state, which are added (but for a GRU's), and what
 * becomes of them. */
static int cell(const struct call *c, const char *onnx)
{
	struct layers l = {.c = c, .type = onnx};
	const int x = call_input(c, "input"), is_gru = !strncmp(onnx, "GRU", 3);
	const int w[] = {call_input(c, "w_ih"), call_input(c, "w_hh")};
	const int bias[] = {call_input(c, "b_ih"), call_input(c, "b_hh")};
	int product[2], in[3], n = 1;
	struct graph_node *last;

	l.nstate = torch_tensors(c, "hx", &l.state);
	if (x < 0 || w[0] < 0 || w[1] < 0 || l.nstate < 1 || l.nstate > 2 || l.state[0] < 0 ||
	    build_shape(c->b, x)->rank != 2 || build_shape(c->b, w[0])->rank != 2)
		return -1;
	for (int i = 1; i >= 0; i--) {
		const int64_t dim[] = {build_shape(c->b, x)->dim[0],
				       build_shape(c->b, w[0])->dim[0]};

		product[i] = part(&l, i ? "states" : "inputs", 2, dim);
		compose_linear(c->b, i ? l.state[0] : x, w[i], bias[i], product[i], 1);
	}
	in[0] = product[0];
	if (is_gru) {
		in[n++] = product[1];
	} else {
		in[0] = part(&l, "gates", 2, build_shape(c->b, product[0])->dim);
		node(&l, "Add", product, 2, in, 1);
	}
	if (l.nstate > 1)
		in[n++] = l.state[1];
	last = node(&l, onnx, in, n, c->out, c->nout);
	last->domain = c->domain;
	return 0;
}

int torch_recurrent(const struct call *c, const struct call_row *row)
{
	return recurrent(c, row->onnx) ? call_weighs(c, row) : 0;
}

int torch_cell(const struct call *c, const struct call_row *row)
{
	return cell(c, row->onnx) ? call_weighs(c, row) : 0;
}
