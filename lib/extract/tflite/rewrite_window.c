/* These operators slide a window over images, or rearrange them in blocks. Images are nhwc. */
#include <string.h>

#include "lib/extract/tflite/rewrite.h"

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
