/* Constants of a graph: what the file has, or random ones of a seed.
 *
 * Random weights keep the size of what goes through a network about the same from layer to layer
 * (He et al., "Delving deep into rectifiers", ICCV 2015, section 2.2: uniform with the variance 2 /
 * inputs). What scales, and variances, lie between 1/2 and 3/2. The same seed and name give the
 * same elements.
 */
#ifndef TL_RUN_CONSTANTS_H
#define TL_RUN_CONSTANTS_H

#include <stdint.h>

#include "lib/extract/graph/graph.h"
#include "lib/run/plan.h"

/* How a random tensor is filled. */
struct random_fill {
	const char *name;
	uint64_t seed;
	double low, high;
	int is_whole; /* whole numbers from low to high - 1 */
};

/* Is it a tensor of weights, which random ones may replace: floats, more than one, of an
 * initializer, or of a ConstantOfShape that stands for one? Or bytes that packed weights and their
 * zero points are in? */
int constant_is_weights(const struct graph *g, int value);
/* Marks the values that nodes make of random weights (is_drawn): inference knows the elements of
 * the file, which are others. */
void constants_draw(const struct graph *g);
/* Are all its elements known, so that nothing computes them? */
int constant_is_kept(const struct graph *g, const struct value *v);
/* Are all its elements there, and neither NaN nor infinite? It may be a constant in another shape,
 * order or type. seed: as for constant_memory(). */
int constant_is_finite(const struct graph *g, int value, const uint64_t *seed);
struct random_fill constant_random(const struct graph *g, int value, uint64_t seed);
void constant_fill(const struct random_fill *f, float *to, int64_t n);
/* The memory of a constant value, which must have a known shape. seed: NULL: as the file says. -1:
 * its elements are not there, or it is no constant that is made of the file alone. */
int constant_memory(struct plan *p, const struct graph *g, int value, const uint64_t *seed,
		    struct err *e);
/* The memory of a constant of i32, which holds its elements as whole numbers of 32 bits. The caller
 * reads them as such: no place says what they are. MEMORY_NONE: it is none whose elements are
 * there. */
int constant_whole(struct plan *p, const struct graph *g, int value);

#endif
