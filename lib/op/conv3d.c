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

static int parse(const char *prob, int64_t *dim, struct err *e)
{
	return convolution_parse(&form, prob, dim, e);
}

static void print(const int64_t *dim, struct buf *out)
{
	convolution_print(&form, dim, out);
}

static int check(const struct workload *w, struct err *e)
{
	return convolution_check(&form, w, e);
}

static void follow(const int64_t *from, const char *set, int64_t *dim)
{
	convolution_follow(&form, from, set, dim);
}

static int64_t flops(const struct workload *w)
{
	return convolution_flops(&form, w);
}

static int tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	return convolution_tensors(&form, w, t);
}

static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	(void)e;
	return convolution_naive(&form, w, wide, n);
}

const struct op op_conv3d = {
	.name = "conv3d",
	.summary = "three-dimensional convolution",
	.ndims = CONV3D_DW + 1,
	.dim = {"mb", "g",  "ic", "id", "ih", "iw", "oc", "od", "oh", "ow", "kd",
		"kh", "kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw"},
	.layout = LAYOUT_NDHWC,
	.is_product = 1,
	.parse = parse,
	.print = print,
	.check = check,
	.follow = follow,
	.flops = flops,
	.tensors = tensors,
	.naive = naive,
};
