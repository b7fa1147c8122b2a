/* The numbers of a matrix product, as algorithms use them. */
#ifndef TL_SCHEDULE_PRODUCT_H
#define TL_SCHEDULE_PRODUCT_H

#include "lib/op/op.h"

/* b products of m x k and k x n. */
struct product {
	int64_t b, m, k, n;
	int transposed; /* the right side is stored as n x k: weights of a convolution */
};

/* matmul, and 1x1 convolution of unit stride without padding in nhwc: 1; or 0. */
int product_of(const struct workload *w, struct product *p);

#endif
