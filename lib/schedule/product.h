/* The sizes of a matrix product, for algorithms. */
#ifndef TL_SCHEDULE_PRODUCT_H
#define TL_SCHEDULE_PRODUCT_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/schedule/range.h"

/* b products of m x k and k x n. */
struct product {
	int64_t b, m, k, n;
	int64_t values; /* of k that panels have, where zeros may follow; product_of(): k */
	int transposed; /* the right side is stored as n x k: weights of a convolution */
	/* 1x1 convolution of a larger stride: rows of the left side are pixels of an image that is
	 * larger than the output. */
	int strided;
	int64_t mb, ih, iw, oh, ow, sh, sw;
};

/* 1: the workload is a matmul, or a 1x1 convolution of unit stride without padding in nhwc; 0: it
 * is not. */
int product_of(const struct workload *w, struct product *p);
/* The same, but the convolution may have any stride; it needs product_gather(). */
int product_of_pixels(const struct workload *w, struct product *p);
/* For a strided one: adds a phase that copies the pixels of src one behind the other, as m x k,
 * into a buffer of the team. Returns the buffer. */
int product_gather(struct nest *n, const struct product *p, int src, int lanes);

/* The right side, a constant, of all batches: so many panels of so many columns, one behind the
 * other. `depth` values of k of a column stand side by side. halves: each panel is split in halves
 * (lib/space/layout.h). */
int product_panels(struct nest *n, const struct product *p, int64_t panels, int64_t columns,
		   int64_t depth, int halves);
/* Adds a phase that splits the left side, `from`, in halves, all first ones before the second ones.
 * Returns the team's buffer that has them. */
int product_halves(struct nest *n, const struct product *p, int from, int lanes);
/* A flag: 1: each vector of a constant right side has a panel of its own, so that a register tile
 * reads several streams of memory. */
void product_streams(struct range *r, int knob, const struct workload *w, const struct product *p);

#endif
