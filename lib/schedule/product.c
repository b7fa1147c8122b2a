#include "lib/schedule/product.h"

int product_of(const struct workload *w, struct product *p)
{
	const int64_t *d = w->dim;

	if (w->op == &op_matmul) {
		*p = (struct product){d[MATMUL_B], d[MATMUL_M], d[MATMUL_K], d[MATMUL_N], 0};
		return 1;
	}
	if (w->op != &op_conv2d || w->layout != LAYOUT_NHWC || d[CONV_G] != 1 || d[CONV_KH] != 1 ||
	    d[CONV_KW] != 1 || d[CONV_SH] != 1 || d[CONV_SW] != 1 || d[CONV_PH] || d[CONV_PW] ||
	    d[CONV_OH] != d[CONV_IH] || d[CONV_OW] != d[CONV_IW])
		return 0;
	*p = (struct product){1, d[CONV_MB] * d[CONV_OH] * d[CONV_OW], d[CONV_IC], d[CONV_OC], 1};
	return 1;
}
