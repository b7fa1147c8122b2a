/* Products and recurrent networks. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/tflite/rewrite.h"

enum { FULLY_CONNECTED_KEEP = 2 };

enum { SEQUENCE_LSTM_TIME_MAJOR = 3, SEQUENCE_RNN_TIME_MAJOR = 0 };
enum { LSTM_STATE = 5, LSTM_PROJECTION = 16, RNN_STATE = 2 }; /* inputs */

static int flag(const struct call *c, int i)
{
	const struct options *o = c->at;

	return o->at && flat_ubyte(o->flat, o->at, i, 0);
}

/* The data as rows of as many elements as the weights read, where it does not come so. */
static int rows(const struct call *c)
{
	const struct shape *data = build_shape(c->b, call_in(c, 0));
	const struct shape *weights = build_shape(c->b, call_in(c, 1));
	int in = call_in(c, 0), out;
	int64_t shape[2] = {-1, weights->rank == 2 ? weights->dim[1] : 0};

	if (in < 0 || data->rank == 2 || flag(c, FULLY_CONNECTED_KEEP) || shape[1] < 1)
		return in;
	out = build_part(c->b, in, "rows");
	build_ints(c->b, build_node(c->b, "Reshape", &in, 1, &out, 1), "shape", shape, 2);
	return out;
}

/* Weights are n x k. */
int rewrite_fully_connected(const struct call *c, const struct call_row *row)
{
	(void)row;
	compose_linear(c->b, rows(c), call_in(c, 1), call_in(c, 2), call_out(c, 0), 1);
	return 0;
}

/* What the file tells of input i, if it is a matrix. */
static const struct declared *matrix(const struct call *c, int i)
{
	const struct value *v = call_in(c, i) < 0 ? NULL : c->b->g->value[c->in[i]];
	const struct declared *d = v ? v->declared : NULL;

	return d && shape_known(&d->shape) && d->shape.rank == 2 ? d : NULL;
}

/* The matrices of all gates in one, whose shape follows from hidden_size. */
static int gates(struct build *b, const struct declared *one, const char *name)
{
	const int at = build_parameter(b, name, 0);

	b->g->value[at]->elem = one->elem;
	b->g->value[at]->quantized = one->quantized;
	return at;
}

/* A layer in one direction, as ONNX has it. One whose states are projected, or that lacks the input
 * gate, is another one. */
int rewrite_recurrent(const struct call *c, const struct call_row *row)
{
	const int is_lstm = !strcmp(row->onnx, "LSTM");
	const struct declared *w = matrix(c, 1), *r = matrix(c, is_lstm ? LSTM_STATE : RNN_STATE);
	const int is_time_first =
		flag(c, is_lstm ? SEQUENCE_LSTM_TIME_MAJOR : SEQUENCE_RNN_TIME_MAJOR);
	struct graph_node *n;
	int in[3], out;

	if (!w || !r || !c->nout || c->out[0] < 0 ||
	    (is_lstm && call_in(c, LSTM_PROJECTION) >= 0) || r->shape.dim[0] != r->shape.dim[1] ||
	    w->shape.dim[0] != r->shape.dim[0])
		return call_weighs(c, row);
	in[0] = call_in(c, 0);
	in[1] = gates(c->b, w, "weights of the input");
	in[2] = gates(c->b, r, "weights of the state");
	out = build_between(c->b, c->out[0]);
	n = build_node(c->b, row->onnx, in, 3, &out, 1);
	build_int(c->b, n, "hidden_size", r->shape.dim[0]);
	build_int(c->b, n, "layout", !is_time_first);
	n = build_node(c->b, "Squeeze", &out, 1, c->out, 1);
	build_ints(c->b, n, "axes", (const int64_t[]){is_time_first ? 1 : 2}, 1);
	return 0;
}
