/* Two-dimensional convolution (convolution.h). */
#include "lib/op/convolution.h"

static const struct convolution form = {
	.kind = CONVOLUTION,
	.op = &op_conv2d,
	.axes = 2,
	.axis = {"height", "width"},
	.last = LAYOUT_NHWC,
	.first = LAYOUT_NCHW,
};

const struct op op_conv2d = {
	.name = "conv2d",
	.summary = "two-dimensional convolution",
	.ndims = CONV_DW + 1,
	.dim = {"mb", "g", "ic", "ih", "iw", "oc", "oh", "ow", "kh", "kw", "sh", "sw", "ph", "pw",
		"dh", "dw"},
	.layout = LAYOUT_NHWC,
	.is_product = 1,
	.parse = convolution_parse,
	.print = convolution_print,
	.check = convolution_check,
	.follow = convolution_follow,
	.flops = convolution_flops,
	.tensors = convolution_tensors,
	.naive = convolution_naive,
	.form = &form,
};
