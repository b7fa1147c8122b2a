/* What slides a window over images, and what rearranges them in blocks. Images are nhwc. */
#include <string.h>

#include "lib/extract/tflite/rewrite.h"

/* Options of the operators, by the schema's order of their fields. */
enum { CONV_PADDING, CONV_STRIDE_W, CONV_STRIDE_H };
enum { CONV_DILATION_W = 4, CONV_DILATION_H };
enum { DEPTHWISE_MULTIPLIER = 3, DEPTHWISE_DILATION_W = 5, DEPTHWISE_DILATION_H };
enum { CONV3D_STRIDE_D = 1, CONV3D_STRIDE_W, CONV3D_STRIDE_H };
enum { CONV3D_DILATION_D = 5, CONV3D_DILATION_W, CONV3D_DILATION_H };
enum { POOL_WIDTH = 3, POOL_HEIGHT };

static const struct options *options(const struct call *c)
{
	return c->at;
}

static int64_t option(const struct call *c, int i)
{
	return options(c)->at ? flat_int(options(c)->flat, options(c)->at, i, 1) : 1;
}

/* Numbers of the options that stand at these places, as a list. */
static void list(const struct call *c, struct graph_node *n, const char *name, const int *at,
		 int count)
{
	int64_t v[3];

	for (int i = 0; i < count; i++)
		v[i] = option(c, at[i]);
	build_ints(c->b, n, name, v, count);
}

static void pads(const struct call *c, struct graph_node *n)
{
	int valid = options(c)->at && flat_byte(options(c)->flat, options(c)->at, CONV_PADDING, 0);

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
		int64_t times = option(c, DEPTHWISE_MULTIPLIER);

		return channels > 0 ? channels : times > 0 && read > 0 ? read / times : 1;
	}
	return channels > 0 && read > 0 && channels % read == 0 ? channels / read : 1;
}

int rewrite_conv(const struct call *c, const struct call_row *row)
{
	static const int stride[] = {CONV_STRIDE_H, CONV_STRIDE_W};
	static const int dilation[] = {CONV_DILATION_H, CONV_DILATION_W};
	static const int depthwise[] = {DEPTHWISE_DILATION_H, DEPTHWISE_DILATION_W};
	static const int stride3[] = {CONV3D_STRIDE_D, CONV3D_STRIDE_H, CONV3D_STRIDE_W};
	static const int dilation3[] = {CONV3D_DILATION_D, CONV3D_DILATION_H, CONV3D_DILATION_W};
	int is_depthwise = !strcmp(c->type, "DEPTHWISE_CONV_2D");
	int is_3d = !strcmp(c->type, "CONV_3D");
	struct graph_node *n = call_node(c, row->onnx, c->in, c->nin);

	pads(c, n);
	list(c, n, "strides", is_3d ? stride3 : stride, is_3d ? 3 : 2);
	list(c, n, "dilations",
	     is_3d	    ? dilation3
	     : is_depthwise ? depthwise
			    : dilation,
	     is_3d ? 3 : 2);
	build_int(c->b, n, "group", is_3d ? 1 : groups(c, is_depthwise));
	n->filter = is_3d ? "dhwio" : is_depthwise ? "ihwo" : "ohwi";
	return 0;
}

int rewrite_conv_transpose(const struct call *c, const struct call_row *row)
{
	static const int stride[] = {CONV_STRIDE_H, CONV_STRIDE_W};
	static const int stride3[] = {CONV3D_STRIDE_D, CONV3D_STRIDE_H, CONV3D_STRIDE_W};
	int is_3d = !strcmp(c->type, "CONV_3D_TRANSPOSE");
	const int in[] = {call_in(c, 2), call_in(c, 1), call_in(c, 3), call_in(c, 0)};
	struct graph_node *n = call_node(c, row->onnx, in, 4);

	pads(c, n);
	list(c, n, "strides", is_3d ? stride3 : stride, is_3d ? 3 : 2);
	n->filter = is_3d ? "dhwoi" : "ohwi";
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
	static const int stride[] = {CONV_STRIDE_H, CONV_STRIDE_W};
	static const int kernel[] = {POOL_HEIGHT, POOL_WIDTH};
	struct graph_node *n = call_node(c, row->onnx, c->in, c->nin);

	pads(c, n);
	list(c, n, "strides", stride, 2);
	list(c, n, "kernel_shape", kernel, 2);
	return 0;
}

int rewrite_blocks(const struct call *c, const struct call_row *row)
{
	call_node_of(c, row, c->in, c->nin)->channels_last = 1;
	return 0;
}
