/* Arrays in NumPy's files: .npy holds one, .npz is an archive of them.
 *
 * Format: numpy.org, "numpy.lib.format". Elements become single-precision floats, whatever number
 * they are in the file; a whole number that no such float holds is refused. Floats are written as
 * such, integers and booleans in their own types, in files that replace the old one whole.
 */
#ifndef TL_RUN_ARRAYS_H
#define TL_RUN_ARRAYS_H

#include <stdint.h>

#include "lib/base/err.h"

enum { ARRAY_RANK = 12 };

struct array {
	char *name; /* without ".npy" */
	int rank;
	int64_t dim[ARRAY_RANK], size;
	int elem; /* what it is written as, a value_elem (lib/extract/graph/graph.h); 0: floats */
	float *data; /* row-major */
};

struct arrays {
	struct array *array;
	int n;
	int is_named; /* 0: the one array of an .npy */
};

/* All arrays of a file. -1: it is none of both, or cut off; then there are none. */
int arrays_read(struct arrays *a, const char *path, struct err *e);
const struct array *arrays_find(const struct arrays *a, const char *name); /* NULL */
void arrays_free(struct arrays *a);

/* Writes n arrays: as .npy if the path ends so, which takes one; else as .npz. next() fills the
 * data of array i, which it may do piece by piece in the same memory: it is called in order. */
typedef int arrays_next(void *ctx, int i, struct array *a, struct err *e);
int arrays_write(const char *path, int n, arrays_next *next, void *ctx, struct err *e);

#endif
