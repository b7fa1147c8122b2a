/* Two-dimensional pool of means over what is no padding (convolution.h). */
#include "lib/op/convolution.h"

static const struct convolution form = {
	.kind = CONVOLUTION_MEAN,
	.op = &op_avgpool2d,
	.axes = 2,
	.axis = {"height", "width"},
	.last = LAYOUT_NHWC,
	.first = LAYOUT_NCHW,
};

const struct op op_avgpool2d = {
	.name = "avgpool2d",
	.summary = "pool of means, two-dimensional",
	.ndims = POOL_DW + 1,
	.dim = {"mb", "ic", "ih", "iw", "oh", "ow", "kh", "kw", "sh", "sw", "ph", "pw", "dh", "dw"},
	.layout = LAYOUT_NHWC,
	.parse = convolution_parse,
	.print = convolution_print,
	.check = convolution_check,
	.follow = convolution_follow,
	.flops = convolution_flops,
	.tensors = convolution_tensors,
	.naive = convolution_naive_pool,
	.form = &form,
};
