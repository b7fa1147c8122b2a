/* Operators that make as many items as their data say.
 *
 * The sizes of a plan are known before it runs. So a run ahead of it has counted the items
 * (ahead.h), and these steps make as many. A step that finds another number makes no more than
 * there is room for, and fails; one of which the number is not known yet only counts.
 *
 * All are functions of plain C (struct plain in plan.h), and the first part does all the work. -1:
 * the number is another one.
 */
#ifndef TL_RUN_COUNTED_H
#define TL_RUN_COUNTED_H

#include "lib/run/place.h"
#include "lib/run/plan.h"

#define COUNTED_CHANGED "it makes another number of items than in the run before"

/* ONNX's NonZero: the coordinates of what is not 0, a row for each dimension. Buffers: the data,
 * the result. */
struct non_zero {
	struct counted *counted;
	int rank;
	int64_t dim[PLACE_RANK], size;
};
int non_zero_run(const void *with, float *const *buffers, int thread, int threads);

/* ONNX's Compress of data of outer x extent x inner: what a condition says along the extent.
 * Buffers: the data, the condition, the result. -1 also where the condition is true behind the end.
 */
struct compress {
	struct counted *counted;
	int64_t outer, extent, inner, conditions;
};
int compress_run(const void *with, float *const *buffers, int thread, int threads);

enum unique_output { UNIQUE_ITEMS, UNIQUE_FIRST, UNIQUE_INVERSE, UNIQUE_COUNTS, UNIQUE_OUTPUTS };

/* ONNX's Unique of the items along the extent of outer x extent x inner. The lists have room for a
 * number of each item. Buffers: the data, the result. -1 also where an element is NaN. */
struct unique {
	struct counted *counted;
	enum unique_output what;
	int is_sorted;
	int64_t outer, extent, inner;
	int64_t *order, *group, *first;
};
int unique_run(const void *with, float *const *buffers, int thread, int threads);

#endif
