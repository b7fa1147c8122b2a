/* Products, reductions and recurrent networks. */
#include "lib/extract/compose.h"
#include "lib/extract/tflite/rewrite.h"

enum { FULLY_CONNECTED_KEEP = 2 };
enum { BATCH_ADJ_X, BATCH_ADJ_Y };
enum { REDUCER_KEEP = 0 };

enum { SEQUENCE_LSTM_TIME_MAJOR = 3, SEQUENCE_RNN_TIME_MAJOR = 0 };
enum { LSTM_STATE = 5, LSTM_PROJECTION = 16, RNN_STATE = 2 }; /* inputs */

static int flag(const struct operation *o, int i)
{
	return o->options && flat_ubyte(o->flat, o->options, i, 0);
}

/* The data as rows of as many elements as the weights read, where it does not come so. */
static int rows(struct build *b, const struct operation *o)
{
	const struct shape *data = build_shape(b, rewrite_in(o, 0));
	const struct shape *weights = build_shape(b, rewrite_in(o, 1));
	int in = rewrite_in(o, 0), out;
	int64_t shape[2] = {-1, weights->rank == 2 ? weights->dim[1] : 0};

	if (in < 0 || data->rank == 2 || flag(o, FULLY_CONNECTED_KEEP) || shape[1] < 1)
		return in;
	out = build_part(b, in, "rows");
	build_ints(b, build_node(b, "Reshape", &in, 1, &out, 1), "shape", shape, 2);
	return out;
}

/* Weights are n x k. */
void rewrite_fully_connected(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	compose_linear(b, rows(b, o), rewrite_in(o, 1), rewrite_in(o, 2), rewrite_out(o, 0), 1);
}

void rewrite_batch_matmul(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_int(b, n, "transA", flag(o, BATCH_ADJ_X));
	build_int(b, n, "transB", flag(o, BATCH_ADJ_Y));
}

void rewrite_reduce(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_int(b, n, "keepdims", flag(o, REDUCER_KEEP));
	build_int(b, n, "noop_with_empty_axes", 1);
}

void rewrite_arg(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n;
	int64_t axis;

	if (!compose_integer(b, rewrite_in(o, 1), &axis)) {
		rewrite_own(b, o);
		return;
	}
	n = build_node(b, onnx, o->in, 1, o->out, o->nout);
	build_int(b, n, "axis", axis);
	build_int(b, n, "keepdims", 0);
}

/* What the file tells of input i, if it is a matrix. */
static const struct declared *matrix(const struct build *b, const struct operation *o, int i)
{
	const struct value *v = rewrite_in(o, i) < 0 ? NULL : b->g->value[o->in[i]];
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
void rewrite_recurrent(struct build *b, const struct operation *o, const char *onnx)
{
	const int is_lstm = !strcmp(onnx, "LSTM");
	const struct declared *w = matrix(b, o, 1),
			      *r = matrix(b, o, is_lstm ? LSTM_STATE : RNN_STATE);
	const int is_time_first =
		flag(o, is_lstm ? SEQUENCE_LSTM_TIME_MAJOR : SEQUENCE_RNN_TIME_MAJOR);
	struct graph_node *n;
	int in[3], out;

	if (!w || !r || !o->nout || o->out[0] < 0 ||
	    (is_lstm && rewrite_in(o, LSTM_PROJECTION) >= 0) ||
	    r->shape.dim[0] != r->shape.dim[1] || w->shape.dim[0] != r->shape.dim[0]) {
		rewrite_weighing(b, o, onnx);
		return;
	}
	in[0] = rewrite_in(o, 0);
	in[1] = gates(b, w, "weights of the input");
	in[2] = gates(b, r, "weights of the state");
	out = build_between(b, o->out[0]);
	n = build_node(b, onnx, in, 3, &out, 1);
	build_int(b, n, "hidden_size", r->shape.dim[0]);
	build_int(b, n, "layout", !is_time_first);
	n = build_node(b, "Squeeze", &out, 1, o->out, 1);
	build_ints(b, n, "axes", (const int64_t[]){is_time_first ? 1 : 2}, 1);
}

void rewrite_weighing(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	rewrite_own(b, o)->weighs = 1;
}
