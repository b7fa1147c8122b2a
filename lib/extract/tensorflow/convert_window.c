/* These operators slide a window over images, normalize them or rearrange them in blocks. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/tensorflow/tensorflow.h"

/* The channels come last, unless data_format says NCHW or NCDHW. */
static int channels_last(const struct call *c)
{
	const char *format = convert_text(c, "data_format");

	return !(format[0] == 'N' && format[1] == 'C');
}

/* Takes the entries of space from a list with an entry for each dimension. */
static int of_space(const struct call *c, const char *name, int64_t v[3])
{
	const struct message_attr *a = message_attr(c->at, name);
	const int rank = a ? a->nints - 2 : 0;

	if (rank < 1 || rank > 3)
		return 0;
	memcpy(v, a->ints + (channels_last(c) ? 1 : 2), sizeof *v * (size_t)rank);
	return rank;
}

static void add_of_space(const struct call *c, struct graph_node *to, const char *name,
			 const char *onnx)
{
	int64_t v[3];
	int rank = of_space(c, name, v);

	if (rank)
		build_ints(c->b, to, onnx, v, rank);
}

/* Pairs for each dimension, as ONNX has them: all that come before, then all behind. */
static void add_paddings(const struct call *c, struct graph_node *to)
{
	const struct message_attr *a = message_attr(c->at, "explicit_paddings");
	const int rank = a ? a->nints / 2 - 2 : 0, from = channels_last(c) ? 1 : 2;
	int64_t pads[6];

	if (rank < 1 || rank > 3)
		return;
	for (int i = 0; i < rank; i++) {
		pads[i] = a->ints[2 * (i + from)];
		pads[i + rank] = a->ints[2 * (i + from) + 1];
	}
	build_ints(c->b, to, "pads", pads, 2 * rank);
}

static void add_window(const struct call *c, struct graph_node *to)
{
	const char *padding = convert_text(c, "padding");

	add_of_space(c, to, "strides", "strides");
	add_of_space(c, to, "dilations", "dilations");
	if (!strcmp(padding, "EXPLICIT"))
		add_paddings(c, to);
	else
		build_str(c->b, to, "auto_pad", !strcmp(padding, "SAME") ? "SAME_UPPER" : "VALID");
	to->channels_last = channels_last(c);
}

/* Groups follow from the channels of the data and of the filter. */
int convert_conv(const struct call *c, const struct call_row *row)
{
	struct graph_node *to = call_node(c, row->onnx, c->in, 2);

	add_window(c, to);
	to->filter = strstr(c->type, "3D") ? "dhwio" : "hwio";
	build_int(c->b, to, "group", 0);
	return 0;
}

/* The filter is height x width x channels x filters of each. */
int convert_depthwise(const struct call *c, const struct call_row *row)
{
	struct graph_node *to;

	(void)row;
	call_make(c, "filter = Reshape(%d) shape=[0,0,1,-1]; $0 = Conv(0 filter)", c->nin > 1);
	to = build_last(c->b);
	add_window(c, to);
	to->filter = "hwio";
	build_int(c->b, to, "group", 0);
	return 0;
}

int convert_conv_transpose(const struct call *c, const struct call_row *row)
{
	const int from[] = {call_in(c, 2), call_in(c, 1), -1, call_in(c, 0)};
	struct graph_node *to = call_node(c, row->onnx, from, 4);

	add_window(c, to);
	to->filter = strstr(c->type, "3D") ? "dhwoi" : "hwoi";
	return 0;
}

int convert_pool(const struct call *c, const struct call_row *row)
{
	struct graph_node *to = call_node(c, row->onnx, c->in, 1);

	add_window(c, to);
	add_of_space(c, to, "ksize", "kernel_shape");
	return 0;
}

/* Along the channels, wherever these are. */
int convert_bias_add(const struct call *c, const struct call_row *row)
{
	(void)row;
	if (channels_last(c) || call_in(c, 1) < 0)
		call_make(c, "$0 = Add(0 1)");
	else
		call_make(c, "along = Unsqueeze(1) axes=[1,2]; $0 = Add(0 along)");
	return 0;
}

int convert_batch_norm(const struct call *c, const struct call_row *row)
{
	/* Only the first output is that of ONNX's; the others are of training. */
	struct graph_node *to =
		build_node(c->b, row->onnx, c->in, c->nin < 5 ? c->nin : 5, c->out, 1);

	build_float(c->b, to, "epsilon", (float)call_real(c, "epsilon", 1e-3));
	to->channels_last = channels_last(c);
	if (c->nout > 1)
		build_node(c->b, "BatchNormStatistics", c->in, c->nin, c->out + 1, c->nout - 1)
			->domain = c->domain;
	return 0;
}

int convert_blocks(const struct call *c, const struct call_row *row)
{
	call_node_of(c, row, c->in, 1)->channels_last = channels_last(c);
	return 0;
}
