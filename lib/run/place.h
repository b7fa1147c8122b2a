/* Where a value of a graph lies: a piece of the program's memory (plan.h), seen by its dimensions
 * and their strides. So transposing, slicing and most reshaping move nothing: they are other views
 * of the same elements.
 */
#ifndef TL_RUN_PLACE_H
#define TL_RUN_PLACE_H

#include <stdint.h>

#include "lib/nest/elem.h"

enum { PLACE_RANK = 8 };

struct place {
	int memory;	/* number of the memory; -1: there is none yet */
	int64_t at;	/* its first element there */
	enum elem elem; /* what its elements are in that memory */
	int rank;	/* at most PLACE_RANK */
	int64_t dim[PLACE_RANK], stride[PLACE_RANK]; /* elements; stride 0: broadcast */
};

/* Orders of dimensions in memory, outermost first; NULL is row-major. Channels last: 0, 2, .., 1.
 */
void order_channels_last(int rank, int order[PLACE_RANK]);

int64_t place_count(const struct place *p); /* elements */
int64_t place_span(const struct place *p);  /* elements from the first to the last, both counted */
/* Sets dimensions, and strides without gaps in that order. memory and at stay. */
void place_dense(struct place *p, int rank, const int64_t *dim, const int *order);
/* Does it lie without gaps in that order? Dimensions of 1 do not count. */
int place_is_dense(const struct place *p, const int *order);
/* Elements from a row of its innermost dimension in that order to the next, where rows lie equally
 * far apart, maybe with gaps; 0: they do not. */
int64_t place_pitch(const struct place *p, const int *order);
/* The dimensions of p by strides, the largest first; those of 1 and of stride 0 come first. */
void place_order(const struct place *p, int order[PLACE_RANK]);
/* The same elements with other dimensions, as row-major order counts them. 1; 0: no view does that.
 */
int place_reshape(const struct place *p, int rank, const int64_t *dim, struct place *out);
/* The order in memory that a copy of p needs so that the same reshape of the copy is a view, and
 * that changes p's own order least: dimensions that the reshape joins or splits lie in row-major
 * order, such groups in the order of p's strides. The elements are as many. */
void place_reshape_order(const struct place *p, int rank, const int64_t *dim,
			 int order[PLACE_RANK]);
/* p as a value of the dimensions given, by Numpy's broadcasting. -1: it does not fit. */
int place_broadcast(const struct place *p, int rank, const int64_t *dim, struct place *out);
/* Is some element there for several indices: does it broadcast? */
int place_repeats(const struct place *p);
/* The same elements, with the same dimensions? */
int place_is(const struct place *a, const struct place *b);
int place_same_shape(const struct place *a, const struct place *b);

#endif
