/* Three-dimensional pool of means over what is no padding (convolution.h). */
#include "lib/op/convolution.h"

static const struct convolution form = {
	.kind = CONVOLUTION_MEAN,
	.op = &op_avgpool3d,
	.axes = 3,
	.axis = {"depth", "height", "width"},
	.last = LAYOUT_NDHWC,
	.first = LAYOUT_NCDHW,
};

const struct op op_avgpool3d = {
	.name = "avgpool3d",
	.summary = "pool of means, three-dimensional",
	.ndims = POOL3D_DW + 1,
	.dim = {"mb", "ic", "id", "ih", "iw", "od", "oh", "ow", "kd", "kh",
		"kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw"},
	.layout = LAYOUT_NDHWC,
	.parse = convolution_parse,
	.print = convolution_print,
	.check = convolution_check,
	.follow = convolution_follow,
	.flops = convolution_flops,
	.tensors = convolution_tensors,
	.naive = convolution_naive_pool,
	.form = &form,
};
