/* Memory layouts of prepared tensors, which are filled once, off the clock. First (where a map is
 * given) the values along a dimension are replaced by linear combinations of them, in double
 * precision: Winograd's weights. Then they are put in order: an ordered list of axes, outermost
 * first, each a stretch of one logical dimension, such as "N/64 K 64n". An index of a logical
 * dimension is the sum of its axes' positions times their steps; positions past the dimension's
 * extent are padding and hold zero. From the list follow the size and the packing.
 *
 * An axis along PACKING_HALVES has two positions: the first one holds the nearest bf16 numbers, the
 * second one what these leave. So single precision is the sum of two bf16 numbers but for some
 * 2^-17 of it (Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype
 * For Higher-Precision Computations", ARITH 2019, "bf16x2"). Infinity leaves itself, as the nearest
 * numbers are finite.
 */
#ifndef TL_SPACE_LAYOUT_H
#define TL_SPACE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/space/swizzle.h"

enum { LAYOUT_RANK = 6, LAYOUT_AXES = 10, LAYOUT_MAPS = 2, MAP_ROWS = 16, MAP_COLS = 8 };
/* So many positions of an axis are filled together where that reads the source in order. */
enum { PACKING_ACROSS = 16 };
enum { PACKING_HALVES = LAYOUT_RANK }; /* in the place of an axis's dimension */

/* Along dimension dim, of extent cols: value i becomes the sum over j of m[i][j] * value j. Where
 * `with` is another dimension than dim, j goes through both, dim outermost, and cols is the product
 * of their extents; `with` has no axis then. */
struct packing_map {
	int dim, with, rows, cols;
	double m[MAP_ROWS][MAP_COLS];
};

struct packing {
	int rank;
	int64_t extent[LAYOUT_RANK]; /* of the logical dimensions, dense, the last one contiguous;
				      * where there is a map, before it */
	int nmaps;
	struct packing_map map[LAYOUT_MAPS];
	int naxes;
	struct {
		int dim;
		int64_t n, step;
	} axis[LAYOUT_AXES];
	struct swizzle swizzle; /* of the whole, behind the axes */
	int rounds; /* values are rounded to bf16, though they stay floats; there are no maps */
};

/* Adds a logical dimension; returns its number. */
int packing_dim(struct packing *p, int64_t extent);
/* Adds an axis: n positions, step apart, along dimension dim. */
void packing_axis(struct packing *p, int dim, int64_t n, int64_t step);
/* Adds the axis of halves. */
void packing_halves(struct packing *p);
/* Adds a map along dim, and with another dimension (with: dim if there is none); its matrix is
 * zero.
 */
struct packing_map *packing_map(struct packing *p, int dim, int with, int rows, int cols);
int64_t packing_size(const struct packing *p); /* elements */
/* Fills dst (packing_size elements) from the dense logical tensor src. */
void packing_run(const struct packing *p, const float *src, float *dst);
/* The outermost axis of several positions; where there is none, the last one. */
int packing_outer(const struct packing *p);
/* The part of it that belongs to positions first to end of the outer axis: dst is where the first
 * one begins. stride: of the logical dimensions in src, where it is not dense; or NULL. Elements
 * stay in the axes' order, without the swizzle. */
void packing_run_part(const struct packing *p, const float *src, const int64_t *stride,
		      int64_t first, int64_t end, float *dst);
/* The order in which runs of p are contiguous, as a packing of the same tensor without its maps,
 * and the strides for packing_run_part() that this order has. 0: they are contiguous as it is. */
int packing_turned(const struct packing *p, struct packing *turned, int64_t *stride);
/* One line that tells two packings apart: for caches and messages. */
void packing_text(const struct packing *p, struct buf *out);

#endif
