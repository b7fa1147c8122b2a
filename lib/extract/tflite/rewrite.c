#include "lib/extract/tflite/rewrite.h"

#include <string.h>

#include "lib/extract/call/compose.h"

/* ---- windows over images, and what rearranges these in blocks; images are nhwc ---- */

static void pads(const struct call *c, struct graph_node *n)
{
	const struct options *o = c->at;
	const int valid = o->at && flat_byte(o->flat, o->at, 0, 0);

	build_str(c->b, n, "auto_pad", valid ? "VALID" : "SAME_UPPER");
	n->channels_last = 1;
}

/* How many groups: what the data has of channels, over what the filter reads. */
static int64_t groups(const struct call *c, int is_depthwise)
{
	const struct shape *data = build_shape(c->b, call_in(c, 0));
	const struct shape *filter = build_shape(c->b, call_in(c, 1));
	int64_t read, channels = data->rank > 1 ? data->dim[data->rank - 1] : -1;

	if (filter->rank < 1)
		return 1;
	read = filter->dim[filter->rank - 1];
	if (is_depthwise) {
		int64_t times = call_int(c, "depth_multiplier#3", 1);

		return channels > 0 ? channels : times > 0 && read > 0 ? read / times : 1;
	}
	return channels > 0 && read > 0 && channels % read == 0 ? channels / read : 1;
}

int rewrite_conv(const struct call *c, const struct call_row *row)
{
	const int is_depthwise = !strcmp(c->type, "DEPTHWISE_CONV_2D");
	const int is_3d = !strcmp(c->type, "CONV_3D");
	struct graph_node *n = call_node_of(c, row, c->in, c->nin);

	pads(c, n);
	build_int(c->b, n, "group", is_3d ? 1 : groups(c, is_depthwise));
	n->filter = is_3d ? "dhwio" : is_depthwise ? "ihwo" : "ohwi";
	return 0;
}

int rewrite_conv_transpose(const struct call *c, const struct call_row *row)
{
	const int in[] = {call_in(c, 2), call_in(c, 1), call_in(c, 3), call_in(c, 0)};
	struct graph_node *n = call_node_of(c, row, in, 4);

	pads(c, n);
	n->filter = strcmp(c->type, "CONV_3D_TRANSPOSE") ? "ohwi" : "dhwoi";
	return 0;
}

/* MediaPipe's own: data, filter, bias. Its options are none of the schema's, so the stride is what
 * the sizes make of it. */
int rewrite_custom_transpose(const struct call *c, const struct call_row *row)
{
	const struct shape *x = build_shape(c->b, call_in(c, 0));
	const struct shape *y = build_shape(c->b, call_out(c, 0));
	int64_t stride[2];
	struct graph_node *n;

	for (int i = 0; i < 2; i++)
		stride[i] = x->rank == 4 && y->rank == 4 && x->dim[i + 1] > 0
				    ? y->dim[i + 1] / x->dim[i + 1]
				    : 0;
	if (stride[0] < 1 || stride[1] < 1 || c->nin < 2)
		return -1;
	n = build_node(c->b, row->onnx, c->in, c->nin < 3 ? c->nin : 3, c->out, 1);
	build_str(c->b, n, "auto_pad", "SAME_UPPER");
	build_ints(c->b, n, "strides", stride, 2);
	n->channels_last = 1;
	n->filter = "ohwi";
	return 0;
}

int rewrite_pool(const struct call *c, const struct call_row *row)
{
	pads(c, call_node_of(c, row, c->in, c->nin));
	return 0;
}

int rewrite_blocks(const struct call *c, const struct call_row *row)
{
	call_node_of(c, row, c->in, c->nin)->channels_last = 1;
	return 0;
}

/* ---- products and recurrent networks ---- */

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
	const struct shape *weights = build_shape(c->b, call_in(c, 1));
	const int in = call_in(c, 0);

	if (in < 0 || build_shape(c->b, in)->rank == 2 || flag(c, FULLY_CONNECTED_KEEP) ||
	    weights->rank != 2 || weights->dim[1] < 1)
		return in;
	return call_make(c, "rows = Reshape(0) shape=[-1,%lld]", (long long)weights->dim[1]);
}

/* Weights are n x k. */
int rewrite_fully_connected(const struct call *c, const struct call_row *row)
{
	(void)row;
	compose_linear(c->b, rows(c), call_in(c, 1), call_in(c, 2), call_out(c, 0), 1);
	return 0;
}

/* Finds what the file tells of input i, if it is a matrix. */
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
