/* Operators as other libraries tell them, in numbers, as workloads. */
#ifndef TL_EXTRACT_LIST_TOLD_H
#define TL_EXTRACT_LIST_TOLD_H

#include "lib/op/op.h"

enum { TOLD_SPACE = 3 };

/* A convolution of `space` dimensions of space (1 to 3), the last being the width. */
struct told_conv {
	int space;
	int64_t mb, groups, ic, oc;
	int64_t in[TOLD_SPACE], kernel[TOLD_SPACE], stride[TOLD_SPACE];
	int64_t before[TOLD_SPACE], after[TOLD_SPACE]; /* padding */
	int64_t dilation[TOLD_SPACE];		       /* counted from 1 */
};

/* No groups, stride or dilation of 1 and no padding, all else 0. */
struct told_conv told_conv_plain(int space);
/* Fills a workload, finished. -1: it is none, or an operator that there is none of. */
int told_conv(const struct told_conv *c, enum layout layout, struct workload *w, struct err *e);
/* Its multiply-adds, where it is sound; -1: it is not. */
int64_t told_conv_macs(const struct told_conv *c);
/* A product of b pairs of m x k and k x n. rhs_const: the right side is one constant. */
int told_product(int64_t b, int64_t m, int64_t k, int64_t n, int rhs_const, struct workload *w,
		 struct err *e);
/* b x m x k x n, or -1. */
int64_t told_product_macs(int64_t b, int64_t m, int64_t k, int64_t n);

#endif
