/* The numbers of a matrix product, as algorithms use them. */
#ifndef TL_SCHEDULE_PRODUCT_H
#define TL_SCHEDULE_PRODUCT_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"

/* b products of m x k and k x n. */
struct product {
	int64_t b, m, k, n;
	int transposed; /* the right side is stored as n x k: weights of a convolution */
	/* 1x1 convolution of a larger stride: rows of the left side are pixels of an image that is
	 * larger than the output. */
	int strided;
	int64_t mb, ih, iw, oh, ow, sh, sw;
};

/* matmul, and 1x1 convolution of unit stride without padding in nhwc: 1; or 0. */
int product_of(const struct workload *w, struct product *p);
/* The same, or 1x1 convolution of any stride without padding in nhwc, after product_gather(). */
int product_of_pixels(const struct workload *w, struct product *p);
/* Of a strided one: a phase that copies the pixels of src one behind the other, as m x k, into a
 * buffer of the team, which is returned. */
int product_gather(struct nest *n, const struct product *p, int src, int lanes);

/* The right side, a constant: tiles of nr columns, a panel each, of all batches. */
int product_panels(struct nest *n, const struct product *p, int64_t tiles, int64_t nr);

#endif
