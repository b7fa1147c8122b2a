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
	struct dtypes dtype;
};

/* The element type that a library calls "bf16", "R_16BF", "c10::BFloat16" and so on, of n letters;
 * -1: none of ours. */
int told_dtype(const char *s, size_t n);
/* All three of a workload, as told_dtype() has them, or by names that end with a NUL. -1: one is
 * none of ours, or they do not go together. */
int told_types(int src, int wei, int dst, struct dtypes *to);
int told_dtypes(const char *src, const char *wei, const char *dst, struct dtypes *to);
/* The size that a text begins with; other if it is no number, -1 if it is absurd. */
int64_t told_size(const char *s, int64_t other);
/* A copy of n letters, as far as there is room for them and a NUL. */
void told_copy(char *to, size_t size, const char *from, size_t n);
/* Where in a line the first of these texts stands that is in it at all; NULL: none is. */
char *told_find(char *line, const char *const *texts, size_t n);
/* a x b, or -1 where one of them is negative, or the product too large. */
int64_t told_times(int64_t a, int64_t b);
/* The layout of an operator's activations with channels last, or first. */
enum layout told_layout(int space, int is_last);

/* No groups, stride or dilation of 1 and no padding, all else 0. */
struct told_conv told_conv_plain(int space);
/* Fills a workload, finished. -1: it is none. */
int told_conv(const struct told_conv *c, int is_last, struct workload *w, struct err *e);
/* Its multiply-adds, where it is sound; -1: it is not. */
int64_t told_conv_macs(const struct told_conv *c);
/* A product of b pairs of m x k and k x n. rhs_const: the right side is one constant. */
int told_product(int64_t b, int64_t m, int64_t k, int64_t n, int rhs_const,
		 const struct dtypes *dtype, struct workload *w, struct err *e);
/* b x m x k x n, or -1. */
int64_t told_product_macs(int64_t b, int64_t m, int64_t k, int64_t n);

#endif
