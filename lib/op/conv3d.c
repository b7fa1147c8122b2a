/* Three-dimensional convolution (convolution.h), as of videos and volumes. */
#include "lib/op/convolution.h"

static const struct convolution form = {
	.kind = CONVOLUTION,
	.op = &op_conv3d,
	.axes = 3,
	.axis = {"depth", "height", "width"},
	.last = LAYOUT_NDHWC,
	.first = LAYOUT_NCDHW,
};

const struct op op_conv3d = {
	.name = "conv3d",
	.summary = "three-dimensional convolution",
	.ndims = CONV3D_DW + 1,
	.dim = {"mb", "g",  "ic", "id", "ih", "iw", "oc", "od", "oh", "ow", "kd",
		"kh", "kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw"},
	.layout = LAYOUT_NDHWC,
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
