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
	(void)wide;
	(void)e;
	return convolution_naive_pool(&form, w, n);
}

const struct op op_avgpool2d = {
	.name = "avgpool2d",
	.summary = "pool of means, two-dimensional",
	.ndims = POOL_DW + 1,
	.dim = {"mb", "ic", "ih", "iw", "oh", "ow", "kh", "kw", "sh", "sw", "ph", "pw", "dh", "dw"},
	.layout = LAYOUT_NHWC,
	.parse = parse,
	.print = print,
	.check = check,
	.follow = follow,
	.flops = flops,
	.tensors = tensors,
	.naive = naive,
};
