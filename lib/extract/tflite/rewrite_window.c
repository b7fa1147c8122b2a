/* What slides a window over images, and what pads and resizes them. Images are nhwc. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/tflite/rewrite.h"

/* Options of the operators, by the schema's order of their fields. */
enum { CONV_PADDING, CONV_STRIDE_W, CONV_STRIDE_H };
enum { CONV_DILATION_W = 4, CONV_DILATION_H };
enum { DEPTHWISE_MULTIPLIER = 3, DEPTHWISE_DILATION_W = 5, DEPTHWISE_DILATION_H };
enum { CONV3D_STRIDE_D = 1, CONV3D_STRIDE_W, CONV3D_STRIDE_H };
enum { CONV3D_DILATION_D = 5, CONV3D_DILATION_W, CONV3D_DILATION_H };
enum { POOL_WIDTH = 3, POOL_HEIGHT };

static int64_t option(const struct operation *o, int i)
{
	return o->options ? flat_int(o->flat, o->options, i, 1) : 1;
}

/* Numbers of the options that stand at these places, as a list. */
static void list(struct build *b, const struct operation *o, struct graph_node *n, const char *name,
		 const int *at, int count)
{
	int64_t v[3];

	for (int i = 0; i < count; i++)
		v[i] = option(o, at[i]);
	build_ints(b, n, name, v, count);
}

static void pads(struct build *b, const struct operation *o, struct graph_node *n)
{
	int valid = o->options && flat_byte(o->flat, o->options, CONV_PADDING, 0);

	build_str(b, n, "auto_pad", valid ? "VALID" : "SAME_UPPER");
	n->channels_last = 1;
}

/* How many groups: what the data has of channels, over what the filter reads. */
static int64_t groups(struct build *b, const struct operation *o, int is_depthwise)
{
	const struct shape *data = build_shape(b, rewrite_in(o, 0));
	const struct shape *filter = build_shape(b, rewrite_in(o, 1));
	int64_t read, channels = data->rank > 1 ? data->dim[data->rank - 1] : -1;

	if (filter->rank < 1)
		return 1;
	read = filter->dim[filter->rank - 1];
	if (is_depthwise) {
		int64_t times = option(o, DEPTHWISE_MULTIPLIER);

		return channels > 0 ? channels : times > 0 && read > 0 ? read / times : 1;
	}
	return channels > 0 && read > 0 && channels % read == 0 ? channels / read : 1;
}

void rewrite_conv(struct build *b, const struct operation *o, const char *onnx)
{
	static const int stride[] = {CONV_STRIDE_H, CONV_STRIDE_W};
	static const int dilation[] = {CONV_DILATION_H, CONV_DILATION_W};
	static const int depthwise[] = {DEPTHWISE_DILATION_H, DEPTHWISE_DILATION_W};
	static const int stride3[] = {CONV3D_STRIDE_D, CONV3D_STRIDE_H, CONV3D_STRIDE_W};
	static const int dilation3[] = {CONV3D_DILATION_D, CONV3D_DILATION_H, CONV3D_DILATION_W};
	int is_depthwise = !strcmp(o->type, "DEPTHWISE_CONV_2D");
	int is_3d = !strcmp(o->type, "CONV_3D");
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	pads(b, o, n);
	list(b, o, n, "strides", is_3d ? stride3 : stride, is_3d ? 3 : 2);
	list(b, o, n, "dilations",
	     is_3d	    ? dilation3
	     : is_depthwise ? depthwise
			    : dilation,
	     is_3d ? 3 : 2);
	build_int(b, n, "group", is_3d ? 1 : groups(b, o, is_depthwise));
	n->filter = is_3d ? "dhwio" : is_depthwise ? "ihwo" : "ohwi";
}

void rewrite_conv_transpose(struct build *b, const struct operation *o, const char *onnx)
{
	static const int stride[] = {CONV_STRIDE_H, CONV_STRIDE_W};
	static const int stride3[] = {CONV3D_STRIDE_D, CONV3D_STRIDE_H, CONV3D_STRIDE_W};
	int is_3d = !strcmp(o->type, "CONV_3D_TRANSPOSE");
	const int in[] = {rewrite_in(o, 2), rewrite_in(o, 1), rewrite_in(o, 3), rewrite_in(o, 0)};
	struct graph_node *n = build_node(b, onnx, in, 4, o->out, o->nout);

	pads(b, o, n);
	list(b, o, n, "strides", is_3d ? stride3 : stride, is_3d ? 3 : 2);
	n->filter = is_3d ? "dhwoi" : "ohwi";
}

/* MediaPipe's own: data, filter, bias. Its options are none of the schema's, so the stride is what
 * the sizes make of it. */
void rewrite_custom_transpose(struct build *b, const struct operation *o, const char *onnx)
{
	const struct shape *x = build_shape(b, rewrite_in(o, 0));
	const struct shape *y = build_shape(b, rewrite_out(o, 0));
	int64_t stride[2];
	struct graph_node *n;

	for (int i = 0; i < 2; i++)
		stride[i] = x->rank == 4 && y->rank == 4 && x->dim[i + 1] > 0
				    ? y->dim[i + 1] / x->dim[i + 1]
				    : 0;
	if (stride[0] < 1 || stride[1] < 1 || o->nin < 2) {
		rewrite_own(b, o);
		return;
	}
	n = build_node(b, onnx, o->in, o->nin < 3 ? o->nin : 3, o->out, 1);
	build_str(b, n, "auto_pad", "SAME_UPPER");
	build_ints(b, n, "strides", stride, 2);
	n->channels_last = 1;
	n->filter = "ohwi";
}

void rewrite_pool(struct build *b, const struct operation *o, const char *onnx)
{
	static const int stride[] = {CONV_STRIDE_H, CONV_STRIDE_W};
	static const int kernel[] = {POOL_HEIGHT, POOL_WIDTH};
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	pads(b, o, n);
	list(b, o, n, "strides", stride, 2);
	list(b, o, n, "kernel_shape", kernel, 2);
}

/* onnx: the mode. */
void rewrite_pad(struct build *b, const struct operation *o, const char *onnx)
{
	if (compose_pad(b, rewrite_in(o, 0), rewrite_in(o, 1), rewrite_in(o, 2), rewrite_out(o, 0),
			onnx))
		rewrite_own(b, o);
}

void rewrite_resize(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	compose_resize(b, rewrite_in(o, 0), rewrite_in(o, 1), rewrite_out(o, 0), 1);
}

void rewrite_blocks(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_int(b, n, "blocksize", o->options ? flat_int(o->flat, o->options, 0, 0) : 0);
	n->channels_last = 1;
}
