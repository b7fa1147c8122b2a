/* What slides a window over images, and what pads, resizes and normalizes them. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/tensorflow/convert.h"

/* The channels come last, unless data_format says NCHW or NCDHW. */
static int channels_last(const struct tensorflow_node *n)
{
	const char *format = convert_text(n, "data_format");

	return !(format[0] == 'N' && format[1] == 'C');
}

/* Takes the entries of space from a list with an entry for each dimension. */
static int of_space(const struct tensorflow_node *n, const char *name, int64_t v[3])
{
	const struct message_attr *a = message_attr(n->m, name);
	const int rank = a ? a->nints - 2 : 0;

	if (rank < 1 || rank > 3)
		return 0;
	memcpy(v, a->ints + (channels_last(n) ? 1 : 2), sizeof *v * (size_t)rank);
	return rank;
}

static void add_of_space(const struct tensorflow_node *n, struct graph_node *to, const char *name,
			 const char *onnx)
{
	int64_t v[3];
	int rank = of_space(n, name, v);

	if (rank)
		build_ints(n->b, to, onnx, v, rank);
}

/* Pairs for each dimension, as ONNX has them: all that come before, then all behind. */
static void add_paddings(const struct tensorflow_node *n, struct graph_node *to)
{
	const struct message_attr *a = message_attr(n->m, "explicit_paddings");
	const int rank = a ? a->nints / 2 - 2 : 0, from = channels_last(n) ? 1 : 2;
	int64_t pads[6];

	if (rank < 1 || rank > 3)
		return;
	for (int i = 0; i < rank; i++) {
		pads[i] = a->ints[2 * (i + from)];
		pads[i + rank] = a->ints[2 * (i + from) + 1];
	}
	build_ints(n->b, to, "pads", pads, 2 * rank);
}

static void add_window(const struct tensorflow_node *n, struct graph_node *to)
{
	const char *padding = convert_text(n, "padding");

	add_of_space(n, to, "strides", "strides");
	add_of_space(n, to, "dilations", "dilations");
	if (!strcmp(padding, "EXPLICIT"))
		add_paddings(n, to);
	else
		build_str(n->b, to, "auto_pad", !strcmp(padding, "SAME") ? "SAME_UPPER" : "VALID");
	to->channels_last = channels_last(n);
}

/* Groups follow from the channels of the data and of the filter. */
void convert_conv(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = convert_node(n, onnx, n->in, 2);

	add_window(n, to);
	to->filter = strstr(n->m->type, "3D") ? "dhwio" : "hwio";
	build_int(n->b, to, "group", 0);
}

/* The filter is height x width x channels x filters of each. */
void convert_depthwise(const struct tensorflow_node *n, const char *onnx)
{
	static const int64_t one_channel[] = {0, 0, 1, -1};
	const int filter =
		build_part(n->b, convert_in(n, 1) < 0 ? n->out[0] : convert_in(n, 1), "filter");
	const int from[] = {convert_in(n, 0), filter};
	struct graph_node *to;

	build_ints(n->b, build_node(n->b, "Reshape", &n->in[n->nin > 1], 1, &filter, 1), "shape",
		   one_channel, 4);
	to = convert_node(n, onnx, from, 2);
	add_window(n, to);
	to->filter = "hwio";
	build_int(n->b, to, "group", 0);
}

void convert_conv_transpose(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {convert_in(n, 2), convert_in(n, 1), -1, convert_in(n, 0)};
	struct graph_node *to = convert_node(n, onnx, from, 4);

	add_window(n, to);
	to->filter = strstr(n->m->type, "3D") ? "dhwoi" : "hwoi";
}

void convert_pool(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = convert_node(n, onnx, n->in, 1);

	add_window(n, to);
	add_of_space(n, to, "ksize", "kernel_shape");
}

/* Along the channels, wherever these are. */
void convert_bias_add(const struct tensorflow_node *n, const char *onnx)
{
	static const int64_t behind[] = {1, 2};
	int from[] = {convert_in(n, 0), convert_in(n, 1)};

	if (!channels_last(n) && from[1] >= 0) {
		int wide = build_part(n->b, from[1], "along");

		build_ints(n->b, build_node(n->b, "Unsqueeze", &from[1], 1, &wide, 1), "axes",
			   behind, 2);
		from[1] = wide;
	}
	convert_node(n, onnx, from, 2);
}

void convert_batch_norm(const struct tensorflow_node *n, const char *onnx)
{
	/* Only the first output is that of ONNX's; the others are of training. */
	struct graph_node *to = build_node(n->b, onnx, n->in, n->nin < 5 ? n->nin : 5, n->out, 1);

	build_float(n->b, to, "epsilon", convert_real(n, "epsilon", 1e-3f));
	to->channels_last = channels_last(n);
	if (n->nout > 1)
		build_node(n->b, "BatchNormStatistics", n->in, n->nin, n->out + 1, n->nout - 1)
			->domain = TENSORFLOW_DOMAIN;
}

void convert_pad(const struct tensorflow_node *n, const char *onnx)
{
	if (!strcmp(convert_text(n, "mode"), "SYMMETRIC"))
		onnx = "symmetric";
	convert_unless(compose_pad(n->b, convert_in(n, 0), convert_in(n, 1), convert_in(n, 2),
				   n->out[0], onnx),
		       n);
}

void convert_resize(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	compose_resize(n->b, convert_in(n, 0), convert_in(n, 1), n->out[0], 1);
}

void convert_blocks(const struct tensorflow_node *n, const char *onnx)
{
	struct graph_node *to = convert_node(n, onnx, n->in, 1);

	build_int(n->b, to, "blocksize", convert_int(n, "block_size", 1));
	to->channels_last = channels_last(n);
}
